"""Models made in code with random weights, which change no speed: what experiments/models.py measures."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional


def convolution(channels: int, filters: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """A convolution that keeps the size but for its stride, and its batch normalization."""
    padding = kernel // 2
    return nn.Sequential(
        nn.Conv2d(channels, filters, kernel, stride, padding, groups=groups, bias=False), nn.BatchNorm2d(filters)
    )


class Bottleneck(nn.Module):
    """ResNet's block of three convolutions (He et al., 2015; the stride is in the second)."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.first = convolution(channels, width, 1)
        self.second = convolution(width, width, 3, stride)
        self.third = convolution(width, 4 * width, 1)
        changes = stride != 1 or channels != 4 * width
        self.shortcut = convolution(channels, 4 * width, 1, stride) if changes else nn.Identity()

    def forward(self, value: Tensor) -> Tensor:
        inner = torch.relu(self.second(torch.relu(self.first(value))))
        return torch.relu(self.third(inner) + self.shortcut(value))


def resnet50() -> nn.Module:
    """ResNet-50 for 1000 classes."""
    blocks: list[nn.Module] = []
    channels = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for number in range(count):
            blocks.append(Bottleneck(channels, width, stride if number == 0 else 1))
            channels = 4 * width
    stem = [convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def vgg16() -> nn.Module:
    """VGG-16 (Simonyan and Zisserman, 2014), without batch normalization."""
    layers: list[nn.Module] = []
    channels = 3
    for filters, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU()]
            channels = filters
        layers.append(nn.MaxPool2d(2))
    heads = [nn.Linear(25088, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000)]
    return nn.Sequential(*layers, nn.Flatten(), *heads)


class InvertedResidual(nn.Module):
    """MobileNetV2's block (Sandler et al., 2018)."""

    def __init__(self, channels: int, filters: int, stride: int, expansion: int) -> None:
        super().__init__()
        inner = channels * expansion
        expand = [convolution(channels, inner, 1), nn.ReLU6()] if expansion != 1 else []
        depthwise = convolution(inner, inner, 3, stride, groups=inner)
        self.layers = nn.Sequential(*expand, depthwise, nn.ReLU6(), convolution(inner, filters, 1))
        self.adds = stride == 1 and channels == filters

    def forward(self, value: Tensor) -> Tensor:
        result: Tensor = self.layers(value)
        return value + result if self.adds else result


def mobilenet_v2() -> nn.Module:
    """MobileNetV2 for 1000 classes."""
    layers: list[nn.Module] = [convolution(3, 32, 3, 2), nn.ReLU6()]
    channels = 32
    plan = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expansion, filters, count, stride in plan:
        for number in range(count):
            layers.append(InvertedResidual(channels, filters, stride if number == 0 else 1, expansion))
            channels = filters
    layers += [convolution(320, 1280, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers)


class Inception(nn.Module):
    """GoogLeNet's block of four branches (Szegedy et al., 2014), with 3x3 in place of 5x5 as in common use."""

    def __init__(self, channels: int, one: int, reduce3: int, three: int, reduce5: int, five: int, pool: int) -> None:
        super().__init__()
        self.one = nn.Sequential(convolution(channels, one, 1), nn.ReLU())
        self.three = nn.Sequential(
            convolution(channels, reduce3, 1), nn.ReLU(), convolution(reduce3, three, 3), nn.ReLU()
        )
        self.five = nn.Sequential(
            convolution(channels, reduce5, 1), nn.ReLU(), convolution(reduce5, five, 3), nn.ReLU()
        )
        self.pool = nn.Sequential(nn.MaxPool2d(3, 1, 1), convolution(channels, pool, 1), nn.ReLU())

    def forward(self, value: Tensor) -> Tensor:
        return torch.cat([self.one(value), self.three(value), self.five(value), self.pool(value)], 1)


def googlenet() -> nn.Module:
    """GoogLeNet for 1000 classes, without its auxiliary classifiers."""
    stem = [convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True)]
    stem += [convolution(64, 64, 1), nn.ReLU(), convolution(64, 192, 3), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True)]
    blocks: list[nn.Module] = [
        Inception(192, 64, 96, 128, 16, 32, 32),
        Inception(256, 128, 128, 192, 32, 96, 64),
        nn.MaxPool2d(3, 2, ceil_mode=True),
        Inception(480, 192, 96, 208, 16, 48, 64),
        Inception(512, 160, 112, 224, 24, 64, 64),
        Inception(512, 128, 128, 256, 24, 64, 64),
        Inception(512, 112, 144, 288, 32, 64, 64),
        Inception(528, 256, 160, 320, 32, 128, 128),
        nn.MaxPool2d(2, 2, ceil_mode=True),
        Inception(832, 256, 160, 320, 32, 128, 128),
        Inception(832, 384, 192, 384, 48, 128, 128),
    ]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, 1000))


class UNetBlock(nn.Module):
    """A residual block of the U-Net of Stable Diffusion (Rombach et al., 2021), without the embedding of time."""

    def __init__(self, channels: int = 320, groups: int = 32) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(groups, channels), nn.GroupNorm(groups, channels)
        self.first, self.second = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))

    def forward(self, value: Tensor) -> Tensor:
        inner = self.first(functional.silu(self.norm1(value)))
        result: Tensor = value + self.second(functional.silu(self.norm2(inner)))
        return result


def smooth(channels: int, filters: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """A convolution with batch normalization and SiLU."""
    return nn.Sequential(convolution(channels, filters, kernel, stride), nn.SiLU())


class Split(nn.Module):
    """YOLOv8's block: half of the channels go through residual blocks, and each one's result is kept."""

    def __init__(self, channels: int, filters: int, count: int, *, adds: bool) -> None:
        super().__init__()
        half = filters // 2
        self.first, self.last = smooth(channels, filters, 1), smooth((2 + count) * half, filters, 1)
        self.blocks = nn.ModuleList(nn.Sequential(smooth(half, half, 3), smooth(half, half, 3)) for _ in range(count))
        self.adds = adds

    def forward(self, value: Tensor) -> Tensor:
        parts = list(self.first(value).chunk(2, 1))
        for block in self.blocks:
            parts.append(parts[-1] + block(parts[-1]) if self.adds else block(parts[-1]))
        result: Tensor = self.last(torch.cat(parts, 1))
        return result


class Pyramid(nn.Module):
    """Maxima of three sizes of window, as YOLO has them (SPPF)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.last = smooth(channels, channels // 2, 1), smooth(2 * channels, channels, 1)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, value: Tensor) -> Tensor:
        parts = [self.first(value)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        result: Tensor = self.last(torch.cat(parts, 1))
        return result


class Yolo(nn.Module):
    """Like YOLOv8 in its second smallest size: three scales, up and down again; heads are one convolution each."""

    def __init__(self, outputs: int = 144) -> None:
        super().__init__()
        self.low = nn.Sequential(
            smooth(3, 32, 3, 2), smooth(32, 64, 3, 2), Split(64, 64, 1, adds=True), smooth(64, 128, 3, 2),
            Split(128, 128, 2, adds=True),
        )  # fmt: skip
        self.middle = nn.Sequential(smooth(128, 256, 3, 2), Split(256, 256, 2, adds=True))
        self.high = nn.Sequential(smooth(256, 512, 3, 2), Split(512, 512, 1, adds=True), Pyramid(512))
        self.up1, self.up2 = Split(768, 256, 1, adds=False), Split(384, 128, 1, adds=False)
        self.down1, self.down2 = smooth(128, 128, 3, 2), smooth(256, 256, 3, 2)
        self.join1, self.join2 = Split(384, 256, 1, adds=False), Split(768, 512, 1, adds=False)
        self.heads = nn.ModuleList(nn.Conv2d(channels, outputs, 1) for channels in (128, 256, 512))

    def forward(self, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        low = self.low(value)
        middle = self.middle(low)
        high = self.high(middle)
        middle = self.up1(torch.cat([functional.interpolate(high, scale_factor=2.0), middle], 1))
        low = self.up2(torch.cat([functional.interpolate(middle, scale_factor=2.0), low], 1))
        middle = self.join1(torch.cat([self.down1(low), middle], 1))
        high = self.join2(torch.cat([self.down2(middle), high], 1))
        return self.heads[0](low), self.heads[1](middle), self.heads[2](high)


class BertLayer(nn.Module):
    """One layer of BERT-base (Devlin et al., 2018): attention, then two products with GELU between them."""

    def __init__(self, width: int = 768, heads: int = 12) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, tokens: Tensor) -> Tensor:
        batch, length, width = tokens.shape

        def split(projected: Tensor) -> Tensor:
            return projected.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = (split(layer(tokens)) for layer in (self.query, self.key, self.value))
        mixed = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(tokens.shape)
        tokens = self.norm1(tokens + self.out(mixed))
        result: Tensor = self.norm2(tokens + self.second(functional.gelu(self.first(tokens))))
        return result


#: by name: the model, and the shape of its input without the images (or sequences) at once
MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "resnet50": (resnet50, (3, 224, 224)),
    "vgg16": (vgg16, (3, 224, 224)),
    "mobilenet_v2": (mobilenet_v2, (3, 224, 224)),
    "googlenet": (googlenet, (3, 224, 224)),
    "yolo": (Yolo, (3, 320, 320)),
    "unet_block": (UNetBlock, (320, 64, 64)),
    "bert_layer": (BertLayer, (128, 768)),
}


def model(name: str, images: int = 1) -> tuple[nn.Module, Tensor]:
    """A model in evaluation mode, and an input, from one seed."""
    torch.manual_seed(0)
    make, shape = MODELS[name]
    return make().eval(), torch.randn(images, *shape)

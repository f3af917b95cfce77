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
    """Two convolutions with SiLU and a shortcut, as in the U-Net of Stable Diffusion, with batch normalization."""

    def __init__(self, channels: int = 320) -> None:
        super().__init__()
        self.first = convolution(channels, channels, 3)
        self.second = convolution(channels, channels, 3)

    def forward(self, value: Tensor) -> Tensor:
        result: Tensor = value + self.second(functional.silu(self.first(value)))
        return functional.silu(result)


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
    "unet_block": (UNetBlock, (320, 64, 64)),
    "bert_layer": (BertLayer, (128, 768)),
}


def model(name: str, images: int = 1) -> tuple[nn.Module, Tensor]:
    """A model in evaluation mode, and an input, from one seed."""
    torch.manual_seed(0)
    make, shape = MODELS[name]
    return make().eval(), torch.randn(images, *shape)

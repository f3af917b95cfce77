"""Blocks of well-known networks, small, with random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional


def convolution(channels: int, filters: int, kernel: int = 3, groups: int = 1, function: Any = nn.ReLU) -> Any:
    """A convolution, its batch normalization and a function in place, as torchvision has them."""
    layer = nn.Conv2d(channels, filters, kernel, padding=kernel // 2, groups=groups, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(filters), function(inplace=True))


class Dense(nn.Module):  # type: ignore[misc]
    """DenseNet: each layer reads the results of all before it; then a transition."""

    def __init__(self, channels: int = 16, growth: int = 8, count: int = 3) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm2d(channels + growth * number), nn.ReLU(inplace=True),
                nn.Conv2d(channels + growth * number, 4 * growth, 1, bias=False), nn.BatchNorm2d(4 * growth),
                nn.ReLU(inplace=True), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False),
            )
            for number in range(count)
        )  # fmt: skip
        last = channels + growth * count
        self.transition = nn.Sequential(
            nn.BatchNorm2d(last), nn.ReLU(inplace=True), nn.Conv2d(last, last // 2, 1), nn.AvgPool2d(2)
        )

    def forward(self, image: Any) -> Any:
        results = [image]
        for layer in self.layers:
            results.append(layer(torch.cat(results, 1)))
        return self.transition(torch.cat(results, 1))


class Shuffle(nn.Module):  # type: ignore[misc]
    """ShuffleNet V2: half of the channels are computed, then all are shuffled."""

    def __init__(self, channels: int = 32) -> None:
        super().__init__()
        half = channels // 2
        depthwise = nn.Conv2d(half, half, 3, padding=1, groups=half, bias=False)
        self.branch = nn.Sequential(
            convolution(half, half, 1), depthwise, nn.BatchNorm2d(half), convolution(half, half, 1)
        )

    def forward(self, image: Any) -> Any:
        left, right = image.chunk(2, dim=1)
        joined = torch.cat((left, self.branch(right)), dim=1)
        images, channels, height, width = joined.shape
        groups = joined.view(images, 2, channels // 2, height, width)
        return groups.transpose(1, 2).contiguous().view(images, channels, height, width)


class Fire(nn.Module):  # type: ignore[misc]
    """SqueezeNet: few channels, from which convolutions of two sizes make many."""

    def __init__(self) -> None:
        super().__init__()
        self.squeeze, self.one = nn.Conv2d(16, 8, 1), nn.Conv2d(8, 16, 1)
        self.three, self.function = nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(inplace=True)

    def forward(self, image: Any) -> Any:
        image = self.function(self.squeeze(image))
        return torch.cat([self.function(self.one(image)), self.function(self.three(image))], 1)


class Excitation(nn.Module):  # type: ignore[misc]
    """EfficientNet's and MobileNetV3's block: channels are weighted by what all pixels say."""

    def __init__(self, function: Any, gate: Any) -> None:
        super().__init__()
        self.before = nn.Sequential(
            convolution(16, 64, 1, function=function), convolution(64, 64, 5, 64, function=function)
        )
        self.weights = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(64, 4, 1), nn.ReLU(), nn.Conv2d(4, 64, 1), gate)
        self.after = nn.Sequential(nn.Conv2d(64, 16, 1, bias=False), nn.BatchNorm2d(16))

    def forward(self, image: Any) -> Any:
        inner = self.before(image)
        result = self.after(self.weights(inner) * inner)
        result += image
        return result


class Inception(nn.Module):  # type: ignore[misc]
    """Inception V3: branches, one with a row and a column in place of a square."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.pooled = convolution(16, 8, 1), nn.Conv2d(16, 8, 1)
        self.cross = nn.Sequential(
            nn.Conv2d(16, 8, (1, 7), padding=(0, 3)), nn.Conv2d(8, 8, (7, 1), padding=(3, 0)), nn.BatchNorm2d(8)
        )

    def forward(self, image: Any) -> Any:
        cross = functional.relu(self.cross(image), inplace=True)
        pooled = self.pooled(functional.avg_pool2d(image, 3, 1, 1))
        return torch.cat([self.one(image), cross, pooled, functional.max_pool2d(image, 3, 1, 1)], 1)


class VisionTransformer(nn.Module):  # type: ignore[misc]
    """A class token before patches, positions, one layer with PyTorch's own attention, and the head."""

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.token, self.positions = nn.Parameter(torch.randn(1, 1, width)), nn.Parameter(torch.randn(1, 10, width))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 3, batch_first=True)
        self.layers = nn.Sequential(nn.Linear(width, 48), nn.GELU(), nn.Dropout(0.1), nn.Linear(48, width))
        self.head = nn.Linear(width, 5)

    def forward(self, image: Any) -> Any:
        rows = self.patches(image).flatten(2).transpose(1, 2)
        rows = torch.cat([self.token.expand(len(rows), -1, -1), rows], 1) + self.positions
        normal = self.norm1(rows)
        rows = rows + self.attention(normal, normal, normal, need_weights=False)[0]
        rows = rows + self.layers(self.norm2(rows))
        return self.head(rows[:, 0])


class GPT(nn.Module):  # type: ignore[misc]
    """A GPT-2 of one layer, with causal attention by a mask, that gives the logits of the last position."""

    def __init__(self, width: int = 24, heads: int = 3, length: int = 8, words: int = 20) -> None:
        super().__init__()
        self.heads = heads
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.tril(torch.ones(length, length)).view(1, 1, length, length))
        self.logits = nn.Linear(width, words, bias=False)
        self.logits.weight = self.words.weight

    def forward(self, tokens: Any) -> Any:
        length = tokens.shape[1]
        rows = self.words(tokens) + self.places(torch.arange(0, length).unsqueeze(0))
        parts = self.attention(self.norm1(rows)).split(rows.shape[2], dim=2)
        query, key, value = (part.view(*tokens.shape, self.heads, -1).transpose(1, 2) for part in parts)
        scores = (query @ key.transpose(-2, -1)) * query.shape[-1] ** -0.5
        weights = scores.masked_fill(self.mask[:, :, :length, :length] == 0, -torch.inf).softmax(-1)
        rows = rows + self.projection((weights @ value).transpose(1, 2).contiguous().view(rows.shape))
        inner = self.first(self.norm2(rows))
        inner = 0.5 * inner * (1.0 + torch.tanh(0.7978845608 * (inner + 0.044715 * torch.pow(inner, 3.0))))
        return self.logits((rows + self.second(inner))[:, [-1], :])


class UNet(nn.Module):  # type: ignore[misc]
    """Down and up again; what comes up is padded to the size of what it is joined with."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = convolution(3, 16), convolution(16, 32)
        self.up, self.last = nn.ConvTranspose2d(32, 16, 2, 2), nn.Conv2d(32, 2, 1)

    def forward(self, image: Any) -> Any:
        high = self.first(image)
        low = self.up(self.second(functional.max_pool2d(high, 2)))
        rows, columns = high.shape[2] - low.shape[2], high.shape[3] - low.shape[3]
        low = functional.pad(low, [columns // 2, columns - columns // 2, rows // 2, rows - rows // 2])
        return torch.sigmoid(self.last(torch.cat([high, low], 1)))


class Wave(nn.Module):  # type: ignore[misc]
    """A network of convolutions of one dimension with gates, as WaveNet has them."""

    def __init__(self) -> None:
        super().__init__()
        norm, function = nn.BatchNorm1d(16), nn.LeakyReLU(0.1, inplace=True)
        self.stem = nn.Sequential(nn.Conv1d(1, 16, 7, 2, 3), norm, function, nn.MaxPool1d(3, 2, 1))
        self.gated, self.last = nn.Conv1d(16, 32, 3, dilation=2, padding=2), nn.Conv1d(32, 32, 1)

    def forward(self, sound: Any) -> Any:
        sound = self.stem(sound)
        values, gates = self.gated(sound).chunk(2, 1)
        sound = sound + torch.tanh(values) * torch.sigmoid(gates)
        joined = self.last(torch.cat([sound, sound], 1))
        return self.last(functional.pad(joined, (2, 0))).mean(-1)


class Next(nn.Module):  # type: ignore[misc]
    """ConvNeXt's block: channels last for normalization and linear layers, and a scale for each channel."""

    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.depthwise, self.norm = nn.Conv2d(channels, channels, 7, padding=3, groups=channels), nn.LayerNorm(channels)
        self.first, self.second = nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)
        self.scale = nn.Parameter(torch.full((channels,), 0.1))

    def forward(self, image: Any) -> Any:
        inner = self.norm(self.depthwise(image).permute(0, 2, 3, 1))
        inner = self.scale * self.second(functional.gelu(self.first(inner)))
        return image + inner.permute(0, 3, 1, 2)


class Swin(nn.Module):  # type: ignore[misc]
    """Swin's attention in shifted windows with a bias of relative positions, then patches merged."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.norm, self.attention, self.projection = (
            nn.LayerNorm(width),
            nn.Linear(width, 3 * width),
            nn.Linear(width, width),
        )
        self.bias = nn.Parameter(torch.randn(49, 2))
        self.register_buffer("places", torch.randint(0, 49, (256,)))
        self.merged = nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, image: Any) -> Any:
        images, height, width, channels = image.shape
        windows = torch.roll(self.norm(image), (-2, -2), (1, 2)).view(images, height // 4, 4, width // 4, 4, channels)
        rows = windows.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, channels)
        parts = self.attention(rows).reshape(-1, 16, 3, 2, channels // 2).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        scores = (query * (channels // 2) ** -0.5) @ key.transpose(-2, -1)
        bias = self.bias[self.places].view(16, 16, 2).permute(2, 0, 1).contiguous().unsqueeze(0)
        mixed = ((scores + bias).softmax(-1) @ value).transpose(1, 2).reshape(-1, 16, channels)
        back = self.projection(mixed).view(images, height // 4, width // 4, 4, 4, channels)
        image = image + torch.roll(back.permute(0, 1, 3, 2, 4, 5).reshape(image.shape), (2, 2), (1, 2))
        corners = [image[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]
        return self.merged(torch.cat(corners, -1))


#: by name: the network, and the shape of its input
NETWORKS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "DenseNet": (Dense, (2, 16, 8, 8)),
    "ShuffleNet": (Shuffle, (2, 32, 8, 8)),
    "SqueezeNet": (Fire, (2, 16, 8, 8)),
    "EfficientNet": (lambda: Excitation(nn.SiLU, nn.Sigmoid()), (2, 16, 8, 8)),
    "MobileNetV3": (lambda: Excitation(nn.Hardswish, nn.Hardsigmoid()), (2, 16, 7, 7)),
    "Inception": (Inception, (2, 16, 8, 8)),
    "ViT": (VisionTransformer, (2, 3, 12, 12)),
    "U-Net": (UNet, (2, 3, 9, 10)),
    "WaveNet": (Wave, (2, 1, 32)),
    "ConvNeXt": (Next, (2, 16, 8, 8)),
    "Swin": (Swin, (2, 8, 8, 16)),
}

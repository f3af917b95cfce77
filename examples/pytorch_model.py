"""A small network in PyTorch, optimized, saved, and run again without PyTorch.

python examples/pytorch_model.py
"""

from __future__ import annotations

import tempfile

import torch
from torch import Tensor, nn

import polydl
import polydl.torch


class Network(nn.Module):
    """Two convolutions with a residual sum, pooling, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU())
        self.second = nn.Conv2d(32, 32, 3, padding=1)
        self.last = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))

    def forward(self, image: Tensor) -> Tensor:
        value = self.first(image)
        result: Tensor = self.last(torch.relu(value + self.second(value)))
        return result


def main() -> None:
    torch.manual_seed(0)
    model, image = Network().eval(), torch.randn(1, 3, 56, 56)
    fast = polydl.torch.optimize(model, image, threads=1)
    print(fast.report())
    with torch.no_grad():
        torch.testing.assert_close(fast(image), model(image), rtol=1e-4, atol=1e-5)
    with tempfile.TemporaryDirectory() as folder:
        fast.save(folder)
        print(polydl.load(folder)(image.numpy()))


if __name__ == "__main__":
    main()

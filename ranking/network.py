"""Small dense networks in NumPy, and the files that their weights live in.

A file holds the arrays, the version of the features that they were trained on, and a card that says from what data,
on which machine and how well. TensorFlow is needed to train (``polydl.ranking.training``), never to predict.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from polydl.errors import WeightsError

Activation = Literal["relu", "softsign", "linear"]
Array = np.ndarray[Any, np.dtype[np.float32]]

# Of the file.
FORMAT = 3
# Standard deviations from the mean, in either direction.
FARTHEST = 3.0


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer of a network: ``activation(values @ weights + bias)``."""

    #: inputs by outputs
    weights: Array
    #: one for each output
    bias: Array
    activation: Activation

    def __call__(self, values: Array) -> Array:
        found = values @ self.weights
        found += self.bias
        return activate(found, self.activation)


def activate(values: Array, activation: Activation) -> Array:
    """The values after the activation, which are changed in place."""
    if activation == "relu":
        np.maximum(values, 0.0, out=values)
    elif activation == "softsign":
        values /= 1.0 + np.abs(values)
    return values


@dataclass(frozen=True, eq=False)
class Network:
    """Dense layers, one behind the other; called on an array, [rows][inputs], it returns [rows][outputs]."""

    layers: tuple[Layer, ...]

    def __call__(self, values: Array) -> Array:
        """A row of outputs for each row of inputs."""
        for layer in self.layers:
            values = layer(values)
        return values

    @property
    def parameters(self) -> int:
        """How many numbers training adjusts: weights and biases of all layers."""
        return sum(layer.weights.size + layer.bias.size for layer in self.layers)


@dataclass(frozen=True, eq=False)
class Weights:
    """Networks whose outputs are averaged, over features scaled to ``(x - mean) / deviation``."""

    #: name of the ranker
    kind: str
    #: name of a set of features, with its version
    features: str
    networks: tuple[Network, ...]
    #: of each feature in the training data
    mean: Array
    #: of each feature in the training data; infinite for one that is always the same there
    deviation: Array
    #: where the numbers come from: ``machines``, ``data``, ``seed`` and ``scores``; anything else may be in it
    card: Mapping[str, Any]
    #: families of the microkernels in the data
    families: tuple[str, ...] = ()
    #: families of the rewrites in the data
    rewrites: tuple[str, ...] = ()
    #: of the machines in the data, as ``processors.architecture`` has them
    architectures: tuple[str, ...] = ()

    def __call__(self, features: Array) -> Array:
        """A row of outputs for each row of features, the same in whatever order the rows come.

        Matrix products may round their last rows in other ways than those before.
        """
        distinct, places = np.unique(features, axis=0, return_inverse=True)
        return self._outputs(distinct)[places.reshape(-1)]

    def _outputs(self, features: Array) -> Array:
        scaled = scale(features, self.mean, self.deviation)
        outputs = [network(scaled) for network in self.networks]
        mean: Array = np.mean(outputs, axis=0, dtype=np.float32)
        return mean

    def to_bytes(self) -> bytes:
        """The content of a file for ``load``. The same weights make the same bytes."""
        about = {"format": FORMAT, "kind": self.kind, "features": self.features, "card": self.card}
        about["families"], about["rewrites"] = list(self.families), list(self.rewrites)
        about["architectures"] = list(self.architectures)
        about["activations"] = [[layer.activation for layer in network.layers] for network in self.networks]
        arrays: dict[str, Any] = {"mean": self.mean, "deviation": self.deviation}
        for number, network in enumerate(self.networks):
            for place, layer in enumerate(network.layers):
                arrays[f"weights_{number}_{place}"] = layer.weights
                arrays[f"bias_{number}_{place}"] = layer.bias
        content = BytesIO()
        np.savez(content, about=np.array(json.dumps(about, sort_keys=True)), **arrays)
        return content.getvalue()


def scale(features: Array, mean: Array, deviation: Array) -> Array:
    """At most ``FARTHEST`` deviations from the mean: beyond, nothing was learned."""
    scaled: Array = np.clip((features - mean) / deviation, -FARTHEST, FARTHEST)
    return scaled


def load(path: Path, *, kind: str, features: str) -> Weights:
    """Read weights. Raises WeightsError for a file that is not there or is none, and for other features."""
    remedy = f"train it anew with `polydl train --ranker {kind}`"
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            arrays = {name: np.asarray(file[name], np.float32) for name in file.files if name != "about"}
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise WeightsError(f"the weights can't be read: {error}", file=str(path), remedy=remedy) from None
    if about.get("kind") != kind:
        raise WeightsError(
            f"these are weights of {about.get('kind')!r}, not of {kind!r}", file=str(path), remedy=remedy
        )
    if about.get("format") != FORMAT:
        what = f"the weights are in format {about.get('format')} of such files, and this polydl reads format {FORMAT}"
        raise WeightsError(what, file=str(path), remedy=remedy)
    if about.get("features") != features:
        raise WeightsError(
            f"these weights were trained on the features {about.get('features')!r}, and this polydl has {features!r}",
            file=str(path),
            remedy=remedy,
        )
    try:
        return _weights(about, arrays)
    except KeyError as error:
        raise WeightsError(f"the weights lack {error}", file=str(path), remedy=remedy) from None


def _weights(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> Weights:
    """The content of a file. Raises KeyError where something is missing."""
    networks = []
    for number, activations in enumerate(about["activations"]):
        layers = [
            Layer(arrays[f"weights_{number}_{place}"], arrays[f"bias_{number}_{place}"], activation)
            for place, activation in enumerate(activations)
        ]
        networks.append(Network(tuple(layers)))
    return Weights(
        about["kind"],
        about["features"],
        tuple(networks),
        arrays["mean"],
        arrays["deviation"],
        about["card"],
        tuple(about["families"]),
        tuple(about["rewrites"]),
        tuple(about["architectures"]),
    )


def network_of(arrays: Sequence[tuple[Any, Any]], activations: Sequence[Activation]) -> Network:
    """A network from pairs of weights and bias, as anything that NumPy takes for an array."""
    return Network(
        tuple(
            Layer(np.asarray(weights, np.float32), np.asarray(bias, np.float32), activation)
            for (weights, bias), activation in zip(arrays, activations, strict=True)
        )
    )

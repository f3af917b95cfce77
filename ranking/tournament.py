"""The paper's tournament (§4.2.2): everyone plays everyone, a network decides each game, wins are counted.

A game's input are both variants' working sets, divided by the sum of all; its outputs, after a softmax, are the
players' chances, and more than ``THRESHOLD`` wins. No game of the n² is a call of its own: they go through the network
in large blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from polydl.ranking.network import Array, Network, activate

# More than a half: of two that are about as fast, neither wins.
THRESHOLD = 0.6
# Chances beyond the threshold, as the difference of the two outputs before the softmax.
_MARGIN = float(np.log(THRESHOLD / (1.0 - THRESHOLD)))
# Up to so many different players everyone plays everyone. Beyond, everyone plays a panel of them, spread evenly over
# all sums of working sets, and then the best play everyone among themselves.
EVERYONE = 400
PANEL = 48
BEST = 256
# Games that go through the network at once, so that they stay in the second-level cache.
_BLOCK = 2048

Counts = np.ndarray[Any, np.dtype[np.int64]]


def wins(network: Network, sets: Array) -> Counts:
    """How often each row of ``sets`` (bytes in L1, L2, L3, memory) wins.

    Equal rows draw among themselves and win the same. The order of the rows doesn't matter: of two players, the one
    with the smaller working sets is the first. After a preliminary round the best are counted far above the others.
    """
    players, inverse, counts = np.unique(sets, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(players.sum(axis=1), kind="stable")
    players, counts = players[order], counts[order].astype(np.int64)
    if len(players) <= EVERYONE:
        won = _all_games(network, players, counts)
    else:
        panel = np.linspace(0, len(players) - 1, PANEL).round().astype(np.int64)
        won = _games_against(network, players, panel)
        best = np.sort(np.argsort(-won, kind="stable")[:BEST])
        won[best] += 1 + won.max() + _all_games(network, players[best], counts[best])
    of_player = np.empty(len(players), np.int64)
    of_player[order] = won
    return of_player[inverse.reshape(-1)]


def _all_games(network: Network, players: Array, counts: Counts) -> Counts:
    """Wins of each player against all later and earlier ones, each counted as often as it occurs."""
    won = np.zeros(len(players), np.int64)
    for first, second in _pairs(len(players)):
        margin = _play(network, players, first, second)
        won += np.bincount(first, weights=counts[second] * (margin > _MARGIN), minlength=len(players)).astype(np.int64)
        won += np.bincount(second, weights=counts[first] * (margin < -_MARGIN), minlength=len(players)).astype(np.int64)
    return won


def _pairs(count: int) -> Iterator[tuple[Counts, Counts]]:
    first, second = np.triu_indices(count, 1)
    for start in range(0, len(first), _BLOCK):
        yield first[start : start + _BLOCK], second[start : start + _BLOCK]


def _games_against(network: Network, players: Array, panel: Counts) -> Counts:
    won = np.zeros(len(players), np.int64)
    everyone = np.repeat(np.arange(len(players)), len(panel))
    against = np.tile(panel, len(players))
    for start in range(0, len(everyone), _BLOCK):
        one, other = everyone[start : start + _BLOCK], against[start : start + _BLOCK]
        margin = _play(network, players, np.minimum(one, other), np.maximum(one, other))
        winner = np.where(one < other, margin > _MARGIN, margin < -_MARGIN) & (one != other)
        won += np.bincount(one, weights=winner, minlength=len(players)).astype(np.int64)
    return won


def _play(network: Network, players: Array, first: Counts, second: Counts) -> Array:
    """The first output minus the second, for each game."""
    both = np.concatenate([players[first], players[second]], axis=1)
    both /= np.maximum(both.sum(axis=1, keepdims=True), 1.0)
    *hidden, last = network.layers
    for layer in hidden:
        both = both @ layer.weights
        both += layer.bias
        activate(both, layer.activation)
    margin: Array = both @ (last.weights[:, 0] - last.weights[:, 1]) + (last.bias[0] - last.bias[1])
    return margin

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How well a language model predicts tokens, as by itself and beside another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._error import ArgumentError

if TYPE_CHECKING:
    from .lm import LanguageModel


_BATCH = 8  # sequences that are computed together


@dataclass
class Comparison:
    """What `compare` has found. Without a reference only the first two are numbers."""

    tokens: int
    """Of all sequences, without the first of each, which nothing predicts."""
    perplexity: float
    reference_perplexity: float = float("nan")
    rise: float = float("nan")
    """By how much the perplexity exceeds the reference's: 0.01 is one percent."""
    cosine: float = float("nan")
    """Between both models' logits, the mean over the tokens."""
    agreement: float = float("nan")
    """The share of tokens in front of which both expect the same one most."""


def _log_softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def _pieces(model: LanguageModel, tokens: NDArray[Any], chunk: int) -> Iterator[NDArray[Any]]:
    """Yields the logits of the tokens, some positions of some sequences at a time."""
    last = tokens.shape[1] - 1  # which predicts nothing
    for row in range(0, len(tokens), _BATCH):
        model.reset()
        for at in range(0, last, chunk):
            piece = tokens[row:row + _BATCH, at:min(at + chunk, last)]
            yield np.asarray(model.logits(piece), np.float32)


def _wanted(tokens: NDArray[Any], chunk: int) -> Iterator[NDArray[Any]]:
    """Yields the tokens that the logits of `_pieces` predict."""
    for row in range(0, len(tokens), _BATCH):
        for at in range(1, tokens.shape[1], chunk):
            yield tokens[row:row + _BATCH, at:at + chunk, None]


def compare(model: LanguageModel, reference: LanguageModel | None, tokens: NDArray[Any], *,
            chunk: int = 256) -> Comparison:
    """Compares a model, as a quantized one, with that it was made of, on tokens: an array [batch,
    length] of sequences, or of rank 1 for one. `chunk` positions are computed at a time, which
    bounds the memory of their logits."""
    tokens = np.atleast_2d(np.asarray(tokens))
    if (tokens.ndim != 2 or tokens.shape[0] < 1 or tokens.shape[1] < 2
            or tokens.dtype.kind not in "iu"):
        raise ArgumentError([f"E10014: tokens of type {tokens.dtype} and shape {tokens.shape} are "
                             "not integers [batch, length] with at least two per sequence"])
    if chunk < 1:
        raise ArgumentError([f"E10001: chunk is {chunk}, which is not at least 1"])
    tokens = tokens.astype(np.int64)
    others = _pieces(reference, tokens, chunk) if reference else None
    sums = np.zeros(4)  # log probabilities of both, cosines, agreements
    for own, wanted in zip(_pieces(model, tokens, chunk), _wanted(tokens, chunk)):
        sums[0] += np.take_along_axis(_log_softmax(own), wanted, -1).sum()
        if others is None:
            continue
        other = next(others)
        if other.shape != own.shape:
            raise ArgumentError([f"E10014: the models have {own.shape[-1]} and {other.shape[-1]} "
                                 "tokens: they cannot be compared"])
        sums[1] += np.take_along_axis(_log_softmax(other), wanted, -1).sum()
        norms = np.linalg.norm(own, axis=-1) * np.linalg.norm(other, axis=-1)
        sums[2] += (np.einsum("bsv,bsv->bs", own, other) / np.maximum(norms, 1e-30)).sum()
        sums[3] += (own.argmax(-1) == other.argmax(-1)).sum()
    count = tokens.shape[0] * (tokens.shape[1] - 1)
    means = sums / count
    result = Comparison(count, float(np.exp(-means[0])))
    if others is not None:
        result.reference_perplexity = float(np.exp(-means[1]))
        result.rise = float(np.expm1(means[1] - means[0]))
        result.cosine, result.agreement = float(means[2]), float(means[3])
    return result


def in_pieces(text: NDArray[Any], length: int) -> NDArray[Any]:
    """Cuts one long sequence, an array of rank 1, into sequences of so many tokens; what is left
    behind the last one does not count. Others stay as they are."""
    if text.ndim != 1 or len(text) <= length:
        return text
    return text[:len(text) // length * length].reshape(-1, length)


def own_samples(model: LanguageModel, samples: int, length: int, seed: int) -> NDArray[np.int64]:
    """Returns sequences that a model draws at temperature 1, each behind a token that is drawn
    evenly."""
    if samples < 1 or length < 2:
        raise ArgumentError([f"E10001: {samples} samples of {length} tokens are asked for: at least "
                             "1 of 2 are needed"])
    vocabulary = model.logits(np.zeros((1, 1), np.int64)).shape[-1]
    starts = np.random.default_rng(seed).integers(vocabulary, size=(samples, 1))
    rows = model.generate(starts.tolist(), max_new_tokens=length - 1, temperature=1.0, seed=seed,
                          stop_tokens=())
    return np.concatenate([starts, np.array(rows, np.int64)], axis=1)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How language models choose tokens, and what that takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._error import ArgumentError


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen.

    A `temperature` of 0 takes the most likely token (of several the one with the lowest number).
    Above 0, logits are divided by it and a token is drawn: from the `top_k` most likely ones
    (0: from all), and of these from the fewest whose probabilities add up to `top_p`.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        errors = []
        if not (np.isfinite(self.temperature) and self.temperature >= 0):
            errors.append(f"E10001: temperature is {self.temperature}, which is not 0 or positive")
        if self.top_k < 0:
            errors.append(f"E10001: top_k is {self.top_k}, which is negative")
        if not 0 < self.top_p <= 1:
            errors.append(f"E10001: top_p is {self.top_p}, which is not above 0 and at most 1")
        if errors:
            raise ArgumentError(errors)

    def choose(self, logits: NDArray[Any], random: np.random.Generator) -> int:
        """Returns a token for the logits of one position, an array of rank 1."""
        if self.temperature == 0:
            return int(np.argmax(logits))
        order = np.argsort(-logits, kind="stable")
        if self.top_k:
            order = order[:self.top_k]
        # Differences are divided: quotients by a tiny temperature would all be infinite.
        likely = logits[order].astype(np.float64)
        with np.errstate(over="ignore"):
            weights = np.exp((likely - likely[0]) / self.temperature)
        weights /= weights.sum()
        if self.top_p < 1:
            # The token that reaches top_p is the last one.
            count = int(np.searchsorted(np.cumsum(weights), self.top_p)) + 1
            weights = weights[:count] / weights[:count].sum()
        return int(order[random.choice(len(weights), p=weights)])


@dataclass
class Timing:
    """What the last generation took."""

    prompt_tokens: int = 0
    prefill_seconds: float = 0.0
    new_tokens: int = 0
    decode_seconds: float = 0.0
    """Of the tokens behind the first, which the prefill gives."""

    @property
    def tokens_per_second(self) -> float:
        """Tokens per second of a sequence after the prefill; 0 where there were none."""
        return (self.new_tokens - 1) / self.decode_seconds if self.decode_seconds > 0 else 0.0

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models: text or tokens in, the tokens that follow out.

    import openatc.lm
    model = openatc.lm.load("llama.om", tokenizer="tokenizer.json")
    print(model.generate("Once upon a time", max_new_tokens=50))
    for piece in model.stream("Once upon a time", temperature=0.8, top_p=0.95, seed=1):
        print(piece, end="", flush=True)

The model is a decoder with logits as an output and, as a rule, a cache of keys and values that it
declares as its state (`openatc.Model.states`): docs/language-models.md describes the form.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from ._error import ArgumentError
from ._runtime import Model, Session

Path = Union[str, "os.PathLike[str]"]
Prompt = Union[str, Sequence[int]]

__all__ = ["LanguageModel", "Sampling", "Timing", "load"]


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
        scaled = logits[order].astype(np.float64) / self.temperature
        weights = np.exp(scaled - scaled[0])
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


def load(path: Path | Model, *, tokenizer: Any = None, threads: int = 0,
         target_cpu: str = "host", max_memory: int = 0) -> LanguageModel:
    """Opens a language model: an `.om` file, an opened Model, or an ONNX file, which is compiled
    first (for `target_cpu`; openatc.compile keeps the result).

    `tokenizer` is the path of a tokenizer.json, for which the package `tokenizers` is needed, or
    an object with `encode(text)`, whose result is a list of tokens or has them as `ids`, and
    `decode(tokens)`. Without one prompts are lists of tokens. `threads` and `max_memory` are
    those of openatc.Session.
    """
    if isinstance(path, Model):
        model = path
    elif os.fspath(path).endswith(".om"):
        model = Model(path)
    else:
        from ._compile import compile as compile_model
        model = compile_model(path, target_cpu=target_cpu)
    return LanguageModel(model, tokenizer=tokenizer, threads=threads, max_memory=max_memory)


def _open_tokenizer(tokenizer: Any) -> Any:
    if not isinstance(tokenizer, (str, os.PathLike)):
        return tokenizer
    if not os.path.isfile(tokenizer):
        raise ArgumentError([f"E10001: the tokenizer's file '{os.fspath(tokenizer)}' does not "
                             "exist"])
    try:
        from tokenizers import Tokenizer  # type: ignore[import-not-found]
    except ImportError as error:
        raise ArgumentError(["E10001: a tokenizer in a file needs the Python package 'tokenizers': "
                             "install it, or give an object with encode and decode"]) from error
    return Tokenizer.from_file(os.fspath(tokenizer))


class LanguageModel:
    """A decoder and its session. One generation at a time; `load` makes it."""

    def __init__(self, model: Model, *, tokenizer: Any = None, threads: int = 0,
                 max_memory: int = 0) -> None:
        self.model = model
        self.tokenizer = _open_tokenizer(tokenizer)
        self.timing = Timing()
        """What the last generation took."""
        self._states = set(model.states)
        names = [port.name for port in model.inputs if port.name not in self._states]
        self._ids = "input_ids" if "input_ids" in names else names[0] if names else ""
        known = {self._ids, "attention_mask", "position_ids", "use_cache_branch"}
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            raise ArgumentError([
                f"E10017: input '{name}' is none of a language model, which are input_ids, "
                "attention_mask, position_ids and states; compile the model with --state where it "
                "is a cache" for name in unknown] or ["E10017: the model has no input"])
        self._inputs = {port.name: port for port in model.inputs if port.name in names}
        self._logits = self._find_logits()
        self.session = Session(model, threads=threads, max_memory=max_memory)
        if self._states:
            self.session.keep_state = True
        self._lengths = np.zeros(0, np.int64)  # tokens of each sequence so far
        self._mask = np.zeros((0, 0), np.int64)
        self._history = np.zeros((0, 0), np.int64)  # without a cache: all tokens
        self._ended = False
        self._pending: list[int | None] = []  # the last tokens, which the model has not read

    def _find_logits(self) -> str:
        taken = set(self.model.states.values())
        names = [port.name for port in self.model.outputs if port.name not in taken]
        if not names:
            raise ArgumentError(["E10017: the model has no output besides its states"])
        return "logits" if "logits" in names else names[0]

    def reset(self) -> None:
        """Forgets the sequences so far."""
        if self._states:
            self.session.reset_state()
        self._lengths = np.zeros(0, np.int64)
        self._mask = np.zeros((0, 0), np.int64)
        self._history = np.zeros((0, 0), np.int64)
        self._pending = []

    # ---- runs --------------------------------------------------------------------------------

    def _array(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(values, self._inputs[name].numpy_dtype)

    def logits(self, tokens: NDArray[Any], mask: NDArray[Any] | None = None) -> NDArray[Any]:
        """Appends tokens, an array [batch, length], to the sequences and returns the logits
        [batch, length, vocabulary] of what follows each.

        `mask` has the same shape: 0 is padding, which is skipped. `reset` begins anew.
        """
        tokens = np.asarray(tokens, np.int64)
        if tokens.ndim != 2 or not tokens.size:
            raise ArgumentError([f"E10014: tokens have the shape {tokens.shape}, which is not "
                                 "[batch, length] with at least one token"])
        mask = np.ones_like(tokens) if mask is None else np.asarray(mask, np.int64)
        if mask.shape != tokens.shape:
            raise ArgumentError([f"E10014: the mask has the shape {mask.shape}, the tokens have "
                                 f"{tokens.shape}"])
        if not self._lengths.size:
            empty = np.zeros((len(tokens), 0), np.int64)
            lengths, before, history = np.zeros(len(tokens), np.int64), empty, empty
        else:
            lengths, before, history = self._lengths, self._mask, self._history
        if len(lengths) != len(tokens):
            raise ArgumentError([f"E10014: {len(tokens)} sequences are given after "
                                 f"{len(lengths)}: reset() begins others"])
        if not mask.all() and "attention_mask" not in self._inputs:
            raise ArgumentError(["E10014: the model has no input attention_mask, so that "
                                 "sequences of different length cannot be in one batch"])
        whole = np.concatenate([before, mask], axis=1)
        length = tokens.shape[1]
        if not self._states:
            history = np.concatenate([history, tokens], axis=1)
            tokens = history
        positions = np.maximum(np.cumsum(whole, axis=1) - 1, 0)[:, -tokens.shape[1]:]
        given = {self._ids: tokens, "attention_mask": whole, "position_ids": positions,
                 "use_cache_branch": np.array([before.shape[1] > 0 and bool(self._states)])}
        inputs = {name: self._array(name, given[name]) for name in self._inputs}
        logits = self.session.run(inputs)[self._logits]
        self._lengths, self._mask, self._history = lengths + mask.sum(axis=1), whole, history
        return np.asarray(logits)[:, -length:] if logits.ndim == 3 else np.asarray(logits)[:, None]

    # ---- generation --------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether the last generation ended with stop tokens in all sequences, and not because it
        had reached max_new_tokens."""
        return self._ended

    def encode(self, prompt: Prompt) -> list[int]:
        """Returns the tokens of a text, which needs a tokenizer; tokens stay as they are."""
        if not isinstance(prompt, str):
            return [int(token) for token in prompt]
        if self.tokenizer is None:
            raise ArgumentError(["E10014: a prompt is text, but the model has no tokenizer: give "
                                 "load() one, or a prompt of tokens"])
        encoded = self.tokenizer.encode(prompt)
        return list(getattr(encoded, "ids", encoded))

    def _steps(self, prompts: list[list[int]], sampling: Sampling, seed: int | None,
               stop: frozenset[int], max_new_tokens: int, continued: bool,
               chunk: int) -> Iterator[list[int | None]]:
        """Yields a token per sequence and step; None where a sequence has ended."""
        if not prompts or any(not prompt for prompt in prompts):
            raise ArgumentError(["E10014: a prompt has no tokens"])
        if not continued:
            self.reset()
        elif self._pending and len(self._pending) == len(prompts):
            prompts = [prompt if token is None else [token, *prompt]
                       for token, prompt in zip(self._pending, prompts)]
        longest = max(len(prompt) for prompt in prompts)
        tokens = np.zeros((len(prompts), longest), np.int64)
        mask = np.zeros_like(tokens)
        for row, prompt in enumerate(prompts):
            tokens[row, longest - len(prompt):] = prompt
            mask[row, longest - len(prompt):] = 1
        randoms = [np.random.default_rng(None if seed is None else [seed, row])
                   for row in range(len(prompts))]
        self._ended = False
        self.timing = timing = Timing(prompt_tokens=sum(len(prompt) for prompt in prompts))
        begin = time.perf_counter()
        step = chunk if self._states else longest
        for at in range(0, longest, step):
            logits = self.logits(tokens[:, at:at + step], mask[:, at:at + step])
        timing.prefill_seconds = time.perf_counter() - begin
        active = [True] * len(prompts)
        for count in range(max_new_tokens):
            if count:
                begin = time.perf_counter()
                read = np.array([[token is not None] for token in chosen], np.int64)
                logits = self.logits(np.array([[token or 0] for token in chosen]),
                                     read if "attention_mask" in self._inputs else None)
                timing.decode_seconds += time.perf_counter() - begin
            last = logits[:, -1].astype(np.float32, copy=False)
            chosen: list[int | None] = [
                sampling.choose(last[row], randoms[row]) if active[row] else None
                for row in range(len(prompts))]
            active = [token is not None and token not in stop for token in chosen]
            timing.new_tokens = count + 1
            self._pending = chosen
            self._ended = not any(active)
            yield chosen
            if self._ended:
                return

    def _begin(self, prompt: Prompt | Sequence[Prompt], max_new_tokens: int,
               stop_tokens: Sequence[int], seed: int | None, continued: bool, chunk: int,
               sampling: Sampling) -> tuple[bool, bool, Iterator[list[int | None]]]:
        """Returns whether there is one prompt, whether it is text, and the steps."""
        if max_new_tokens < 0 or chunk < 1:
            raise ArgumentError([f"E10001: max_new_tokens is {max_new_tokens} and chunk {chunk}, "
                                 "which are not at least 0 and 1"])
        single = isinstance(prompt, str) or (
            len(prompt) > 0 and isinstance(prompt[0], (int, np.integer)))
        prompts: Any = [prompt] if single else list(prompt)
        text = bool(prompts) and all(isinstance(each, str) for each in prompts)
        encoded = [self.encode(each) for each in prompts]
        return single, text, self._steps(encoded, sampling, seed, frozenset(stop_tokens),
                                         max_new_tokens, continued, chunk)

    def stream(self, prompt: Prompt, *, max_new_tokens: int = 128, temperature: float = 0.0,
               top_k: int = 0, top_p: float = 1.0, seed: int | None = None,
               stop_tokens: Sequence[int] = (), continued: bool = False,
               chunk: int = 256, as_text: bool | None = None) -> Iterator[Any]:
        """Yields each token as soon as it is known; for a prompt of text, or with `as_text`, the
        text that it adds.

        The other arguments are those of `generate`. To leave the loop early is allowed.
        """
        sampling = Sampling(temperature, top_k, top_p)
        single, text, steps = self._begin(prompt, max_new_tokens, stop_tokens, seed, continued,
                                          chunk, sampling)
        if not single:
            raise ArgumentError(["E10014: stream() takes one prompt; generate() takes several"])
        return self._pieces(steps, text if as_text is None else as_text, frozenset(stop_tokens))

    def _pieces(self, steps: Iterator[list[int | None]], text: bool,
                stop: frozenset[int]) -> Iterator[Any]:
        tokens: list[int] = []
        shown = ""
        for (token,) in steps:
            if not text:
                yield token
                continue
            if token in stop:
                continue
            tokens.append(int(token or 0))
            whole = self.tokenizer.decode(tokens)
            # A character of several tokens is not text before its last one.
            if whole.endswith("\ufffd"):
                continue
            yield whole[len(shown):]
            shown = whole

    def generate(self, prompt: Prompt | Sequence[Prompt], *, max_new_tokens: int = 128,
                 temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0,
                 seed: int | None = None, stop_tokens: Sequence[int] = (),
                 continued: bool = False, chunk: int = 256) -> Any:
        """Returns what follows a prompt: tokens for a list of tokens, text for text. A list of
        prompts, of any lengths, is one batch and gives a list.

        A sequence ends behind a token of `stop_tokens`, which is part of the tokens and not of
        the text, or after `max_new_tokens`. `temperature`, `top_k` and `top_p` are those of
        Sampling; `seed` makes the draws reproducible, each sequence's independently of the
        others. With `continued` the prompt goes on behind what was generated before. A prompt is
        run in pieces of `chunk` tokens, which bounds the memory of its logits.
        """
        sampling = Sampling(temperature, top_k, top_p)
        single, text, steps = self._begin(prompt, max_new_tokens, stop_tokens, seed, continued,
                                          chunk, sampling)
        rows: list[list[int]] = []
        for chosen in steps:
            rows = rows or [[] for _ in chosen]
            for row, token in zip(rows, chosen):
                if token is not None:
                    row.append(token)
        rows = rows or [[] for _ in range(1 if single else len(prompt))]
        stop = frozenset(stop_tokens)
        results = [self.tokenizer.decode([token for token in row if token not in stop])
                   if text else row for row in rows]
        return results[0] if single else results

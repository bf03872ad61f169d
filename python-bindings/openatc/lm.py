# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models: text or tokens in, the tokens that follow out.

    import openatc.lm
    model = openatc.lm.load("llama.om", tokenizer="tokenizer.json")
    print(model.generate("Once upon a time", max_new_tokens=50))
    for piece in model.stream("Once upon a time", temperature=0.8, top_p=0.95, seed=1):
        print(piece, end="", flush=True)

The model is a decoder with logits as an output and, as a rule, a cache of keys and values that it
declares as its state (`openatc.Model.states`): docs/language-models.md describes the form. With an
encoder in front of it, it is an `EncoderDecoder`.
"""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from ._error import ArgumentError
from ._lm_folder import MAX_TOKEN, Folder
from ._lm_quality import Comparison, compare
from ._runtime import Model, Session
from ._sampling import Sampling, Timing

Path = Union[str, "os.PathLike[str]"]
Prompt = Union[str, Sequence[int]]

__all__ = ["Comparison", "EncoderDecoder", "LanguageModel", "Sampling", "Timing", "compare", "load"]


def _open(path: Path | Model, target_cpu: str) -> Model:
    if isinstance(path, Model):
        return path
    if os.fspath(path).endswith(".om"):
        return Model(path)
    from ._compile import compile as compile_model
    return compile_model(path, target_cpu=target_cpu)


def load(path: Path | Model, *, encoder: Path | Model | None = None,
         with_past: Path | Model | None = None, tokenizer: Any = None, threads: int = 0,
         target_cpu: str = "host", max_memory: int = 0) -> LanguageModel:
    """Opens a language model: an `.om` file, an opened Model, an ONNX file, which is compiled
    first (for `target_cpu`; openatc.compile keeps the result), or a folder of these as exporters
    write it, with its tokenizer.json and the stop tokens of its configuration.

    With an `encoder` the model is an EncoderDecoder. `with_past` is the decoder of later steps,
    where the one at `path` takes no cache. `tokenizer` is the path of a tokenizer.json, for which
    the package `tokenizers` is needed, or an object with `encode(text)`, whose result is a list of
    tokens or has them as `ids`, and `decode(tokens)`. Without one prompts are lists of tokens.
    `threads` and `max_memory` are those of openatc.Session.
    """
    folder = Folder()
    if not isinstance(path, Model) and os.path.isdir(path):
        folder = Folder.read(path)
        path = folder.decoder
        encoder, with_past = encoder or folder.encoder, with_past or folder.with_past
        tokenizer = tokenizer or folder.tokenizer
    options: dict[str, Any] = dict(tokenizer=tokenizer, threads=threads, max_memory=max_memory,
                                   stop_tokens=folder.stop_tokens)
    model = _open(path, target_cpu)
    if with_past is not None:
        options["first"] = model
        model = _open(with_past, target_cpu)
    if encoder is None:
        return LanguageModel(model, **options)
    return EncoderDecoder(model, _open(encoder, target_cpu), start_tokens=folder.start_tokens,
                          **options)


def _open_tokenizer(tokenizer: Any) -> Any:
    if not isinstance(tokenizer, (str, os.PathLike)):
        return tokenizer
    if not os.path.isfile(tokenizer):
        raise ArgumentError([f"E10001: the tokenizer's file '{os.fspath(tokenizer)}' does not "
                             "exist"])
    try:
        from tokenizers import Tokenizer  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ArgumentError(["E10001: a tokenizer in a file needs the Python package 'tokenizers': "
                             "install it, or give an object with encode and decode"]) from error
    try:
        return Tokenizer.from_file(os.fspath(tokenizer))
    except Exception as error:  # the package raises no other class
        raise ArgumentError([f"E10014: '{os.fspath(tokenizer)}' is no tokenizer: {error}"]) from error


def _token(given: Any) -> int:
    try:
        token = operator.index(given)  # also a scalar of NumPy or PyTorch
    except TypeError:
        token = MAX_TOKEN + 1
    if not -MAX_TOKEN <= token <= MAX_TOKEN:
        raise ArgumentError([f"E10014: a prompt has the token {given!r:.80}, which is no integer of "
                             "64 bits"])
    return token


def _is_scalar(given: Any) -> bool:
    # Arrays without dims can have the method, too.
    return not hasattr(given, "__iter__") or getattr(given, "ndim", 1) == 0


def _tokens(prompt: Any) -> list[int]:
    return [_token(each) for each in prompt]


def _token_array(given: Any) -> NDArray[np.int64]:
    try:
        tokens = np.asarray(given)
    except ValueError as error:  # rows of different length
        raise ArgumentError([f"E10014: tokens are no array [batch, length]: {error}"]) from None
    if tokens.dtype.kind not in "iu" or tokens.dtype == np.uint64:
        # Integers beyond 64 bits are objects, those beyond 63 are unsigned.
        tokens = np.array([_token(each) for each in tokens.flat],
                          np.int64).reshape(tokens.shape)
    return tokens.astype(np.int64, copy=False)


class LanguageModel:
    """A decoder and its session. One generation at a time; `load` makes it."""

    def __init__(self, model: Model, *, tokenizer: Any = None, threads: int = 0,
                 max_memory: int = 0, first: Model | None = None,
                 stop_tokens: Sequence[int] = ()) -> None:
        """Opens sessions. `first` computes the first step, whose caches `model` goes on with."""
        self.model = model
        self.tokenizer = _open_tokenizer(tokenizer)
        self.stop_tokens = tuple(stop_tokens)
        """The tokens that end a sequence where a call gives no others."""
        self.timing = Timing()
        """What the last generation took."""
        self._states = dict(model.states)
        self._inputs = self._inputs_of(model, self._states)
        self._first_inputs = self._inputs_of(first, {}) if first else {}
        self._ids = next((name for name in ("input_ids", "decoder_input_ids")
                          if name in self._inputs), next(iter(self._inputs)))
        self._check_inputs({**self._first_inputs, **self._inputs})
        self._logits = self._find_logits()
        self.session = Session(model, threads=threads, max_memory=max_memory)
        self._first = Session(first, threads=threads, max_memory=max_memory) if first else None
        if self._states:
            self.session.keep_state = True
        # GroupQueryAttention counts a sequence's tokens, which begin its row of the cache.
        self._pads_right = any(launch.kernel == "GroupQueryAttention" for launch in model.launches)
        self._lengths = np.zeros(0, np.int64)  # tokens of each sequence so far
        self._mask = np.zeros((0, 0), np.int64)
        self._history = np.zeros((0, 0), np.int64)  # without a cache: all tokens
        self._ended = False
        self._pending: list[int | None] = []  # the last tokens, which the model has not read

    @staticmethod
    def _inputs_of(model: Model, states: dict[str, str]) -> dict[str, Any]:
        inputs = {port.name: port for port in model.inputs if port.name not in states}
        if not inputs:
            raise ArgumentError(["E10017: the model has no input besides its states"])
        return inputs

    def _check_inputs(self, inputs: dict[str, Any]) -> None:
        known = {self._ids, "attention_mask", "decoder_attention_mask", "position_ids",
                 "cache_position", "use_cache_branch"}
        unknown = [name for name in inputs if name not in known and not self._supplies(name)]
        if unknown:
            raise ArgumentError([
                f"E10017: input '{name}' is none of a language model, which are input_ids, "
                "attention_mask, position_ids, cache_position and states; compile the model with "
                "--state where it is a cache, and give load() an encoder where it reads one's "
                "results" for name in unknown])

    def _supplies(self, name: str) -> bool:
        """Returns whether values of an input come from elsewhere than the tokens."""
        return False

    def _values(self, batch: int) -> dict[str, Any]:
        """Returns the values of these inputs."""
        return {}

    def _keep(self, results: dict[str, Any]) -> None:
        """Reads the outputs of a step."""

    def _find_logits(self) -> str:
        taken = set(self._states.values())
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

    @property
    def _has_mask(self) -> bool:
        return not {"attention_mask", "decoder_attention_mask"}.isdisjoint(self._inputs)

    def _run(self, given: dict[str, Any], is_first: bool) -> NDArray[Any]:
        """Runs a step with the inputs of these that the model has, and returns its logits."""
        def arrays(ports: dict[str, Any]) -> dict[str, Any]:
            return {name: np.ascontiguousarray(given[name], port.numpy_dtype)
                    for name, port in ports.items()}

        if not (self._first and is_first):
            results = self.session.run(arrays(self._inputs))
        else:
            results = self._first.run(arrays(self._first_inputs))
            missing = [name for name in self._states.values() if name not in results]
            if missing:
                raise ArgumentError([f"E10017: the model of the first step has no output "
                                     f"'{missing[0]}', which the one with a past goes on with"])
            self.session.write_state({name: np.asarray(results[output])
                                      for name, output in self._states.items()})
        self._keep(results)
        return np.asarray(results[self._logits])

    def logits(self, tokens: NDArray[Any], mask: NDArray[Any] | None = None) -> NDArray[Any]:
        """Appends tokens, an array [batch, length], to the sequences and returns the logits
        [batch, length, vocabulary] of what follows each.

        `mask` has the same shape: 0 is padding, which is skipped. `reset` begins anew.
        """
        tokens = _token_array(tokens)
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
        if not mask.all() and not self._has_mask:
            raise ArgumentError(["E10014: the model has no input attention_mask, so that "
                                 "sequences of different length cannot be in one batch"])
        whole = np.concatenate([before, mask], axis=1)
        length = tokens.shape[1]
        if not self._states:
            history = np.concatenate([history, tokens], axis=1)
            tokens = history
        positions = np.maximum(np.cumsum(whole, axis=1) - 1, 0)[:, -tokens.shape[1]:]
        past = before.shape[1] if self._states else 0
        logits = self._run({
            self._ids: tokens, "attention_mask": whole, "decoder_attention_mask": whole,
            "position_ids": positions, "cache_position": np.arange(past, past + tokens.shape[1]),
            "use_cache_branch": np.array([past > 0]), **self._values(len(tokens))},
            before.shape[1] == 0)
        self._lengths, self._mask, self._history = lengths + mask.sum(axis=1), whole, history
        return logits[:, -length:] if logits.ndim == 3 else logits[:, None]

    # ---- generation --------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether the last generation ended with stop tokens in all sequences, and not because it
        had reached max_new_tokens."""
        return self._ended

    def encode(self, prompt: Prompt) -> list[int]:
        """Returns the tokens of a text, which needs a tokenizer; tokens stay as they are."""
        if not isinstance(prompt, str):
            return _tokens(prompt)
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
        differ = any(len(prompt) < longest for prompt in prompts)
        if self._pads_right and continued and len(prompts) > 1:
            raise ArgumentError(["E10014: a model with GroupQueryAttention continues one sequence "
                                 f"at a time, not {len(prompts)}"])
        tokens = np.zeros((len(prompts), longest), np.int64)
        mask = np.zeros_like(tokens)
        for row, prompt in enumerate(prompts):
            begin = 0 if self._pads_right else longest - len(prompt)
            tokens[row, begin:begin + len(prompt)] = prompt
            mask[row, begin:begin + len(prompt)] = 1
        randoms = [np.random.default_rng(None if seed is None else [seed, row])
                   for row in range(len(prompts))]
        self._ended = False
        self.timing = timing = Timing(prompt_tokens=sum(len(prompt) for prompt in prompts))
        started = time.perf_counter()
        whole = not self._states or (self._pads_right and differ)
        step = longest if whole else chunk
        for at in range(0, longest, step):
            logits = self.logits(tokens[:, at:at + step], mask[:, at:at + step])
        if self._pads_right and differ:
            ends = np.array([len(prompt) - 1 for prompt in prompts])
            logits = np.take_along_axis(logits, ends[:, None, None], axis=1)
        timing.prefill_seconds = time.perf_counter() - started
        active = [True] * len(prompts)
        for count in range(max_new_tokens):
            if count:
                started = time.perf_counter()
                read = np.array([[token is not None] for token in chosen], np.int64)
                logits = self.logits(np.array([[token or 0] for token in chosen]),
                                     read if self._has_mask else None)
                timing.decode_seconds += time.perf_counter() - started
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

    def _stops(self, given: Sequence[int] | None) -> frozenset[int]:
        return frozenset(self.stop_tokens if given is None else given)

    def _begin(self, prompt: Prompt | Sequence[Prompt], max_new_tokens: int,
               stop: frozenset[int], seed: int | None, continued: bool, chunk: int,
               sampling: Sampling) -> tuple[bool, bool, Iterator[list[int | None]]]:
        """Returns whether there is one prompt, whether it is text, and the steps."""
        if max_new_tokens < 0 or chunk < 1:
            raise ArgumentError([f"E10001: max_new_tokens is {max_new_tokens} and chunk {chunk}, "
                                 "which are not at least 0 and 1"])
        if seed is not None and seed < 0:
            raise ArgumentError([f"E10001: seed is {seed}, which is negative"])
        single, text, encoded = self._read(prompt, continued)
        return single, text, self._steps(encoded, sampling, seed, stop, max_new_tokens,
                                         continued, chunk)

    def _read(self, prompt: Any, continued: bool) -> tuple[bool, bool, list[list[int]]]:
        """Returns whether there is one prompt, whether it is text, and the decoder's tokens."""
        single = isinstance(prompt, str) or (len(prompt) > 0 and _is_scalar(prompt[0]))
        prompts: Any = [prompt] if single else list(prompt)
        text = bool(prompts) and all(isinstance(each, str) for each in prompts)
        return single, text, [self.encode(each) for each in prompts]

    def stream(self, prompt: Prompt, *, max_new_tokens: int = 128, temperature: float = 0.0,
               top_k: int = 0, top_p: float = 1.0, seed: int | None = None,
               stop_tokens: Sequence[int] | None = None, continued: bool = False,
               chunk: int = 256, as_text: bool | None = None) -> Iterator[Any]:
        """Yields each token as soon as it is known; for a prompt of text, or with `as_text`, the
        text that it adds.

        The other arguments are those of `generate`. To leave the loop early is allowed.
        """
        sampling = Sampling(temperature, top_k, top_p)
        stop = self._stops(stop_tokens)
        single, text, steps = self._begin(prompt, max_new_tokens, stop, seed, continued, chunk,
                                          sampling)
        if not single:
            raise ArgumentError(["E10014: stream() takes one prompt; generate() takes several"])
        return self._pieces(steps, text if as_text is None else as_text, stop)

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
                 seed: int | None = None, stop_tokens: Sequence[int] | None = None,
                 continued: bool = False, chunk: int = 256) -> Any:
        """Returns what follows a prompt: tokens for a list of tokens, text for text. A list of
        prompts, of any lengths, is one batch and gives a list.

        A sequence ends behind a token of `stop_tokens`, which is part of the tokens and not of
        the text (None: of those of the model), or after `max_new_tokens`. `temperature`, `top_k` and `top_p` are those of
        Sampling; `seed` makes the draws reproducible, each sequence's independently of the
        others. With `continued` the prompt goes on behind what was generated before. A prompt is
        run in pieces of `chunk` tokens, which bounds the memory of its logits.
        """
        sampling = Sampling(temperature, top_k, top_p)
        stop = self._stops(stop_tokens)
        single, text, steps = self._begin(prompt, max_new_tokens, stop, seed, continued, chunk,
                                          sampling)
        rows: list[list[int]] = []
        for chosen in steps:
            rows = rows or [[] for _ in chosen]
            for row, token in zip(rows, chosen):
                if token is not None:
                    row.append(token)
        rows = rows or [[] for _ in range(1 if single else len(prompt))]
        results = [self.tokenizer.decode([token for token in row if token not in stop])
                   if text else row for row in rows]
        return results[0] if single else results

    # ---- quality -----------------------------------------------------------------------------

    def perplexity(self, tokens: NDArray[Any], *, chunk: int = 256) -> float:
        """Returns the perplexity of tokens, an array [batch, length]: to the power of minus one,
        the geometric mean of the probabilities that the model gives to each behind the first."""
        return compare(self, None, tokens, chunk=chunk).perplexity


class EncoderDecoder(LanguageModel):
    """A decoder that reads what an encoder has computed from the prompt, as T5, BART and Whisper.

    Prompts are texts or tokens, or for encoders of sound and pictures arrays of floats: one as the
    encoder takes it, or without the batch. Answers begin behind `start_tokens`; caches of what the
    encoder has computed are inputs and no states: past_key_values.*.encoder.* are outputs of the
    decoder's first step, others outputs of the encoder, past_key_cross_0 of present_key_cross_0.
    """

    def __init__(self, model: Model, encoder: Model, *, start_tokens: Sequence[int] = (0,),
                 threads: int = 0, max_memory: int = 0, **options: Any) -> None:
        made = {port.name for port in encoder.outputs}
        self._encoded = {port.name: output for port in model.inputs
                         if (output := port.name.replace("past", "present", 1)) in made}
        super().__init__(model, threads=threads, max_memory=max_memory, **options)
        self.encoder = Session(encoder, threads=threads, max_memory=max_memory)
        self.start_tokens = tuple(start_tokens)
        """The decoder's tokens in front of each answer."""
        self._encoder_inputs = {port.name: port for port in encoder.inputs}
        self._context: dict[str, Any] = {}
        self._cross: dict[str, Any] = {}

    def _supplies(self, name: str) -> bool:
        return name.startswith("encoder_") or ".encoder." in name or name in self._encoded

    def _values(self, batch: int) -> dict[str, Any]:
        def nothing(port: Any) -> NDArray[Any]:
            _, *dims = port.numpy_shape
            return np.zeros([batch, *(max(dim, 0) for dim in dims)], port.numpy_dtype)

        caches = {name: nothing(port) for name, port in self._inputs.items()
                  if ".encoder." in name and name not in self._cross}
        return {**caches, **self._context, **self._cross}

    def _keep(self, results: dict[str, Any]) -> None:
        # Later steps need not compute these again: what they return does not count.
        if not self._cross:
            self._cross = {name: results[output] for name in self._inputs if ".encoder." in name
                           for output in [name.replace("past_key_values", "present", 1)]
                           if output in results}

    def reset(self) -> None:
        super().reset()
        self._cross = {}

    def _read(self, prompt: Any, continued: bool) -> tuple[bool, bool, list[list[int]]]:
        if continued:
            raise ArgumentError(["E10014: an encoder reads a prompt as a whole: continued is for "
                                 "models without one"])
        array = prompt if isinstance(prompt, np.ndarray) and prompt.dtype.kind == "f" else None
        if array is None:
            single, text, prompts = super()._read(prompt, continued)
            if not prompts or any(not each for each in prompts):
                raise ArgumentError(["E10014: a prompt has no tokens"])
            given = self._padded(prompts)
        else:
            name, port = next(iter(self._encoder_inputs.items()))
            if np.dtype(port.numpy_dtype).kind in "iu":
                raise ArgumentError([f"E10014: the encoder's input '{name}' is integers, and the "
                                     "prompt is an array of floats: give tokens or text"])
            single, text = array.ndim == len(port.numpy_shape) - 1, self.tokenizer is not None
            given = {name: array[None] if single else array}
        self._context = self._encode(given)
        batch = len(next(iter(given.values())))
        return single, text, [list(self.start_tokens) for _ in range(batch)]

    def _padded(self, prompts: list[list[int]]) -> dict[str, NDArray[Any]]:
        longest = max(len(prompt) for prompt in prompts)
        tokens = np.zeros((len(prompts), longest), np.int64)
        mask = np.zeros_like(tokens)
        for row, prompt in enumerate(prompts):
            tokens[row, :len(prompt)] = prompt
            mask[row, :len(prompt)] = 1
        if not mask.all() and "attention_mask" not in self._encoder_inputs:
            raise ArgumentError(["E10014: the encoder has no input attention_mask, so that "
                                 "prompts of different length cannot be in one batch"])
        return {"input_ids": tokens, "attention_mask": mask}

    def _encode(self, given: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Runs the encoder, and returns what the decoder reads in all steps."""
        batch = len(next(iter(given.values())))
        missing = [name for name in self._encoder_inputs if name not in {"attention_mask", *given}]
        if missing:
            raise ArgumentError([f"E10014: the encoder's input '{missing[0]}' is none of what a "
                                 f"prompt gives: {', '.join(given)}"])
        inputs = {name: np.ascontiguousarray(given[name], port.numpy_dtype)
                  for name, port in self._encoder_inputs.items() if name in given}
        if "attention_mask" in self._encoder_inputs and "attention_mask" not in inputs:
            length = next(iter(given.values())).shape[-1]
            inputs["attention_mask"] = np.ones(
                (batch, length), self._encoder_inputs["attention_mask"].numpy_dtype)
        results = self.encoder.run(inputs)
        hidden = np.asarray(next(iter(results.values())))
        mask = given.get("attention_mask", np.ones(hidden.shape[:2], np.int64))
        return {"encoder_hidden_states": hidden, "encoder_attention_mask": mask,
                **{name: results[output] for name, output in self._encoded.items()}}

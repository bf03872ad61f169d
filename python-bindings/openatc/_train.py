# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps: a model, its loss and an optimizer, compiled like an inference."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _compiler
from ._compile import Module, Path, Shapes, Source, _in_memory, _model_request, _request
from ._error import ArgumentError
from ._runtime import Model
from ._train_ranks import RANDOM, RankSessions
from .schedules import Schedule, constant

_LOSS_SCALE = "train.loss_scale"
_MAX_SEED = 2**24
_OPTIMIZERS = {
    "sgd": {}, "adam": {}, "adamw": {"weight_decay": 0.01}, "adagrad": {"epsilon": 1e-10},
    "lamb": {"epsilon": 1e-6, "weight_decay": 0.01}, "lars": {"momentum": 0.9},
}


@dataclass(frozen=True)
class StepInfo:
    """How a step ended."""

    loss: float
    """The loss of the batch, before the update."""
    learning_rate: float
    """The learning rate of this step's update."""
    outputs: dict[str, np.ndarray]
    """The model's own outputs, before the update."""


class Trainer:
    """A compiled training step and its session, which holds parameters and optimizer state.
    `openatc.train` makes it."""

    def __init__(self, source: Any, settings: dict[str, Any], module: Module, model: Model,
                 parameters: dict[str, np.ndarray], statistics: dict[str, np.ndarray],
                 schedule: Schedule, ranks: RankSessions, loss_scale: float, seed: int) -> None:
        self.module = module
        """The step as a module of graph ops."""
        self.model = model
        """The compiled step."""
        self.schedule = schedule
        self.ranks = ranks
        """The sessions of all ranks of this process."""
        self.session = ranks.sessions[0]
        self._source = source
        self._accumulate = int(settings.get("accumulate", 1))
        self._target = settings.get("loss", {}).get("target", "target")
        self._parameters = list(parameters)
        self._weights = {**parameters, **statistics}
        self._shapes = {port.name: port.shape for port in model.inputs}
        self._dtypes = {port.name: port.numpy_dtype for port in model.inputs}
        self._outputs = [port.name for port in model.outputs
                         if port.name not in set(model.states.values())]
        states = set(model.states)
        fed = states | {"learning_rate", self._target}
        self._inputs = [port.name for port in model.inputs if port.name not in fed]
        self._runs = 0
        first = {name: np.zeros(self._shapes[name], self._dtypes[name]) for name in states}
        first.update({name: array for name, array in self._weights.items() if name in states})
        if _LOSS_SCALE in states:
            first[_LOSS_SCALE] = np.array(loss_scale, np.float32)
        if RANDOM in states:
            first[RANDOM] = np.array([seed, 0, 0], np.float32)
        ranks.write_state(first)

    @property
    def steps(self) -> int:
        """Runs so far, each of which is an update unless gradients are accumulated."""
        return self._runs

    @property
    def parameters(self) -> list[str]:
        """The names of the tensors that are trained."""
        return list(self._parameters)

    @property
    def rank(self) -> int:
        """The rank of this process; 0 where it has all ranks."""
        return self.ranks.rank

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return float(self.schedule(self._runs // self._accumulate))

    def run(self, inputs: Any, target: Any = None) -> StepInfo:
        """Runs a step on a batch, and returns its loss and the model's outputs.

        `inputs` is an array, a list of arrays in the order of the model's inputs, or a dict by
        name; `target` has what the loss compares the output with. With several ranks arrays are
        those of the joint batch, or of this process's own rank; the outputs are those of the ranks
        of this process, one behind the other.
        """
        if not isinstance(inputs, Mapping):
            listed = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            if len(listed) != len(self._inputs):
                raise ArgumentError([f"E10014: {len(listed)} inputs are given, but the model has "
                                     f"{len(self._inputs)}: {', '.join(self._inputs)}"])
            inputs = dict(zip(self._inputs, listed))
        rate = self.learning_rate
        given = dict(inputs)
        if self._target in self._shapes:
            if target is None and self._target not in given:
                raise ArgumentError([f"E10014: there is no array for the target '{self._target}'"])
            if target is not None:
                given[self._target] = target
        given["learning_rate"] = rate
        arrays: list[dict[str, np.ndarray]] = [{} for _ in self.ranks.sessions]
        for name, array in given.items():
            whole = np.ascontiguousarray(array, self._dtypes.get(name)).reshape(np.shape(array))
            shape = tuple(self._shapes.get(name, whole.shape))
            for own, part in zip(arrays, self.ranks.share(name, whole, shape)):
                own[name] = part
        results = self.ranks.run(arrays)
        self._runs += 1
        return StepInfo(float(results[0]["loss"]), rate,
                        {name: _join([result[name] for result in results])
                         for name in self._outputs if name != "loss"})

    def step(self, inputs: Any, target: Any = None) -> float:
        """Runs a step on a batch and returns its loss; the arguments are those of `run`."""
        return self.run(inputs, target).loss

    def state_dict(self) -> dict[str, np.ndarray]:
        """Returns a copy of parameters, running statistics and optimizer state by name."""
        return {name: array for name, array in self.session.read_state().items()
                if array is not None}

    def load_state_dict(self, state: Mapping[str, np.ndarray], *, strict: bool = True) -> None:
        """Sets what `state` names; with `strict` it has to name all."""
        names = set(self.model.states)
        errors = [f"E10017: '{name}' is no state of the training step" for name in state
                  if strict and name not in names]
        errors += [f"E10014: there is no array for the state '{name}'" for name in sorted(names)
                   if strict and name not in state]
        if errors:
            raise ArgumentError(errors)
        self.ranks.write_state({
            name: np.ascontiguousarray(array, self._dtypes[name]).reshape(np.shape(array))
            for name, array in state.items() if name in names})
        if "train.step" in state:
            self._runs = round(float(state["train.step"])) * self._accumulate

    def export_onnx(self, path: Path) -> None:
        """Writes the model with its trained weights, as an ONNX model for inference."""
        state = self.state_dict()
        self._write(path, [(name, state[name]) for name in self._weights if name in state])

    def save(self, path: Path) -> None:
        """Writes a checkpoint: the trained ONNX model, with the optimizer's state as further
        initializers, which no node reads."""
        self._write(path, list(self.state_dict().items()))

    def load(self, path: Path) -> None:
        """Reads a checkpoint of `save`."""
        self.load_state_dict({name: array for name, array in _compiler.read_onnx(path).items()
                              if name in self.model.states})

    def _write(self, path: Path, arrays: list[tuple[str, np.ndarray]]) -> None:
        _compiler.write_onnx(_model_request(self._source, None, None), arrays, path)


def _join(parts: list[np.ndarray]) -> np.ndarray:
    """Returns the outputs of several ranks one behind the other."""
    return parts[0] if len(parts) == 1 or parts[0].ndim == 0 else np.concatenate(parts)


def _settings(loss: str | Mapping[str, Any], optimizer: str | Mapping[str, Any],
              **others: Any) -> dict[str, Any]:
    """The JSON object of a training: what is None is left out."""
    losses = {"kind": loss} if isinstance(loss, str) else dict(loss)
    update = {"kind": optimizer} if isinstance(optimizer, str) else dict(optimizer)
    update = {**_OPTIMIZERS.get(str(update.get("kind", "sgd")), {}), **update}
    settings = {"loss": losses, "optimizer": update}
    settings.update({name: value for name, value in others.items() if value is not None})
    return settings


def train(model: Source, *, loss: str | Mapping[str, Any] = "softmax_cross_entropy",
          optimizer: str | Mapping[str, Any] = "adam", learning_rate: float | Schedule = 1e-3,
          input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None,
          parameters: Iterable[str] | None = None, frozen: Iterable[str] | None = None,
          batch_statistics: bool | None = None, dropout: bool | None = None, seed: int = 0,
          clip_norm: float | None = None,
          clip_value: float | None = None, accumulate: int | None = None,
          loss_scale: float | str | None = None, ranks: int = 1, compress: str | None = None,
          rank_timeout: float = 60.0, threads: int = 0, max_memory: int = 0,
          soc: str | None = None, soc_file: Path | None = None, precision_mode: str | None = None,
          target_cpu: str = "host", disable_passes: Iterable[str] = (),
          save_temps: Path | None = None) -> Trainer:
    """Compiles the training step of an ONNX model and opens it.

    `loss` is "softmax_cross_entropy", "mse", "l1", "bce", "bce_logits", "output", or a dict with
    it as `kind` and further settings; `optimizer` is "sgd", "adam", "adamw", "lamb", "lars",
    "adagrad", or such a dict. `learning_rate` is a number or a schedule, as
    `openatc.schedules.cosine(...)` returns. `parameters` and `frozen` name initializers, with at
    most one '*' per name. `dropout=False` lets all dropouts pass their input on; `seed` is that of
    their masks. `clip_norm` and `clip_value` bound the gradients, `accumulate` runs make
    one update, `loss_scale` is a number or "dynamic". `ranks` trains data-parallel: that many
    threads, or processes under mpirun, each with a batch of the model's size; `compress` ("f16",
    "bf16", "int8") is the type of gradients between them, and a rank that waits for another one for
    `rank_timeout` seconds fails. docs/training.md describes all settings; the
    other arguments are those of `openatc.compile` and `openatc.Session`.
    """
    growth = None
    if loss_scale == "dynamic":
        loss_scale, growth = 65536.0, 2000
    elif isinstance(loss_scale, str):
        raise ArgumentError([f"E15006: loss_scale is '{loss_scale}', which is neither a number nor "
                             "dynamic"])
    if not 0 <= int(seed) < _MAX_SEED:
        raise ArgumentError([f"E15006: seed is {seed}, expected 0 to {_MAX_SEED - 1}"])
    settings = _settings(loss, optimizer, dropout=dropout,
                         parameters=None if parameters is None else list(parameters),
                         frozen=None if frozen is None else list(frozen),
                         batch_statistics=batch_statistics, clip_norm=clip_norm,
                         clip_value=clip_value, accumulate=accumulate, loss_scale=loss_scale,
                         growth_interval=growth, compress=compress,
                         ranks=ranks if ranks != 1 else None)
    request = _request(soc, soc_file, precision_mode, target_cpu, disable_passes, save_temps)
    source = _in_memory(model)
    if isinstance(source, (str, os.PathLike)):
        source = os.fspath(source)
    handle, weights, statistics = _compiler.training_module(
        _model_request(source, input_shapes, outputs), json.dumps(settings))
    lines, file = handle.compile(request, None)
    for line in lines:
        warnings.warn(line, stacklevel=2)
    schedule = learning_rate if callable(learning_rate) else constant(float(learning_rate))
    step = Model(file)
    sessions = RankSessions(step, ranks, threads, max_memory, rank_timeout)
    return Trainer(source, settings, Module(handle), step, weights, statistics, schedule, sessions,
                   float(loss_scale or 0.0), int(seed))

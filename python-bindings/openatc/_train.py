# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps: a model, its loss and an optimizer, compiled like an inference."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._compile import Module, Path, Shapes, Source, _in_memory, _model_request, _request
from ._error import ArgumentError
from ._foreign import Example, _is_torch
from ._runtime import Model
from ._train_ranks import RANDOM, RankSessions
from .schedules import Schedule, constant

from . import _compiler  # isort: skip  (which _compile has loaded)

_LOSS_SCALE = "train.loss_scale"
_MAX_SEED = 2**24


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
                 schedule: Schedule, ranks: RankSessions, loss_scale: float, seed: int,
                 own_loss: str = "") -> None:
        self.module = module
        """The step as a module of graph ops."""
        self.model = model
        """The compiled step."""
        self.schedule = schedule
        self.ranks = ranks
        """The sessions of all ranks of this process."""
        self.session = ranks.sessions[0]
        self._source = source
        self._own_loss = own_loss  # the output that is a loss of the user's own
        self._accumulate = int(settings.get("accumulate", 1))
        self._target = settings.get("loss", {}).get("target", "target")
        self._parameters = list(parameters)
        self._weights = {**parameters, **statistics}
        self._shapes = {port.name: port.shape for port in model.inputs}
        self._dtypes = {port.name: port.numpy_dtype for port in model.inputs}
        self._outputs = [port.name for port in model.outputs
                         if port.name not in set(model.states.values())]
        self._classes = self._find_classes(settings.get("loss", {}))
        states = set(model.states)
        fed = states | {"learning_rate", self._target}
        self._inputs = [port.name for port in model.inputs if port.name not in fed]
        self._runs = 0
        first = {name: np.zeros(ranks.shared.get(name, self._shapes[name]), self._dtypes[name])
                 for name in states}
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
        elif target is not None:
            raise ArgumentError(["E10014: a target is given, but the loss is an output of the "
                                 "model, which compares with none"])
        given = {name: array.detach().cpu().numpy() if hasattr(array, "detach") else array
                 for name, array in given.items()}
        given["learning_rate"] = rate
        arrays: list[dict[str, np.ndarray]] = [{} for _ in self.ranks.sessions]
        for name, array in given.items():
            self._check(name, np.asarray(array))
            whole = np.ascontiguousarray(array, self._dtypes.get(name)).reshape(np.shape(array))
            shape = tuple(self._shapes.get(name, whole.shape))
            for own, part in zip(arrays, self.ranks.share(name, whole, shape)):
                own[name] = part
        results = self.ranks.run(arrays)
        self._runs += 1
        return StepInfo(float(results[0]["loss"]), rate,
                        {name: _join([result[name] for result in results])
                         for name in self._outputs if name not in ("loss", self._own_loss)})

    def _find_classes(self, loss: Mapping[str, Any]) -> tuple[int, int] | None:
        """Returns the number of classes of softmax_cross_entropy and the label that does not
        count; None for other losses."""
        if loss.get("kind", "softmax_cross_entropy") != "softmax_cross_entropy":
            return None
        own = [name for name in self._outputs if name != "loss"]
        name = loss.get("output") or (own[0] if own else "")
        shapes = [port.shape for port in self.model.outputs if port.name == name]
        return (shapes[0][loss.get("axis", 1)], loss.get("ignore_index", -100)) if shapes else None

    def _check(self, name: str, array: np.ndarray) -> None:
        """Raises an error for values that the step would silently take for others."""
        wanted = self._dtypes.get(name)
        if wanted is not None and wanted.kind in "iu" and array.dtype.kind == "f":
            raise ArgumentError([f"E10014: the array for '{name}' is {array.dtype}, expected "
                                 f"{wanted}: round it if that is meant"])
        if name == self._target and self._classes is not None and array.size:
            classes, ignored = self._classes
            wrong = array[((array < 0) | (array >= classes)) & (array != ignored)]
            if wrong.size:
                raise ArgumentError([f"E10014: the target '{name}' has the class {wrong[0]}, "
                                     f"expected 0 to {classes - 1}, or {ignored} for what does not "
                                     "count"])

    def step(self, inputs: Any, target: Any = None) -> float:
        """Runs a step on a batch and returns its loss; the arguments are those of `run`."""
        return self.run(inputs, target).loss

    def state_dict(self) -> dict[str, np.ndarray]:
        """Returns a copy of parameters, running statistics and optimizer state by name. Where
        processes share parameters, all of them have to call it, and what writes a file."""
        return self.ranks.read_state()

    def load_state_dict(self, state: Mapping[str, np.ndarray], *, strict: bool = True) -> None:
        """Sets what `state` names; with `strict` it has to name all."""
        names = set(self.model.states)
        errors = [f"E10017: '{name}' is no state of the training step" for name in state
                  if strict and name not in names]
        errors += [f"E10014: there is no array for the state '{name}'" for name in sorted(names)
                   if strict and name not in state]
        step = np.asarray(state.get("train.step", 0.0))
        if step.size != 1 or not 0 <= float(step.reshape(())) < 2**53:
            errors.append("E10014: the state 'train.step' is no number of updates")
        if errors:
            raise ArgumentError(errors)
        self.ranks.write_state({
            name: np.ascontiguousarray(array, self._dtypes[name]).reshape(np.shape(array))
            for name, array in state.items() if name in names})
        if "train.step" in state:
            self._runs = round(float(step.reshape(()))) * self._accumulate

    def export_onnx(self, path: Path) -> None:
        """Writes the model with its trained weights, as an ONNX model for inference: dropouts pass
        their input on, batch norms use their running statistics, and a loss of your own is left
        out."""
        self._write(path, list(self._trained().items()), inference=True)

    def copy_to(self, module: Any) -> None:
        """Copies the trained weights and the running statistics into the torch.nn.Module that the
        step was made of."""
        from . import _torch_train
        _torch_train.copy_state(module, self._trained())

    def _trained(self) -> dict[str, np.ndarray]:
        state = self.state_dict()
        return {name: state[name] for name in self._weights if name in state}

    def save(self, path: Path) -> None:
        """Writes a checkpoint: the trained ONNX model, with the optimizer's state as further
        initializers, which no node reads."""
        self._write(path, list(self.state_dict().items()))

    def load(self, path: Path) -> None:
        """Reads a checkpoint of `save`."""
        self.load_state_dict({name: array for name, array in _compiler.read_onnx(path).items()
                              if name in self.model.states})

    def _write(self, path: Path, arrays: list[tuple[str, np.ndarray]],
               inference: bool = False) -> None:
        _compiler.write_onnx(_model_request(self._source, None, None), arrays, path, inference,
                             self._own_loss)


def _join(parts: list[np.ndarray]) -> np.ndarray:
    """Returns the outputs of several ranks one behind the other."""
    return parts[0] if len(parts) == 1 or parts[0].ndim == 0 else np.concatenate(parts)


def _by_kind(given: str | Mapping[str, Any]) -> dict[str, Any]:
    """The dict for a name that stands for its `kind`."""
    return {"kind": given} if isinstance(given, str) else dict(given)


def _settings(loss: str | Mapping[str, Any], optimizer: str | Mapping[str, Any],
              compress: str | Mapping[str, Any] | None, **others: Any) -> dict[str, Any]:
    """The JSON object of a training: what is None is left out."""
    settings = {"loss": _by_kind(loss), "optimizer": _by_kind(optimizer)}
    if compress is not None:
        settings["compress"] = _by_kind(compress)
    settings.update({name: value for name, value in others.items() if value is not None})
    return settings


def _is_named(name: str, patterns: Iterable[str]) -> bool:
    """Returns whether a name matches one of some, with at most one '*' each."""
    for pattern in patterns:
        head, star, tail = pattern.partition("*")
        if name == pattern or (star and len(name) >= len(head) + len(tail)
                               and name.startswith(head) and name.endswith(tail)):
            return True
    return False


def _shard_elements(shard_parameters: bool | int) -> int | None:
    """Returns from how many elements on ranks share a parameter; None: they share none."""
    if shard_parameters is True:
        return 4096
    return int(shard_parameters) if shard_parameters is not False else None


def _shared_states(step: Model, weights: Mapping[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
    """Returns the shapes of parameters that ranks share and of their optimizer states, whose names
    begin with the parameter's. The step has vectors in their place."""
    shared = {}
    for port in step.inputs:
        owner = port.name if port.name in weights else port.name.rpartition(".")[0]
        if port.name in step.states and owner in weights \
                and np.shape(weights[owner]) != tuple(port.shape):
            shared[port.name] = np.shape(weights[owner])
    return shared


def train(model: Source, *, args: Any = None, kwargs: Mapping[str, Any] | None = None,
          target: Any = None,
          loss: str | Mapping[str, Any] | Callable[..., Any] = "softmax_cross_entropy",
          optimizer: str | Mapping[str, Any] | Any = "adam",
          learning_rate: float | Schedule | None = None,
          input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None,
          parameters: Iterable[str] | None = None, frozen: Iterable[str] | None = None,
          batch_statistics: bool | None = None, dropout: bool | None = None, seed: int = 0,
          clip_norm: float | None = None,
          clip_value: float | None = None, accumulate: int | None = None,
          loss_scale: float | str | None = None, recompute: bool | None = None,
          offload: str | None = None,
          ranks: int = 1, compress: str | Mapping[str, Any] | None = None,
          shard_parameters: bool | int = False,
          rank_timeout: float = 60.0, threads: int = 0, max_memory: int = 0,
          soc: str | None = None, soc_file: Path | None = None, precision_mode: str | None = None,
          target_cpu: str = "host", disable_passes: Iterable[str] = (),
          save_temps: Path | None = None) -> Trainer:
    """Compiles the training step of an ONNX model or a torch.nn.Module and opens it.

    A module has example inputs of the batch's size in `args` and `kwargs`. Its `loss` may also be
    one of torch.nn, or a function of the output and the target in PyTorch, of which `target` is an
    example then; its `optimizer` one of torch.optim, whose learning rate is the step's unless
    `learning_rate` is given (1e-3 otherwise).
    `loss` is "softmax_cross_entropy", "mse", "l1", "bce", "bce_logits", "output", or a dict with
    it as `kind` and further settings; `optimizer` is "sgd", "adam", "adamw", "lamb", "lars",
    "adagrad", or such a dict. `learning_rate` is a number or a schedule, as
    `openatc.schedules.cosine(...)` returns. `parameters` and `frozen` name initializers, with at
    most one '*' per name. `dropout=False` lets all dropouts pass their input on; `seed` is that of
    their masks. `clip_norm` and `clip_value` bound the gradients, `accumulate` runs make
    one update, `loss_scale` is a number or "dynamic". With `recompute` cheap activations are
    computed again in the backward pass, which saves memory; with `offload="optimizer"` a step on an
    NPU leaves the optimizer's state and the update to the host. `ranks` trains data-parallel: that many
    threads, or processes under mpirun, each with a batch of the model's size; `compress` ("f16",
    "bf16", "int8", "topk", or a dict with it as `kind`) is how gradients go between them, and a rank
    that waits for another one for `rank_timeout` seconds fails. With `shard_parameters` each rank
    holds a share of the parameters and of their optimizer state: of those with 4096 elements or
    more, or the number given. docs/training.md describes all settings; the
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
    source, own_loss = _in_memory(model), ""
    zero_rows: dict[str, int] = {}
    if _is_torch(model):
        from . import _torch_train
        wanted = _torch_train.trainable(model)
        if _torch_train.is_optimizer(optimizer):
            optimizer, trained, own_rate = _torch_train.optimizer_settings(optimizer, model)
            wanted &= set(trained)
            learning_rate = own_rate if learning_rate is None else learning_rate
        if not wanted and parameters is None:  # an empty list would be all of them
            raise ArgumentError(["E15002: the module has no parameter that requires gradients"])
        known = _torch_train.loss_settings(loss, target) if callable(loss) else None
        own = loss if callable(loss) and known is None else None
        source, exported, zero_rows = _torch_train.export(model, Example(args, kwargs), own, target)
        if own is not None:
            own_loss = _torch_train.OWN_LOSS
            known = {"kind": "output", "output": own_loss}
        loss = loss if known is None else known
        if parameters is None:
            parameters = sorted(wanted & exported)
        if isinstance(optimizer, dict) and "groups" in optimizer:
            # A parameter that modules share has one name in the model.
            optimizer["groups"] = [
                {**group, "parameters": [name for name in group["parameters"]
                                         if name in exported and _is_named(name, parameters)]}
                for group in optimizer["groups"]]
        zero_rows = {name: row for name, row in zero_rows.items()
                     if _is_named(name, parameters)}
    elif args is not None or kwargs or target is not None or callable(loss) \
            or not isinstance(optimizer, (str, Mapping)):
        raise TypeError("args, kwargs, target, and losses and optimizers of PyTorch are for models "
                        "that are a torch.nn.Module")
    assert not callable(loss), "a loss of the user's own is an output of the model by now"
    settings = _settings(loss, optimizer, compress, dropout=dropout,
                         parameters=None if parameters is None else list(parameters),
                         frozen=None if frozen is None else list(frozen),
                         batch_statistics=batch_statistics, clip_norm=clip_norm,
                         clip_value=clip_value, accumulate=accumulate, loss_scale=loss_scale,
                         growth_interval=growth, recompute=recompute,
                         zero_rows=zero_rows or None, offload=offload,
                         ranks=ranks if ranks != 1 else None,
                         shard_elements=_shard_elements(shard_parameters))
    request = _request(soc, soc_file, precision_mode, target_cpu, disable_passes, save_temps)
    if isinstance(source, (str, os.PathLike)):
        source = os.fspath(source)
    handle, weights, statistics = _compiler.training_module(
        _model_request(source, input_shapes, outputs), json.dumps(settings))
    lines, file = handle.compile(request, None)
    for line in lines:
        warnings.warn(line, stacklevel=2)
    rate = 1e-3 if learning_rate is None else learning_rate
    schedule = rate if callable(rate) else constant(float(rate))
    step = Model(file)
    sessions = RankSessions(step, ranks, threads, max_memory, rank_timeout,
                            _shared_states(step, weights))
    return Trainer(source, settings, Module(handle), step, weights, statistics, schedule, sessions,
                   float(loss_scale or 0.0), int(seed), own_loss)

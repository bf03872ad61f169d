# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `openatc.train` takes of PyTorch: modules, losses and optimizers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._error import ArgumentError, Error, _printable
from ._foreign import Example, InMemory, framework
from ._torch import _run_exporter

OWN_LOSS = "train.own_loss"
"""The output with the loss of a function of the user's own."""
_TARGET = "target"


def is_optimizer(value: Any) -> bool:
    """Returns whether a value is an optimizer of PyTorch."""
    names = [each.__module__ + "." + each.__name__ for each in type(value).__mro__]
    return "torch.optim.optimizer.Optimizer" in names


def loss_settings(loss: Any, target: Any) -> dict[str, Any] | None:
    """Returns the settings of a loss of PyTorch, a module or a function of torch.nn.functional;
    None where the step has none like it. `target` is an example, or None."""
    torch = framework("torch")

    nn, functional = torch.nn, torch.nn.functional
    functions = {functional.cross_entropy: "softmax_cross_entropy", functional.mse_loss: "mse",
                 functional.l1_loss: "l1", functional.binary_cross_entropy: "bce",
                 functional.binary_cross_entropy_with_logits: "bce_logits"}
    modules = {nn.CrossEntropyLoss: "softmax_cross_entropy", nn.MSELoss: "mse", nn.L1Loss: "l1",
               nn.BCELoss: "bce", nn.BCEWithLogitsLoss: "bce_logits"}
    kind = modules.get(type(loss)) if isinstance(loss, nn.Module) else functions.get(loss)
    if kind == "softmax_cross_entropy" and target is not None and target.is_floating_point():
        return None  # a probability per class
    if not isinstance(loss, nn.Module):
        return {"kind": kind} if kind else None
    weighted = any(getattr(loss, name, None) is not None for name in ("weight", "pos_weight"))
    if kind is None or weighted or loss.reduction not in ("mean", "sum"):
        return None
    settings = {"kind": kind, "reduction": loss.reduction}
    if kind == "softmax_cross_entropy":
        settings.update(smoothing=float(loss.label_smoothing), ignore_index=loss.ignore_index)
    return settings


_KEYS = {"momentum": "momentum", "dampening": "dampening", "nesterov": "nesterov",
         "eps": "epsilon", "weight_decay": "weight_decay", "lr_decay": "lr_decay"}
_TAKEN = {"SGD": ("momentum", "dampening", "nesterov", "weight_decay"),
          "Adam": ("eps", "weight_decay"), "AdamW": ("eps", "weight_decay"),
          "Adagrad": ("eps", "weight_decay", "lr_decay")}
# Settings that would change the update, and the values with which they do not.
_NEUTRAL = {"maximize": (False,), "amsgrad": (False,), "initial_accumulator_value": (0, 0.0)}


def optimizer_settings(optimizer: Any, module: Any
                       ) -> tuple[dict[str, Any], list[str], Callable[[int], float]]:
    """Returns the settings of an optimizer of PyTorch, the names of the parameters that it has,
    and its learning rate as a schedule: what it is when a step begins, so that schedulers of
    PyTorch set it. Raises an error for what the step's update cannot do."""
    name = type(optimizer).__name__
    groups = optimizer.param_groups

    def refuse(reason: str) -> ArgumentError:
        return ArgumentError([f"E15006: the optimizer {name} {reason}"])

    if name not in _TAKEN or type(optimizer).__module__.partition(".")[0] != "torch":
        raise refuse("is not known: expected SGD, Adam, AdamW or Adagrad of torch.optim, or the "
                     "settings of an optimizer of openatc.train")
    if any(float(state.get("step", 0)) > 0 or state.get("momentum_buffer") is not None
           for state in optimizer.state.values()):
        raise refuse("has made steps, whose state the compiled step does not take: give a new one")
    first = {key: value for key, value in groups[0].items() if key != "params"}
    for group in groups:
        for key, value in group.items():
            if key in _NEUTRAL and value not in _NEUTRAL[key]:
                raise refuse(f"has {key}={value}, which the compiled step cannot do")
            if key in (*_TAKEN[name], "betas") and key != "weight_decay" and value != first[key]:
                raise refuse(f"has groups with different {key}: the step has one for all "
                             "parameters")
    settings: dict[str, Any] = {"kind": name.lower()}
    settings.update({_KEYS[key]: first[key] for key in _TAKEN[name] if key in first})
    if "betas" in first:
        settings["beta1"], settings["beta2"] = map(float, first["betas"])
    if name == "Adam" and first.get("decoupled_weight_decay"):
        settings["kind"] = "adamw"
    # Where a scheduler begins with 0, the rates that it multiplies.
    rates = [float(group["lr"]) for group in groups]
    if rates[0] == 0:
        rates = [float(group.get("initial_lr", group["lr"])) for group in groups]
    if rates[0] == 0 and any(rates):
        raise refuse("has a first group with lr=0, of which those of the others are multiples")
    factors = [rate / rates[0] if rates[0] else 1.0 for rate in rates]
    names = aliases(module)
    trained: list[str] = []
    own: list[dict[str, Any]] = []
    for group, factor in zip(groups, factors):
        members: list[str] = []
        for parameter in group["params"]:
            if id(parameter) not in names:
                raise refuse("has a parameter that the module does not have: make it from the "
                             "parameters of the module that is trained")
            if parameter.requires_grad:
                members += names[id(parameter)]
        trained += members
        own.append({"parameters": members, "rate": factor,
                    "weight_decay": float(group["weight_decay"])})
    if any(each["rate"] != 1.0 or each["weight_decay"] != own[0]["weight_decay"] for each in own):
        settings["groups"] = own

    def rate(step: int) -> float:
        now = [float(group["lr"]) for group in groups]
        if any(abs(each - now[0] * factor) > 1e-6 * abs(each) for each, factor in zip(now, factors)):
            raise refuse(f"now has the learning rates {now}: the step keeps their ratio, "
                         f"{factors}")
        return now[0]

    return settings, trained, rate


def aliases(module: Any) -> dict[int, list[str]]:
    """Returns all names of each parameter by its id: an exporter may write another one than the
    first of a parameter that several layers share."""
    names: dict[int, list[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return names


def trainable(module: Any) -> set[str]:
    """Returns all names of the parameters that require gradients."""
    return {name for name, parameter in module.named_parameters(remove_duplicate=False)
            if parameter.requires_grad}


def _sets_statistics(module: Any) -> bool:
    return getattr(module, "running_mean", None) is not None


@contextmanager
def _prepared(module: Any, loss: Callable[..., Any] | None) -> Iterator[None]:
    """Sets a module up for its export: dropouts drop, and batch norms are those of inference,
    which the importer switches to the statistics of the batch; with a loss of the user's own its
    forward() takes the target too and returns the loss first."""
    before = [(each, each.training) for each in module.modules()]
    own = "forward" in vars(module)
    forward = module.forward

    def with_loss(*args: Any, **kwargs: Any) -> Any:
        target = kwargs.pop(_TARGET)
        output = forward(*args, **kwargs)
        assert loss is not None
        parts = output.values() if isinstance(output, Mapping) else \
            output if isinstance(output, (tuple, list)) else (output,)
        return (loss(output, target), *(each for each in parts if hasattr(each, "detach")))

    try:
        for each in module.modules():
            each.training = not _sets_statistics(each)
        if loss is not None:
            module.forward = with_loss
        yield
    finally:
        for each, training in before:
            each.training = training
        if loss is not None:
            if own:
                module.forward = forward
            else:
                del module.forward


@contextmanager
def _replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Replaces an attribute by what `make` makes of it."""
    original = getattr(owner, name)
    setattr(owner, name, make(original))
    try:
        yield
    finally:
        setattr(owner, name, original)


def _refuse_lost(module: Any, program: Any, known: set[str]) -> None:
    """Raises an error where a parameter that the module reads is no initializer."""
    names = {name: all_ for all_ in aliases(module).values() for name in all_}
    parameters = program.graph_signature.inputs_to_parameters
    lost = [parameters[node.name] for node in program.graph.nodes
            if node.name in parameters and node.users
            and not known.intersection(names.get(parameters[node.name], [parameters[node.name]]))]
    if lost:
        raise Error([f"E15002: PyTorch's export has no initializer for {', '.join(lost)}, so that "
                     "it would not be trained"])


def _resolve_sequences(model: Any, weights: set[str]) -> None:
    """Replaces sequences of tensors, as torch.unbind makes them, by the tensors: a training step
    has none. Weights stay as they are."""
    def should_fold(node: Any) -> bool | None:
        reads_weight = any(value is not None and value.name in weights for value in node.inputs)
        return False if reads_weight else None  # None: the folder decides

    framework("onnxscript.optimizer").fold_constants(model, should_fold=should_fold)


def _refuse_detached(program: Any) -> None:
    """Raises an error where a value that depends on a parameter is detached: an ONNX model has no
    such node, so that the gradient would be another one than PyTorch's."""
    weights = set(program.graph_signature.inputs_to_parameters)
    varying, detached = set(), []
    for node in program.graph.nodes:
        if node.name in weights or any(each in varying for each in node.all_input_nodes):
            if node.op == "call_function" and str(node.target).startswith("aten.detach"):
                detached.append(node.name)
            else:
                varying.add(node)
    if detached:
        raise Error([f"E15003: no gradient is known for detach(): {', '.join(detached)} depends on "
                     "a parameter; make what is detached an input of the module, and compute it "
                     "with another one"])


def _refuse_changed_buffers(program: Any) -> None:
    """Raises an error where forward() changes a buffer, which the ONNX model has as a constant."""
    changed = sorted(set(program.graph_signature.buffers_to_mutate.values()))
    if changed:
        raise Error([f"E15003: forward() changes the buffers {', '.join(changed)}, as spectral norms "
                     "do, which a compiled step keeps as they are: make them inputs and outputs of "
                     "the module"])


def _padding_rows(program: Any) -> dict[str, int]:
    """Returns the row of each table of embeddings that stands for padding, which PyTorch does not
    train: an ONNX model does not say so. Raises an error where more than the table's own lookups
    read it: only their part of the gradient is zero there."""
    parameters = program.graph_signature.inputs_to_parameters

    def padding(node: Any) -> int:
        if node.op != "call_function" or not str(node.target).startswith("aten.embedding."):
            return -1
        return int(node.args[2] if len(node.args) > 2 else node.kwargs.get("padding_idx", -1))

    rows: dict[str, int] = {}
    for node in program.graph.nodes:
        row = padding(node)
        if row < 0:
            continue
        table = node.args[0]
        if table.name not in parameters or any(padding(user) != row for user in table.users):
            raise Error([f"E15003: the embedding {node.name} has padding_idx={row}, but its table "
                         "is also read otherwise, or is computed: then a training step has no "
                         "gradient without that row"])
        rows[parameters[table.name]] = row
    return rows


def _cross_entropy(original: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a replacement for PyTorch's function behind its cross entropies. What ONNX has no
    operator for, smoothed labels and a probability per class, is computed by simpler functions:
    PyTorch's exporter ignores the first, and writes a model that is not valid for the second."""
    torch = framework("torch")

    def cross_entropy(scores: Any, target: Any, weight: Any = None, reduction: int = 1,
                      ignore_index: int = -100, label_smoothing: float = 0.0) -> Any:
        if not target.is_floating_point() and label_smoothing == 0:
            return original(scores, target, weight, reduction, ignore_index, label_smoothing)
        dim = 1 if scores.dim() > 1 else 0
        count = scores.shape[dim]
        logarithms = torch.log_softmax(scores, dim)
        weighted = logarithms if weight is None else \
            logarithms * weight.reshape([-1] + [1] * (scores.dim() - dim - 1))
        if target.is_floating_point():
            shares = target * (1 - label_smoothing) + label_smoothing / count
            losses, samples = -(weighted * shares).sum(dim), scores.numel() / count
        else:
            counted = target != ignore_index
            classes = torch.where(counted, target, torch.zeros_like(target))
            own = weighted.gather(dim, classes.unsqueeze(dim)).squeeze(dim)
            both = (1 - label_smoothing) * own + label_smoothing / count * weighted.sum(dim)
            losses = torch.where(counted, -both, torch.zeros_like(both))
            weights = counted.to(scores.dtype)
            samples = weights.sum() if weight is None else (weights * weight[classes]).sum()
        return losses if reduction == 0 else losses.sum() / (samples if reduction == 1 else 1)

    return cross_entropy


def export(module: Any, example: Example, loss: Callable[..., Any] | None, target: Any
           ) -> tuple[InMemory, set[str], dict[str, int]]:
    """Exports a torch.nn.Module for its training, and returns the names of its initializers too,
    which are those of its parameters and buffers, and the rows of padding in tables of embeddings.
    With a loss the model computes it as its first output, of the outputs and of an input
    `target`."""
    torch = framework("torch")

    if not isinstance(module, torch.nn.Module):
        raise TypeError("openatc.train takes a torch.nn.Module, not a program of torch.export, "
                        "whose dropouts and batch norms are those of inference")
    if example.args is None:
        raise TypeError("a torch.nn.Module needs example inputs, as in "
                        "openatc.train(module, args=(torch.randn(8, 3, 224, 224),))")
    args = (example.args,) if isinstance(example.args, torch.Tensor) else tuple(example.args)
    input_names, output_names = None, None
    if loss is not None:
        if target is None:
            raise TypeError("a loss that is a function needs an example of its target, as in "
                            "openatc.train(module, args=(x,), target=y, loss=function)")
        if example.kwargs and _TARGET in example.kwargs:
            raise TypeError(f"'{_TARGET}' names the target of the loss, and cannot be an input too")
        given = list(inspect.signature(module.forward).bind_partial(*args).arguments.items())
        input_names = []
        for name, value in given:
            if isinstance(value, tuple):  # of *args
                input_names += [f"{name}_{index}" for index in range(len(value))]
            else:
                input_names.append(name)
        example = Example(None, {**(example.kwargs or {}), _TARGET: target})
        input_names += list(example.kwargs or {})
        output_names = [OWN_LOSS]
    with _prepared(module, loss), _replaced(torch._C._nn, "cross_entropy_loss", _cross_entropy):
        program = _run_exporter(torch, module, args, example, output_names,
                                input_names=input_names, optimize=False)
    _refuse_detached(program.exported_program)
    _refuse_changed_buffers(program.exported_program)
    known = set(program.model.graph.initializers)
    _refuse_lost(module, program.exported_program, known)
    if any(node.op_type.startswith(("Sequence", "SplitToSequence")) for node in program.model.graph):
        _resolve_sequences(program.model, known)
    if sum(each.numel() * each.element_size() for each in module.parameters()) > 1_900_000_000:
        raise Error([f"E15006: the parameters of {type(module).__name__} have more than 1.9 GB, "
                     "which no ONNX model in memory holds"])
    text = program.model_proto.SerializeToString()
    return (InMemory(type(module).__name__ + ".onnx", text), known,
            _padding_rows(program.exported_program))


def copy_state(module: Any, state: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Copies parameters and running statistics of a step into the module they come from."""
    torch = framework("torch")

    tensors = {**dict(module.named_parameters(remove_duplicate=False)),
               **dict(module.named_buffers())}
    missing = [name for name, tensor in state.items()
               if name not in tensors or tuple(tensors[name].shape) != tensor.shape]
    if missing:
        raise ArgumentError([f"E10017: the module has no tensor '{_printable(name)}' of shape "
                             f"{state[name].shape}: give the module that is trained"
                             for name in missing])
    with torch.no_grad():
        for name, array in state.items():
            tensors[name].copy_(torch.from_numpy(np.array(array)))

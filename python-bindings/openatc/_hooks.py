# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes and functions of a user between those of a compilation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Union

from ._error import Error

if TYPE_CHECKING:
    from ._compile import Module

PHASES = ("import", "quantize", "graph", "kernels", "schedule", "programs")

Passes = Union[str, Iterable[str]]
Action = Union[Passes, "Callable[[Module], Module | None]"]


class Operation(NamedTuple):
    """An operation of a module, as text; see `Module.walk`."""

    name: str
    """The dialect and name: "graph.conv"."""
    location: str
    """The node of the model that it comes from; empty where that is not known."""
    depth: int
    """How many operations are around it: 0 for functions."""
    operands: tuple[str, ...]
    """The types of the operands."""
    results: tuple[str, ...]
    """The types of the results."""
    attributes: dict[str, str]
    """The attributes by name."""


class Hooks:
    """What runs between the passes and phases of a compilation, for `openatc.compile(...,
    hooks=...)`. The methods return the object, so that calls can be chained.

        hooks = openatc.Hooks()
        hooks.after_phase("graph", lambda module: print(len(module.walk())))
        hooks.insert_passes("canonicalize", after="graph-fuse-elementwise")
        hooks.replace_pass("graph-cse", "canonicalize,graph-cse")
    """

    def __init__(self, after: Mapping[str, Action] | None = None) -> None:
        """`after` has actions by phase, as `after_phase` takes them."""
        self._changes: list[tuple[str, str, str]] = []
        self._actions: dict[str, list[Action]] = {}
        for phase, action in (after or {}).items():
            self.after_phase(phase, action)

    def after_phase(self, phase: str, *actions: Action) -> Hooks:
        """Adds actions behind a phase: "import", "quantize", "graph", "kernels", "schedule" or
        "programs". An action is a list of passes or their text, or a function that is called with
        the `openatc.Module`, may run passes on it, and returns None or the module to go on with.
        The phases behind "graph" run once per static region of a dynamic model."""
        if phase not in PHASES:
            raise Error([f"E10001: the phase {phase!r} of the hooks is invalid: it must be one of "
                         + ", ".join(PHASES)])
        self._actions.setdefault(phase, []).extend(actions)
        return self

    def insert_passes(self, passes: Passes, *, before: str | None = None,
                      after: str | None = None) -> Hooks:
        """Adds passes before or after each occurrence of a pass of the compiler."""
        if (before is None) == (after is None):
            raise TypeError("insert_passes needs either before= or after=")
        where, name = ("before", before) if before is not None else ("after", after)
        self._changes.append((where, str(name), _text(passes)))
        return self

    def replace_pass(self, name: str, passes: Passes) -> Hooks:
        """Runs passes in place of each occurrence of a pass of the compiler."""
        self._changes.append(("replace", name, _text(passes)))
        return self

    @property
    def phases(self) -> list[str]:
        """The phases that have actions."""
        return [phase for phase in PHASES if phase in self._actions]

    def run(self, phase: str, module: Module) -> Module:
        """Runs the actions behind a phase, and returns the module to go on with."""
        for action in self._actions.get(phase, ()):
            if callable(action):
                module = action(module) or module
            else:
                module.run_passes(action)
        return module


def as_hooks(hooks: Hooks | Mapping[str, Action] | None) -> Hooks:
    """Returns the hooks that an argument of `compile` stands for."""
    return hooks if isinstance(hooks, Hooks) else Hooks(hooks)


def _text(passes: Passes) -> str:
    text = passes if isinstance(passes, str) else ",".join(passes)
    if not text.strip():
        raise Error(["E10001: a hook has an empty list of passes"])
    return text

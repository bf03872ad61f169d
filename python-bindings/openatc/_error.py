# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def _printable(line: str) -> str:
    """Escapes what a terminal would obey or not show: names in a model may hold anything."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


class Error(Exception):
    """What is wrong with a model, a file or an argument.

    `messages` has one line for every error found, each with its code in front; what cannot be
    printed is escaped in them ("\\u202e"). `code` is the code of the first, such as "E16002", and
    decides the class: a FileError is an OSError too, an ArgumentError a ValueError, an
    UnsupportedError a NotImplementedError, a CancelledError and a LimitError RuntimeErrors.
    """

    code: str
    """The code of the first message."""
    messages: list[str]
    """A line for every error."""

    def __new__(cls, messages: Iterable[str] = (), *_: Any) -> Error:
        lines = list(messages)
        kind = _CLASSES.get(_code(lines), Error) if cls is Error else cls
        base = OSError if issubclass(kind, OSError) else Exception
        return base.__new__(kind, lines)

    def __init__(self, messages: Iterable[str]) -> None:
        self.messages = [_printable(line) for line in messages]
        self.code = _code(self.messages)
        super().__init__(self.messages)

    def __str__(self) -> str:
        return "\n".join(self.messages)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.messages,)


def _code(lines: list[str]) -> str:
    return lines[0].partition(":")[0] if lines else "E19999"


class FileError(Error, OSError):
    """A file or folder cannot be read, written, parsed or loaded."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or a folder does not exist."""


class ArgumentError(Error, ValueError):
    """An argument, an array or a setting does not fit."""


class UnsupportedError(Error, NotImplementedError):
    """A model or an option needs what the compiler does not have."""


class LimitError(Error, RuntimeError):
    """A run or a compilation needs more than its ceilings allow."""


class CancelledError(Error, RuntimeError):
    """A run was cancelled."""


_CLASSES: dict[str, type[Error]] = {
    "E10410": MissingFileError, "E10058": LimitError, "E10059": CancelledError,
    "E19001": LimitError,
    **dict.fromkeys(["E10041", "E13000", "E13001", "E13002", "E13003", "E13004", "E13005"],
                    FileError),
    **dict.fromkeys(["E10001", "E10002", "E10004", "E10005", "E10006", "E10007", "E10011",
                     "E10014", "E10016", "E10017", "E10032", "E10049", "E10057", "E12009",
                     "E13018", "E15001", "E15002", "E15004", "E15005", "E15006"], ArgumentError),
    **dict.fromkeys(["E10055", "E13010", "E15003", "E16002", "E16005"], UnsupportedError),
}

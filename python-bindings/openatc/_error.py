# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one exception of the package."""

from __future__ import annotations

from collections.abc import Iterable


def _printable(line: str) -> str:
    """Escapes what a terminal would obey or not show: names in a model may hold anything."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


class Error(Exception):
    """What is wrong with a model, a file or an argument.

    `messages` has one line for every fault found, each with its code in front; what cannot be
    printed is escaped in them ("\\u202e"). `code` is the code of the first, such as "E16002".
    """

    code: str
    messages: list[str]

    def __init__(self, messages: Iterable[str]) -> None:
        self.messages = [_printable(line) for line in messages]
        self.code = self.messages[0].partition(":")[0] if self.messages else "E19999"
        super().__init__(self.messages)

    def __str__(self) -> str:
        return "\n".join(self.messages)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one exception of the package."""

from __future__ import annotations

from collections.abc import Iterable


class Error(Exception):
    """What is wrong with a model, a file or an argument.

    `messages` has one line for every fault found, each with its code in front;
    `code` is the code of the first, such as "E16002".
    """

    code: str
    messages: list[str]

    def __init__(self, messages: Iterable[str]) -> None:
        self.messages = list(messages)
        self.code = self.messages[0].partition(":")[0] if self.messages else "E19999"
        super().__init__(self.messages)

    def __str__(self) -> str:
        return "\n".join(self.messages)

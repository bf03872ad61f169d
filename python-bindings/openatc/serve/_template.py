# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Templates, which make a prompt of a conversation."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._error import ArgumentError
from ._openai import Message, RequestError

Template = Callable[[list[Message]], str]


def plain_template(messages: list[Message]) -> str:
    """Returns a conversation as lines of role and text, for models without a template."""
    return "".join(f"{m.role}: {m.text}\n" for m in messages) + "assistant:"


def load_template(path: Path) -> Template:
    """Reads a Jinja template of conversations."""
    # Only models with a template need it.
    from jinja2 import Undefined
    from jinja2.exceptions import SecurityError, TemplateError, UndefinedError
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from jinja2.utils import missing

    class MissingVariable(UndefinedError):
        """A variable or function that nobody gives the template."""

    class Named(Undefined):
        """Tells a missing variable from a part that the messages do not have."""

        def __init__(self, hint: Any = None, obj: Any = missing, name: Any = None,
                     exc: Any = UndefinedError) -> None:
            super().__init__(hint, obj, name, MissingVariable if obj is missing else exc)

    def refuse(text: Any) -> None:
        """Templates call it for messages that their model was not trained with."""
        raise TemplateError(str(text))

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                undefined=Named)
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    try:
        template = environment.from_string(path.read_text(encoding="utf-8"))
    except (TemplateError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise ArgumentError([f"E10014: '{path}' is no Jinja template of conversations: "
                             f"{str(error) or type(error).__name__}"]) from None

    def render(messages: list[Message]) -> str:
        try:
            return template.render(
                messages=[{"role": m.role, "content": m.text} for m in messages],
                add_generation_prompt=True, bos_token="", eos_token="")
        except (MissingVariable, SecurityError) as error:
            # No other messages would help.
            raise RequestError(f"the model's chat template fails: {error}", status=500) from None
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, RecursionError,
                MemoryError) as error:
            raise RequestError("the model's chat template refuses the messages: "
                               f"{str(error) or type(error).__name__}", param="messages") from None

    return render

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads `parameters.extra` of a model's settings."""

from __future__ import annotations

from typing import TypeVar

import mlserver
from mlserver.errors import MLServerError
from pydantic import BaseModel, ValidationError

Options = TypeVar("Options", bound=BaseModel)


def read_options(kind: type[Options], settings: mlserver.ModelSettings) -> Options:
    """Returns the options in `settings`; all that are wrong are named in one MLServerError."""
    extra = (settings.parameters.extra if settings.parameters else None) or {}
    try:
        return kind(**extra)
    except ValidationError as error:
        lines = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise MLServerError(f"model {settings.name}: parameters.extra: {lines}") from None

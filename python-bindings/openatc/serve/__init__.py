# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Serves compiled models over the Open Inference Protocol v2 (REST and gRPC) with MLServer.

    python -m openatc.serve models/               # a folder of .om files

or, in a folder that MLServer serves, a `model-settings.json` with
`"implementation": "openatc.serve.Runtime"`. Needs `pip install mlserver`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._chat import ChatRuntime
    from ._repository import FolderRepository
    from ._runtime import Runtime

_FILES = {"ChatRuntime": "._chat", "FolderRepository": "._repository", "Runtime": "._runtime"}

__all__ = ["ChatRuntime", "FolderRepository", "Runtime"]


def __getattr__(name: str) -> object:
    # MLServer is imported with the first name that needs it.
    if name not in _FILES:
        raise AttributeError(f"module 'openatc.serve' has no attribute '{name}'")
    return getattr(importlib.import_module(_FILES[name], __name__), name)

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
    from ._repository import FolderRepository
    from ._runtime import Runtime

__all__ = ["FolderRepository", "Runtime"]


def __getattr__(name: str) -> object:
    # MLServer is imported with the first name that needs it.
    if name not in __all__:
        raise AttributeError(f"module 'openatc.serve' has no attribute '{name}'")
    return getattr(importlib.import_module(
        "._runtime" if name == "Runtime" else "._repository", __name__), name)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the models of a folder.

A model is `NAME.om`, `NAME/model.om` or, with versions, `NAME/1/model.om`. What has a
`model-settings.json` of MLServer beside it is served as that file says.
"""

from __future__ import annotations

from pathlib import Path

from mlserver.repository import SchemalessModelRepository
from mlserver.settings import ModelParameters, ModelSettings

_IMPLEMENTATION = "openatc.serve.Runtime"


class FolderRepository(SchemalessModelRepository):
    """A folder of `.om` files; `extra` are the options of those without settings."""

    def __init__(self, root: str, extra: dict[str, object] | None = None) -> None:
        super().__init__(root)
        self._folder = Path(root)
        self._extra = extra or {}

    async def list(self) -> list[ModelSettings]:
        """Returns the settings of all models, those of files first."""
        with_settings = {path.parent for path in self._folder.glob("**/model-settings.json")}
        found = []
        for path in sorted(self._folder.glob("**/*.om")):
            if not with_settings.intersection(path.parents):
                found.append(self._settings(path))
        if with_settings:
            found += await super().list()
        return found

    def _settings(self, path: Path) -> ModelSettings:
        parts = path.relative_to(self._folder).with_suffix("").parts
        version = None
        if len(parts) > 1 and parts[-1] == "model":
            parts = parts[:-1]
            if len(parts) > 1 and parts[-1].isdigit():
                parts, version = parts[:-1], parts[-1]
        return ModelSettings(
            name="-".join(parts), implementation=_IMPLEMENTATION,
            parameters=ModelParameters(uri=str(path.resolve()), version=version,
                                       extra=dict(self._extra)))

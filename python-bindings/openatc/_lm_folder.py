# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folders of models that exporters write for language models."""

from __future__ import annotations

import importlib.util
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._error import ArgumentError, Error


# The settings of an exporter have some kilobytes.
_MAX_SETTINGS = 16 << 20
MAX_TOKEN = (1 << 63) - 1


def _settings(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    if path.stat().st_size > _MAX_SETTINGS:
        raise ArgumentError([f"E10014: '{path}' has {path.stat().st_size} bytes: the settings of a "
                             f"model are a JSON file of at most {_MAX_SETTINGS}"])
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArgumentError([f"E10014: '{path}' is not a JSON file: {error}"]) from error
    except RecursionError:
        raise ArgumentError([f"E10014: '{path}' is nested too deep"]) from None
    return _table(values)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _numbers(value: Any) -> tuple[int, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(each for each in values if isinstance(each, int) and not isinstance(each, bool)
                 and 0 <= each <= MAX_TOKEN)


def _find(folders: list[Path], *names: str) -> Path | None:
    """Returns the first file that exists of these names, with .om in front of .onnx."""
    # os.path, unlike Path, takes any name for one of a file that may not exist.
    return next((path for name in names for folder in folders for suffix in (".om", ".onnx")
                 if os.path.isfile(path := folder / (name + suffix))), None)


@dataclass
class Folder:
    """What `openatc.lm.load` takes from a folder."""

    decoder: Any = None
    encoder: Path | None = None
    with_past: Path | None = None
    tokenizer: Path | None = None
    stop_tokens: tuple[int, ...] = ()
    start_tokens: tuple[int, ...] = field(default=(0,))

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Folder:
        """Finds models by the names of exporters, also in a folder `onnx`, and reads the tokens
        that begin and end answers from their configuration."""
        root = Path(path)
        folders = [root, root / "onnx"]
        genai = _table(_settings(root / "genai_config.json").get("model"))
        own, encoder = (Path(str(_table(genai.get(part)).get("filename", name))).stem
                        for part, name in (("decoder", "model"), ("encoder", "encoder_model")))
        result = Folder(encoder=_find(folders, "encoder_model", encoder))
        result.decoder = _find(folders, "decoder_model_merged", own, "model")
        if result.decoder is None:
            result.decoder = _find(folders, "decoder_model")
            result.with_past = _find(folders, "decoder_with_past_model")
        if result.decoder is None:
            raise Error([f"E10410: folder '{root}' has none of model, decoder_model and "
                         "decoder_model_merged with the ending .om or .onnx: give the file's path"])
        if (root / "tokenizer.json").is_file() and importlib.util.find_spec("tokenizers"):
            result.tokenizer = root / "tokenizer.json"
        # What generation_config.json says counts before the others.
        for settings in (genai, _settings(root / "config.json"),
                         _settings(root / "generation_config.json")):
            result.stop_tokens = _numbers(settings.get("eos_token_id")) or result.stop_tokens
            result.start_tokens = (_numbers(settings.get("decoder_start_token_id"))
                                   or result.start_tokens)
        return result

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration files: one entry per layer, as JSON."""

import json
import pathlib
import re

from openatc_toolkit import write_file

from ._model import LAYER_TYPES, read_aliases, read_layers

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|#[^\n]*|[^\s{}\[\]:,#"]+')


def create_quant_config(config_file, model_file, skip_layers=None, batch_num=1,
                        activation_offset=True, config_defination=None):
    """Writes the settings of all layers that can be quantized to `config_file`, a JSON file that
    quantize_model reads. `config_defination` names a file in the vendor's text form instead of
    the other arguments; `skip_layers` stay float."""
    layers = read_layers(model_file)
    names = {name for name, _ in layers}
    if config_defination is not None:
        settings = _read_definition(config_defination)
    else:
        settings = {"batch_num": _positive(batch_num, "batch_num"), "activation_offset": bool(activation_offset)}
    skipped = set(skip_layers or []) | set(_listed(settings.get("skip_layers", [])))
    aliases = read_aliases(model_file)
    skipped = {aliases.get(name, name) for name in skipped}
    unknown = sorted(skipped - names)
    if unknown:
        raise ValueError(f"'{unknown[0]}' of skip_layers is no layer of '{model_file}' that can be "
                         f"quantized; those are {', '.join(sorted(names)[:10]) or 'none'}")
    offset = settings.pop("activation_offset", True)
    common = settings.pop("common_config", {})
    types = set(_listed(settings.pop("skip_layer_types", [])))
    settings.pop("skip_layers", None)
    document = {"version": 1, "batch_num": settings.pop("batch_num", 1),
                "activation_offset": offset, "do_fusion": settings.pop("do_fusion", True),
                "skip_fusion_layers": _listed(settings.pop("skip_fusion_layers", []))}
    if common:
        document["common_config"] = common
    document.update(settings)
    overridden = {aliases.get(name, name) for name in _overridden(settings)}
    for name, kind in layers:
        entry = {"quant_enable": name not in skipped and kind not in types}
        if not common and name not in overridden and kind not in overridden:
            entry["activation_quant_params"] = {
                "num_bits": 8, "max_percentile": 0.999999, "min_percentile": 0.999999,
                "search_range": [0.7, 1.3], "search_step": 0.01, "act_algo": "ifmr",
                "asymmetric": bool(offset)}
            entry["weight_quant_params"] = {"num_bits": 8, "wts_algo": "arq_quantize",
                                            "channel_wise": kind in ("Conv", "ConvTranspose")}
            document[name] = entry
        elif not entry["quant_enable"]:
            document.setdefault("skip_layers", []).append(name)
    path = pathlib.Path(config_file)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(document, indent=2) + "\n")


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _overridden(settings):
    """Returns the names and types that have settings of their own."""
    found = set()
    for key, name in (("override_layer_configs", "layer_name"),
                      ("override_layer_types", "layer_type")):
        for entry in _listed(settings.get(key, [])):
            found.update(_listed(entry.get(name, [])))
    return found


def _read_definition(path):
    """Reads the vendor's text form: `key : value`, `key { ... }`; a repeated key is a list."""
    tokens = [token for token in _TOKEN.findall(pathlib.Path(path).read_text())
              if token not in (",", ";") and not token.startswith("#")]
    try:
        settings, at = _message(tokens, 0)
    except IndexError:
        raise ValueError(f"'{path}' ends inside a setting") from None
    if at != len(tokens):
        raise ValueError(f"'{path}' has a '}}' too many")
    return settings


def _message(tokens, at):
    result = {}
    while at < len(tokens) and tokens[at] != "}":
        key, at = tokens[at], at + 1
        if tokens[at] == ":":
            at += 1
        if tokens[at] == "{":
            value, at = _message(tokens, at + 1)
            if tokens[at] != "}":
                raise IndexError
            at += 1
        elif tokens[at] == "[":
            end = tokens.index("]", at) if "]" in tokens[at:] else len(tokens)
            value, at = [_scalar(token) for token in tokens[at + 1:end]], end + 1
        else:
            value, at = _scalar(tokens[at]), at + 1
        if key in result:
            result[key] = _listed(result[key]) + _listed(value)
        else:
            result[key] = value
    return result, at


def _scalar(token):
    if token.startswith('"'):
        return json.loads(token)
    if token in ("true", "false"):
        return token == "true"
    for kind in (int, float):
        try:
            return kind(token)
        except ValueError:
            pass
    return token


def _positive(value, name):
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} is {value!r:.80}; give a positive whole number")
    return value


def batch_num_of(config_file):
    """Returns the number of batches that a configuration wants."""
    text = pathlib.Path(config_file).read_text()
    try:
        try:
            settings = json.loads(text)
        except ValueError:
            settings = _read_definition(config_file)
    except RecursionError:
        raise ValueError(f"'{config_file}' is nested too deep") from None
    if not isinstance(settings, dict):
        raise ValueError(f"'{config_file}' is no configuration: it has no settings by name")
    return _positive(settings.get("batch_num", 1), f"batch_num of '{config_file}'")


def with_skipped(config_file, names, target):
    """Writes a copy of a configuration in which more layers stay float."""
    document = json.loads(pathlib.Path(config_file).read_text())
    for name in names:
        document.pop(name, None)
    document["skip_layers"] = sorted(set(_listed(document.get("skip_layers", []))) | set(names))
    write_file(target, json.dumps(document, indent=2) + "\n")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a file of cases from the .ini file or the C++ file that describes operators."""
import configparser
import json
import pathlib
import time

from openatc_toolkit import write_file

from .cases import fail
from .definition import read_definition


def split(text):
    return [word.strip() for word in text.split(",") if word.strip()]


def read_ini(path):
    """Returns {operator: {key: text}} of lines such as input0.dtype=float16,float."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except OSError:
        fail("E10410", f'the file "{path}" of --input does not exist')
    except (configparser.Error, UnicodeDecodeError) as error:
        # It quotes the whole line.
        fail("E13018", f"{path}: {' '.join(str(error).split())[:300]}")
    if not parser.sections():
        fail("E13018", f"{path}: no operator; write [Add] and lines such as input0.dtype=float16,float")
    return {section: dict(parser[section]) for section in parser.sections()}


def tensors_of(keys, side, path, op):
    """Returns the tensors of a side, with all formats and types as alternatives."""
    made = []
    while f"{side}{len(made)}.name" in keys or f"{side}{len(made)}.dtype" in keys:
        prefix = f"{side}{len(made)}."
        types = split(keys.get(prefix + "dtype", ""))
        if not types:
            fail("E10027", f"{path}, [{op}]: {prefix}dtype is missing")
        formats = split(keys.get(prefix + "format", "")) or ["ND"] * len(types)
        if len(formats) == 1:
            formats *= len(types)
        tensor = {"name": keys.get(prefix + "name", prefix[:-1]), "format": formats, "type": types,
                  "shape": [[8, 16]] * len(types)}
        if side == "input":
            tensor |= {"data_distribute": ["uniform"], "value_range": [[0.1, 1.0]]}
        made.append(tensor)
    return made


def attribute(keys, name):
    """Returns an attribute with its default, a number or a list as JSON writes it."""
    text = keys.get(f"attr_{name}.defaultValue", "0")
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    kind = keys.get(f"attr_{name}.type", "int")
    return {"name": name, "type": {"listInt": "list_int", "str": "string"}.get(kind, kind), "value": value}


def create(options):
    """Writes a file per operator; shapes and ranges are to be filled in by the user."""
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    is_source = pathlib.Path(options.input).suffix in (".cpp", ".cc", ".cxx", ".h", ".asc")
    for op, keys in (read_definition if is_source else read_ini)(options.input).items():
        entry = {"case_name": f"Test_{op}_001", "op": op,
                 "input_desc": tensors_of(keys, "input", options.input, op),
                 "output_desc": tensors_of(keys, "output", options.input, op)}
        if not entry["output_desc"]:
            fail("E10027", f"{options.input}, [{op}]: output0.dtype is missing")
        names = split(keys.get("attr.list", ""))
        if names:
            entry["attr"] = [attribute(keys, name) for name in names]
        path = folder / f"{op}_case_{time.strftime('%Y%m%d%H%M%S')}.json"
        write_file(path, json.dumps([entry], indent=2))
        print(f"wrote {path}: fill in shapes and value ranges")
    return 0

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a file of cases and expands each entry.

The lists of format, type and shape of all tensors of an entry are read side by side: the first of
every tensor is one case, the second the next. Each of these is combined with every value range and
every distribution of the inputs, these side by side as well.
"""
import dataclasses
import difflib
import itertools
import json
import math
import pathlib

import numpy as np

from openatc_toolkit import printable

from .values import ALIASES, DISTRIBUTIONS, TYPES

FORMATS = ["ND", "NCHW", "NHWC", "HWCN", "NC1HWC0", "FRACTAL_NZ"]
# What is compared where a case has no error_threshold: the error of an element, relative where the
# reference exceeds 1, and the share of elements that may exceed it.
THRESHOLDS = {"float16": [1e-2, 1e-3], "float": [1e-2, 1e-3], "double": [1e-2, 1e-3]}

# Values are drawn in double precision: 2 GB.
MAX_ELEMENTS = 1 << 28
MAX_DIMS, MAX_CASES, MAX_NAME_BYTES = 32, 10000, 200


class CaseError(Exception):
    """A file that cannot be read: a coded line."""


@dataclasses.dataclass
class Tensor:
    format: str
    type: str
    shape: list
    bounds: list = None
    distribution: str = "uniform"
    value: object = None
    is_const: bool = False


@dataclasses.dataclass
class Case:
    name: str
    op: str
    inputs: list
    outputs: list
    attributes: list
    threshold: list
    expect_function: str = None  # file:function


def fail(code, text):
    raise CaseError(f"{code}: {printable(text)}")


def nearest(word, known):
    found = difflib.get_close_matches(str(word), known, 1)
    return f'; did you mean "{found[0]}"?' if found else ""


def is_file_name(name):
    """Returns whether folders and files can have this name of a case."""
    return (isinstance(name, str) and name.isprintable() and "/" not in name and name[0] != "."
            and len(name.encode()) <= MAX_NAME_BYTES)


def read_cases(path, only=None):
    """Returns the cases of a file; with `only` those whose entries have one of these names."""
    if pathlib.Path(path).is_dir():
        found = sorted(file.name for file in pathlib.Path(path).glob("*.json"))
        fail("E13000", f'"{path}" of --input is a folder; name a file of cases in it'
                       + (f": {', '.join(found[:5])}" if found else ""))
    try:
        entries = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError:
        fail("E10410", f'the file "{path}" of --input does not exist')
    except ValueError as error:
        fail("E10032", f"{path}: {error}")
    except RecursionError:
        fail("E10025", f"{path}: the file is nested too deep")
    if not isinstance(entries, list) or not entries or not all(isinstance(e, dict) for e in entries):
        fail("E10025", f"{path}: the file must be a list of cases: [{{...}}]")
    names = []
    for i, entry in enumerate(entries):
        given = entry.get("case_name")
        names.append(given or f"Test_{entry.get('op')}_{i:03}")
        if is_file_name(names[-1]):
            continue
        limits = f"a text of at most {MAX_NAME_BYTES} bytes in UTF-8 without / that does not begin with a dot"
        if given:
            fail("E10025", f'{path}: "case_name" is {given!r:.80}: it must be {limits}')
        fail("E10025", f'{path}, case {i}: "op" is {entry.get("op")!r:.80}, which cannot be part of the name of a file; '
                       f'give the case a "case_name", {limits}')
    for name in only or []:
        if name not in names:
            fail("E10001", f'the case "{name}" of --case_name is not in {path}{nearest(name, names)}')
    cases = []
    for name, entry in zip(names, entries):
        if not only or name in only:
            cases += expand(name, entry, f"{path}, {name}")
    seen = set()
    for case in cases:
        if case.name in seen:
            fail("E13009", f'{path}: two cases have the name "{case.name}"')
        seen.add(case.name)
    return cases


def list_of(tensor, key, where, otherwise=None):
    """Returns what a tensor has under a key as a list of alternatives."""
    value = tensor.get(key, otherwise)
    if value is None:
        fail("E10027", f'{where}: "{key}" is missing')
    if not isinstance(value, list):
        return [value]
    # A shape or a range may stand alone.
    if key in ("shape", "value_range") and not any(isinstance(item, list) for item in value):
        return [value]
    if not value:
        fail("E10027", f'{where}: "{key}" is empty')
    return value


def side_by_side(lists, where):
    """Pairs lists of one length; a list of one item fits every length."""
    count = max(map(len, lists), default=1)
    for values in lists:
        if len(values) not in (1, count):
            fail("E10027", f"{where}: lists of {len(values)} and {count} alternatives stand side by side; "
                           "give each tensor as many, or one for all")
    return [[values[i if len(values) > 1 else 0] for values in lists] for i in range(count)]


def is_number(value, kinds=(int, float)):
    # Integers may be beyond all floats, which math.isfinite would convert them to.
    return isinstance(value, kinds) and not isinstance(value, bool) and (isinstance(value, int) or math.isfinite(value))


def check(tensor, where):
    for key, value in (("type", tensor.type), ("format", tensor.format), ("data_distribute", tensor.distribution)):
        if not isinstance(value, str):
            fail("E10027", f'{where}: "{key}" is {value!r:.80}, which is no text')
    if tensor.type not in TYPES:
        fail("E10027", f'{where}: the type "{tensor.type}" is not one of {", ".join(TYPES)}'
                       f"{nearest(tensor.type, TYPES)}")
    if tensor.format not in FORMATS:
        fail("E10027", f'{where}: the format "{tensor.format}" is not one of {", ".join(FORMATS)}'
                       f"{nearest(tensor.format, FORMATS)}")
    if not isinstance(tensor.shape, list) or any(not is_number(d, int) or d < 1 for d in tensor.shape) \
            or len(tensor.shape) > MAX_DIMS:
        fail("E10027", f'{where}: "shape" must be a list of at most {MAX_DIMS} positive numbers')
    if math.prod(tensor.shape) > MAX_ELEMENTS:
        fail("E10027", f'{where}: "shape" has {math.prod(tensor.shape)} elements, at most {MAX_ELEMENTS} are possible')
    if tensor.distribution not in DISTRIBUTIONS:
        fail("E10001", f'{where}: the distribution "{tensor.distribution}" is not one of '
                       f'{", ".join(DISTRIBUTIONS)}{nearest(tensor.distribution, DISTRIBUTIONS)}')
    bounds = tensor.bounds
    if bounds is not None and not (isinstance(bounds, list) and len(bounds) == 2 and
                                   all(is_number(b) and abs(b) < 1e300 for b in bounds) and bounds[0] <= bounds[1]):
        fail("E10001", f'{where}: "value_range" must be [low, high]')
    limits = np.iinfo(TYPES[tensor.type]) if np.issubdtype(TYPES[tensor.type], np.integer) else None
    if bounds and limits and (bounds[0] < limits.min or bounds[1] > limits.max):
        fail("E10001", f'{where}: "value_range" exceeds {tensor.type}, which has {limits.min} to {limits.max}')


def expand(name, entry, where):
    """Returns the cases of one entry; <name> where there is one, else <name>_000, <name>_001 ..."""
    op = entry.get("op")
    if not isinstance(op, str) or not op:
        fail("E10026", f'{where}: "op" must name an operator')
    inputs, outputs = entry.get("input_desc", []), entry.get("output_desc", [])
    if not isinstance(inputs, list) or not isinstance(outputs, list) or not outputs:
        fail("E10027", f'{where}: "input_desc" and "output_desc" must be lists of tensors')
    tensors = [(t, f"{where}, {key}[{i}]") for key, group in (("input_desc", inputs), ("output_desc", outputs))
               for i, t in enumerate(group)]
    for tensor, place in tensors:
        if not isinstance(tensor, dict):
            fail("E10027", f"{place}: a tensor must be an object")
    kinds = side_by_side([list_of(t, key, place, default) for t, place in tensors
                          for key, default in (("format", "ND"), ("type", None), ("shape", None))], where)
    ranges = side_by_side([list_of(t, "value_range", place, [[0.1, 1.0]]) for t, place in tensors[:len(inputs)]], where)
    spreads = side_by_side([list_of(t, "data_distribute", place, "uniform")
                            for t, place in tensors[:len(inputs)]], where)
    if len(kinds) * len(ranges) * len(spreads) > MAX_CASES:
        fail("E10027", f"{where}: the alternatives make {len(kinds) * len(ranges) * len(spreads)} cases, at most "
                       f"{MAX_CASES} are possible")
    function = entry.get("calc_expect_func_file")
    if function is not None and not isinstance(function, str):
        fail("E10027", f'{where}: "calc_expect_func_file" must be a text, file.py:function')
    attributes = entry.get("attr", [])
    if not isinstance(attributes, list) or not all(isinstance(a, dict) and isinstance(a.get("name"), str) for a in attributes):
        fail("E10027", f'{where}: "attr" must be a list of attributes, {{"name": ..., "type": ..., "value": ...}}')
    cases = []
    for kind, bounds, spread in itertools.product(kinds, ranges, spreads):
        made = []
        for i, (tensor, place) in enumerate(tensors):
            form, type_, shape = kind[3 * i:3 * i + 3]
            is_input = i < len(inputs)
            type_ = ALIASES.get(type_, type_) if isinstance(type_, str) else type_
            one = Tensor(form, type_, shape, bounds[i] if is_input else None,
                         spread[i] if is_input else "uniform", tensor.get("value"),
                         bool(tensor.get("is_const")))
            check(one, place)
            made.append(one)
        result = made[len(inputs)]
        threshold = entry.get("error_threshold") or THRESHOLDS.get(result.type, [0, 0])
        cases.append(Case(name, op, made[:len(inputs)], made[len(inputs):], attributes,
                          read_threshold(threshold, where), function))
    if len(cases) > 1:
        for i, case in enumerate(cases):
            case.name = f"{name}_{i:03}"
    return cases


def number_of(value):
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def read_threshold(value, where):
    """Returns [error of an element, share of elements that may exceed it]; files may quote them."""
    if isinstance(value, list):
        value = [number_of(v) for v in value]
    if not isinstance(value, list) or len(value) != 2 or \
            not all(is_number(v) and 0 <= v <= 1 for v in value):
        fail("E10001", f"{where}: the threshold must be two numbers from 0 to 1: the error of an element, and the "
                       "share of elements that may exceed it")
    return [float(v) for v in value]

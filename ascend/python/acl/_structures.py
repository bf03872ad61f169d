# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structures of the C interface, which are dictionaries in Python.

A table has a line per structure: `type name` per field, separated by commas; `name*3` is an array,
and fields in parentheses, separated by bars, share their memory. A type is a letter as in
`_library`, `c` for characters, or an earlier structure."""

import ctypes

LETTERS = {
    "c": ctypes.c_char,
    "b": ctypes.c_int8, "B": ctypes.c_uint8, "h": ctypes.c_int16, "H": ctypes.c_uint16,
    "i": ctypes.c_int32, "I": ctypes.c_uint32, "L": ctypes.c_int64, "U": ctypes.c_uint64,
    "N": ctypes.c_size_t, "f": ctypes.c_float, "d": ctypes.c_double,
    "p": ctypes.c_void_p, "s": ctypes.c_char_p, "e": ctypes.c_int32, "E": ctypes.c_uint32, "-": None,
}

KINDS = {}  # the structures, by name


def _field(text):
    kind, name = text.split()
    kind = LETTERS.get(kind) or KINDS[kind]
    name, *sizes = name.split("*")
    for size in reversed(sizes):
        kind = kind * int(size)
    return name, kind


def define(table):
    """Adds the structures of a table to KINDS."""
    for line in table.strip().splitlines():
        structure, fields = line.split(":")
        listed, anonymous = [], []
        for text in fields.split(","):
            if "(" not in text:
                listed.append(_field(text))
                continue
            name = f"either{len(anonymous)}"
            members = [_field(part) for part in text.strip().strip("()").split("|")]
            listed.append((name, type(name, (ctypes.Union,), {"_fields_": members})))
            anonymous.append(name)
        KINDS[structure.strip()] = type(structure.strip(), (ctypes.Structure,),
                                        {"_anonymous_": anonymous, "_fields_": listed})


def _names(kind):
    """Lists the fields, and those of unions in the place of the unions."""
    for name, field in kind._fields_:
        if name in getattr(kind, "_anonymous_", ()):
            yield from _names(field)
        else:
            yield name, field


def _fill_array(array, values):
    if len(values) > len(array):
        raise ValueError(f"at most {len(array)} values fit, {len(values)} were given")
    for i, value in enumerate(values):
        if isinstance(array[i], ctypes.Array):
            _fill_array(array[i], value)
        elif isinstance(array[i], ctypes.Structure):
            fill(array[i], value)
        else:
            array[i] = value or 0


def fill(structure, values):
    """Writes a dictionary to a structure. Fields that it does not name stay 0, and names that the
    structure has not, as those that are reserved, are left out."""
    if not isinstance(values, dict):
        raise TypeError(f"a dictionary of {type(structure).__name__} is expected")
    for name, kind in _names(type(structure)):
        if name not in values:
            continue
        if issubclass(kind, ctypes.Structure):
            fill(getattr(structure, name), values[name])
        elif issubclass(kind, ctypes.Array) and kind._type_ is not ctypes.c_char:
            _fill_array(getattr(structure, name), values[name])
        else:
            value = values[name]
            setattr(structure, name, value.encode() if isinstance(value, str) else value)
    return structure


def _value(value):
    if isinstance(value, ctypes.Structure):
        return read(value)
    if isinstance(value, ctypes.Array):
        return [_value(item) for item in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return 0 if value is None else value


def read(structure):
    """Returns a structure as a dictionary."""
    return {name: _value(getattr(structure, name)) for name, _ in _names(type(structure))}

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the C libraries as Python functions, from one line each.

A line names the C function, its result, and its arguments in the order of C: a letter for
a value that the caller gives, `>` and a letter for one that the function writes. With
result `e` (an error code) the Python function returns the code, or written values followed by
the code; with another result it returns that value alone."""

import ctypes
import os
import pathlib

_TYPES = {
    "b": ctypes.c_int8, "B": ctypes.c_uint8, "h": ctypes.c_int16, "H": ctypes.c_uint16,
    "i": ctypes.c_int32, "I": ctypes.c_uint32, "L": ctypes.c_int64, "U": ctypes.c_uint64,
    "N": ctypes.c_size_t, "f": ctypes.c_float, "d": ctypes.c_double,
    "p": ctypes.c_void_p, "s": ctypes.c_char_p, "e": ctypes.c_int32, "-": None,
}

SUCCESS = 0


def _candidates(name):
    """Where a library may be: where the user says, beside this package in the toolkit or the
    build folder, where the loader looks."""
    chosen = os.environ.get("OPENATC_ACL_LIBRARY_DIR")
    if chosen:
        yield os.path.join(chosen, name)
    here = pathlib.Path(__file__).resolve()
    for folder in (here.parents[2] / "lib64", here.parents[2] / "lib", here.parents[3]):
        if (folder / name).exists():
            yield str(folder / name)
    yield name


def load(name):
    """Loads a library; ImportError says where it was looked for."""
    tried = []
    for path in _candidates(name):
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            tried.append(str(error))
    raise ImportError(f"{name} cannot be loaded; set OPENATC_ACL_LIBRARY_DIR or LD_LIBRARY_PATH: "
                      + "; ".join(tried))


def _given(letter, value):
    if letter == "s":
        return None if value is None else value if isinstance(value, bytes) else str(value).encode()
    if letter == "p":
        return None if value is None or value == 0 else int(value)
    if letter in "fd":
        return float(value)
    return int(value)


def _read(letter, value):
    if letter == "p":
        return value or 0
    if letter == "s":
        return value.decode(errors="replace") if value is not None else None
    return value


def bind(library, line):
    """Makes the Python function that a line describes."""
    name, result, *kinds = line.split()
    function = getattr(library, name)
    function.restype = _TYPES[result]
    function.argtypes = [ctypes.POINTER(_TYPES[kind[1]]) if kind[0] == ">" else _TYPES[kind]
                         for kind in kinds]
    given = [kind for kind in kinds if kind[0] != ">"]

    def call(*values):
        if len(values) != len(given):
            raise TypeError(f"{name} takes {len(given)} arguments, {len(values)} were given")
        rest = iter(values)
        arguments, written = [], []
        for kind in kinds:
            if kind[0] == ">":
                cell = _TYPES[kind[1]]()
                written.append((kind[1], cell))
                arguments.append(ctypes.byref(cell))
            else:
                arguments.append(_given(kind, next(rest)))
        returned = function(*arguments)
        if result != "e":
            return _read(result, returned)
        if not written:
            return returned
        return (*(_read(letter, cell.value) for letter, cell in written), returned)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Calls {name}; see the headers acl/*.h."
    return call


def bind_all(namespace, library, table):
    """Adds the functions of a table, {Python name: line}, to a module."""
    for name, line in table.items():
        namespace[name] = bind(library, line)


LIBRARY = load("libascendcl.so")

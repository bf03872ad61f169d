# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the C libraries as Python functions, from one line each.

A line names the C function, its result, and its arguments in the order of C: a letter for
a value that the caller gives, the name of a structure for a dictionary (`.name`: passed by value), `*` and one of
both for a list of them, `#` and `@` for the length of the list before and behind, which is not given, and
`>` and one of both for what the function writes. With result `e` or `E` (an error code) the Python function returns the code, or
written values followed by the code; with another result it returns that value alone."""

import ctypes
import os
import pathlib

from ._structures import KINDS, LETTERS, fill, read

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


def _array(kind, values):
    """Makes a C array of a list; one element where it is empty, as it needs an address."""
    if not isinstance(values, (list, tuple)) and not hasattr(values, "__array__"):
        raise TypeError("a list is expected")
    if kind in LETTERS:
        return (LETTERS[kind] * max(len(values), 1))(*(_given(kind, value) for value in values))
    array = (KINDS[kind] * max(len(values), 1))()
    for structure, value in zip(array, values):
        fill(structure, value)
    return array


def _argument_type(kind):
    if kind[0] in ">*":
        return ctypes.c_void_p
    if kind in "#@":
        return ctypes.c_size_t
    if kind in LETTERS:
        return LETTERS[kind]
    return KINDS[kind[1:]] if kind[0] == "." else ctypes.c_void_p


def _places(kinds):
    """Lists the position among the given values of each argument's value, or of the list whose
    length it is; None for what the function writes."""
    places, lists = [], []
    for kind in kinds:
        places.append(None if kind[0] in ">#@" else sum(place is not None for place in places))
        if kind[0] == "*":
            lists.append((len(places) - 1, places[-1]))
    for i, kind in enumerate(kinds):
        if kind == "#":
            places[i] = [place for at, place in lists if at < i][-1]
        elif kind == "@":
            places[i] = [place for at, place in lists if at > i][0]
    return places


def bind(library, line):
    """Makes the Python function that a line describes."""
    name, result, *kinds = line.split()
    function = getattr(library, name)
    function.restype = LETTERS[result]
    function.argtypes = [_argument_type(kind) for kind in kinds]
    places = _places(kinds)
    expected = sum(kind[0] not in ">#@" for kind in kinds)

    def call(*values):
        if len(values) != expected:
            raise TypeError(f"{name} takes {expected} arguments, {len(values)} were given")
        arguments, written = [], []
        for kind, place in zip(kinds, places):
            if kind[0] == ">":
                cell = (LETTERS.get(kind[1:]) or KINDS[kind[1:]])()
                written.append((kind[1:], cell))
                arguments.append(ctypes.addressof(cell))
            elif kind in "#@":
                arguments.append(len(values[place]))
            elif kind[0] == "*":
                arguments.append(_array(kind[1:], values[place]))
            elif kind in LETTERS:
                arguments.append(_given(kind, values[place]))
            else:
                structure = fill(KINDS[kind.lstrip(".")](), values[place])
                arguments.append(structure if kind[0] == "." else ctypes.byref(structure))
        returned = function(*arguments)
        if result not in "eE":
            return _read(result, returned)
        if not written:
            return returned
        return (*(_read(kind, cell.value) if kind in LETTERS else read(cell)
                  for kind, cell in written), returned)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Calls {name}; see the headers acl/*.h."
    return call


def bind_all(namespace, library, table):
    """Adds the functions of a table, {Python name: line}, to a module."""
    for name, line in table.items():
        namespace[name] = bind(library, line)


LIBRARY = load("libascendcl.so")

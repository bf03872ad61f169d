# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of inputs and outputs."""

import pathlib
import re

import numpy as np

from openatc_toolkit import new_file


class InputError(Exception):
    """What a person can mend: a path, a size, an option."""


def _natural(path):
    """Sorts name2 before name10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name)]


def read(path):
    """Returns the array of a .npy file, or the bytes of another one."""
    if not path.is_file():
        raise InputError(f"{path} is no regular file")
    try:
        if path.suffix.lower() == ".npy":
            return np.load(path, allow_pickle=False)
        return np.fromfile(path, dtype=np.uint8)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def listed(text, count):
    """Returns a list of files per input. The text has one file or folder per input, separated
    by commas; several files for one input are batches of it."""
    paths = [pathlib.Path(part.strip()) for part in text.split(",") if part.strip()]
    if not paths:
        raise InputError(f"--input: '{text}' names no file or folder")
    for path in paths:
        if not path.exists():
            raise InputError(f"--input: {path} does not exist")
    groups = [sorted((p for p in path.iterdir() if p.suffix.lower() in (".npy", ".bin")),
                     key=_natural) if path.is_dir() else [path] for path in paths]
    for path, group in zip(paths, groups):
        if not group:
            raise InputError(f"--input: {path} has no .npy or .bin files")
    if len(groups) != count and all(path.is_file() for path in paths):
        # A plain list of files: input 0 of every run, then input 1 ...
        files = [group[0] for group in groups]
        if len(files) % count:
            raise InputError(f"--input: {len(files)} files are no multiple of {count} inputs")
        share = len(files) // count
        groups = [files[i * share:(i + 1) * share] for i in range(count)]
    if len(groups) != count:
        raise InputError(f"--input: {len(groups)} folders are given, the model has {count} inputs")
    if len({len(group) for group in groups}) != 1:
        raise InputError("--input: the inputs have different numbers of files: "
                         + ", ".join(str(len(group)) for group in groups))
    return groups


def batches(group, size, samples):
    """Returns (array, paths) for each run: files that hold some samples of a larger batch are
    joined, and the last of them repeated to fill it. With size 0 each file is a run."""
    arrays = [read(path) for path in group]
    own = arrays[0].nbytes
    share = size // own if size and own and size % own == 0 else 1
    if share <= 1 or samples % share:  # less than a sample is a mistake
        return [(array, [path]) for array, path in zip(arrays, group)]
    result = []
    for first in range(0, len(arrays), share):
        part, paths = arrays[first:first + share], group[first:first + share]
        part = part + [part[-1]] * (share - len(part))
        if any(array.shape != part[0].shape or array.dtype != part[0].dtype for array in part):
            raise InputError(f"--input: {paths[0].parent} has files of different shapes")
        result.append((np.concatenate([array.reshape(-1) for array in part]), list(paths)))
    return result


def write(array, path, format):
    """Writes an output as NPY, BIN or TXT; returns the path."""
    path = path.with_name(f"{path.name}.{format.lower()}")
    with new_file(path) as file:
        if format == "NPY":
            np.save(file, array)
        elif format == "TXT":
            kind = "%d" if array.dtype.kind in "iub" else "%.9g"
            np.savetxt(file, array.reshape(-1, array.shape[-1] if array.ndim else 1), fmt=kind)
        else:
            file.write(np.ascontiguousarray(array).tobytes())
    return path

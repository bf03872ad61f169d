# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A folder has at most 40 files and a source file at most 600 lines, so that both can be read."""

import collections
import os

from includes_test import ROOT, SOURCES, tracked_files

MAX_FILES, MAX_LINES = 40, 600
CODE = (*SOURCES, ".fbs", ".py", ".sh", ".cmake", ".mlir")


def crowded(names):
    """The folders of more files than a folder may have, with their number."""
    counts = collections.Counter(os.path.dirname(name) for name in names)
    return {folder: count for folder, count in counts.items() if count > MAX_FILES}


def long_files(lines):
    """The source files of more lines than a file may have; `lines` has the number of each."""
    return {name: count for name, count in lines.items()
            if name.endswith(CODE) and count > MAX_LINES}


def test_folders_are_small():
    names = tracked_files()
    assert len(names) > 1500
    assert not crowded(names)


def test_files_are_short():
    lines = {name: (ROOT / name).read_bytes().count(b"\n") for name in tracked_files()
             if name.endswith(CODE)}
    assert not long_files(lines)


def test_the_test_sees_what_is_too_large():
    assert crowded([f"a/{i}.cpp" for i in range(41)] + [f"a/b/{i}" for i in range(40)]) == {"a": 41}
    assert long_files({"a.cpp": 601, "b.py": 600, "c.txt": 9999}) == {"a.cpp": 601}

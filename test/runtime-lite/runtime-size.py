#!/usr/bin/env python3
# ===-- runtime-size.py - how much code the runtime brings ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures .text + .rodata of a stripped C program that uses the whole runtime, and the bytes of
the stripped shared library, checks that neither needs the C++ library, and prints one JSON object.
Fails above the limit."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def section_sizes(program):
    sizes = {}
    for line in subprocess.check_output(["size", "-A", program], text=True).splitlines():
        words = line.split()
        if len(words) == 3 and words[0].startswith("."):
            sizes[words[0]] = int(words[1])
    return sizes


def needed_libraries(file):
    lines = subprocess.check_output(["readelf", "-d", file], text=True).splitlines()
    return [line.split()[-1].strip("[]") for line in lines if "(NEEDED)" in line]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="a C program linked with the runtime")
    parser.add_argument("library", help="the runtime as a shared library")
    parser.add_argument("--limit", type=int, default=140 * 1000, help="bytes allowed (default %(default)s)")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        stripped = str(Path(folder) / "stripped")
        subprocess.check_call(["strip", "-o", stripped, args.program])
        sizes = section_sizes(stripped)
        needed = needed_libraries(stripped)
        subprocess.check_call(["strip", "-o", stripped, args.library])
        library = Path(stripped).stat().st_size
        needed += needed_libraries(stripped)
    code = sizes.get(".text", 0) + sizes.get(".rodata", 0)
    cxx = [name for name in needed if name.startswith(("libstdc++", "libc++"))]
    print(json.dumps({"text_bytes": sizes.get(".text", 0), "rodata_bytes": sizes.get(".rodata", 0),
                      "code_bytes": code, "library_bytes": library, "limit_bytes": args.limit,
                      "needed": sorted(set(needed))}))
    sys.exit(0 if 0 < code <= args.limit and library <= args.limit and not cxx else 1)


if __name__ == "__main__":
    main()

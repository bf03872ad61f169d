#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what pip and importlib.metadata know of the Python package, from pyproject.toml.

    dist_info.py FOLDER     the folder `openatc-VERSION.dist-info` of a package that is no wheel:
                            its commands are programs of their own
"""

import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def entry_points(*, commands):
    """Returns the text of entry_points.txt: what other packages find this one by, such as the
    backend of torch.compile, and the console commands where they are wanted."""
    groups = dict(PROJECT["entry-points"])
    if commands:
        groups["console_scripts"] = PROJECT["scripts"]
    return "\n".join(f"[{group}]\n" + "".join(f"{name} = {entry}\n"
                                              for name, entry in entries.items())
                     for group, entries in groups.items())


def metadata():
    """Returns the text of METADATA."""
    lines = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {PROJECT['version']}",
             f"Summary: {PROJECT['description']}", f"License: {PROJECT['license']['text']}",
             "License-File: LICENSE", "License-File: THIRD-PARTY-NOTICES.md",
             f"Requires-Python: {PROJECT['requires-python']}",
             *(f"Requires-Dist: {name}" for name in PROJECT["dependencies"]),
             "Description-Content-Type: text/markdown"]
    return "\n".join(lines) + "\n\n" + (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(metadata(), encoding="utf-8")
    (folder / "entry_points.txt").write_text(entry_points(commands=False), encoding="utf-8")


if __name__ == "__main__":
    main()

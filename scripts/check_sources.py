#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks C++ sources one by one, by the commands of a finished build without its precompiled
header: that each compiles with the headers it includes itself (--compile), and what clang-tidy
finds by the checks of .clang-tidy (--tidy).

    scripts/check_sources.py --compile --tidy              files changed since origin/main
    scripts/check_sources.py --tidy --all                  the whole tree
    scripts/check_sources.py --compile passes/kernel       files and folders

Changed headers stand for the sources of the same name. Exit code 1 after findings.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def without_header(command):
    """The arguments of a compiler call without the precompiled header and without an output."""
    arguments = shlex.split(command)
    kept = []
    index = 0
    while index < len(arguments):
        # -Xclang -include -Xclang FILE, and -Xclang -include-pch -Xclang FILE.
        if arguments[index] == "-Xclang" and arguments[index + 1] in ("-include", "-include-pch"):
            index += 4
        elif arguments[index] == "-Xclang" and arguments[index + 1].startswith("-fno-pch"):
            index += 2
        elif arguments[index] in ("-o", "-MF", "-MT", "-MQ"):
            index += 2
        elif arguments[index] in ("-c", "-MD", "-MMD", "-Winvalid-pch"):
            index += 1
        else:
            kept.append(arguments[index])
            index += 1
    return kept


def sources_of(entry):
    """The source of a command, or those that it compiles as one (OPENATC_UNITY)."""
    path = pathlib.Path(entry["directory"], entry["file"]).resolve()
    if path.parent.name != "Unity":
        return [path]
    return [pathlib.Path(name) for name in re.findall(r'^#include "(.*)"', path.read_text(), re.M)]


def commands_of(build):
    """{source relative to the repository: its entry}. Generated sources and assembly are left out."""
    path = build / "compile_commands.json"
    if not path.is_file():
        sys.exit(f"{path} does not exist: build first, with scripts/build.sh")
    entries = {}
    for entry in json.loads(path.read_text()):
        arguments = without_header(entry["command"])
        for source in sources_of(entry):
            if source.is_relative_to(build) or not source.is_relative_to(ROOT) or source.suffix == ".S":
                continue
            own = [str(source) if argument == entry["file"] else argument for argument in arguments]
            entries.setdefault(str(source.relative_to(ROOT)), {
                "directory": entry["directory"], "file": str(source), "arguments": own})
    return entries


def changed_files(base):
    merge_base = subprocess.run(["git", "-C", str(ROOT), "merge-base", base, "HEAD"],
                                capture_output=True, text=True)
    if merge_base.returncode:
        sys.exit(f"git knows no {base}: name what to compare with by --base")
    listed = subprocess.run(["git", "-C", str(ROOT), "diff", "--name-only", "--diff-filter=d",
                             merge_base.stdout.strip()], capture_output=True, text=True, check=True)
    return listed.stdout.split()


def select(entries, options):
    if options.all:
        return sorted(entries)
    names = [os.path.relpath(os.path.abspath(path), ROOT) for path in options.paths]
    if not names:
        names = changed_files(options.base)
    selected = set()
    for name in names:
        stem, extension = os.path.splitext(name)
        if extension in (".h", ".hpp"):
            name = stem + ".cpp"
        folder = "" if name == "." else name.rstrip("/") + "/"
        selected.update(source for source in entries
                        if source == name or (not extension and source.startswith(folder)))
    return sorted(selected)


def run_all(sources, work, jobs):
    """Calls work(source) -> text of its findings; prints them, returns how many have some."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for source, text in zip(sources, pool.map(work, sources)):
            if text:
                failed += 1
                print(f"--- {source}\n{text}", flush=True)
    return failed


def compile_one(entry):
    # Warnings are those of the build; what is missing is an error.
    done = subprocess.run(entry["arguments"] + ["-fsyntax-only", "-w"], cwd=entry["directory"],
                          capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def tidy_one(source, database):
    done = subprocess.run(["clang-tidy-22", "--quiet", "--warnings-as-errors=*", "-p", database,
                           str(ROOT / source)], capture_output=True, text=True)
    return done.stdout if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", help="files and folders instead of what has changed")
    parser.add_argument("--compile", action="store_true", help="without the precompiled header")
    parser.add_argument("--tidy", action="store_true", help="clang-tidy")
    parser.add_argument("--all", action="store_true", help="the whole tree")
    parser.add_argument("--base", default="origin/main", help="what changes are counted from")
    parser.add_argument("--build", default=str(ROOT / "build"), help="a finished build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if not (options.compile or options.tidy):
        parser.error("nothing to do: --compile, --tidy or both")

    entries = commands_of(pathlib.Path(options.build).resolve())
    sources = select(entries, options)
    failed = 0
    if options.compile:
        failed += run_all(sources, lambda source: compile_one(entries[source]), options.jobs)
    if options.tidy:
        with tempfile.TemporaryDirectory() as database:
            pathlib.Path(database, "compile_commands.json").write_text(
                json.dumps(list(entries.values())))
            failed += run_all(sources, lambda source: tidy_one(source, database), options.jobs)
    print(f"{len(sources)} sources checked, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Includes follow the table of folders in CONTRIBUTING.md, which is the one place where they
are allowed. A row stands for a folder with what is inside it, as far as no row of its own is
deeper. It may include itself, the folders around it, and what its last column lists."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = (".c", ".cc", ".cpp", ".def", ".h", ".hpp", ".inc", ".S", ".td")
INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]')
EVERYTHING = "all"


def read_table(page):
    """{folder: folders that it may include, or EVERYTHING}, of the table with the column
    "may include". Folders end with a slash."""
    lines = iter(page.splitlines())
    for line in lines:
        if re.fullmatch(r"\|\s*folder\s*\|.*\|\s*may include\s*\|", line):
            break
    next(lines)  # |---|---|---|
    table = {}
    for line in lines:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        allowed = EVERYTHING if cells[-1] == EVERYTHING else re.findall(r"`([^`]+/)`", cells[-1])
        for folder in re.findall(r"`([^`]+/)`", cells[0]):
            assert folder not in table, f"{folder} has two rows"
            table[folder] = allowed
    return table


def tracked_files():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def row_of(path, table):
    """The deepest row that a file belongs to; None where there is none."""
    rows = [folder for folder in table if path.startswith(folder)]
    return max(rows, key=len) if rows else None


class Files:
    """The files of the project, by the names under which others include them."""

    def __init__(self, names):
        self.names = set(names)
        self.folders = {os.path.dirname(name) for name in names}
        # Headers for users are included as <openatc/om.h> and "acl/acl.h".
        self.public = {name.rpartition("/include/")[2]: name for name in names
                       if "/include/" in name}

    def resolve(self, included, includer):
        """The path of an included file in the project; None for one of another project. A
        generated file stands where the file that it is made of does."""
        beside = os.path.normpath(os.path.join(os.path.dirname(includer), included))
        for path in (included, beside):
            if path in self.names or ("/" in path and os.path.dirname(path) in self.folders):
                return path
        return self.public.get(included)


def includes(files):
    """(file, line number, path of the included file) of every include in the project."""
    for name in sorted(files.names):
        if not name.endswith(SOURCES):
            continue
        for number, line in enumerate((ROOT / name).read_text(errors="replace").splitlines(), 1):
            if match := INCLUDE.match(line):
                if path := files.resolve(match[1], name):
                    yield name, number, path


def is_around(outer, inner):
    return inner.startswith(outer)


def find_violations(table, edges):
    """One line per include that the table does not allow; `edges` are as of includes()."""
    lines = []
    for name, number, path in edges:
        source, target = row_of(name, table), row_of(path, table)
        if source is None or target is None:
            lines.append(f"{name}:{number}: {path}: no row has the folder")
        elif table[source] != EVERYTHING and not is_around(target, source) and not any(
                is_around(folder, target) for folder in table[source]):
            lines.append(f"{name}:{number}: `{source}` may not include `{target}` ({path})")
    return lines


def find_cycle(table, edges):
    """The folders of a cycle of includes; an empty list where there is none. A folder and one
    around it may include each other."""
    graph = {}
    for name, _, path in edges:
        source, target = row_of(name, table), row_of(path, table)
        if source and target and not is_around(source, target) and not is_around(target, source):
            graph.setdefault(source, set()).add(target)
    done, trail = set(), []

    def visit(folder):
        if folder in trail:
            return trail[trail.index(folder):] + [folder]
        if folder in done:
            return []
        trail.append(folder)
        for target in sorted(graph.get(folder, ())):
            if cycle := visit(target):
                return cycle
        done.add(trail.pop())
        return []

    for folder in sorted(graph):
        if cycle := visit(folder):
            return cycle
    return []


@pytest.fixture(scope="module")
def files():
    return Files(tracked_files())


@pytest.fixture(scope="module")
def table():
    return read_table((ROOT / "CONTRIBUTING.md").read_text())


def test_every_folder_with_code_has_a_row(files, table):
    missing = {name for name in files.names if name.endswith(SOURCES) and not row_of(name, table)}
    assert not missing


def test_every_folder_of_the_table_exists(files, table):
    named = set(table).union(*(allowed for allowed in table.values() if allowed != EVERYTHING))
    gone = {folder for folder in named
            if not any(name.startswith(folder) for name in files.names)}
    assert not gone


def test_includes_follow_the_table(files, table):
    edges = list(includes(files))
    assert len(edges) > 1000
    violations = find_violations(table, edges)
    assert not violations, "\n".join(violations)


def test_no_cycles_of_folders(files, table):
    cycle = find_cycle(table, includes(files))
    assert not cycle, " -> ".join(cycle)


def test_only_tools_and_tests_include_tools(files):
    others = [f"{name}:{number}" for name, number, path in includes(files)
              if path.startswith("tools/") and not name.startswith(("tools/", "test/"))]
    assert not others


def test_headers_include_families_of_ops(files):
    """What includes the whole graph dialect is rebuilt by a change of any of its ops."""
    whole = [f"{name}:{number}" for name, number, path in includes(files)
             if path == "dialects/graph/Graph.h" and name.endswith(".h")]
    assert not whole


def test_tools_do_not_include_each_other(files):
    def owner(path):
        return path.split("/")[1]

    crossing = [f"{name}:{number}: {path}" for name, number, path in includes(files)
                if name.startswith("tools/") and path.startswith("tools/")
                and owner(path) not in (owner(name), "common")
                and owner(name) not in ("wheel", "aoe")]  # a module of tools; all flags of atc
    assert not crossing


TABLE = """
| folder | what | may include |
|---|---|---|
| `a/` | the ground | - |
| `a/deep/` | deeper | `c/` |
| `b/`, `c/` | both | `a/` |
| `t/` | tests | all |
"""


def test_the_test_sees_violations():
    table = read_table(TABLE)
    assert table == {"a/": [], "a/deep/": ["c/"], "b/": ["a/"], "c/": ["a/"], "t/": EVERYTHING}
    assert row_of("a/deep/x.h", table) == "a/deep/" and row_of("z/x.h", table) is None
    allowed = [("b/x.cpp", 1, "a/y.h"), ("b/x.cpp", 2, "a/deep/y.h"), ("a/deep/x.cpp", 1, "a/y.h"),
               ("t/x.cpp", 1, "b/y.h")]
    assert find_violations(table, allowed) == []
    refused = [("a/x.cpp", 3, "b/y.h"), ("b/x.cpp", 1, "c/y.h"), ("b/x.cpp", 1, "z/y.h"),
               ("a/x.cpp", 1, "a/deep/y.h")]
    lines = find_violations(table, refused)
    assert len(lines) == 4 and lines[0] == "a/x.cpp:3: `a/` may not include `b/` (b/y.h)"


def test_the_test_sees_cycles():
    table = read_table(TABLE)
    cycle = [("b/x.h", 1, "a/y.h"), ("a/deep/x.h", 1, "c/y.h"), ("c/y.h", 1, "a/deep/x.h")]
    assert find_cycle(table, cycle) == ["a/deep/", "c/", "a/deep/"]
    assert find_cycle(table, cycle[:2] + [("a/deep/x.h", 1, "a/y.h"), ("a/y.h", 1, "a/deep/x.h")]) == []


def test_the_test_resolves_names():
    files = Files(["a/x.h", "a/Ops.td", "r/include/openatc/om.h", "v/include/acl/ops/op.h"])
    assert files.resolve("a/x.h", "b/y.cpp") == "a/x.h"
    assert files.resolve("x.h", "a/y.cpp") == "a/x.h"
    assert files.resolve("../a/x.h", "b/y.cpp") == "a/x.h"
    assert files.resolve("a/Ops.h.inc", "b/y.cpp") == "a/Ops.h.inc"
    assert files.resolve("openatc/om.h", "b/y.cpp") == "r/include/openatc/om.h"
    assert files.resolve("acl/ops/op.h", "b/y.cpp") == "v/include/acl/ops/op.h"
    assert files.resolve("llvm/x.h", "b/y.cpp") is None and files.resolve("map", "b/y.cpp") is None


def test_tables_of_socs_are_named_after_their_soc():
    # What --soc_file may leave out, a built-in table must state: nothing stands behind it.
    tables = sorted((ROOT / "npu/soc/tables").glob("*.soc"))
    assert len(tables) >= 8
    for table in tables:
        keys = dict(re.findall(r"^(\w+) = ([^\s#]+)", table.read_text(), re.M))
        assert keys["name"] == table.stem and "base" not in keys

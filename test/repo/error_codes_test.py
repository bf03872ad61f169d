# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The codes of messages: support/ErrorCodes.def has a row for each that a source uses, every
row is used, and docs/atc.md shows the table that the tool prints."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
FOLDERS = ("ascend", "backends", "cluster", "collectives", "dialects", "driver", "frontends", "kernels",
           "npu", "passes", "python-bindings", "quantize", "runtime-lite", "support", "tools", "tuning")
SOURCES = (".c", ".cpp", ".def", ".h", ".hpp", ".py", ".pyi", ".td")
TABLE = ROOT / "support" / "ErrorCodes.def"
ROW = re.compile(r'^OPENATC_ERROR_CODE\((\w+), "([^"]+)"', re.MULTILINE)
# A code at the beginning of a string literal: alone, or with the text of its message.
USE = re.compile(r'"([EW]\d{5})(?=[":])')


def rows():
    return ROW.findall(TABLE.read_text())


def uses():
    """{code: files that have it in a string}, without comments and the table itself."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in SOURCES or path == TABLE:
                continue
            for line in path.read_text(errors="replace").splitlines():
                if line.lstrip().startswith(("//", "#", "*")):
                    continue
                for code in USE.findall(line.partition(" // ")[0]):
                    found.setdefault(code, set()).add(str(path.relative_to(ROOT)))
    return found


def printed():
    return subprocess.run([BUILD / "bin" / "atc-translate", "--error-codes"], capture_output=True,
                          text=True, check=True).stdout


def test_rows_are_sorted_and_named_once():
    codes = [code for code, _ in rows()]
    names = [name for _, name in rows()]
    assert len(codes) > 30
    assert all(re.fullmatch(r"[EW]\d{5}", code) for code in codes)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)
    assert codes == sorted(set(codes)) and len(names) == len(set(names))


def test_every_code_of_a_source_has_a_row():
    known = {code for code, _ in rows()}
    unknown = {code: sorted(files) for code, files in uses().items() if code not in known}
    assert not unknown


def test_every_row_is_used():
    unused = {code for code, _ in rows()} - set(uses())
    assert not unused


def test_no_source_outside_the_folders_has_codes():
    """A new folder with messages has to be in FOLDERS."""
    listed = {path.name for path in ROOT.iterdir() if path.is_dir()
              and any(path.glob("CMakeLists.txt"))}
    assert listed - {"build", "test", "lit-tests"} <= set(FOLDERS)


def test_the_page_shows_the_table():
    page = (ROOT / "docs" / "atc.md").read_text()
    assert printed() in page, "docs/atc.md: paste the output of atc-translate --error-codes"


def test_the_tool_prints_every_row():
    lines = printed().splitlines()
    assert lines[0] == "| code | name | meaning | what to do |"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [(row[0], row[1]) for row in cells] == rows()
    # Sentences.
    assert all(row[2][-1] == "." and row[3][-1] == "." for row in cells)

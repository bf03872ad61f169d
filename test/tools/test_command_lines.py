# Command lines as people write them, each with what must come of it. Run with
# `pytest test/tools`; OPENATC_BUILD_DIR names another build folder.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("onnx")
import command_lines  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/common"))
import openatc_tools  # noqa: E402
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
FAILURE = "ATC run failed, Please check the detail log, Try 'atc --help' for more information"


def run(folder, line):
    words = shlex.split(line.replace("\\\n", ""))  # as a shell continues a line
    assert words[0] == "atc"
    return subprocess.run([openatc_tools.tool("atc"), *words[1:]], cwd=folder, capture_output=True,
                          text=True, timeout=120)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    files = tmp_path_factory.mktemp("files")
    command_lines.make_files(files)
    return files


def test_there_are_enough_lines():
    assert len({line for line, _ in command_lines.LINES}) == len(command_lines.LINES) >= 120


@pytest.mark.parametrize("index", range(len(command_lines.LINES)))
def test_line(files, tmp_path, index):
    line, expect = command_lines.LINES[index]
    folder = tmp_path / "line"
    shutil.copytree(files, folder, copy_function=os.link)
    result = run(folder, line)
    text = result.stdout + result.stderr
    words = re.findall(r' "(.*?)"(?= "|$)', expect)
    codes = re.sub(r' ".*', "", expect).split()
    told = line + "\n" + text
    errors = [e.split(":")[0] for e in result.stdout.split(FAILURE + "\n")[-1].splitlines()]
    if "ok" in codes:
        assert result.returncode == 0, told
        warnings = [e.split(":")[0] for e in result.stdout.splitlines() if re.match(r"W\d", e)]
        assert set(warnings) == {code for code in codes if code != "ok"}, told
        assert len(warnings) <= 2, told
    else:
        assert result.returncode == 1, told
        assert sorted(errors) == sorted(codes), told
    for word in words:
        assert word in text, told


@pytest.mark.parametrize("line, told", [
    ("om-run d.om --repot r.html",
     'E10055: the option "--repot" is not known; did you mean "--report"? --help lists all options.'),
    ("om-run d.om --nothing-like-it", 'E10055: the option "--nothing-like-it" is not known; --help'),
    ("om-run --loop 3", "E10007: model is required; --help"),
    ("amct", "E10007: a command is required: calibrate, compare, weights, prune, decompose, convert"),
    ("amct calibrat --model=x", "E10055: \"calibrat\" is no command; the commands are calibrate, "),
    ("amct calibrat --model=x", "; did you mean \"calibrate\"? --help lists all options."),
    ("amct calibrate --modl=x --data=y --output=z",
     'E10055: the option "--modl" is not known; did you mean "--model"?'),
    ("amct calibrate --data=y", "E10007: --model is required"),
    ("om-dump a b", "E10055: The following argument was not expected: b; --help"),
    ("om-sign", "E10007: a command is required: "),
])
def test_what_a_tool_says_of_a_wrong_option_or_command(line, told, tmp_path):
    tool, *words = shlex.split(line)
    done = subprocess.run([BUILD / "bin" / tool, *words], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1 and done.stdout == "", done
    assert told in done.stderr and done.stderr.count("\n") == 1, done.stderr

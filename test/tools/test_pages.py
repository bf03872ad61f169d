# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Man pages and completions say what the tools take: they are made from the same tables."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
PAGES = BUILD / "pages"
TOOLS = ["atc", "amct", "atc-translate", "om-run", "om-dump", "om-sign"]

if not PAGES.exists():
    pytest.skip("this build has no man pages", allow_module_level=True)


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60,
                          check=True, **options).stdout


def names_of_help(tool):
    """The options that --help lists, those of subcommands too."""
    helps = [run(BUILD / "bin" / tool, "--help")]
    table = json.loads(run(BUILD / "bin" / tool, "--help-json"))
    helps += [run(BUILD / "bin" / tool, command["name"], "--help") for command in table["commands"]]
    names = set()
    for text in helps:
        for line in text.splitlines():
            # "  -i,--input FILES  text" of the other tools; atc lists some names in a paragraph.
            head = re.match(r"\s+(-[\w-]+(?:,\s*-{1,2}[\w-]+)*|(?:--[\w-]+\s?)+)", line)
            if head:
                names |= set(re.findall(r"(?<![\w-])--?\w[\w-]*", head[1]))
    return names


@pytest.mark.parametrize("tool", TOOLS)
def test_every_option_of_help_is_in_the_man_page(tool):
    page = (PAGES / "man1" / f"{tool}.1").read_text().replace("\\-", "-")
    heads = set(re.findall(r"\\fB(-{1,2}[\w-]+)\\fR", page))
    names = names_of_help(tool)
    assert len(names) >= 3 and names <= heads, sorted(names - heads)


@pytest.mark.parametrize("tool", TOOLS)
def test_man_page_is_valid(tool):
    if not shutil.which("mandoc"):
        pytest.skip("not installed: mandoc")
    result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", PAGES / "man1" / f"{tool}.1"],
                            capture_output=True, text=True)
    text = [line for line in result.stdout.splitlines() if "missing date" not in line]
    assert not text, text


def complete(tool, *words):
    """What bash offers for a command line, of which the last word is being typed."""
    listed = " ".join(f"'{word}'" for word in (tool, *words))
    function = "_openatc_" + tool.replace("-", "_")
    script = (f"source {PAGES}/bash/{tool}; COMP_WORDS=({listed}); COMP_CWORD={len(words)}; "
              f"{function} 2>/dev/null; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    return run("bash", "--norc", "-c", script).split()


def test_bash_completes_names():
    assert complete("atc", "--soc_v") == ["--soc_version"]
    assert {"--soc_version", "--soc_file"} <= set(complete("atc", "--so"))
    assert complete("om-run", "--prof") == ["--profile"]
    assert set(complete("amct", "")) >= {"calibrate", "compare"}
    assert complete("amct", "calibrate", "--evalu") == ["--evaluator"]
    assert complete("amct", "compare", "--quant") == ["--quantized_model"]
    assert complete("om-sign", "ver") == ["verify"]


def test_bash_completes_values():
    # Bash splits --name=value at the sign.
    assert "Ascend310P3" in complete("atc", "--soc_version", "=", "Ascend310P")
    assert "Ascend310P3" in complete("atc", "--soc_version", "Ascend310P")
    assert complete("atc", "--framework", "=", "5") == ["5"]
    assert set(complete("atc", "--precision_mode", "=", "force")) == {"force_fp16", "force_fp32"}


def test_bash_completes_files(tmp_path):
    (tmp_path / "net.onnx").write_text("")
    listed = f"source {PAGES}/bash/atc; COMP_WORDS=(atc --model = ne); COMP_CWORD=3; _openatc_atc 2>/dev/null; echo $COMPREPLY"
    assert run("bash", "--norc", "-c", listed, cwd=tmp_path).split() == ["net.onnx"]


@pytest.mark.parametrize("tool", TOOLS)
def test_zsh_takes_the_completion(tool):
    text = (PAGES / "zsh" / f"_{tool}").read_text()
    names = {name for name in names_of_help(tool) if name.startswith("--")}
    assert all(f"'{name}" in text for name in names), sorted(name for name in names if f"'{name}" not in text)
    if shutil.which("zsh"):
        run("zsh", "-n", PAGES / "zsh" / f"_{tool}")

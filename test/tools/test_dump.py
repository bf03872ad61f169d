# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""om-dump's listing and graphs, atc's summary and progress, and models as objects."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import ROOT, call, compile_model, tool  # noqa: E402

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
GOLDEN = ROOT / "test" / "runtime-lite" / "golden"


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return compile_model(DIGITS, tmp_path_factory.mktemp("digits"))


def fields(data):
    """The fields of a protobuf message: (number, value)."""
    at, found = 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        else:
            assert key & 7 == 2
            size = varint()
            found.append((key >> 3, data[at:at + size]))
            at += size
    return found


def test_a_launch_is_one_line_with_types(digits):
    code, out, err = call(tool("om-dump"), digits)
    assert (code, err) == (0, "")
    data = json.loads(call(tool("om-dump"), digits, "--json")[1])
    lines = out[out.index("\nschedule: "):].splitlines()[2:]
    assert len(lines) == len(data["schedule"])
    stem = next(line for line in lines if " stem_relu f32" in line)
    assert "  cpu  " in stem and " f32[1,1,28,28] -> stem_relu f32[1,16,28,28]" in stem
    assert "arena+" not in out and "arena+" in call(tool("om-dump"), digits, "--tensors")[1]


def test_graph_for_graphviz(digits, tmp_path):
    path = tmp_path / "digits.dot"
    assert call(tool("om-dump"), digits, "--graph", path) == (0, "", "")
    text = path.read_text()
    assert text.startswith('digraph "digits" {') and text.endswith("}\n")
    assert '[label="image\\nf32[1,1,28,28]", shape=ellipse]' in text
    assert text.count(" -> ") >= 10


def test_graph_for_viewers_of_onnx(digits, tmp_path):
    path = tmp_path / "digits.onnx"
    assert call(tool("om-dump"), digits, "--graph", path) == (0, "", "")
    model = dict(fields(path.read_bytes()))
    assert model[1] == 8 and model[2] == b"OpenATC"
    graph = fields(model[7])
    nodes = [fields(value) for number, value in graph if number == 1]
    data = json.loads(call(tool("om-dump"), digits, "--json")[1])
    assert len(nodes) == len(data["schedule"])
    assert all(dict(node)[7] == b"openatc" and dict(node)[4] for node in nodes)
    made = {value for node in nodes for number, value in node if number == 2}
    assert [dict(fields(value))[1] for number, value in graph if number == 12] == [b"scores"]
    assert b"scores" in made


def test_graphs_of_dynamic_models_and_gears(tmp_path):
    for version in ("1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9"):
        for ending in ("dot", "onnx"):
            path = tmp_path / f"{version}.{ending}"
            assert call(tool("om-dump"), GOLDEN / f"schema-{version}.om", "--graph", path)[0] == 0
            assert path.stat().st_size > 100
    text = (tmp_path / "1.3.dot").read_text()
    assert 'label="body"' in text and 'label="then"' in text
    assert "f32[batch,seq,3]" in (tmp_path / "1.7.dot").read_text()
    assert "f32[batch,seq,3]" in call(tool("om-dump"), GOLDEN / "schema-1.7.om")[1]
    code, _, err = call(tool("om-dump"), GOLDEN / "schema-1.7.om", "--graph", tmp_path / "a.png")
    assert code == 1 and err.startswith("E10001: ") and ".onnx" in err


def test_atc_ends_with_a_summary(tmp_path):
    command = [tool("atc"), f"--model={DIGITS}", "--framework=5", "--target=cpu",
               "--target_cpu=x86-64-v3", f"--output={tmp_path / 'digits'}"]
    code, out, _ = call(*command)
    assert code == 0
    lines = out.splitlines()
    assert lines[-1].startswith("ATC run success") and "\033" not in out
    found = {line.split()[0]: line for line in lines[:-1]}
    assert "digits.om: " in found["file"] and "x86-64-v3" in found["file"]
    assert found["inputs"].split(None, 1)[1] == "image f32[1,1,28,28]"
    assert found["outputs"].split(None, 1)[1] == "scores f32[1,10]"
    assert "for a session" in found["memory"] and "launches of" in found["CPU"]


def test_atc_shows_progress_on_a_terminal(tmp_path):
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [str(tool("atc")), f"--model={DIGITS}", "--framework=5", "--target=cpu",
         f"--output={tmp_path / 'digits'}"], stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    assert b"\033" not in process.communicate()[0] and process.returncode == 0
    os.close(leader)
    assert b" s  import ..." in shown and shown.endswith(b"\r\033[K")


def test_emit_object_refuses_what_it_cannot_hold(tmp_path):
    command = [tool("atc"), f"--model={DIGITS}", "--framework=5", "--target=cpu", "--emit=object",
               f"--output={tmp_path / 'digits'}"]
    code, out, _ = call(*command, "--target_cpu=x86-64-v2,aarch64")
    assert code == 1 and "E10001: --emit=object writes code of one architecture" in out
    assert not list(tmp_path.iterdir())
    for other in ("--stop_after=graph", "--parallel=tensor=2"):
        code, out, _ = call(*command, other)
        assert code == 1 and "E10047: --emit=object and --" in out

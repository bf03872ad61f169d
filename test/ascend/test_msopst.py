# msopst: operators on both targets against their reference, expansion of cases, reports, mistakes.
# Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import csv
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
sys.path.insert(0, str(ROOT / "ascend" / "python"))
from msopst_tool.cases import CaseError, read_cases  # noqa: E402
from msopst_tool.runner import compare, make_inputs  # noqa: E402
from msopst_tool.values import DISTRIBUTIONS, make_values  # noqa: E402


def msopst(*arguments, code=0):
    result = subprocess.run([sys.executable, BUILD / "bin" / "msopst", *map(str, arguments)], capture_output=True,
                            text=True, timeout=300, env=os.environ | {"OPENATC_BIN": str(BUILD / "bin")})
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def report(folder):
    (path,) = folder.glob("*/st_report.json")
    with open(path.with_name("result.csv"), newline="") as file:
        return json.loads(path.read_text()), list(csv.DictReader(file))


def test_operators_of_both_targets(tmp_path):
    """The operators of operators.json are within their thresholds on the NPU and on the CPU."""
    text = msopst("run", "-i", ROOT / "test/ascend/operators.json", "-soc", "Ascend310P3", "-out", tmp_path)
    made, rows = report(tmp_path)
    assert made["summary"] == {"test case count": 13, "success count": 13, "failed count": 0}, text
    assert {row["target"] for row in rows} == {"npu", "cpu"}
    for row in rows:
        assert float(row["cosine"]) > 0.9999 and float(row["time_us"]) > 0, row
        if row["op"] in ("SquaredDifference", "SoftmaxV2", "MatMulV2") and row["target"] == "npu":
            assert row["runs_on"] == "NPU" and float(row["cycles"]) > 0, row
    assert len(rows) == 2 * (12 + 3)  # the norm has three results


def test_what_fails_is_told(tmp_path):
    relu = {"op": "Relu", "input_desc": [{"type": "float", "shape": [4], "value_range": [-1, 1]}],
            "output_desc": [{"type": "float", "shape": [4]}]}
    (tmp_path / "expect.py").write_text("def double(x, y, **attributes):\n    return 2 * x['value'].clip(0)\n"
                                        "def same(x, y, **attributes):\n    return x['value'].clip(0)\n")
    cases = [relu | {"case_name": "other", "calc_expect_func_file": f"{tmp_path}/expect.py:double"},
             relu | {"case_name": "same", "calc_expect_func_file": f"{tmp_path}/expect.py:same"},
             relu | {"case_name": "unknown", "op": "Rellu"}]
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(cases))
    text = msopst("run", "-i", path, "-soc", "Ascend310P3", "-out", tmp_path / "out", code=1)
    made, rows = report(tmp_path / "out")
    assert [entry["status"] for entry in made["report_list"]] == ["failed", "success", "failed"]
    assert made["summary"]["failed count"] == 2 and "1 of 3 cases pass" in text
    assert [row["message"] for row in rows if row["case"] == "unknown"][0].startswith("E10055")
    # A threshold of the command line stands for all; one case runs alone.
    msopst("run", "-i", path, "-soc", "Ascend310P3", "-out", tmp_path / "loose", "-c", "other", "-err_thr", "[1,1]")


def test_cases_are_made_of_an_ini_file(tmp_path):
    (tmp_path / "op.ini").write_text("[Add]\ninput0.name=x1\ninput0.dtype=float16,int32\ninput0.format=ND,ND\n"
                                     "input1.name=x2\ninput1.dtype=float16,int32\noutput0.name=y\n"
                                     "output0.dtype=float16,int32\n")
    msopst("create", "-i", tmp_path / "op.ini", "-out", tmp_path / "made")
    (path,) = (tmp_path / "made").glob("Add_case_*.json")
    assert [(case.name, case.inputs[1].type) for case in read_cases(path)] == [
        ("Test_Add_001_000", "float16"), ("Test_Add_001_001", "int32")]
    (tmp_path / "bad.ini").write_text("input0.name=x1\n")
    assert "E13018" in msopst("create", "-i", tmp_path / "bad.ini", "-out", tmp_path, code=1)


def test_an_ini_file_that_is_no_text(tmp_path):
    (tmp_path / "bytes.ini").write_bytes(b"\xae\xff")
    (tmp_path / "line.ini").write_text("x" * 100000)
    for name in ("bytes.ini", "line.ini"):
        text = msopst("create", "-i", tmp_path / name, "-out", tmp_path, code=1)
        assert text.startswith("E13018: ") and len(text) < 1000, text


def test_cases_are_made_of_a_source_file(tmp_path):
    """As msopgen writes op_host/add_custom.cpp; lists may be defined elsewhere in the file."""
    source = tmp_path / "add_custom.cpp"
    source.write_text("""
        #include "register/op_def_registry.h"
        namespace ops {
        // class Old : public OpDef { this->Input("no"); };
        static const std::vector<ge::DataType> types = {ge::DT_FLOAT16, ge::DT_BF16};
        class AddCustom : public OpDef {
        public:
            explicit AddCustom(const char* name) : OpDef(name) {
                this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_INT32})
                    .Format({ge::FORMAT_ND, ge::FORMAT_NCHW}); /* ; */
                this->Output("z").ParamType(REQUIRED).DataTypeList({ge::DT_FLOAT}).FormatList({ge::FORMAT_ND});
                this->Attr("alpha").AttrType(OPTIONAL).Float(0.5f);
                this->Attr("axes").AttrType(REQUIRED).ListInt({1, 2});
                this->Attr("mode").AttrType(OPTIONAL).String("a;b");
                this->AICore().SetTiling(optiling::TilingFunc);
                this->AICore().AddConfig("ascend310p");
            }
        };
        class Other final : public ops::OpDef {
            explicit Other(const char* name) : OpDef(name) {
                this->Input("x").DataType(types).Format({ge::FORMAT_ND});
                this->Output("y").DataType(types);
                this->Attr("flag").Bool(true);
            }
        };
        OP_ADD(AddCustom);
        }""")
    msopst("create", "-i", source, "-out", tmp_path / "made")
    (path,) = (tmp_path / "made").glob("AddCustom_case_*.json")
    (case,) = json.loads(path.read_text())
    assert [(t["name"], t["type"], t["format"]) for t in case["input_desc"] + case["output_desc"]] == [
        ("x", ["float16", "int32"], ["ND", "NCHW"]), ("z", ["float"], ["ND"])]
    assert case["attr"] == [{"name": "alpha", "type": "float", "value": 0.5},
                            {"name": "axes", "type": "list_int", "value": [1, 2]},
                            {"name": "mode", "type": "string", "value": "a;b"}]
    (path,) = (tmp_path / "made").glob("Other_case_*.json")
    (case,) = json.loads(path.read_text())
    assert case["output_desc"][0]["type"] == ["float16", "bfloat16"] and case["attr"][0]["value"] is True
    source.write_text("class Old : public Base {};")
    assert "E13018" in msopst("create", "-i", source, "-out", tmp_path, code=1)
    assert "E10410" in msopst("create", "-i", tmp_path / "no.cpp", "-out", tmp_path, code=1)


def write(folder, **changes):
    tensor = {"format": "ND", "type": "float16", "shape": [2, 3]}
    entry = {"case_name": "a", "op": "Abs", "input_desc": [tensor], "output_desc": [dict(tensor)]}
    entry |= {key: value for key, value in changes.items() if "__" not in key}
    for key, value in changes.items():
        if "__" in key:
            side, name = key.split("__")
            entry[f"{side}_desc"] = [entry[f"{side}_desc"][0] | {name: value}]
    path = folder / "cases.json"
    path.write_text(json.dumps([entry]))
    return path


def test_expansion(tmp_path):
    path = write(tmp_path, input__shape=[[2, 3], [4]], output__shape=[[2, 3], [4]],
                 input__value_range=[[0, 1], [5, 9]], input__data_distribute=["uniform", "normal"])
    cases = read_cases(path)
    assert len(cases) == 8 and cases[-1].name == "a_007"
    assert [(c.inputs[0].shape, c.inputs[0].bounds) for c in cases[::2]] == [
        ([2, 3], [0, 1]), ([2, 3], [5, 9]), ([4], [0, 1]), ([4], [5, 9])]


@pytest.mark.parametrize("changes, code, word", [
    ({"input__type": "float1"}, "E10027", 'did you mean "float16"?'),
    ({"input__format": "NHCW"}, "E10027", "NCHW"),
    ({"input__shape": [[2], [3], [4]], "output__shape": [[2], [3]]}, "E10027", "side by side"),
    ({"input__shape": [0]}, "E10027", "positive"),
    ({"input__shape": [1 << 31, 1 << 20]}, "E10027", "at most 268435456"),
    ({"input__format": "\x1b[31m\u202e"}, "E10027", '"\\x1b[31m\\u202e"'),
    ({"input__value_range": [3, 1]}, "E10001", "[low, high]"),
    ({"input__type": "int8", "output__type": "int8", "input__value_range": [0, 300]}, "E10001", "-128 to 127"),
    ({"input__data_distribute": "gauss"}, "E10001", "normal"),
    ({"error_threshold": [2, 0]}, "E10001", "0 to 1"),
    ({"output_desc": []}, "E10027", "output_desc"),
    ({"op": ""}, "E10026", '"op"'),
    ({"input__type": [["float16"]]}, "E10027", "which is no text"),
    ({"input__format": {"a": 1}}, "E10027", "which is no text"),
    ({"input__data_distribute": [{}]}, "E10027", "which is no text"),
    ({"input__shape": [True, 2]}, "E10027", "positive"),
    ({"input__shape": [10 ** 400]}, "E10027", "at most 268435456"),
    ({"input__value_range": [0, 10 ** 400]}, "E10001", "[low, high]"),
    ({"error_threshold": [0.1, 10 ** 400]}, "E10001", "0 to 1"),
    ({"input__shape": [1] * 33}, "E10027", "at most 32"),
    ({"input__value_range": [[i, 1e6] for i in range(1000)], "input__data_distribute": ["uniform"] * 1000}, "E10027",
     "1000000 cases"),
    ({"case_name": "../../out"}, "E10025", "without /"),
    ({"case_name": ["a"]}, "E10025", "must be a text"),
    ({"case_name": "a" * 201}, "E10025", "at most 200"),
    ({"case_name": "\N{GREEK SMALL LETTER ALPHA}" * 101}, "E10025", "at most 200 bytes"),
    ({"case_name": None, "op": "a/b"}, "E10025", "case 0: \"op\" is 'a/b'"),
    ({"calc_expect_func_file": 7}, "E10027", "file.py:function"),
    ({"attr": [{"value": 1}]}, "E10027", '"attr" must be a list'),
])
def test_mistakes(tmp_path, changes, code, word):
    with pytest.raises(CaseError) as raised:
        read_cases(write(tmp_path, **changes))
    assert str(raised.value).startswith(code) and word in str(raised.value)


@pytest.mark.parametrize("value, code, word", [
    ("/dev/zero", "E10410", "is no file"), ("short.bin", "E10014", "has 3 elements"), ([1, 2], "E10014", "has 2 elements"),
    ([["a"]], "E10027", "no tensor of"), ({}, "E10027", "no tensor of")])
def test_values_that_do_not_fit(tmp_path, monkeypatch, value, code, word):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.bin").write_bytes(bytes(6))
    (case,) = read_cases(write(tmp_path, input__value=value))
    with pytest.raises(CaseError) as raised:
        make_inputs(case)
    assert str(raised.value).startswith(code) and word in str(raised.value)


def test_files_that_are_no_cases(tmp_path):
    path = tmp_path / "cases.json"
    path.write_text("[" * 100000)
    assert msopst("run", "-i", path, "-soc", "Ascend310P3", "-out", tmp_path, code=1).startswith("E10025")
    path = write(tmp_path, calc_expect_func_file="/etc/passwd:f")
    text = msopst("run", "-i", path, "-soc", "Ascend310P3", "-out", tmp_path, code=1)
    assert text.startswith("E10001") and "no file of Python" in text and "Traceback" not in text


def test_mistakes_of_the_command_line(tmp_path):
    path = write(tmp_path)
    for words, code in ((["-i", tmp_path / "none.json"], "E10410"), (["-i", path, "-c", "b"], "E10001"),
                        (["-i", path, "-err_thr", "[1"], "E10001")):
        text = msopst("run", *words, "-soc", "Ascend310P3", "-out", tmp_path, code=1)
        assert text.startswith(code) and "Traceback" not in text
    text = msopst("mi", "get_shape", "-m", "model.pb", code=1)
    assert text.startswith("E10055") and "atc --mode=1" in text


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_values_are_in_their_range(name):
    rng = np.random.default_rng(0)
    for dtype, bounds in ((np.float32, [-3, 5]), (np.int8, [-128, 127]), (np.uint8, [7, 7])):
        values = make_values(rng, name, (40, 50), bounds, dtype)
        assert values.dtype == dtype and values.min() >= bounds[0] and values.max() <= bounds[1]
        if bounds[0] < bounds[1]:
            assert len(np.unique(values)) > 20


def test_comparison():
    want = np.array([1.0, 100.0, np.nan, np.inf, 0.0])
    assert compare(want, want, [0, 0])["pass"]
    found = compare(np.array([1.0, 101.0, np.nan, np.inf, 0.001]), want, [0.005, 0.2])
    assert found["pass"] and found["share_beyond"] == pytest.approx(0.2)
    assert not compare(np.array([1.0, 101.0, 0.0, np.inf, 0.0]), want, [0.02, 0])["pass"]
    assert found["max_error"] == pytest.approx(0.01)


def test_a_folder_is_no_file_of_cases(tmp_path):
    (tmp_path / "some.json").write_text("[]")
    text = msopst("run", "-i", tmp_path, "-soc", "Ascend310P3", "-out", tmp_path / "out", code=1)
    assert text.startswith("E13000: ") and "is a folder" in text and "some.json" in text


@pytest.mark.parametrize("arguments, words", [
    (["gen", "-i", "op.json", "-c", "ai_core-Ascend310P3", "-lan", "cpp", "-out", "out"], "E10055: msopgen gen"),
    (["mi", "gen", "-i", "op.json"], "--input_shape"), (["sim", "-c", "core0"], "--timeline"),
    (["compile"], "E10055"), (["generate"], "E10001: 'generate' is no command"), ([], "usage:")])
def test_msopgen_names_what_there_is(arguments, words):
    done = subprocess.run([sys.executable, ROOT / "ascend/python/msopgen", *arguments], capture_output=True, text=True)
    assert done.returncode == 1 and words in done.stdout + done.stderr

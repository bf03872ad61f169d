# aoe: tuned models are never slower, banks reproduce them, and damaged banks are one error.
# Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/common"))
import openatc_tools  # noqa: E402
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
MODEL = ROOT / "examples" / "digits" / "digits.onnx"
# An L2 that the activations do not fit, and launches that cost little, so that groups of layers matter.
SMALL_L2 = "base = Ascend310P3\nl2Prefetch = 1\nl2Bytes = 131072\nrunCycles = 0\nlaunchCycles = 100\nchainCycles = 100\n"


def call(name, *arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if k != "TUNE_BANK_PATH"}
    done = subprocess.run([openatc_tools.tool(name), *map(str, arguments)], text=True,
                          capture_output=True, env=environment | variables, timeout=300)
    return done.returncode, done.stdout + done.stderr


def run(name, *arguments, **variables):
    code, out = call(name, *arguments, **variables)
    assert code == 0, out
    return out


def flags(folder):
    table = folder / "small.soc"
    table.write_text(SMALL_L2)
    return ["--framework=5", f"--model={MODEL}", "--input_shape=image:16,1,28,28",
            f"--soc_file={table}"]


def tune(folder, *more):
    out = run("aoe", *flags(folder), f"--output={folder / 'tuned'}", "--job_type=1,2",
              "--tune_trials=60", *more)
    return out, json.loads((folder / "tuned_aoe.json").read_text())


def cycles(file):
    """Of a run that finds in L2 what the one before has left there."""
    report = json.loads(run("om-run", file, "--json", "--no-functional", "--loop", "1"))
    return report["npu"]["cycles"]


def bank_of(folder):
    files = list((folder / "tuned_bank").glob("*.jsonl"))
    assert len(files) == 1
    return files[0]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aoe")
    out, report = tune(folder)
    return folder, out, report


def test_the_model_is_faster_and_the_report_says_by_how_much(tuned):
    folder, out, report = tuned
    assert report["after_cycles"] < report["before_cycles"]
    assert report["gain"] == pytest.approx(report["before_cycles"] / report["after_cycles"])
    assert f"{report['improvement_percent']:.2f} % less" in out
    assert report["trials"] <= 62
    assert report["operators"] and all(o["before_us"] > 0 for o in report["operators"])
    # Launches are joined, and operators have their times all the same.
    assert report["after_launches"] < report["before_launches"]
    assert any(key.startswith("npu-join-launches|") for key in report["choices"])
    assert sum(o["after_us"] is not None for o in report["operators"]) > report["after_launches"]
    assert cycles(folder / "tuned.om") == pytest.approx(report["after_cycles"], abs=0.1)


def test_kernels_are_tuned_within_the_launches_that_atc_joins(tmp_path):
    """With times of launches of their own alone nothing would be better than what atc does by itself."""
    model = ["--framework=5", f"--model={MODEL}", "--input_shape=image:16,1,28,28", "--soc_version=Ascend910B1"]
    run("aoe", *model, f"--output={tmp_path / 'tuned'}", "--job_type=2", "--tune_trials=60")
    report = json.loads((tmp_path / "tuned_aoe.json").read_text())
    assert report["after_cycles"] < report["before_cycles"]
    assert report["after_launches"] == report["before_launches"] < len(report["operators"])
    assert {"npu-join-launches", "npu-select-buffers"} <= {key.split("|")[0] for key in report["choices"]}
    assert cycles(tmp_path / "tuned.om") == pytest.approx(report["after_cycles"], abs=0.1)


def test_a_search_keeps_to_its_seconds(tmp_path):
    run("aoe", *flags(tmp_path), f"--output={tmp_path / 'tuned'}", "--job_type=1,2", "--tune_seconds=6")
    report = json.loads((tmp_path / "tuned_aoe.json").read_text())
    assert report["seconds"] <= 6.6 and report["trials"] > 3, report


def test_atc_with_the_bank_makes_the_same_time_and_the_same_bytes(tuned, tmp_path):
    folder, _, report = tuned
    bank = folder / "tuned_bank"
    banks = [f"--mdl_bank_path={bank}", f"--op_bank_path={bank}"]
    for name in ("a", "b"):
        run("atc", *flags(folder), f"--output={tmp_path / name}", *banks)
    assert (tmp_path / "a.om").read_bytes() == (tmp_path / "b.om").read_bytes()
    assert cycles(tmp_path / "a.om") == pytest.approx(report["after_cycles"], abs=0.1)
    run("atc", *flags(folder), f"--output={tmp_path / 'c'}", TUNE_BANK_PATH=str(bank))
    assert cycles(tmp_path / "c.om") == pytest.approx(report["after_cycles"], abs=0.1)
    run("atc", *flags(folder), f"--output={tmp_path / 'plain'}")
    assert cycles(tmp_path / "plain.om") == pytest.approx(report["before_cycles"], abs=0.1)


def test_tuned_code_computes_the_same(tuned, tmp_path):
    folder, _, _ = tuned
    run("atc", *flags(folder), f"--output={tmp_path / 'plain'}")
    for name, file in (("a", folder / "tuned.om"), ("b", tmp_path / "plain.om")):
        run("om-run", file, "-o", tmp_path / name)
    for output in (tmp_path / "a").iterdir():
        assert output.read_bytes() == (tmp_path / "b" / output.name).read_bytes()


def test_the_search_is_the_same_with_any_number_of_jobs(tuned, tmp_path):
    folder, _, report = tuned
    _, again = tune(tmp_path, "--jobs=1")
    assert again["after_cycles"] == report["after_cycles"]
    assert bank_of(tmp_path).read_bytes() == bank_of(folder).read_bytes()


def test_a_search_goes_on_from_the_bank(tuned, tmp_path):
    folder, _, report = tuned
    bank = tmp_path / "bank.jsonl"
    bank.write_bytes(bank_of(folder).read_bytes())
    out = run("aoe", *flags(tmp_path), f"--output={tmp_path / 'more'}", f"--bank={bank}",
              "--tune_trials=2")
    assert "resumed from the bank" in out
    more = json.loads((tmp_path / "more_aoe.json").read_text())
    assert more["after_cycles"] == report["after_cycles"]


def test_a_damaged_bank_is_one_error(tuned, tmp_path):
    folder, _, _ = tuned
    text = bank_of(folder).read_bytes()
    bank = tmp_path / "bank.jsonl"
    for damaged in (text[:-30], b"\x00\xff" * 50, b"[" * 10000, b'{"format":1}\n', b"null"):
        bank.write_bytes(damaged)
        for tool, flag in (("atc", "--op_bank_path"), ("aoe", "--bank")):
            code, out = call(tool, *flags(folder), f"--output={tmp_path / 'x'}", f"{flag}={bank}")
            errors = [line for line in out.splitlines() if line.startswith("E")]
            assert code == 1 and len(errors) == 1 and errors[0].startswith("E13005: "), out
            assert bank.read_bytes() == damaged
    out = run("atc", *flags(folder), f"--output={tmp_path / 'x'}",
              f"--mdl_bank_path={tmp_path / 'none'}")
    assert out.count("W10055: --mdl_bank_path has no effect") == 1


def test_a_folder_of_the_bank_that_cannot_be_made_is_named_with_the_reason(tuned, tmp_path):
    folder, _, _ = tuned
    (tmp_path / "file").write_text("no folder")
    bank = tmp_path / "file" / "inner"
    code, out = call("aoe", *flags(folder), f"--output={tmp_path / 'x'}", f"--bank={bank}", "--tune_trials=1")
    errors = [line for line in out.splitlines() if line.startswith("E")]
    assert code == 1 and len(errors) == 1, out
    assert errors[0].startswith("E13004: the folder of the bank ") and "Not a directory" in errors[0]


def test_a_choice_that_does_not_fit_is_reported_and_ignored(tuned, tmp_path):
    folder, _, report = tuned
    keys = run("atc", *flags(folder), f"--output={tmp_path / 'x'}", "--remarks=analysis")
    entries = []
    for line in keys.splitlines():
        if 'for the key "' not in line:
            continue
        parts = line.split('for the key "')[1].split('"')[0].split("|")
        entry = dict(zip(("pass", "target", "op", "operands", "hash"), parts))
        entry["operands"] = entry["operands"].split(",")
        entries.append({"format": 1, **entry, "compiler": report["compiler"],
                        "before_cycles": 2, "after_cycles": 1})
    assert {entry["pass"] for entry in entries} == {
        "npu-split-batch", "npu-prefetch-weights", "npu-select-tiles", "npu-select-boxes",
        "npu-select-buffers", "npu-join-launches"}
    bank = tmp_path / "bank.jsonl"
    for choice in ("65536,16,16,65536,16,16,1,1,lhs", "1000/7", "-1", "nonsense"):
        bank.write_text("".join(json.dumps({**e, "choice": choice}) + "\n" for e in entries))
        out = run("atc", *flags(folder), f"--output={tmp_path / 'y'}", TUNE_BANK_PATH=str(bank))
        assert out.count("W10055: ") == len(entries), out
        assert cycles(tmp_path / "y.om") == pytest.approx(report["before_cycles"], abs=0.1)


def test_weights_are_prefetched_so_late_that_they_stay(tmp_path):
    """An L2 that the activations pass through: what is brought at once is lost again."""
    model = flags(tmp_path)
    out = run("atc", *model, f"--output={tmp_path / 'own'}", "--remarks=analysis")
    key = re.search(r'the key "(npu-prefetch-weights\|[^"]*)"', out).group(1)
    name, target, op, operands, digest = key.split("|")

    def outputs(file):
        run("om-run", file, "-o", tmp_path / "out", "--check-hazards")
        return [path.read_bytes() for path in sorted((tmp_path / "out").iterdir())]

    own = outputs(tmp_path / "own.om")
    version = json.loads((ROOT / "tuning/banks/Ascend310P3.jsonl").read_text().splitlines()[0])["compiler"]
    for choice, reason in (("late 0.50", None), ("late 0.00", None), ("late 1.5", "from 0 to 1"), ("late", "from 0 to 1")):
        bank = tmp_path / "late.jsonl"
        bank.write_text(json.dumps({"format": 1, "pass": name, "target": target, "op": op, "operands": operands.split(","),
                                    "hash": digest, "compiler": version, "choice": choice, "before_cycles": 2.0,
                                    "after_cycles": 1.0, "model": "digits"}, separators=(",", ":")) + "\n")
        out = run("atc", *model, f"--output={tmp_path / 'late'}", f"--mdl_bank_path={bank}", "--remarks=analysis")
        assert (f'the choice is "{choice}" for the key "{key}"' in out) == (reason is None), out
        assert ("W10055" in out and str(reason) in out) == (reason is not None), out
        assert outputs(tmp_path / "late.om") == own


def test_a_range_of_layers_is_interleaved_and_the_rest_is_not(tmp_path):
    """Large layers gain from parts of the batch, and small ones, whose weights each part loads, do not."""
    pytest.importorskip("onnx")
    import numpy as np
    from onnx import helper, numpy_helper
    nodes, weights, source, channels = [], [], "x", 3
    random = np.random.default_rng(0)
    for i, (filters, stride) in enumerate([(32, 2), (64, 2), (64, 1), (128, 2), (128, 2)]):
        weight = random.standard_normal((filters, channels, 3, 3)) / np.sqrt(9 * channels)
        weights.append(numpy_helper.from_array(weight.astype(np.float32), f"w{i}"))
        nodes += [helper.make_node("Conv", [source, f"w{i}"], [f"c{i}"], pads=[1] * 4, strides=[stride] * 2),
                  helper.make_node("Sigmoid", [f"c{i}"], [f"s{i}"]),
                  helper.make_node("Mul", [f"c{i}", f"s{i}"], [f"m{i}"])]
        source, channels = f"m{i}", filters
    nodes.append(helper.make_node("GlobalAveragePool", [source], ["y"]))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [4, 3, 128, 128])],
                              [helper.make_tensor_value_info("y", 1, None)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    run("aoe", f"--model={tmp_path / 'm.onnx'}", "--framework=5", "--soc_version=Ascend910B1", "--job_type=1",
        f"--output={tmp_path / 'tuned'}", "--tune_trials=40")
    groups = [choice for choice in re.findall(r'"choice":"([^"]*)"', bank_of(tmp_path).read_text()) if "/" in choice]
    assert len(groups) == 1 and {part.endswith("i") for part in groups[0].split()} == {True, False}, groups


def test_banks_merge_in_any_order(tuned, tmp_path):
    folder, _, _ = tuned
    lines = bank_of(folder).read_text().splitlines(keepends=True)
    slower = json.loads(lines[0])
    slower |= {"choice": "other", "before_cycles": 1, "after_cycles": 2}
    (tmp_path / "a.jsonl").write_text("".join(lines))
    (tmp_path / "b.jsonl").write_text(json.dumps(slower) + "\n")
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    run("aoe", f"--merge={a},{b}", f"--bank={tmp_path / 'ab.jsonl'}")
    run("aoe", f"--merge={b},{a}", f"--bank={tmp_path / 'ba.jsonl'}")
    assert (tmp_path / "ab.jsonl").read_bytes() == (tmp_path / "ba.jsonl").read_bytes()
    assert (tmp_path / "ab.jsonl").read_text() == "".join(lines)
    run("aoe", f"--merge={a}", f"--bank={tmp_path / 'other'}", "--soc_version=Ascend910B1")
    assert (tmp_path / "other" / "Ascend910B1.jsonl").read_text() == ""


def test_an_interrupted_search_leaves_the_best_so_far(tmp_path):
    process = subprocess.Popen(
        [str(BUILD / "bin" / "aoe"), *flags(tmp_path), f"--output={tmp_path / 'tuned'}",
         "--job_type=1,2", "--tune_seconds=200"], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if "faster than untuned" in line:
            break
    bank = bank_of(tmp_path)
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(60) == -signal.SIGINT
    assert not (tmp_path / "tuned.om").exists()
    before, after = tmp_path / "before", tmp_path / "after"
    run("atc", *flags(tmp_path), f"--output={before}")
    run("atc", *flags(tmp_path), f"--output={after}", TUNE_BANK_PATH=str(bank))
    assert cycles(f"{after}.om") < cycles(f"{before}.om")


def test_wrong_flags_are_one_error_each(tmp_path):
    for more, code in ((["--job_type=3"], "E10001"), (["--tune_trials=0"], "E10001"),
                       (["--seed=x"], "E10001"), (["--dynamic_batch_size=1,2"], ""),
                       (["--mode=3"], "E10055"), (["--stop_after=graph"], "E10055")):
        status, out = call("aoe", *flags(tmp_path), f"--output={tmp_path / 'x'}", *more)
        errors = [line for line in out.splitlines() if line.startswith("E")]
        assert status == 1 and len(errors) == 1 and errors[0].startswith(code), out


def test_each_gear_is_tuned(tmp_path):
    """Each has the time that the bank gives it alone; atc makes the same file with that bank."""
    table = tmp_path / "small.soc"
    table.write_text(SMALL_L2)
    plain = ["--framework=5", f"--model={MODEL}", f"--soc_file={table}"]
    gears = [*plain, "--input_shape=image:-1,1,28,28", "--dynamic_batch_size=2,16"]
    out = run("aoe", *gears, f"--output={tmp_path / 'tuned'}", "--job_type=1,2", "--tune_trials=60")
    report = json.loads((tmp_path / "tuned_aoe.json").read_text())
    banks = [f"--{name}_bank_path={tmp_path / 'tuned_bank'}" for name in ("op", "mdl")]
    assert [gear["gear"] for gear in report["gears"]] == ["2", "16"] and "gear 16: " in out
    for gear in report["gears"]:
        assert gear["after_cycles"] <= gear["before_cycles"] and gear["trials"] <= 31
        run("atc", *plain, f"--input_shape=image:{gear['gear']},1,28,28", f"--output={tmp_path / 'one'}", *banks)
        assert cycles(tmp_path / "one.om") == gear["file_cycles"]
    assert any(gear["after_cycles"] < gear["before_cycles"] for gear in report["gears"])
    run("atc", *gears, f"--output={tmp_path / 'again'}", *banks)
    # The command line aside, which names no bank in the file of aoe.
    sizes = [json.loads(run("om-dump", tmp_path / f"{name}.om", "--json")) for name in ("tuned", "again")]
    assert sizes[0]["gears"] == sizes[1]["gears"]
    code, out = call("aoe", "--framework=5", f"--model={MODEL}", *gears[3:], "--target=cpu", f"--output={tmp_path / 'm'}")
    assert code == 1 and 'E10055: the gears of a model for the CPU are tuned one by one' in out
    assert '"image:2,1,28,28"' in out
    code, out = call("aoe", "--framework=5", f"--model={MODEL}", "--input_shape=image:-1,1,28,28", "--target=cpu",
                     f"--output={tmp_path / 'm'}")
    assert code == 1 and "E10055" in out, out


def test_the_cpu_is_tuned_by_measuring(tmp_path):
    plain = ["--framework=5", f"--model={MODEL}", "--input_shape=image:4,1,28,28", "--target=cpu"]
    aoe = [*plain, f"--output={tmp_path / 'tuned'}", "--job_type=1,2", "--tune_seconds=3"]
    for _ in range(2 if os.environ.get("OPENATC_NIGHTLY") else 1):  # the second one resumes
        out = run("aoe", *aoe)
        report = json.loads((tmp_path / "tuned_aoe.json").read_text())
        assert report["trials"] >= 2 and report["runs"] >= 25
        assert report["gain"] >= 1 and report["after_ms"] <= report["before_ms"]
        assert f"{len(report['choices'])} choices kept" in out
        # The bank has exactly what was kept, in files of the level and of all levels.
        files = sorted((tmp_path / "tuned_bank").glob("*.jsonl"))
        assert len(files) == 2 and files[0].name == "cpu.jsonl"
        entries = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        assert sorted(entry["choice"] for entry in entries) == \
            sorted(choice["choice"] for choice in report["choices"].values())
        assert all(entry["after_cycles"] > 0 for entry in entries)
    out = run("atc", *plain, f"--output={tmp_path / 'banked'}", "--remarks=analysis",
              f"--op_bank_path={tmp_path / 'tuned_bank'}", f"--mdl_bank_path={tmp_path / 'tuned_bank'}")
    assert "W10055" not in out
    for key, choice in report["choices"].items():
        assert f'the choice is "{choice["choice"]}" for the key "{key}"' in out
    assert (tmp_path / "banked.om").stat().st_size == (tmp_path / "tuned.om").stat().st_size


def test_what_a_cpu_cannot_be_tuned_for(tmp_path):
    plain = ["--framework=5", f"--model={MODEL}", "--input_shape=image:1,1,28,28", "--target=cpu",
             f"--output={tmp_path / 'm'}"]
    code, out = call("aoe", *plain, "--target_cpu=x86-64-v2")
    assert code == 1 and "E10055: aoe measures on this machine" in out, out
    code, out = call("aoe", *plain[:2], "--target=auto", "--soc_version=Ascend310P3",
                     f"--output={tmp_path / 'm'}")
    assert code == 1 and "E10055: aoe tunes for one target" in out, out


def test_without_a_chip_it_is_that_of_the_card(tmp_path):
    """As scripts call it on the machine with the card, or for one at an address."""
    out = run("aoe", "--framework", "5", "--model", MODEL, "--input_shape", "image:1,1,28,28", "--job_type", "2",
              "--ip", "192.168.1.2", "--port", "8000", "--tune_trials=1", f"--output={tmp_path / 'tuned'}")
    assert "--soc_version is not given: the model is tuned for Ascend310P3" in out, out
    assert "W10055: --ip has no effect" in out and "W10055: --port has no effect" in out, out
    assert (tmp_path / "tuned_bank/Ascend310P3.jsonl").is_file() or (tmp_path / "tuned.om").is_file()


def test_flags_of_the_vendor(tmp_path):
    """Short names, the framework that the file's name says, and flags for machines with cards."""
    (tmp_path / "ops.cfg").write_text("Conv2D\n")
    out = run("aoe", "-m", MODEL, "-j=2", "--input_shape", "image:1,1,28,28", "--reload", "--Fdeeper_opat",
              "--Fop_format=true", "--tune_ops_file", tmp_path / "ops.cfg", "--tune_optimization_level=O1",
              "--progress_bar", "off", "--tune_trials=1", f"--output={tmp_path / 'tuned'}")
    for name in ("reload", "Fdeeper_opat", "Fop_format", "tune_ops_file", "tune_optimization_level", "progress_bar"):
        assert f"W10055: --{name} has no effect: " in out, out
    assert (tmp_path / "tuned.om").is_file()
    code, out = call("aoe", "-m", "m.weights", "-j", "2", f"--output={tmp_path / 'm'}")
    assert code == 1 and "E10007: --framework is required" in out, out
    code, out = call("aoe", "-m", MODEL, f"--tune_ops_file={tmp_path / 'none.cfg'}", f"--output={tmp_path / 'm'}")
    assert code == 1 and "E10410: the file" in out and "none.cfg\" of --tune_ops_file does not exist" in out, out
    code, out = call("aoe", "--job_type=2", f"--model_path={tmp_path}")
    assert code == 1 and out.count("E1") == 1 and "(--model_path)" in out, out


def test_atc_reads_the_bank_that_comes_with_it(tmp_path):
    """A layer of a ResNet-50 of batch 4 is in it, with another tile than the cost model's. A bank of the user
    comes first, and "none" keeps the compiler's own away."""
    onnx = pytest.importorskip("onnx")
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    random = np.random.default_rng(2)
    info = helper.make_tensor_value_info
    constants = []

    def conv(source, result, channels, filters, **attributes):
        for name, shape in ((f"w_{result}", (filters, channels, 1, 1)), (f"b_{result}", (filters,))):
            constants.append(numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name))
        return helper.make_node("Conv", [source, f"w_{result}", f"b_{result}"], [result], **attributes)

    # The layer is `down`, with the residual and the activation that are fused into it.
    nodes = [conv("x", "wide", 16, 512), helper.make_node("Relu", ["wide"], ["positive"]),
             conv("z", "branch", 16, 1024), conv("positive", "down", 512, 1024, strides=[2, 2]),
             helper.make_node("Add", ["branch", "down"], ["sum"]), helper.make_node("Relu", ["sum"], ["joined"]),
             conv("joined", "y", 1024, 16)]
    graph = helper.make_graph(
        nodes, "g", [info("x", TensorProto.FLOAT, (4, 16, 28, 28)), info("z", TensorProto.FLOAT, (4, 16, 14, 14))],
        [info("y", TensorProto.FLOAT, None)], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
              tmp_path / "m.onnx")
    operands = '"operands":["4x32x28x28x16xf16","1x32x64x16x16xf16"'
    entry, = (line for line in (ROOT / "tuning/banks/Ascend310P3.jsonl").read_text().splitlines()
              if '"npu-select-tiles"' in line and operands in line)

    def choice(*more, **variables):
        out = run("atc", "--framework=5", f"--model={tmp_path / 'm.onnx'}", "--soc_version=Ascend310P3",
                  f"--output={tmp_path / 'm'}", "--remarks=analysis", *more, **variables)
        line, = (line for line in out.splitlines()
                 if "npu-select-tiles|" in line and f"|{json.loads(entry)['hash']}" in line)
        return line.split('"')[1]

    shipped = json.loads(entry)["choice"]
    assert choice() == shipped
    plain = choice("--op_bank_path=none")
    assert plain != shipped and choice(TUNE_BANK_PATH="none") == plain
    (tmp_path / "own.jsonl").write_text(entry.replace(shipped, plain) + "\n")
    assert choice(f"--op_bank_path={tmp_path / 'own.jsonl'}") == plain
    # aoe tunes without it, and says in its bank what it has decided otherwise: atc makes the same file.
    run("aoe", "--framework=5", f"--model={tmp_path / 'm.onnx'}", "--soc_version=Ascend310P3", "--job_type=1",
        "--tune_trials=3", f"--output={tmp_path / 'tuned'}")
    bank = tmp_path / "tuned_bank"
    assert choice(f"--op_bank_path={bank}", f"--mdl_bank_path={bank}") == plain
    assert cycles(tmp_path / "m.om") == cycles(tmp_path / "tuned.om")

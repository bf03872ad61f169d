#===-- test_amct_smaller.py - models that lose channels, weights and digits of them -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""amct prune, amct decompose and the algorithms of rounding on the digit network: how many of the
held-out pictures stay right, and how mistakes are told."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "digits"))
import draw_digits  # noqa: E402
from openatc_runtime import Session  # noqa: E402
from openatc_tools import ROOT, RUNTIME, call, compile_model, tool  # noqa: E402

MODEL = ROOT / "examples/digits/digits.onnx"


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    pictures, _ = draw_digits.draw_digits(32, seed=5)
    np.save(folder / "pictures.npy", draw_digits.as_input(pictures))
    return folder


@pytest.fixture(scope="module")
def held_out():
    stored = np.load(ROOT / "examples/digits/heldout.npz")
    return draw_digits.as_input(stored["images"])[:200], stored["labels"][:200]


def amct(*arguments):
    return call(tool("amct"), *arguments)


def right(model, folder, held_out):
    """The share of the held-out pictures that a model gets right."""
    session = Session(RUNTIME, compile_model(model, folder))
    found = []
    for picture in held_out[0]:
        session.inputs[0][1][...] = picture
        session.run()
        found.append(int(session.outputs[0][1].argmax()))
    session.close()
    return float((np.array(found) == held_out[1]).mean())


def shrink(folder, *arguments):
    target = folder / "small.onnx"
    code, out, err = amct(*arguments, f"--model={MODEL}", f"--output={target}", "--json")
    assert code == 0, err
    return target, json.loads(out)


@pytest.mark.parametrize("ratio, least", [("0.1", 0.98), ("0.3", 0.93)])
def test_channels_go_and_readers_absorb_it(tmp_path, samples, held_out, ratio, least):
    target, result = shrink(tmp_path, "prune", f"--prune_ratio={ratio}", f"--data={samples}")
    stem = result["layers"][0]
    assert stem["node"] == "stem" and stem["after"] == 16 - int(float(ratio) * 16)
    # Both summands lose the same channels.
    assert {each["node"]: each["after"] for each in result["layers"]}["project"] == stem["after"]
    assert result["after"] < (1.01 - float(ratio)) * result["before"]
    assert right(target, tmp_path, held_out) >= least


def test_a_search_keeps_more_than_equal_shares(tmp_path, samples, held_out):
    _, result = shrink(tmp_path, "prune", "--compress_ratio=1.5", f"--data={samples}")
    shares = {round(each["after"] / each["before"], 2) for each in result["layers"]}
    assert len(shares) > 1
    assert right(tmp_path / "small.onnx", tmp_path, held_out) >= 0.96


def test_two_of_four_weights(tmp_path, samples, held_out):
    target, result = shrink(tmp_path, "prune", "--sparsity=4:2", f"--data={samples}")
    assert {each["node"] for each in result["layers"]} == {
        "expand", "project", "down", "basic", "head", "scores"}
    assert all(each["after"] * 2 == each["before"] for each in result["layers"])
    assert right(target, tmp_path, held_out) >= 0.96


def test_kernels_are_divided(tmp_path, held_out):
    target, result = shrink(tmp_path, "decompose", f"--info={tmp_path}/info.json")
    assert json.loads((tmp_path / "info.json").read_text()) == result
    assert list(result) == ["basic"] and result["basic"]["cost"] < 0.8
    assert result["basic"]["nodes"] == ["basic_vertical", "basic_horizontal"]
    assert right(target, tmp_path, held_out) >= 0.98


@pytest.mark.parametrize("settings", ["ada_quantize { num_iteration: 200 }",
                                      "nuq_quantize { num_steps: 16 }"])
def test_rounding_keeps_the_accuracy(tmp_path, samples, held_out, settings):
    (tmp_path / "c.cfg").write_text("common_config { %s }" % settings)
    code, _, err = amct("calibrate", f"--model={MODEL}", f"--data={samples}",
                        f"--config={tmp_path}/c.cfg", f"--output={tmp_path}/q")
    assert code == 0, err
    assert right(tmp_path / "q_deploy_model.onnx", tmp_path, held_out) >= 0.98


def test_compiling_rounds_as_the_tool_does(tmp_path, samples, held_out):
    """The integers of `--compression_optimize_conf` are those of the deployed model: its scores are
    far from those of weights that are rounded to nearest."""
    def scores(path):
        session = Session(RUNTIME, path)
        results = []
        for picture in held_out[0][:10]:
            session.inputs[0][1][...] = picture
            session.run()
            results.append(session.outputs[0][1].ravel().copy())
        session.close()
        return np.stack(results)

    found = {}
    for name, settings in (("few", "nuq_quantize { num_steps: 16 }"), ("all", "arq_quantize { }")):
        (tmp_path / "c.cfg").write_text("common_config { %s }" % settings)
        conf = tmp_path / "compress.cfg"
        conf.write_text(f'calibration: {{ input_data_dir: "{samples}" '
                        f'config_file: "{tmp_path}/c.cfg" }}')
        found[name] = scores(compile_model(MODEL, tmp_path / name,
                                           f"--compression_optimize_conf={conf}"))
        if name == "few":
            code, _, err = amct("calibrate", f"--model={MODEL}", f"--data={samples}",
                                f"--config={tmp_path}/c.cfg", f"--output={tmp_path}/q")
            assert code == 0, err
            deployed = scores(compile_model(tmp_path / "q_deploy_model.onnx", tmp_path / "q"))
    near = np.abs(found["few"] - deployed).mean()
    assert near < 0.3 * np.abs(found["all"] - deployed).mean()


@pytest.mark.parametrize("command, message", [
    (["prune"], "E10007: give one of --config"),
    (["prune", "--prune_ratio=0.3", "--sparsity=4:2"], "E10007: give one of"),
    (["prune", "--prune_ratio=2"], 'E10001: the value "2" of --prune_ratio'),
    (["prune", "--sparsity=1:2"], "must be 4:2"),
    (["prune", "--compress_ratio=2"], "needs samples"),
    (["decompose", "--energy=1.5"], "E10001: the value of --energy"),
    (["decompose", "--energy=1"], "E10055: no convolution"),
    (["weights", "--weight_only=int4", "--method=best"], "must be rtn, awq or gptq"),
    (["weights", "--weight_only=int4", "--method=gptq"], "E10007: --method=gptq needs samples"),
])
def test_mistakes_have_codes(tmp_path, command, message):
    target = tmp_path / "out.onnx"
    code, _, err = amct(*command, f"--model={MODEL}", f"--output={target}")
    assert code == 1 and message in err
    assert not target.exists()


def test_files_beside_the_model_may_look_like_models(tmp_path):
    """Settings may end as networks of Caffe do; tokens that are an archive are refused as tokens."""
    settings = tmp_path / "p.prototxt"
    settings.write_text("prune_config { filter_pruner { balanced_l2_norm_filter_prune "
                        "{ prune_ratio: 0.3 ascend_optimized: false } } }")
    code, _, err = amct("prune", f"--model={MODEL}", f"--config={settings}", f"--output={tmp_path}/out.onnx")
    assert code == 0, err
    np.savez(tmp_path / "text.npz", tokens=np.arange(9))
    code, _, err = amct("weights", "--weight_only=int4", "--method=gptq", f"--tokens={tmp_path}/text.npz",
                        f"--model={MODEL}", f"--output={tmp_path}/w.onnx")
    assert code == 1 and "of --tokens is no .npy file" in err
    for path, code_of in ((tmp_path, "E10041"), (tmp_path / "none", "E10410")):
        code, _, err = amct("prune", f"--model={MODEL}", f"--config={path}", f"--output={tmp_path}/out.onnx")
        assert code == 1 and f"{code_of}: " in err and "--config" in err


def test_settings_that_name_what_is_not_done(tmp_path):
    (tmp_path / "p.cfg").write_text('prune_config { filter_pruner { balanced_l2_norm_filter_prune '
                                    '{ prune_ratio: 0.2 } } } skip_layers: "none" '
                                    'retrain_weight_quant_config { }')
    code, _, err = amct("prune", f"--model={MODEL}", f"--config={tmp_path}/p.cfg",
                        f"--output={tmp_path}/out.onnx")
    assert code == 1 and '"retrain_weight_quant_config" is not supported' in err
    text = (tmp_path / "p.cfg").read_text().split("retrain")[0]
    (tmp_path / "p.cfg").write_text(text)
    code, _, err = amct("prune", f"--model={MODEL}", f"--config={tmp_path}/p.cfg",
                        f"--output={tmp_path}/out.onnx")
    assert code == 1 and 'E10016: the configuration names the node "none"' in err
    assert os.listdir(tmp_path) == ["p.cfg"]

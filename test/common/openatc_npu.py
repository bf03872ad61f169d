"""Networks on the simulated NPU, and how near their answers are to others."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import pathlib
import re

import numpy as np

from openatc_tools import call, tool

SOCS = ("Ascend310P3", "Ascend910B1")  # a coupled and a split one
UNFIT = re.compile(r'[\x00-\x1f/\\:*?"<>|\x7f]')


def build(model, folder, soc=None, flags=(), framework=5):
    """Compiles for a SoC, or for the CPU; returns the path of the .om file."""
    om = pathlib.Path(folder) / (soc or "cpu")
    target = f"--soc_version={soc}" if soc else "--target=cpu"
    code, out, err = call(tool("atc"), f"--model={model}", f"--framework={framework}",
                          f"--output={om}", target, *flags)
    assert code == 0, f"atc {target}: ended with {code}\n{out}{err}"
    return om.with_name(om.name + ".om")


def run(om, inputs, *npu_flags):
    """The outputs of an .om file by name, and what om-run says of the run.

    `inputs` are in the model's order, or by name. The flags are for files with NPU programs.
    """
    code, out, err = call(tool("om-dump"), om, "--json")
    assert code == 0, out + err
    file = json.loads(out)
    tensors = {kind: [file["tensors"][number] for number in file[kind]]
               for kind in ("inputs", "outputs")}
    if not isinstance(inputs, dict):
        inputs = dict(zip((tensor["name"] for tensor in tensors["inputs"]), inputs, strict=True))
    paths = []
    for number, tensor in enumerate(tensors["inputs"]):
        value = inputs[tensor["name"]]
        assert list(value.shape) == tensor["dims"], f"{tensor['name']} has the shape {value.shape}"
        # Raw bytes: numpy has no bfloat16.
        paths.append(om.with_name(f"in{number}.bin"))
        paths[-1].write_bytes(np.ascontiguousarray(value).tobytes())
    folder = om.with_name(om.stem + "-outputs")
    flags = ["--input", ",".join(map(str, paths))] if paths else []
    flags += npu_flags if file.get("npu_programs") else ()
    code, out, err = call(tool("om-run"), om, "--json", "--output", folder, *flags)
    assert code == 0, f"om-run {om.name}: ended with {code}\n{out}{err}"
    # Characters that file names cannot have are written as '_'.
    outputs = {tensor["name"]: np.load(folder / f"{UNFIT.sub('_', tensor['name'])}.npy")
               for tensor in tensors["outputs"]}
    return outputs, json.loads(out)


def run_npu(om, inputs):
    """The same on the NPU, where no access may race with another."""
    outputs, result = run(om, inputs, "--check-hazards")
    return outputs, result["npu"]


def distances(got, want):
    """The largest error as a part of the range, and the cosine of the angle between both."""
    got, want = (np.asarray(value, "f8").reshape(-1) for value in (got, want))
    assert np.isfinite(got).all(), "not all elements are finite"
    scale = max(np.ptp(want), np.abs(want).max(), 1e-6)
    norms = np.linalg.norm(got) * np.linalg.norm(want)
    cosine = got @ want / norms if norms else float((got == want).all())
    return float(np.abs(got - want).max() / scale), float(cosine)


def assert_near(got, want, what, error=2e-2, cosine=0.999):
    """Checks all outputs of one network; returns the worst error and cosine."""
    assert list(got) == list(want), what
    worst, least = 0.0, 1.0
    for name, value in want.items():
        assert got[name].dtype == value.dtype and got[name].shape == value.shape, f"{what}: {name}"
        far, angle = distances(got[name], value)
        assert far <= error, f"{what}: '{name}' is off by {far:.3g} of its range"
        assert angle >= cosine, f"{what}: '{name}' has the cosine {angle:.6f}"
        worst, least = max(worst, far), min(least, angle)
    return worst, least

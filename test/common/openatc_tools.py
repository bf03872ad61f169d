"""The built tools, and compiling a model with them."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
SHARED = ROOT.parent / "shared"
RUNTIME = str(BUILD / "lib/libopenatc_runtime.so")


def tool(name):
    """Returns the path of a tool, or of what has a server run it (the plug-in tool_server)."""
    sockets = os.environ.get("OPENATC_TOOL_SOCKETS")
    return str(BUILD / "bin" / ("served" if sockets and os.path.exists(f"{sockets}/{name}") else "") / name)


def call(*command, timeout=600):
    """Exit code, standard output and standard error of a tool."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=timeout)
    return done.returncode, done.stdout, done.stderr


def compile_model(model, folder, *flags):
    """Compiles an ONNX file into `folder`; returns the path of the .om file."""
    output = pathlib.Path(folder) / pathlib.Path(model).stem
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5", "--target=cpu",
                          f"--output={output}", *flags)
    assert code == 0, f"atc failed on {model}:\n{out}{err}"
    return output.with_name(output.name + ".om")


def host_calls(om):
    """The names of the host kernels that a model calls."""
    code, out, err = call(tool("om-dump"), om, "--json")
    assert code == 0, err
    described = json.loads(out)
    return {described["kernels"][step["kernel"]] for block in described["host"]["blocks"]
            for step in block if step["kind"] == "call"}

# Programs for AscendCL in C++11 are built against an installed tree with the folders that projects
# for the vendor's toolkit name, and run.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import pathlib

import numpy as np
import pytest

from conftest import BUILD, DIGITS, PICTURES, ROOT, cmake_program, install, need, run

PROGRAMS = ROOT / "test" / "embedding" / "ascend-programs"


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory):
    need("g++")
    prefix = tmp_path_factory.mktemp("toolkit")
    install(prefix, "ascend")
    return prefix / "lib" / "openatc" / "toolkit"


@pytest.fixture(scope="module")
def programs(toolkit, tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    names = ["streams", "classify", "functions"]
    if (toolkit / "lib64" / "libacl_dvpp.so").exists():
        names.append("resize")
    run(cmake_program(), "-S", PROGRAMS, "-B", folder, "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_SKIP_RPATH=TRUE",
        "-DHEADERS=acllib", "-DLIBRARIES=runtime/lib64/stub", f"-DPROGRAMS={';'.join(names)}",
        env={"INSTALL_DIR": str(toolkit)})
    run(cmake_program(), "--build", folder, "--parallel", "2")
    return folder


def start(programs, toolkit, folder, name, *arguments):
    """Runs a program in a folder with the libraries of the installed tree."""
    return run("sh", "-c", 'cd "$0" && "$@"', folder, programs / name, *arguments,
               env={"LD_LIBRARY_PATH": str(toolkit / "lib64")})


@pytest.mark.parametrize("folder", ["runtime/include", "acllib/include", "fwkacllib/include", "include",
                                    f"{os.uname().machine}-linux/runtime/include"])
def test_headers(toolkit, folder):
    assert (toolkit / folder / "acl" / "acl.h").is_file()


@pytest.mark.parametrize("folder", ["lib64", "lib64/stub", "runtime/lib64", "runtime/lib64/stub", "acllib/lib64/stub",
                                    "fwkacllib/lib64/stub", "devlib", f"{os.uname().machine}-linux/lib64/stub"])
def test_libraries(toolkit, folder):
    for name in ("ascendcl", "acl_cblas", "acl_op_compiler"):
        assert (toolkit / folder / f"lib{name}.so").is_file()


def test_streams(programs, toolkit, tmp_path):
    (tmp_path / "acl.json").write_text("{}")
    assert start(programs, toolkit, tmp_path, "streams", "acl.json") == "7 1 1\n"


def test_operators_as_functions(programs, toolkit):
    assert run(programs / "functions", env={"LD_LIBRARY_PATH": str(toolkit / "lib64"),
                                            "OPENATC_ATC": str(BUILD / "bin" / "atc")}) == \
        "15 31 33 76\n1.000 1.000\n"


def test_a_dynamic_batch_and_operators(programs, toolkit, tmp_path):
    atc = BUILD / "bin" / "atc"
    run(atc, f"--model={DIGITS / 'digits.onnx'}", "--framework=5", "--soc_version=Ascend310P3",
        f"--output={tmp_path / 'digits'}", "--input_shape=image:-1,1,28,28", "--dynamic_batch_size=1,2")
    vector = {"format": "ND", "shape": [10], "type": "float16"}
    (tmp_path / "ops.json").write_text(json.dumps([{
        "op": "ArgMaxD", "input_desc": [vector],
        "output_desc": [{"format": "ND", "shape": [1], "type": "int32"}],
        "attr": [{"name": "dimension", "type": "int", "value": 0}]}]))
    run(atc, f"--singleop={tmp_path / 'ops.json'}", "--soc_version=Ascend310P3",
        f"--output={tmp_path / 'op_models'}")
    for digit in (3, 7):
        image = tmp_path / "image.bin"
        np.load(PICTURES[digit]).astype(np.float32).tofile(image)
        text = start(programs, toolkit, tmp_path, "classify", "digits.om", image, "2")
        assert text == f"2 10\n{digit}\n"


def test_a_picture_is_resized(programs, toolkit, tmp_path):
    if not pathlib.Path(programs / "resize").exists():
        pytest.skip("libacl_dvpp was not built")
    (tmp_path / "acl.json").write_text("")
    gray, chroma = np.arange(64, dtype=np.uint8).repeat(32).reshape(64, 32) * 3, np.full((32, 32), 128, np.uint8)
    (tmp_path / "in.yuv").write_bytes(gray.tobytes() + chroma.tobytes())
    start(programs, toolkit, tmp_path, "resize", "in.yuv", "32", "64", "out.yuv", "16", "32")
    got = np.fromfile(tmp_path / "out.yuv", np.uint8)
    assert got.size == 16 * 32 * 3 // 2 and (got[16 * 32:] == 128).all()
    want = gray.reshape(32, 2, 16, 2).mean((1, 3))
    assert np.abs(got[:16 * 32].reshape(32, 16) - want).max() <= 3

#===-- test_broken_om.py - broken .om files and broken inputs of om-run ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""om-run and om-dump refuse every broken file with one coded line, and write nothing.

OPENATC_BUILD_DIR chooses the build. Needs numpy, pytest and onnx (Debian: python3-onnx).
"""

import struct
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="needs numpy")
pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from models import TensorProto, model, net, node, tensor  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE  # noqa: E402
from om_file import OmFile  # noqa: E402
from tools import (BUILD, GOLDEN, SANITIZED, atc_compiles, available, call,  # noqa: E402
                   om_tool_refuses)

pytestmark = pytest.mark.skipif(not available(), reason=f"atc, om-run, om-dump not in {BUILD}/bin")
TOOLS = ("om-run", "om-dump")
# Fields of the schema's tables.
MODEL_MAJOR, MODEL_MINOR, MODEL_SEGMENTS, MODEL_TENSORS, MODEL_INPUTS, MODEL_IMAGES = 0, 1, 6, 7, 8, 11
MODEL_SCHEDULE, MODEL_ARENA, MODEL_FILE_SIZE = 12, 13, 14
SEGMENT_OFFSET, SEGMENT_SIZE, SEGMENT_HASH = 1, 2, 3


def compiled(folder, made, *flags):
    (folder / "m.onnx").write_bytes(made.SerializeToString())
    atc_compiles(["--model=m.onnx", "--framework=5", "--output=m", "--target=cpu", *flags], folder)
    return (folder / "m.om").read_bytes()


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("good"), net())


def refused(folder, data, code, *words, tools=TOOLS, args=()):
    (folder / "m.om").write_bytes(data)
    for tool in tools:
        more = args if tool == "om-run" else ()
        om_tool_refuses(tool, ["m.om", *more], folder, code, "m.om", *words)


def test_the_file_runs_before_it_is_broken(good, tmp_path):
    (tmp_path / "m.om").write_bytes(good)
    for tool in TOOLS:
        assert call(tool, "m.om", cwd=tmp_path)[0] == 0
    assert OmFile(good).bytes() == good


# Files that are no models of this project.

@pytest.mark.parametrize("data, word", [
    (b"", "0 bytes"),
    (b"OATC", "4 bytes"),
    (b"a text file, not a model\n" * 40, "OATC"),
    (bytes(8192), "OATC"),
    (np.random.default_rng(3).bytes(8192), "OATC"),
    (b"IMOD" + bytes(8188), "vendor"),
    (b"IMOD", "vendor"),
], ids=["empty", "only-the-mark", "text", "zeros", "random", "vendor", "vendor-cut"])
def test_foreign_file(data, word, tmp_path):
    refused(tmp_path, data, "E10041", word)


def test_onnx_given_to_the_om_tools(tmp_path):
    refused(tmp_path, net().SerializeToString(), "E10041", "OATC")


def test_wrong_magic(good, tmp_path):
    for at in range(8, 12):
        data = bytearray(good)
        data[at] ^= 0x20
        refused(tmp_path, bytes(data), "E10041", "OATC")


# Damage.

def test_cut_at_many_points(good, tmp_path):
    header = OmFile(good).length
    for size in sorted({1, 3, 4, 8, 11, 12, 100, header - 1, header, header + 7, header + 8, 4095, 4096,
                        len(good) - 1, *range(4096, len(good), max(1, len(good) // 8))}):
        refused(tmp_path, good[:size], "E10041", "bytes")


def test_something_behind_the_end(good, tmp_path):
    refused(tmp_path, good + b"\0", "E10041", "damaged")


def test_flipped_bytes_of_the_header(good, tmp_path):
    end = OmFile(good).length + 8
    step = max(1, end // (20 if SANITIZED else 60))
    for i, at in enumerate(range(0, end, step)):
        data = bytearray(good)
        data[at] ^= (0x01, 0x80, 0xFF)[i % 3]
        refused(tmp_path, bytes(data), "E10041", tools=(TOOLS[i % 2],))


def test_flipped_bytes_of_tables_with_a_right_hash(good, tmp_path):
    # Some only change a name: then the dump succeeds. None may end in a signal or a bare message.
    # Nothing is run: what a header with a right hash says about kernels is trusted.
    end = OmFile(good).length
    taken = 0
    for i, at in enumerate(range(12, end, max(1, end // (30 if SANITIZED else 150)))):
        broken = OmFile(good)
        broken.data[at] ^= (0x01, 0x80, 0xFF, 0x10)[i % 4]
        (tmp_path / "m.om").write_bytes(broken.bytes())
        status, _, err = call("om-dump", "m.om", "--tensors", cwd=tmp_path)
        if status == 0:
            taken += 1
        else:
            om_tool_refuses("om-dump", ["m.om", "--tensors"], tmp_path, "E10041", "m.om")
    assert taken < i


def segment_of_kind(file, kind):
    for segment in file.model.tables(MODEL_SEGMENTS):
        place = segment.place(0)
        if (file.data[place] if place else 0) == kind:
            return segment
    raise AssertionError("no such segment")


@pytest.mark.parametrize("kind, word", [(0, "weights"), (1, "code")])
def test_segment_that_does_not_match_its_hash(good, kind, word, tmp_path):
    file = OmFile(good)
    offset, = struct.unpack_from("<Q", good, segment_of_kind(file, kind).place(SEGMENT_OFFSET))
    file.data[offset] ^= 1
    refused(tmp_path, bytes(file.data), "E10041", word, "hash", args=["--verify"])


def quantized_net():
    """A convolution and a product of 8-bit integers: kernels that read lists of offsets."""
    def numbers(name, values, dtype):
        return numpy_helper.from_array(np.array(values, dtype), name)

    rng = np.random.default_rng(5)
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["xq"], "quantize"),
             node("QLinearConv", ["xq", "s", "z", "w", "ws", "wz", "s", "z"], ["c"], "conv",
                  pads=[1, 1, 1, 1]),
             node("Flatten", ["c"], ["f"], "flat"),
             node("QLinearMatMul", ["f", "s", "z", "v", "ws", "wz", "s", "z"], ["p"], "product"),
             node("DequantizeLinear", ["p", "s", "z"], ["y"], "dequantize")]
    return model(nodes, initializers=[
        numbers("s", 0.1, "f4"), numbers("z", 128, "u1"), numbers("ws", 0.02, "f4"),
        numbers("wz", 0, "i1"), numbers("w", rng.integers(-9, 9, (8, 3, 3, 3)), "i1"),
        numbers("v", rng.integers(-9, 9, (512, 24)), "i1")])


def test_changed_weights_that_are_not_checked_do_no_harm(tmp_path):
    # Where the caller leaves the weights unchecked, answers may be wrong, but nothing crashes: what
    # addresses come from is checked always.
    data = compiled(tmp_path, quantized_net())
    segments = [segment for segment in OmFile(data).model.tables(MODEL_SEGMENTS)
                if not segment.place(0) or data[segment.place(0)] == 0]
    assert len(segments) == 2
    rng = np.random.default_rng(7)
    for number, (segment, stays) in enumerate(zip(segments, (True, False))):
        offset, = struct.unpack_from("<Q", data, segment.place(SEGMENT_OFFSET))
        size, = struct.unpack_from("<Q", data, segment.place(SEGMENT_SIZE))
        for _ in range(10 if SANITIZED else 40):
            changed = bytearray(data)
            changed[offset + rng.integers(size)] ^= 1 << rng.integers(8)
            if stays:
                (tmp_path / "m.om").write_bytes(changed)
                status, _, err = call("om-run", "m.om", "--no-verify", cwd=tmp_path)
                assert (status, err) == (0, "")
            else:
                refused(tmp_path, bytes(changed), "E10041", f"segment {number}", "hash",
                        tools=("om-run",), args=["--no-verify"])


def test_wrong_segment_hash(good, tmp_path):
    file = OmFile(good)
    file.put("<Q", segment_of_kind(file, 1).place(SEGMENT_HASH), 1)
    refused(tmp_path, file.bytes(), "E10041", "hash")


@pytest.mark.parametrize("field, layout, value, words", [
    (MODEL_MAJOR, "<H", 2, ["schema version 2.", "runtime reads 1.0"]),
    (MODEL_MAJOR, "<H", 65535, ["schema version 65535."]),
    (MODEL_FILE_SIZE, "<Q", 1 << 40, ["should have 1099511627776"]),
    (MODEL_FILE_SIZE, "<Q", 64, ["should have 64"]),
    (MODEL_ARENA, "<Q", 1 << 60, ["1152921504606846976 bytes of memory"]),
    (MODEL_ARENA, "<Q", 0, ["reaches outside"]),
])
def test_numbers_of_the_model(good, field, layout, value, words, tmp_path):
    file = OmFile(good)
    file.put(layout, file.model.place(field), value)
    refused(tmp_path, file.bytes(), "E10041", *words)


@pytest.mark.parametrize("field, value", [
    (SEGMENT_OFFSET, 64), (SEGMENT_OFFSET, 4097), (SEGMENT_OFFSET, 1 << 63), (SEGMENT_SIZE, 0),
    (SEGMENT_SIZE, 1 << 63), (SEGMENT_SIZE, (1 << 64) - 1)])
def test_segment_outside_the_file(good, field, value, tmp_path):
    file = OmFile(good)
    file.put("<Q", file.model.tables(MODEL_SEGMENTS)[0].place(field), value)
    refused(tmp_path, file.bytes(), "E10041", "segment 0", "damaged")


@pytest.mark.parametrize("field", [MODEL_SEGMENTS, MODEL_TENSORS, MODEL_INPUTS, MODEL_IMAGES,
                                   MODEL_SCHEDULE])
@pytest.mark.parametrize("value", [0, 0x7FFFFFF0, 0xFFFFFFFF])
def test_vector_that_points_elsewhere(good, field, value, tmp_path):
    file = OmFile(good)
    file.put("<I", file.model.place(field), value)
    refused(tmp_path, file.bytes(), "E10041", "damaged")


@pytest.mark.parametrize("field", [MODEL_SEGMENTS, MODEL_TENSORS, MODEL_INPUTS, MODEL_SCHEDULE])
def test_vector_with_a_huge_count(good, field, tmp_path):
    file = OmFile(good)
    file.put("<I", file.model.target(field), 0xFFFFFFFF)
    refused(tmp_path, file.bytes(), "E10041", "damaged")


def test_input_that_is_no_tensor(good, tmp_path):
    file = OmFile(good)
    file.put("<I", file.model.target(MODEL_INPUTS) + 4, 12345)
    refused(tmp_path, file.bytes(), "E10041", "input 0", "12345")


# Another machine.

def test_code_for_a_better_processor(tmp_path):
    if "avx512f" in Path("/proc/cpuinfo").read_text():
        pytest.skip("this machine has AVX-512")
    data = compiled(tmp_path, net(), "--target_cpu=x86-64-v4")
    refused(tmp_path, data, "E10041", "x86-64-v4", "avx512", "--target_cpu", tools=("om-run",))
    # It can still be looked at.
    assert call("om-dump", "m.om", cwd=tmp_path)[0] == 0


def test_cpu_level_that_the_model_does_not_have(good, tmp_path):
    refused(tmp_path, good, "E10041", "'pdp11'", tools=("om-run",), args=["--cpu-level", "pdp11"])


def test_more_memory_than_there_is(tmp_path):
    made = model([node("Relu", ["x"], ["y"])], inputs=[tensor("x", [1 << 20, 1 << 20])])
    (tmp_path / "m.om").write_bytes(compiled(tmp_path, made))
    om_tool_refuses("om-run", ["m.om"], tmp_path, "E10058", "'x'", "--max_memory")


# Paths and command lines.

def test_model_path(tmp_path):
    for tool in TOOLS:
        om_tool_refuses(tool, ["none.om"], tmp_path, "E10410", "none.om")
        om_tool_refuses(tool, ["."], tmp_path, "E1", "'.'")
        om_tool_refuses(tool, ["/dev/zero"], tmp_path, "E1", "/dev/zero", "regular file")


@pytest.mark.parametrize("args, code, word", [
    ([], "E10007", "model"),
    (["m.om", "--no-such-flag"], "E10055", "--no-such-flag"),
    (["m.om", "two.om"], "E10055", "two.om"),
])
def test_command_line(args, code, word, tmp_path):
    for tool in TOOLS:
        om_tool_refuses(tool, args, tmp_path, code, word)


@pytest.mark.parametrize("args, word", [
    (["--threads", "0"], "--threads"), (["--threads", "many"], "--threads"),
    (["--loop", "-1"], "--loop"), (["--warmup", "1.5"], "--warmup"), (["--input"], "--input"),
])
def test_command_line_of_om_run(good, args, word, tmp_path):
    (tmp_path / "m.om").write_bytes(good)
    om_tool_refuses("om-run", ["m.om", *args], tmp_path, "E10001", word)


# Inputs.

X = np.zeros((1, 3, 8, 8), np.float32)


def npy(array):
    return npy_text(f"{{'descr': '{array.dtype.str}', 'fortran_order': False, "
                    f"'shape': {array.shape}, }}", array.tobytes())


def npy_text(header, data=X.tobytes(), version=1):
    header = header.encode()
    return b"\x93NUMPY" + struct.pack("<BBH", version, 0, len(header)) + header + data


INPUTS = {
    "wrong-type": (npy(X.astype(np.float64)), "E10014", "'<f8'"),
    "integers": (npy(X.astype(np.int32)), "E10014", "'<i4'"),
    "big-endian": (npy(X.astype(">f4")), "E10014", "'>f4'"),
    "wrong-shape": (npy(X.reshape(1, 8, 3, 8)), "E10014", "[1,8,3,8]"),
    "wrong-rank": (npy(X.reshape(3, 8, 8)), "E10049", "[3,8,8]"),
    "cut-data": (npy(X)[:-1], "E10014", "767 bytes"),
    "too-much-data": (npy(X) + b"\0", "E10014", "769 bytes"),
    "cut-header": (npy(X)[:30], "E13005", "no .npy"),
    "cut-magic": (npy(X)[:5], "E13005", "no .npy"),
    "empty": (b"", "E13005", "no .npy"),
    "text": (b"1.0 2.0 3.0\n", "E13005", "no .npy"),
    "fortran-order": (npy_text("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 3, 8, 8), }"),
                      "E10014", "Fortran"),
    "no-shape": (npy_text("{'descr': '<f4', 'fortran_order': False, }"), "E13005", "no .npy"),
    "shape-without-end": (npy_text("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3"),
                          "E13005", "no .npy"),
    "shape-of-words": (npy_text("{'descr': '<f4', 'fortran_order': False, 'shape': (a, b), }"),
                       "E13005", "no .npy"),
    "shape-that-overflows": (npy_text("{'descr': '<f4', 'fortran_order': False, "
                                      "'shape': (99999999999999999999, 3, 8, 8), }"),
                             "E13005", "no .npy"),
    "shape-negative": (npy_text("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 3, 8, 8), }"),
                       "E10014", "[-1,3,8,8]"),
    "descr-without-end": (npy_text("{'fortran_order': False, 'shape': (1, 3, 8, 8), 'descr': '<f4"),
                          "E13005", "no .npy"),
    "structured": (npy_text("{'descr': [('a', '<f4')], 'fortran_order': False, "
                            "'shape': (1, 3, 8, 8), }"), "E13005", "no .npy"),
    "header-longer-than-the-file": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", "E13005", "no .npy"),
    "endless-descr": (npy_text("{'descr': '<f4" + "f" * 60000 + "', 'fortran_order': False, "
                               "'shape': (1, 3, 8, 8), }"), "E13005", "no .npy"),
    "control-characters": (npy_text("{'descr': '<f\n\x1b[31m', 'fortran_order': False, "
                                    "'shape': (1, 3, 8, 8), }"), "E10014", "m.npy"),
}


@pytest.mark.parametrize("name", INPUTS)
def test_input_file(name, good, tmp_path):
    data, code, word = INPUTS[name]
    (tmp_path / "m.om").write_bytes(good)
    (tmp_path / "m.npy").write_bytes(data)
    om_tool_refuses("om-run", ["m.om", "--input", "m.npy", "--output", "out"], tmp_path, code, word,
                    "'x'")


@pytest.mark.parametrize("argument, code, words", [
    ("none.npy", "E10410", ["none.npy", "'x'"]),
    ("folder", "E13001", ["folder"]),
    ("z=m.npy", "E10017", ["'z'", "'x'"]),
    ("m.npy,m.npy", "E10014", ["more files", "m.npy"]),
    ("x=m.npy,m.npy", "E10014", ["'x'", "twice"]),
    ("x=", "E10410", ["'x'"]),
    ("short.bin", "E10014", ["3 bytes", "768"]),
    ("long.bin", "E10014", ["769 bytes", "768"]),
    ("/dev/zero", "E13001", ["/dev/zero"]),
])
def test_input_argument(argument, code, words, good, tmp_path):
    (tmp_path / "m.om").write_bytes(good)
    (tmp_path / "m.npy").write_bytes(npy(X))
    (tmp_path / "short.bin").write_bytes(b"abc")
    (tmp_path / "long.bin").write_bytes(X.tobytes() + b"\0")
    (tmp_path / "folder").mkdir()
    om_tool_refuses("om-run", ["m.om", "--input", argument, "--output", "out"], tmp_path, code, *words)


def test_labels_without_an_end(good, tmp_path):
    (tmp_path / "m.om").write_bytes(good)
    om_tool_refuses("om-run", ["m.om", "--labels", "/dev/zero"], tmp_path, "E13001", "/dev/zero",
                    "it is not a regular file")


@pytest.mark.parametrize("reference, code, word", [
    ("none", "E10410", "none"),
    ("folder", "E10014", "none of the model's tensors"),
    ("bad.onnx", "E13005", "bad.onnx"),
    ("m.om", "E13005", "m.om"),
])
def test_reference_to_compare_with(reference, code, word, good, tmp_path):
    (tmp_path / "m.om").write_bytes(good)
    (tmp_path / "bad.onnx").write_bytes(b"junk")
    (tmp_path / "folder").mkdir()
    if not (BUILD / "bin" / "atc-translate").exists():
        pytest.skip("atc-translate is not built")
    om_tool_refuses("om-run", ["m.om", "--compare", reference], tmp_path, code, word)


@pytest.mark.parametrize("op, dtype", [("Div", np.int8), ("Div", np.int32), ("Div", np.int64),
                                       ("Div", np.uint8), ("Mod", np.int32), ("Mod", np.int64),
                                       ("Mod", np.uint64)])
def test_integers_divided_by_zero_do_not_stop_the_program(op, dtype, tmp_path):
    least, element = np.iinfo(dtype).min, NP_TYPE_TO_TENSOR_TYPE[np.dtype(dtype)]
    x = np.array([1, least, 7, 0, 100, least], dtype)
    z = np.array([0, -1 if least else 1, 2, 0, 3, 0], dtype)
    compiled(tmp_path, model([node(op, ["x", "z"], ["y"])],
                             inputs=[tensor("x", [6], element), tensor("z", [6], element)]))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "z.npy", z)
    status, _, err = call("om-run", "m.om", "--input", "x.npy,z.npy", "--output", "out", cwd=tmp_path)
    assert (status, err) == (0, "")
    # All are exact, and the least number divided by -1 wraps.
    expected = [0, least, 3, 0, 33, 0] if op == "Div" else [0, 0, 1, 0, 1, 0]
    assert np.load(tmp_path / "out" / "y.npy").tolist() == expected


def test_gather_by_data_out_of_range_is_refused(tmp_path):
    compiled(tmp_path, model([node("Gather", ["x", "i"], ["y"])],
                             inputs=[tensor("x", [4]), tensor("i", [3], TensorProto.INT64)]))
    np.save(tmp_path / "x.npy", np.array([1, 2, 3, 4], np.float32))
    np.save(tmp_path / "i.npy", np.array([1 << 62, -(1 << 63), 2], np.int64))
    om_tool_refuses("om-run", ["m.om", "--input", "x.npy,i.npy", "--output", "out"], tmp_path, "E10014",
                    "element 0 of input 'i'", str(1 << 62), "4 elements")
    assert not (tmp_path / "out").exists()


def test_all_errors_of_the_inputs_at_once(tmp_path):
    made = model([node("Add", ["a", "b"], ["y"])], inputs=[tensor("a", [2]), tensor("b", [2])])
    compiled(tmp_path, made)
    (tmp_path / "short.bin").write_bytes(b"abc")
    om_tool_refuses("om-run", ["m.om", "--input", "short.bin,none.npy,more.npy,c=short.bin"], tmp_path,
                    "E10014", "'a'", "'b'", "more.npy", "'c'", count=4)


@pytest.mark.parametrize("flag", ["--output", "--dump"])
def test_output_folder_that_cannot_be_made(flag, good, tmp_path):
    (tmp_path / "m.om").write_bytes(good)
    om_tool_refuses("om-run", ["m.om", flag, "m.om/out"], tmp_path, "E13004", "m.om/out")
    om_tool_refuses("om-run", ["m.om", flag, "m.om"], tmp_path, "E13004", "m.om")

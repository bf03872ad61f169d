# pyACL, ais_bench and msame. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import json
import os
import pathlib
import subprocess
import sys

import pytest
from acl_begin import BEGUN

np = pytest.importorskip("numpy")

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/common"))
import openatc_tools  # noqa: E402
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
PICTURES = ROOT / "examples/digits/pictures"
PACKAGES = os.environ.get("OPENATC_ACL_PYTHON", str(BUILD / "python"))
sys.path.insert(0, PACKAGES)


def run(*command, fails=False, cwd=None):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            cwd=cwd, timeout=300, env=os.environ | {"PYTHONPATH": PACKAGES})
    assert (result.returncode != 0) == fails, result.stdout + result.stderr
    return result.stdout + result.stderr


def compiled(folder, name, *options):
    run(BUILD / "bin/atc", "--model", ROOT / "examples/digits/digits.onnx", "--framework=5",
        f"--output={folder / name}", "--soc_version=Ascend310P3", *options)
    return folder / (name + ".om")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("static"), "digits")


@pytest.fixture(scope="module")
def profiles(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("profiles"), "digits",
                    "--input_shape=image:-1,1,28,28", "--dynamic_batch_size=1,2,4")


def picture(digit):
    return np.load(PICTURES / f"digit_{digit}.npy")


def test_pyacl_runs_a_model(model):
    import acl
    assert acl.init() in BEGUN
    assert acl.rt.set_device(0) == 0
    assert acl.rt.get_device_count()[1] == 0
    context, ret = acl.rt.create_context(0)
    assert ret == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    model_id, ret = acl.mdl.load_from_file(str(model))
    assert ret == 0
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, model_id) == 0
    assert acl.mdl.get_num_inputs(desc) == acl.mdl.get_num_outputs(desc) == 1
    dims, ret = acl.mdl.get_input_dims(desc, 0)
    assert ret == 0 and dims == {"name": "image", "dimCount": 4, "dims": [1, 1, 28, 28]}
    assert acl.mdl.get_input_index_by_name(desc, "image") == (0, 0)
    assert acl.mdl.get_dynamic_batch(desc) == ({"batchCount": 0, "batch": []}, 0)
    data = np.ascontiguousarray(picture(7))
    datasets, blocks, buffers = [], [], []
    for size in (acl.mdl.get_input_size_by_index(desc, 0), acl.mdl.get_output_size_by_index(desc, 0)):
        address, ret = acl.rt.malloc(size, 2)
        assert ret == 0
        blocks.append(address)
        buffers.append(acl.create_data_buffer(address, size))
        datasets.append(acl.mdl.create_dataset())
        assert acl.mdl.add_dataset_buffer(datasets[-1], buffers[-1]) == (datasets[-1], 0)
    raw = data.tobytes()
    source = acl.util.bytes_to_ptr(raw)
    assert acl.rt.memcpy(blocks[0], len(raw), source, len(raw), 1) == 0
    assert acl.mdl.execute_async(model_id, *datasets, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    host, ret = acl.rt.malloc_host(40)
    assert ret == 0
    assert acl.rt.memcpy(host, 40, blocks[1], 40, 2) == 0
    assert acl.util.ptr_to_numpy(host, (10,), 11).argmax() == 7
    assert np.frombuffer(acl.util.ptr_to_bytes(host, 40), np.float32).argmax() == 7
    # Callbacks on a thread of Python.
    seen = []
    thread, ret = acl.util.start_thread(lambda given: [acl.rt.process_report(100)
                                                       for _ in given], range(1000))
    assert ret == 0
    assert acl.rt.subscribe_report(thread, stream) == 0
    for value in range(3):
        assert acl.rt.launch_callback(seen.append, value, 1, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [0, 1, 2]
    assert acl.rt.unsubscribe_report(thread, stream) == 0
    assert acl.util.stop_thread(thread) == 0
    # Errors are codes, with a message.
    assert acl.mdl.load_from_file("/nowhere.om")[1] == 145002  # as the vendor's
    assert "nowhere" in acl.get_recent_err_msg()
    for dataset, block, buffer in zip(datasets, blocks, buffers):
        assert acl.mdl.destroy_dataset(dataset) == 0
        assert acl.destroy_data_buffer(buffer) == 0
        assert acl.rt.free(block) == 0
    assert acl.rt.free_host(host) == 0
    assert acl.mdl.destroy_desc(desc) == acl.mdl.unload(model_id) == 0
    assert acl.rt.destroy_stream(stream) == acl.rt.destroy_context(context) == 0
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0


def test_session(model):
    from ais_bench.infer.interface import InferSession
    session = InferSession(0, str(model))
    (given,), (wanted,) = session.get_inputs(), session.get_outputs()
    assert (given.name, given.shape, given.datatype, given.realsize) == (
        "image", [1, 1, 28, 28], "float32", 3136)
    assert (wanted.shape, wanted.size) == ([1, 10], 10)
    for digit in (2, 7):
        assert session.infer([picture(digit)])[0].argmax() == digit
    assert session.infer([picture(7).tobytes()], mode="static")[0].shape == (1, 10)
    assert len(session.summary().exec_time_list) == 3
    with pytest.raises(RuntimeError, match="takes 3136 bytes"):
        session.infer([picture(7).astype(np.float16)])
    with pytest.raises(RuntimeError, match="takes 1 inputs"):
        session.infer([])
    with pytest.raises(ValueError, match="static, dymbatch"):
        session.infer([picture(7)], mode="dynamic")
    results = session.infer_pipeline([[picture(2)], [picture(4)]])
    assert [outputs[0].argmax() for outputs in results] == [2, 4]
    session.reset_summaryinfo()
    assert session.summary().exec_time_list == []
    session.free_resource()
    with pytest.raises(RuntimeError, match="freed"):
        session.infer([picture(7)])
    with pytest.raises(RuntimeError, match="nowhere.om"):
        InferSession(0, "/nowhere.om")


def test_session_with_profiles(profiles):
    from ais_bench.infer.interface import InferSession
    session = InferSession(0, str(profiles))
    assert session.get_inputs()[0].shape == [-1, 1, 28, 28]
    for digits in ([7], [2, 7], [2, 4, 7, 0]):
        feed = np.concatenate([picture(digit) for digit in digits])
        assert list(session.infer([feed], mode="dymbatch")[0].argmax(1)) == digits
    with pytest.raises(RuntimeError, match=r"\[1\], \[2\], \[4\]"):
        session.infer([np.zeros((3, 1, 28, 28), np.float32)], mode="dymbatch")
    with pytest.raises(RuntimeError, match="has profiles"):
        session.infer([picture(7)])
    session.set_dynamic_batchsize(2)
    assert session.run([np.concatenate([picture(4), picture(2)])])[0].argmax(1).tolist() == [4, 2]


def test_benchmark_command(model, profiles, tmp_path):
    said = run(sys.executable, "-m", "ais_bench", "--model", model, "--loop", 5)
    assert "NPU_compute_time (ms): min = " in said and "throughput 1000*batchsize.mean(1)" in said
    folder = tmp_path / "given"
    folder.mkdir()
    for i, digit in enumerate((2, 4, 7)):
        picture(digit).tofile(folder / f"{i}.bin")
    run(sys.executable, "-m", "ais_bench", f"--model={profiles}", "--dymBatch=2", "--input",
        folder, "--output", tmp_path / "out", "--output_dirname=run", "--outfmt=NPY")
    assert np.load(tmp_path / "out/run/0_0.npy").argmax(1).tolist() == [2, 4]
    assert np.load(tmp_path / "out/run/2_0.npy").argmax(1).tolist() == [7, 7]
    summary = json.loads((tmp_path / "out/run_summary.json").read_text())
    assert summary["filesinfo"]["1"]["infiles"] == [str(folder / "2.bin")]
    said = run(BUILD / "bin/msame", "--model", model, "--input", PICTURES / "digit_7.npy",
               "--output", tmp_path / "m", "--output_dirname", "r", "--loop=3")
    assert "Inference average time: " in said and "without first time: " in said
    assert np.loadtxt(tmp_path / "m/r/digit_7_output_0.txt").argmax() == 7
    said = run(sys.executable, "-m", "ais_bench", "--model", model, "--warmup-count=2", "--loop", 2)  # the newer spelling
    assert "warm up 2" in said
    for wrong in (["--loop", "0"], ["--input", "/nowhere"], ["--warmup-counts", "2"], ["--dymBatch", "2"],
                  ["--dymBatch", "2", "--dymHW", "1,2"], ["--outfmt", "XML"], ["--device", "9"]):
        said = run(sys.executable, "-m", "ais_bench", "--model", model, *wrong, fails=True)
        assert "Traceback" not in said


def test_files_that_are_no_input(model, profiles, tmp_path):
    """Less than a sample is no part of a batch, msame joins nothing, and no folder is left."""
    np.zeros(4, np.float32).tofile(tmp_path / "short.bin")
    picture(7).tofile(tmp_path / "one.bin")
    tool = [BUILD / "bin/msame"]
    bench = [sys.executable, "-m", "ais_bench"]
    for command, om, file, *more in ((tool, model, "short.bin"), (bench, model, "short.bin"), (bench, profiles, "short.bin", "--dymBatch=4"),
                                     (tool, profiles, "one.bin", "--dymBatch=4")):
        said = run(*command, "--model", om, "--input", tmp_path / file, "--output", tmp_path / "out", *more, fails=True)
        assert "bytes" in said and "Traceback" not in said
        assert not list((tmp_path / "out").iterdir())
    run(*bench, "--model", profiles, "--input", tmp_path / "one.bin", "--dymBatch=4", "--output", tmp_path / "out",
        "--output_dirname=r", "--outfmt=NPY")
    assert np.load(tmp_path / "out/r/one_0.npy").argmax(1).tolist() == [7] * 4


def test_single_operators(tmp_path):
    """In a process of its own: AscendCL starts once more."""
    ops = [{"op": "Add", "input_desc": [{"format": "ND", "shape": [2, 3], "type": "int32"}] * 2,
            "output_desc": [{"format": "ND", "shape": [2, 3], "type": "int32"}]}]
    # Found by its own name.
    ops.append(ops[0] | {"op": "MulCustom"})
    (tmp_path / "ops.json").write_text(json.dumps(ops))
    run(BUILD / "bin/atc", f"--singleop={tmp_path}/ops.json", f"--output={tmp_path}/ops",
        "--soc_version=Ascend310P3")
    (tmp_path / "run.py").write_text(f"""
import ctypes, numpy as np, acl
from acl import _library
assert acl.init() == 0 and acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
def put(array):
    address, ret = acl.rt.malloc(array.nbytes, 0)
    assert ret == 0
    acl.rt.memcpy(address, array.nbytes, array.ctypes.data, array.nbytes, 1)
    return address, acl.create_data_buffer(address, array.nbytes)
x, y = np.arange(6, dtype=np.int32).reshape(2, 3), np.full((2, 3), 10, np.int32)
desc = acl.create_tensor_desc(3, [2, 3], 2)
places = [put(array) for array in (x, y, np.zeros_like(x))]
buffers = [buffer for _, buffer in places]
def execute(kind):
    return acl.op.execute_v2(kind, [desc, desc], buffers[:2], [desc], buffers[2:], 0, stream)
def result():
    assert acl.rt.synchronize_stream(stream) == 0
    out = np.zeros_like(x)
    acl.rt.memcpy(out.ctypes.data, out.nbytes, places[2][0], out.nbytes, 2)
    return out.tolist()
assert execute("Add") == 100024
assert acl.op.set_model_dir({str(tmp_path / "ops")!r}) == 0
assert execute("Add") == 0 and result() == (x + y).tolist()
assert execute("MulCustom") == 0 and result() == (x * y).tolist()
assert execute("Mul") == 100024
handle, ret = acl.op.create_handle("Add", [desc, desc], [desc], 0)
assert ret == 0 and acl.op.execute_with_handle(handle, buffers[:2], buffers[2:], stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
acl.op.destroy_handle(handle)
# What is not there is compiled.
assert execute("Sub") == 100024
compile_op = _library.bind(_library.LIBRARY, "aclopCompile e s i p i p p i i s")
given, wanted = (ctypes.c_void_p * 2)(desc, desc), (ctypes.c_void_p * 1)(desc)
def compiled(kind):
    return compile_op(kind, 2, ctypes.addressof(given), 1, ctypes.addressof(wanted), 0, 0, 0, None)
assert compiled("Sub") == 0, acl.get_recent_err_msg()
assert execute("Sub") == 0 and result() == (x - y).tolist()
assert compiled("NoSuchOperator") == 100024
assert "NoSuchOperator" in acl.get_recent_err_msg()
""")
    run(sys.executable, tmp_path / "run.py")


def device_copy(acl, array):
    pointer, ret = acl.rt.malloc(array.nbytes, 0)
    assert ret == 0
    assert acl.rt.memcpy(pointer, array.nbytes, acl.util.numpy_to_ptr(array), array.nbytes, 1) == 0
    return pointer


def host_copy(acl, pointer, shape, kind):
    array = np.empty(shape, kind)
    assert acl.rt.memcpy(acl.util.numpy_to_ptr(array), array.nbytes, pointer, array.nbytes, 2) == 0
    return array


@pytest.fixture
def started():
    import acl
    acl.init()
    assert acl.rt.set_device(0) == 0
    yield acl
    acl.rt.reset_device(0)


def test_a_matrix_product_of_pyacl(started):
    acl = started
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    left = np.arange(6, dtype=np.float32).reshape(2, 3)
    right = np.arange(12, dtype=np.float32).reshape(3, 4)
    one, none = np.ones(1, np.float32), np.zeros(1, np.float32)
    places = [device_copy(acl, each) for each in (one, left, right, none, np.zeros((2, 4), "f4"))]
    alpha, a, b, beta, c = places
    assert acl.blas.gemm_ex(0, 0, 0, 2, 4, 3, alpha, a, -1, 0, b, -1, 0, beta, c, -1, 0, 0,
                            stream) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0
    assert np.array_equal(host_copy(acl, c, (2, 4), np.float32), left @ right)
    for place in places:
        acl.rt.free(place)
    acl.rt.destroy_stream(stream)


def test_an_operator_is_compiled_and_executed_by_pyacl(started, monkeypatch):
    acl = started
    monkeypatch.setenv("OPENATC_ATC", openatc_tools.tool("atc"))
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    values = np.arange(8, dtype=np.float32).reshape(2, 4)
    places = [device_copy(acl, each) for each in (values, values, np.zeros_like(values))]
    descs = [acl.create_tensor_desc(0, [2, 4], 2) for _ in places]
    buffers = [acl.create_data_buffer(place, values.nbytes) for place in places]
    attr = acl.op.create_attr()
    assert acl.op.compile_and_execute("Add", descs[:2], buffers[:2], descs[2:], buffers[2:], attr,
                                      0, 0, None, stream) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0
    assert np.array_equal(host_copy(acl, places[2], values.shape, np.float32), 2 * values)
    assert acl.op.compile("Add", descs[:2], descs[2:], attr) == 0
    acl.op.destroy_attr(attr)
    for buffer, desc, place in zip(buffers, descs, places):
        acl.destroy_data_buffer(buffer)
        acl.destroy_tensor_desc(desc)
        acl.rt.free(place)
    acl.rt.destroy_stream(stream)


def test_video_of_pyacl_is_encoded_and_decoded(started):
    acl = started
    if acl.media is None:
        pytest.skip("libacl_dvpp was not built")
    context, _ = acl.rt.get_context()
    stop = []

    def report(arguments):
        acl.rt.set_context(arguments[0])
        while not stop:
            acl.rt.process_report(10)

    thread, ret = acl.util.start_thread(report, [context])
    assert ret == 0
    encoder = acl.media.venc_create_channel_desc()
    for name, value in {"thread_id": thread, "entype": 2, "pic_format": 1, "pic_width": 64,
                        "pic_height": 64, "key_frame_interval": 16}.items():
        assert getattr(acl.media, f"venc_set_channel_desc_{name}")(encoder, value) == 0
    assert acl.media.venc_get_channel_desc_pic_width(encoder) == 64
    pieces, seen = [], []

    def encoded(picture_desc, stream_desc, user_data):
        size = acl.media.dvpp_get_stream_desc_size(stream_desc)
        data = acl.media.dvpp_get_stream_desc_data(stream_desc)
        pieces.append((acl.util.ptr_to_bytes(data, size), user_data))

    def decoded(stream_desc, picture_desc, user_data):
        assert acl.media.dvpp_get_pic_desc_ret_code(picture_desc) == 0
        data = acl.media.dvpp_get_pic_desc_data(picture_desc)
        pixels = acl.util.ptr_to_numpy(data, (64, 64), np.uint8).copy()
        seen.append((user_data, int(np.median(pixels))))
        acl.media.dvpp_free(data)
        acl.media.dvpp_destroy_pic_desc(picture_desc)
        acl.media.dvpp_destroy_stream_desc(stream_desc)

    assert acl.media.venc_set_channel_desc_callback(encoder, encoded) == 0
    code = acl.media.venc_create_channel(encoder)
    if code == 200001:
        stop.append(1)
        acl.util.stop_thread(thread)
        pytest.skip(acl.get_recent_err_msg())
    assert code == 0
    config = acl.media.venc_create_frame_config()
    picture = acl.media.dvpp_create_pic_desc()
    memory, _ = acl.media.dvpp_malloc(64 * 96)
    for name, value in {"data": memory, "size": 64 * 96, "format": 1, "width": 64,
                        "height": 64}.items():
        assert getattr(acl.media, f"dvpp_set_pic_desc_{name}")(picture, value) == 0
    for index in range(3):
        acl.rt.memset(memory, 64 * 96, 60 + 50 * index, 64 * 96)
        # Any object is handed on to the callback.
        assert acl.media.venc_send_frame(encoder, picture, 0, config, ("picture", index)) == 0
        assert acl.media.venc_set_frame_config_eos(config, 1) == 0  # waits for the picture
        assert acl.media.venc_send_frame(encoder, 0, 0, config, None) == 0
        assert acl.media.venc_set_frame_config_eos(config, 0) == 0
    assert [data for _, data in pieces] == [("picture", index) for index in range(3)]
    assert acl.media.venc_destroy_channel(encoder) == 0

    decoder = acl.media.vdec_create_channel_desc()
    assert acl.media.vdec_set_channel_desc_channel_id(decoder, 10) == 0
    assert acl.media.vdec_set_channel_desc_thread_id(decoder, thread) == 0
    assert acl.media.vdec_set_channel_desc_entype(decoder, 2) == 0
    assert acl.media.vdec_set_channel_desc_callback(decoder, decoded) == 0
    assert acl.media.vdec_create_channel(decoder) == 0
    for index, (piece, _) in enumerate(pieces):
        data, _ = acl.media.dvpp_malloc(len(piece))
        acl.rt.memcpy(data, len(piece), acl.util.bytes_to_ptr(piece), len(piece), 1)
        stream_desc = acl.media.dvpp_create_stream_desc()
        acl.media.dvpp_set_stream_desc_data(stream_desc, data)
        acl.media.dvpp_set_stream_desc_size(stream_desc, len(piece))
        pixels, _ = acl.media.dvpp_malloc(64 * 96)
        output = acl.media.dvpp_create_pic_desc()
        acl.media.dvpp_set_pic_desc_data(output, pixels)
        acl.media.dvpp_set_pic_desc_size(output, 64 * 96)
        assert acl.media.vdec_send_frame(decoder, stream_desc, output, 0, index) == 0
        acl.media.dvpp_free(data)
    assert acl.media.vdec_destroy_channel(decoder) == 0
    stop.append(1)
    assert acl.util.stop_thread(thread) == 0
    assert [index for index, _ in seen] == [0, 1, 2]
    for index, gray in seen:
        assert abs(gray - (60 + 50 * index)) < 8
    for name, handle in (("vdec_destroy_channel_desc", decoder),
                         ("venc_destroy_channel_desc", encoder),
                         ("venc_destroy_frame_config", config), ("dvpp_destroy_pic_desc", picture),
                         ("dvpp_free", memory)):
        assert getattr(acl.media, name)(handle) == 0


def test_batches_of_pyacl_return_their_targets(started):
    acl = started
    if acl.media is None:
        pytest.skip("libacl_dvpp was not built")
    targets, code = acl.media.dvpp_vpc_batch_crop_async(0, 0, [1], 7, [0], 0)
    assert targets == 7 and code != 0
    targets, code = acl.media.dvpp_vpc_batch_crop_and_paste_async(0, 0, [1], 7, [0], [0], 0)
    assert targets == 7 and code != 0
    assert acl.get_version()[-1] == 0


def test_a_program_subscribes_to_the_profile_of_a_model(started, model):
    acl = started
    model_id, ret = acl.mdl.load_from_file(str(model))
    assert ret == 0
    reading, writing = os.pipe()
    config = acl.prof.create_subscribe_config(1, 255, writing)
    assert acl.prof.model_subscribe(model_id, config) == 0
    assert acl.prof.model_subscribe(model_id, config) == 148046
    assert acl.prof.model_subscribe(model_id + 99, config) == 100011
    desc = acl.mdl.create_desc()
    acl.mdl.get_desc(desc, model_id)
    sets = []
    for size in (acl.mdl.get_input_size_by_index(desc, 0),
                 acl.mdl.get_output_size_by_index(desc, 0)):
        data, _ = acl.rt.malloc(size, 0)
        sets.append(acl.mdl.create_dataset())
        acl.mdl.add_dataset_buffer(sets[-1], acl.create_data_buffer(data, size))
    for _ in range(2):
        assert acl.mdl.execute(model_id, *sets) == 0
    assert acl.prof.model_un_subscribe(model_id) == 0  # ends the pipe
    assert acl.prof.model_un_subscribe(model_id) == 100011
    size, ret = acl.prof.get_op_desc_size()
    assert ret == 0
    data = b""
    while part := os.read(reading, 10 * size):
        data += part
    os.close(reading)
    address = acl.util.bytes_to_ptr(data)
    count, ret = acl.prof.get_op_num(address, len(data))
    assert ret == 0 and count > 4 and count % 2 == 0
    operators = [(acl.prof.get_op_name(address, len(data), i)[0],
                  acl.prof.get_op_type(address, len(data), i, 65)[0],
                  acl.prof.get_op_duration(address, len(data), i)) for i in range(count)]
    names = [operator[:2] for operator in operators]
    assert names[:count // 2] == names[count // 2:]
    assert any("conv" in kind.lower() for _, kind, _ in operators) and all(d > 0 for _, _, d in operators)
    starts = [acl.prof.get_op_start(address, len(data), i) for i in range(count)]
    assert starts == sorted(starts)
    assert acl.prof.get_op_end(address, len(data), 0) == starts[0] + operators[0][2]
    assert acl.prof.get_model_id(address, len(data), count - 1) == model_id
    assert acl.prof.get_op_name(address, len(data), count)[1] == 100000
    assert acl.prof.get_op_num(address, len(data) - 1)[1] == 100000
    assert acl.prof.get_op_name_len(acl.util.bytes_to_ptr(bytes(size)), size, 0)[1] == 100000
    assert acl.prof.destroy_subscribe_config(config) == 0
    acl.mdl.unload(model_id)


@pytest.mark.parametrize("image, dims", [("RGB888_U8", (1, 32, 24, 3)),
                                         ("YUV420SP_U8", (1, 48, 24, 1))])
def test_profiles_of_images(image, dims, tmp_path):
    """A profile is set by height and width, whatever dims the image has."""
    pytest.importorskip("onnx")
    sys.path.insert(0, str(ROOT / "test/common"))
    import gear_models
    from acl._library import load
    model = gear_models.one_conv(tmp_path / "m.onnx")
    (tmp_path / "aipp.cfg").write_text(f"aipp_op {{ aipp_mode: static input_format: {image} }}")
    shapes = {"static": ["--input_shape=x:1,3,32,24"],
              "profiles": ["--input_shape=x:1,3,-1,-1", "--dynamic_image_size=16,24;32,24"],
              "dims": ["--input_shape=x:1,3,-1,-1", "--input_format=ND",
                       "--dynamic_dims=16,24;32,24"]}
    pixels = np.random.default_rng(1).integers(0, 256, dims, dtype=np.uint8)
    from ais_bench.infer.interface import InferSession
    results = []
    for name, flags in shapes.items():
        run(BUILD / "bin/atc", "--model", model, "--framework=5", f"--output={tmp_path / name}",
            "--soc_version=Ascend310P3", f"--insert_op_conf={tmp_path / 'aipp.cfg'}", *flags)
        session = InferSession(0, str(tmp_path / (name + ".om")))
        if name == "profiles":
            session.set_dynamic_hw(32, 24)
        if name != "dims":
            results.append(session.run([pixels])[0])
        if name == "profiles":  # chosen by the array's dims, or by the number of its bytes
            session.set_dynamic_hw(16, 24)
            results.append(session.infer([pixels], mode="dymhw")[0])
            results.append(session.infer([pixels.tobytes()], mode="dymhw")[0])
            with pytest.raises(RuntimeError, match="no profile"):
                session.infer([pixels[:, :8]], mode="dymhw")
            with pytest.raises(RuntimeError, match="0 profiles"):
                session.infer([pixels.tobytes()[1:]], mode="dymhw")
        if name == "dims":
            results.append(session.infer([pixels], mode="dymdims")[0])
            with pytest.raises(RuntimeError, match="no profile"):
                session.infer([pixels[:, :8]], mode="dymdims")
            ranges = (ctypes.c_int64 * 257)()
            assert load("libascendcl.so").aclmdlGetInputDimsRange(
                ctypes.c_void_p(session._desc), ctypes.c_size_t(0), ranges) == 0
            assert list(ranges[:7]) == [4, 1, 1, dims[1] // 2, dims[1], 24, 24]
        session.free_resource()
    assert results[0].shape == (1, 4, 32, 24)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_pyacl_settings_and_host_functions(model):
    import acl
    assert acl.init() in BEGUN and acl.rt.set_device(0) == 0
    assert acl.rt.get_device_info(0, 101) == (8, 0)  # cores of an Ascend310P3
    stream, ret = acl.rt.create_stream()
    assert ret == 0 and acl.rt.stream_get_id(stream)[1] == 0
    seen = []
    assert acl.rt.launch_host_func(stream, seen.append, "called") == 0
    assert acl.rt.synchronize_stream(stream) == 0 and seen == ["called"]
    assert acl.rt.set_sys_param_opt(0, 1) == 0 and acl.rt.get_sys_param_opt(0) == (1, 0)
    assert acl.rt.set_sys_param_opt(0, 0) == 0
    codes = []
    assert acl.rt.set_exception_info_callback(
        lambda info: codes.append(acl.rt.get_error_code_from_exception_info(info))) == 0
    assert acl.rt.set_op_wait_timeout(1) == 0
    event, _ = acl.rt.create_event()
    other, _ = acl.rt.create_stream()
    assert acl.rt.launch_host_func(other, lambda _: __import__("time").sleep(1.3), None) == 0
    assert acl.rt.record_event(event, other) == 0 and acl.rt.stream_wait_event(stream, event) == 0
    assert acl.rt.synchronize_stream(stream) == 107020 and codes == [107020]
    assert acl.rt.set_exception_info_callback(None) == 0 and acl.rt.set_op_wait_timeout(0) == 0
    assert acl.rt.synchronize_stream(other) == 0
    desc = acl.create_tensor_desc(0, [-1, 3], 2)
    assert acl.set_tensor_shape_range(desc, [[1, 8], [3, 3]]) == 0
    assert acl.get_tensor_desc_dim_range(desc, 0, 2) == ([1, 8], 0)
    acl.destroy_tensor_desc(desc)
    assert acl.op.set_compile_opt(0, "force_fp32") == 0 and acl.op.get_compile_opt(0) == ("force_fp32", 0)
    assert acl.op.set_compile_opt(0, "") == 0
    attributes = acl.op.create_attr()
    assert acl.op.set_attr_list_list_int(attributes, "pads", [[0, 1], [2, 3]]) == 0
    acl.op.destroy_attr(attributes)
    handle, ret = acl.blas.create_handle_for_gemm_ex(0, 0, 0, 4, 4, 4, 1, 1, 1, 0)
    assert ret == 0
    acl.op.destroy_handle(handle)
    for made in (stream, other):
        assert acl.rt.destroy_stream(made) == 0
    assert acl.rt.destroy_event(event) == 0
    acl.rt.reset_device(0)


def test_bundles_of_pyacl(model):
    import acl
    assert acl.init() in BEGUN and acl.rt.set_device(0) == 0
    bundle, ret = acl.mdl.bundle_load_from_file(str(model))
    assert ret == 0 and acl.mdl.bundle_get_model_num(bundle) == (1, 0)
    model_id, ret = acl.mdl.bundle_get_model_id(bundle, 0)
    desc = acl.mdl.create_desc()
    assert ret == 0 and acl.mdl.get_desc(desc, model_id) == 0
    assert acl.mdl.bundle_get_model_id(bundle, 1)[1] == 100000
    assert acl.mdl.bundle_unload(bundle) == 0 and acl.mdl.get_desc(desc, model_id) == 145003
    assert acl.mdl.destroy_desc(desc) == 0

# ais_bench's options of profiles, dumps, shapes and AIPP, and the older benchmark. Run with
# `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import concurrent.futures
import os
import sys
import time

import pytest

from test_python import BUILD, PICTURES, ROOT, np, run


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "digits"
    run(BUILD / "bin/atc", "--model", ROOT / "examples/digits/digits.onnx", "--framework=5", f"--output={path}",
        "--soc_version=Ascend310P3")
    return path.with_name("digits.om")


def test_threads_share_a_session(model):
    """The results of each are those of its own inputs."""
    from ais_bench.infer.interface import InferSession
    session = InferSession(0, str(model))
    images = np.random.default_rng(0).random((24, *session.get_inputs()[0].shape), dtype=np.float32)
    wanted = [session.infer([image])[0] for image in images]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for result, right in zip(pool.map(lambda image: session.infer([image])[0], images), wanted):
            np.testing.assert_array_equal(result, right)

    def run_until_freed():
        try:
            while True:
                session.infer([images[0]])
        except RuntimeError as error:
            return str(error)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(run_until_freed) for _ in range(2)]
        time.sleep(.02)
        session.free_resource()
        assert [each.result() for each in runs] == ["the session was freed"] * 2


def test_aclruntime_sessions(model):
    """A program of the module below ais_bench: names of outputs, Tensors, bytes at an address."""
    import aclruntime
    options = aclruntime.session_options()
    options.loop = 2
    session = aclruntime.InferenceSession(str(model), 0, options)
    (port,), (result,) = session.get_inputs(), session.get_outputs()
    assert port.datatype == aclruntime.dtype.float32 and str(port.datatype) == "dtype.float32"
    image = np.random.default_rng(0).random(port.shape, dtype=np.float32)
    tensor = aclruntime.Tensor(image)
    tensor.to_device(0)
    wanted = session.infer([image])[0]
    address = aclruntime.BaseTensor(image.ctypes.data, image.nbytes)
    for feeds in ([tensor], {port.name: tensor}, [aclruntime.Tensor(np.frombuffer(bytearray(image.tobytes())))], [address]):
        (out,) = session.run([result.name], feeds)
        out.to_host()
        np.testing.assert_array_equal(np.array(out), wanted)
    assert len(session.sumary().exec_time_list) == 10
    for names, feeds, message in ((["nothing"], [tensor], "no output"), (None, {"nothing": tensor}, "no input"), (None, {}, "no values")):
        with pytest.raises(RuntimeError, match=message):
            session.run(names, feeds)
    session.finalize()


def test_aclruntime_pipelines(model, tmp_path):
    """Several sets of inputs in one call: addresses and Tensors, or files whose results are written."""
    import aclruntime
    session = aclruntime.InferenceSession(str(model), 0, aclruntime.session_options())
    (port,), (result,) = session.get_inputs(), session.get_outputs()
    images = np.random.default_rng(1).random((2, *port.shape), dtype=np.float32)
    wanted = [session.infer([image])[0] for image in images]
    feeds = [[aclruntime.BaseTensor(images[0].ctypes.data, images[0].nbytes)], [aclruntime.Tensor(images[1])]]
    outputs = session.run_pipeline([result.name], feeds, [[port.shape]] * 2, False, False)
    assert [len(each) for each in outputs] == [1, 1]
    for (out,), want in zip(outputs, wanted):
        np.testing.assert_array_equal(np.array(out), want)
    images[0].tofile(tmp_path / "a.bin")
    np.save(tmp_path / "b.npy", images[1])
    files = [[str(tmp_path / "a.bin")], [str(tmp_path / "b.npy")]]
    session.run_pipeline(files, str(tmp_path / "none"), False, False, "BIN", True, 1)
    assert not (tmp_path / "none").exists()
    for name, read in (("BIN", lambda path: np.fromfile(path, np.float32)), ("NPY", np.load), ("TXT", np.loadtxt)):
        session.run_pipeline(files, str(tmp_path / name), False, False, name)
        for stem, want in zip("ab", wanted):
            got = read(tmp_path / name / f"{stem}_0.{name.lower()}")
            np.testing.assert_allclose(got.ravel(), want.ravel(), atol=1e-6 if name == "TXT" else 0)
    with pytest.raises(RuntimeError, match="must be BIN, NPY or TXT"):
        session.run_pipeline(files, str(tmp_path / "x"), False, False, "PNG")
    session.finalize()


def test_dynamic_aipp_is_set_by_a_file(tmp_path):
    pytest.importorskip("onnx")
    sys.path.insert(0, str(ROOT / "test/common"))
    import gear_models
    from ais_bench.infer.interface import InferSession
    model = gear_models.one_conv(tmp_path / "m.onnx")
    fields = {"src_image_size_w": 32, "src_image_size_h": 40, "crop": 1, "load_start_pos_w": 4,
              "load_start_pos_h": 2, "crop_size_w": 24, "crop_size_h": 32, "rbuv_swap_switch": 1,
              "mean_chn_1": 7, "min_chn_2": 3.5, "var_reci_chn_0": 0.25, "var_reci_chn_1": 0.5}
    (tmp_path / "static.cfg").write_text(
        "aipp_op { aipp_mode: static input_format: RGB888_U8 " + " ".join(
            f"{name}: {'true' if name in ('crop', 'rbuv_swap_switch') else value}" for name, value in fields.items()) + " }")
    (tmp_path / "dynamic.cfg").write_text("aipp_op { aipp_mode: dynamic max_src_image_size: 8000 }")
    settings = tmp_path / "aipp.config"
    settings.write_text("[aipp_op]\ninput_format : RGB888_U8  # as the camera\n"
                        + "".join(f"{name} : {value}\n" for name, value in fields.items()))
    pixels = np.random.default_rng(1).integers(0, 256, (1, 40, 32, 3), dtype=np.uint8)
    results = []
    for name in ("static", "dynamic"):
        run(BUILD / "bin/atc", "--model", model, "--framework=5", f"--output={tmp_path / name}",
            "--soc_version=Ascend310P3", "--input_shape=x:1,3,32,24", f"--insert_op_conf={tmp_path / (name + '.cfg')}")
        session = InferSession(0, str(tmp_path / (name + ".om")))
        if name == "dynamic":
            flat = np.zeros(session.get_inputs()[0].realsize, np.uint8)
            flat[:pixels.size] = pixels.reshape(-1)
            with pytest.raises(RuntimeError, match="--aipp_config"):
                session.infer([flat])
            session.load_aipp_config_file(settings)
            results.append(session.infer([flat])[0])
        else:
            with pytest.raises(RuntimeError, match="without dynamic AIPP"):
                session.load_aipp_config_file(settings)
            results.append(session.infer([pixels])[0])
        session.free_resource()
    np.testing.assert_array_equal(*results)
    for text, message in (("[op]\n", "no section"), ("[aipp_op]\nsrc_image_size_w: 3\n", "'input_format'"),
                          ("[aipp_op]\nsize: 3\n", "no setting 'size'")):
        settings.write_text(text)
        command = (sys.executable, "-m", "ais_bench", "--model", tmp_path / "dynamic.om", "--aipp_config", settings)
        assert message in run(*command, fails=True)


def test_two_images_with_parameters_of_their_own(tmp_path):
    """A program of pyACL: each image has its own size, crop and mean, and tells them by its input."""
    onnx = pytest.importorskip("onnx")
    import acl
    from ais_bench.infer.interface import InferSession
    sizes = {"left": (6, 8), "right": (10, 4)}
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [*(onnx.helper.make_node("Relu", [name], [f"{name}_y"]) for name in sizes), onnx.helper.make_node("Cast", ["plain"], ["z"], to=kind)],
        "g", [*(onnx.helper.make_tensor_value_info(name, kind, (1, 3, *size)) for name, size in sizes.items()),
              onnx.helper.make_tensor_value_info("plain", onnx.TensorProto.UINT8, (1, 3, 4, 4))],
        [onnx.helper.make_tensor_value_info(f"{name}_y", kind, None) for name in sizes] + [onnx.helper.make_tensor_value_info("z", kind, None)])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), tmp_path / "m.onnx")
    (tmp_path / "two.cfg").write_text("".join(
        f"aipp_op {{ aipp_mode: dynamic related_input_rank: {i} max_src_image_size: 600 }}\n" for i in range(2)))
    run(BUILD / "bin/atc", "--model", tmp_path / "m.onnx", "--framework=5", f"--output={tmp_path / 'm'}", "--soc_version=Ascend310P3",
        f"--insert_op_conf={tmp_path / 'two.cfg'}")
    session = InferSession(0, str(tmp_path / "m.om"))
    model, desc = session._model, session._desc
    assert [acl.mdl.get_aipp_type(model, i)[:2] for i in range(5)] == [(2, 3), (2, 4), *[(kind, 0xFFFFFFFF) for kind in (0, 3, 3)]]
    images = [np.random.default_rng(i).integers(0, 256, dims, dtype=np.uint8) for i, dims in enumerate(((9, 12, 3), (12, 7, 3)))]
    dataset, memory = acl.mdl.create_dataset(), []
    for i in range(5):
        bytes_of = acl.mdl.get_input_size_by_index(desc, i)
        memory.append(acl.rt.malloc(bytes_of, 0)[0])
        acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(memory[i], bytes_of))
    for i, (image, (height, width)) in enumerate(zip(images, sizes.values())):
        acl.rt.memcpy(memory[i], image.nbytes, acl.util.bytes_to_ptr(image.tobytes()), image.nbytes, 1)
        aipp = acl.mdl.create_aipp(1)
        for code in (acl.mdl.set_aipp_input_format(aipp, 3), acl.mdl.set_aipp_src_image_size(aipp, image.shape[1], image.shape[0]),
                     acl.mdl.set_aipp_crop_params(aipp, 1, 2 + i, 1, width, height, 0),
                     acl.mdl.set_aipp_dtc_pixel_mean(aipp, 5 * i, 0, 9, 0, 0), acl.mdl.set_aipp_by_input_index(model, dataset, i, aipp)):
            assert code == 0, acl.get_recent_err_msg()
        acl.mdl.destroy_aipp(aipp)
    outputs, results = acl.mdl.create_dataset(), []
    for i, (height, width) in enumerate(sizes.values()):
        results.append(acl.rt.malloc(3 * height * width * 4, 0)[0])
        acl.mdl.add_dataset_buffer(outputs, acl.create_data_buffer(results[i], 3 * height * width * 4))
    results.append(acl.rt.malloc(3 * 4 * 4 * 4, 0)[0])
    acl.mdl.add_dataset_buffer(outputs, acl.create_data_buffer(results[-1], 3 * 4 * 4 * 4))
    assert acl.mdl.execute(model, dataset, outputs) == 0, acl.get_recent_err_msg()
    for i, (image, (height, width)) in enumerate(zip(images, sizes.values())):
        y = np.zeros((1, 3, height, width), np.float32)
        acl.rt.memcpy(acl.util.numpy_to_ptr(y), y.nbytes, results[i], y.nbytes, 2)
        part = image[1:1 + height, 2 + i:2 + i + width].astype(np.float32) - np.array([5 * i, 0, 9], np.float32)
        np.testing.assert_array_equal(y[0], np.maximum(part.transpose(2, 0, 1), 0))
    assert acl.mdl.set_aipp_by_input_index(model, dataset, 2, acl.mdl.create_aipp(1)) == 100000
    for pointer in (*memory, *results):
        acl.rt.free(pointer)
    session.free_resource()


def test_a_file_of_settings_is_for_all_images(tmp_path):
    onnx = pytest.importorskip("onnx")
    from ais_bench.infer.interface import InferSession, MemorySummary
    kind, names = onnx.TensorProto.FLOAT, ("left", "right")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Neg", [name], [f"{name}_y"]) for name in names], "g",
        [onnx.helper.make_tensor_value_info(name, kind, (1, 3, 4, 6)) for name in names],
        [onnx.helper.make_tensor_value_info(f"{name}_y", kind, None) for name in names])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), tmp_path / "m.onnx")
    (tmp_path / "two.cfg").write_text("".join(
        f"aipp_op {{ aipp_mode: dynamic related_input_rank: {i} max_src_image_size: 72 }}\n" for i in range(2)))
    run(BUILD / "bin/atc", "--model", tmp_path / "m.onnx", "--framework=5", f"--output={tmp_path / 'm'}", "--target=cpu",
        f"--insert_op_conf={tmp_path / 'two.cfg'}")
    settings = tmp_path / "aipp.config"
    settings.write_text("[aipp_op]\ninput_format: RGB888_U8\nsrc_image_size_w: 6\nsrc_image_size_h: 4\nmean_chn_1: 3\n")
    session = InferSession(0, str(tmp_path / "m.om"))
    assert [port.name for port in session.get_inputs()] == list(names)
    session.load_aipp_config_file(settings)
    assert MemorySummary.get_H2D_time_list() == MemorySummary.get_h2d_time_list()
    images = [np.random.default_rng(i).integers(0, 256, (4, 6, 3), dtype=np.uint8) for i in range(2)]
    for image, result in zip(images, session.infer(images)):
        np.testing.assert_array_equal(result[0], np.array([0, 3, 0], np.float32)[:, None, None] - image.transpose(2, 0, 1))
    session.free_resource()


@pytest.mark.parametrize("mode, options", [
    ("dymshape", ["--target=cpu", "--input_shape=x:-1,3,-1,-1"]),
    ("dymbatch", ["--soc_version=Ascend310P3", "--input_shape=x:-1,3,8,8", "--dynamic_batch_size=1,2"]),
    ("dymhw", ["--soc_version=Ascend310P3", "--input_shape=x:2,3,-1,-1", "--dynamic_image_size=8,8;16,16"]),
    ("dymdims", ["--soc_version=Ascend310P3", "--input_shape=x:2,3,-1,-1", "--input_format=ND", "--dynamic_dims=8,8;16,16"])])
def test_arrays_of_another_type_are_refused(tmp_path, mode, options):
    """Their bytes were read as elements of the input's type."""
    pytest.importorskip("onnx")
    sys.path.insert(0, str(ROOT / "test/common"))
    import gear_models
    from ais_bench.infer.interface import InferSession
    model = gear_models.one_conv(tmp_path / "m.onnx")
    run(BUILD / "bin/atc", "--model", model, "--framework=5", f"--output={tmp_path / 'm'}", *options)
    session = InferSession(0, str(tmp_path / "m.om"))
    picture = np.random.default_rng(3).random((2, 3, 8, 8), dtype=np.float32)
    for kind, size in ((np.float64, 3072), (np.float16, 768), (np.uint8, 384)):
        with pytest.raises(RuntimeError, match=f"takes 1536 bytes .*; {size} were given .{np.dtype(kind).name} "):
            session.infer([picture.astype(kind)], mode)
    assert np.isfinite(session.infer([picture], mode)[0]).all()
    session.free_resource()


def test_results_that_stay_on_the_device(model):
    """As programs of language models keep their caches: results are inputs of later runs."""
    from ais_bench.infer.interface import InferSession
    session = InferSession(0, str(model))
    picture = np.random.default_rng(2).random(session.get_inputs()[0].shape, dtype=np.float32)
    (want,) = session.infer([picture])
    (kept,) = session.infer([session.create_tensor_from_arrays_to_device(picture)], out_array=False)
    kept.to_host()
    np.testing.assert_array_equal(np.array(kept), want)
    tensors = session.run([picture])
    session.convert_tensors_to_host(tensors)
    (array,) = session.convert_tensors_to_arrays(tensors)
    assert type(array) is np.ndarray and not hasattr(want, "to_host")
    np.testing.assert_array_equal(array, want)
    session.free_resource()


def test_ais_bench_profiles_and_dumps(model, tmp_path):
    command = [sys.executable, "-m", "ais_bench", "--model", model, "--input", PICTURES / "digit_3.npy",
               "--output", tmp_path, "--output_dirname", "out", "--threads", "2"]
    run(*command, "--profiler", "1")
    run(*command[:3], "-m", model, "-i", PICTURES / "digit_3.npy", "-o", tmp_path, "--output_dirname", "short", "-l", "2", "-d", "0")
    assert list((tmp_path / "short").glob("*.bin"))
    assert list((tmp_path / "profiler").glob("PROF_*/mindstudio_profiler_output/op_summary_*.csv"))
    run(*command, "--dump=1")
    assert list((tmp_path / "dump").rglob("*.output.0.npy"))
    assert "exclude" in run(*command, "--dump=1", "--profiler", fails=True)
    assert "--output" in run(*command[:5], "--profiler", fails=True)


def test_shapes_of_a_range_run_one_after_the_other(tmp_path):
    run(BUILD / "bin/atc", "--model", ROOT / "examples/digits/digits.onnx", "--framework=5",
        f"--output={tmp_path / 'any'}", "--input_shape=image:-1,1,28,28", "--target=cpu")
    command = (sys.executable, "-m", "ais_bench", "--model", tmp_path / "any.om", "--dymShape_range")
    text = run(*command, "image:1~2,1,28-28,28")
    assert [f"batchsize.mean({n})" in text for n in (1, 2, 3)] == [True, True, False]
    assert "run_count:4 success_count:4" in text and "dymshape:image:2,1,28,28 result:OK throughput:" in text
    assert "must be a number" in run(*command, "image:x,1,28,28", fails=True)
    # What the model does not take is named, and the others run.
    text = run(*command, "image:1,1,27~29,28")
    assert "[ERROR] image:1,1,27,28: " in text and "run_count:3 success_count:1" in text
    assert "dymshape:image:1,1,29,28 result:Failed" in text
    assert "runs at none of these shapes" in run(*command, "image:1,1,27,28", fails=True)
    # A list of all these shapes took gigabytes.
    text = run(*command, "image:1~99999999999999999999,1,28,28", fails=True)
    assert "at most 10000" in text and "Traceback" not in text


def test_random_inputs_are_indices_of_every_table(tmp_path):
    onnx = pytest.importorskip("onnx")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gather", ["table", "at"], ["y"])], "one_row",
        [onnx.helper.make_tensor_value_info("table", onnx.TensorProto.FLOAT, [1, 8]),
         onnx.helper.make_tensor_value_info("at", onnx.TensorProto.INT64, [64])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [64, 8])])
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / "m.onnx")
    run(BUILD / "bin/atc", "--model", tmp_path / "m.onnx", "--framework=5", f"--output={tmp_path / 'm'}", "--target=cpu")
    command = (sys.executable, "-m", "ais_bench", "--model", tmp_path / "m.om")
    run(*command, "--pure_data_type", "random", "--output", tmp_path, "--output_dirname", "out", "--outfmt", "NPY")
    (written,) = (tmp_path / "out").glob("*.npy")
    assert len(np.unique(np.load(written))) == 8


def test_mistakes_are_one_line(model, tmp_path):
    command = (sys.executable, "-m", "ais_bench", "--model", model)
    os.mkfifo(tmp_path / "pipe.npy")
    for words, said in ((("--output", "/dev/null"), "Not a directory"), (("--output", "/proc/x"), "/proc/x"),
                        (("--input", tmp_path / "pipe.npy"), "is no regular file"),
                        (("--input", ","), "names no file or folder"),
                        (("--input", "\x1b[31m\u202e"), "\\x1b[31m\\u202e does not exist"),
                        (("--dymShape", "image:99999999999"), "")):
        text = run(*command, *words, fails=True)
        errors = [line for line in text.splitlines() if line.startswith("[ERROR]")]
        assert len(errors) == 1 and said in errors[0] and "Traceback" not in text and "\x1b" not in text, text


def test_benchmark(model, tmp_path):
    tool = BUILD / "bin/benchmark"
    lines = ""
    for digit in range(3):
        np.load(PICTURES / f"digit_{digit}.npy").astype(np.float32).tofile(tmp_path / f"p{digit}.bin")
        lines += f"{digit} ./p{digit}.bin 28 28\n"
    (tmp_path / "list.info").write_text(lines)
    command = (sys.executable, tool, "-model_type=vision", "-device_id=0", "-batch_size=1", f"-om_path={model}",
               "-input_text_path=./list.info", "-input_width=28", "-input_height=28", "-useDvpp=False")
    assert "throughputRate" in run(*command, "-output_binary=True", cwd=tmp_path)
    run(*command, "-output_binary=false", cwd=tmp_path)
    folder = tmp_path / "result/dumpOutput_device0"
    for digit in range(3):
        scores = np.fromfile(folder / f"p{digit}_1.bin", np.float32)
        assert scores.size == 10 and scores.argmax() == digit
        np.testing.assert_allclose(np.loadtxt(folder / f"p{digit}_1.txt"), scores, rtol=1e-6)
    assert "[e2e]" in (tmp_path / "result/perf_vision_batchsize_1_device_0.txt").read_text()
    text = run(sys.executable, tool, "-round=3", f"-om_path={model}", "-device_id=0", "-batch_size=1", cwd=tmp_path)
    assert "ave_throughputRate" in text and list((tmp_path / "result").glob("PureInfer_perf_of_*"))
    (tmp_path / "list.info").write_text("0 ./none.bin 28 28\n")
    assert "none.bin does not exist" in run(*command, cwd=tmp_path, fails=True)
    assert "not decoded" in run(*command[:-1], "-useDvpp=true", cwd=tmp_path, fails=True)

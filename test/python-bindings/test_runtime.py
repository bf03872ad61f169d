# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""openatc.Model, Session, TensorInfo, LaunchInfo, LaunchTime, empty."""

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import openatc
from conftest import BUILD


def address(array):
    return array.__array_interface__["data"][0]


def error_text(call, *args, **kwargs):
    with pytest.raises(openatc.Error) as caught:
        call(*args, **kwargs)
    error = caught.value
    assert error.messages and error.messages[0].startswith(error.code + ": ")
    assert str(error) == "\n".join(error.messages)
    return error


# --- Model ---------------------------------------------------------------------------------

def test_an_array_without_memory_for_it():
    """CPython's own way to make one printed a second error, which nobody could catch."""
    code = ("import openatc\ntry:\n    openatc.empty((1 << 60,), 'u1')\n"
            "except MemoryError as error:\n    print(error)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": str(BUILD / "python")})
    assert done.stdout == f"there is no memory for an array of {1 << 60} bytes\n"
    assert done.stderr == ""


def test_model_describes_itself(digits, digits_om):
    assert digits.name == "digits" and digits.target == "cpu"
    assert digits.producer.startswith("OpenATC ") and digits.command_line == "openatc.compile"
    assert digits.cpu_level and digits.schema_version[0] == 1
    assert digits.file_bytes == digits_om.stat().st_size
    assert 0 < digits.weights_bytes < digits.file_bytes
    assert 0 < digits.code_bytes < digits.file_bytes
    assert digits.arena_bytes > 0
    assert "digits" in repr(digits)
    digits.verify_weights()


def test_a_model_is_saved(digits_om, digits_onnx, tmp_path):
    whole = digits_om.read_bytes()
    for i, model in enumerate((openatc.Model(digits_om), openatc.Model(whole))):
        model.save(tmp_path / f"{i}.om")
        assert (tmp_path / f"{i}.om").read_bytes() == whole
    openatc.compile(digits_onnx).save(tmp_path / "compiled.om")
    assert openatc.Model(tmp_path / "compiled.om").name == "digits"
    with pytest.raises(openatc.FileError, match="E13004"):
        openatc.Model(whole).save(tmp_path / "no folder" / "x.om")
    changed = tmp_path / "0.om"
    model = openatc.Model(changed)
    (tmp_path / "other").write_bytes(whole)  # of the same size
    (tmp_path / "other").replace(changed)
    with pytest.raises(openatc.Error, match="E10410"):
        model.save(tmp_path / "1.om")
    changed.unlink()
    with pytest.raises(openatc.Error, match="E10410"):
        model.save(tmp_path / "1.om")
    assert (tmp_path / "1.om").read_bytes() == whole


def test_tensor_info(digits):
    image, = digits.inputs
    scores, = digits.outputs
    assert isinstance(image, openatc.TensorInfo)
    assert (image.name, image.dtype, image.shape) == ("image", "f32", (1, 1, 28, 28))
    assert (scores.name, scores.dtype, scores.shape) == ("scores", "f32", (1, 10))
    assert image.numpy_dtype == np.float32 and image.numpy_shape == image.shape
    assert image.bytes == 28 * 28 * 4
    assert repr(image) == "<openatc.TensorInfo 'image' f32[1,1,28,28]>"
    assert {"image", "scores", "stem_relu"} <= {tensor.name for tensor in digits.tensors}


def test_launch_info(digits):
    launches = digits.launches
    names = [tensor.name for tensor in digits.tensors]
    last = launches[-1]
    assert isinstance(last, openatc.LaunchInfo)
    assert last.name == "scores" and last.kernel and last.name in repr(last)
    assert last.cost > 0 and last.tasks >= 1
    assert [names[i] for i in last.writes] == ["scores"]
    written = {i for launch in launches[:-1] for i in launch.writes}
    assert written & set(last.reads)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, str])
def test_model_from_bytes_or_path(digits_om, pictures, right_scores, kind):
    source = str(digits_om) if kind is str else kind(digits_om.read_bytes())
    model = openatc.Model(source, verify=True)
    del source
    scores, = openatc.Session(model, threads=1).run([pictures[4]])
    np.testing.assert_allclose(scores[0], right_scores[4], atol=1e-4)


def test_broken_models_are_errors(digits_om, tmp_path):
    assert error_text(openatc.Model, tmp_path / "none.om").code == "E10410"
    assert error_text(openatc.Model, tmp_path).code == "E10041"
    good = digits_om.read_bytes()
    for bad in (b"", b"abc", good[:-1], good[:100], b"\0" * 5000):
        assert error_text(openatc.Model, bad).code == "E10041"
    flipped = bytearray(good)
    flipped[-1] ^= 1
    assert error_text(openatc.Model, flipped, verify=True).code == "E10041"
    assert error_text(openatc.Model, digits_om, cpu_level="z80").code == "E10041"
    with pytest.raises(TypeError):
        openatc.Model(3)


# --- Session -------------------------------------------------------------------------------

@pytest.mark.parametrize("threads", [1, 2])
def test_all_digits(digits, pictures, right_scores, threads):
    session = openatc.Session(digits, threads=threads, spin_us=0, serial_cost=0)
    assert session.threads == threads and session.model is digits
    for picture, right in zip(pictures, right_scores):
        scores, = session.run([picture])
        np.testing.assert_allclose(scores[0], right, atol=1e-4)


def test_list_in_list_out_dict_in_dict_out(small, pair):
    session = openatc.Session(small, threads=1)
    a, b = pair
    total, positive = session.run([a, b])
    np.testing.assert_array_equal(total, a + b)
    np.testing.assert_array_equal(positive, np.maximum(a, 0))
    named = session.run({"b": b, "a": a})
    assert list(named) == ["sum", "positive"]
    np.testing.assert_array_equal(named["sum"], a + b)
    assert total.base is not None and address(total) % 64 == 0


def test_outputs_are_written_in_place(small, pair):
    session = openatc.Session(small, threads=1)
    a, b = pair
    target = openatc.empty((2, 3))
    results = session.run([a, b], outputs={"sum": target})
    assert results[0] is target and results[1] is not target
    np.testing.assert_array_equal(target, a + b)
    unaligned = np.zeros(7, "f4")[1:].reshape(2, 3)
    assert session.run([a, b], [target, unaligned])[1] is unaligned
    np.testing.assert_array_equal(unaligned, np.maximum(a, 0))


def test_an_array_that_has_no_buffer(small, pair):
    """As those of bfloat16 in other packages."""
    with pytest.raises(TypeError, match=r"'a' is an array of datetime64.*astype\('float32'\)"):
        openatc.Session(small, threads=1).run([pair[0].astype("i8").astype("M8[s]"), pair[1]])


def test_any_layout_of_input(small, pair):
    session = openatc.Session(small, threads=1)
    a, b = pair
    strided = np.asfortranarray(a)
    reverse = b[::-1, ::-1]
    unaligned = np.zeros(25, "u1")[1:].view("f4").reshape(2, 3)
    unaligned[:] = b
    frozen = a.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(session.run([strided, reverse])[0], a + reverse)
    np.testing.assert_array_equal(session.run([frozen, unaligned])[0], a + b)


def test_aligned_input_is_not_copied(digits, pictures):
    """Only memory that is used in place can be said to overlap: of a copy it would not be."""
    session = openatc.Session(digits, threads=1)
    image = openatc.empty((1, 1, 28, 28))
    image[:] = pictures[1]
    scores = openatc.empty((1, 10))
    session.run([image], [scores])
    before = scores.copy()
    overlapping = openatc.empty((1, 1, 28, 28))
    view = overlapping.reshape(-1)[:10].reshape(1, 10)
    assert error_text(session.run, [overlapping], [view]).code == "E10014"
    np.testing.assert_array_equal(session.run([pictures[1]])[0], before)


def test_wrong_arguments_are_all_named(small, pair):
    session = openatc.Session(small, threads=1)
    a, b = pair
    error = error_text(session.run, [a.astype("f8"), b[0]])
    assert len(error.messages) == 2
    assert "'a'" in error.messages[0] and "float64" in error.messages[0]
    assert "'b'" in error.messages[1] and "(3,)" in error.messages[1]
    error = error_text(session.run, {"x": a, "b": b})
    assert error.code == "E10017" and "'a', 'b'" in error.messages[0]
    assert any("no array for input 'a'" in line for line in error.messages)
    assert error_text(session.run, [a]).code == "E10014"
    assert error_text(session.run, [a.astype(">f4"), b]).code == "E10014"
    assert error_text(session.run, [a, b], [np.zeros((2, 3), "f4")]).code == "E10014"
    assert error_text(session.run, [a, b], {"no": a}).code == "E10017"
    frozen = np.zeros((2, 3), "f4")
    frozen.flags.writeable = False
    assert "read-only" in str(error_text(session.run, [a, b], {"sum": frozen}))
    assert "contiguous" in str(error_text(session.run, [a, b], {"sum": np.zeros((3, 2), "f4").T}))
    same = openatc.empty((2, 3))
    assert "overlaps" in str(error_text(session.run, [a, b], [same, same]))
    # Numbers are scalars.
    assert error_text(session.run, [1, 2]).code == "E10014"
    for wrong in (a, 3, "ab", None, [a, None]):
        with pytest.raises(TypeError):
            session.run(wrong)
    with pytest.raises(TypeError):
        openatc.Session(None)


def test_tensors(digits, pictures, right_scores):
    session = openatc.Session(digits, threads=1)
    everything = session.tensors([pictures[2]])
    np.testing.assert_allclose(everything["scores"][0], right_scores[2], atol=1e-4)
    assert everything["stem_relu"].min() >= 0 and everything["stem_relu"].max() > 0
    some = session.tensors({"image": pictures[2]}, names=["stem_relu"])
    assert list(some) == ["stem_relu"]
    np.testing.assert_array_equal(some["stem_relu"], everything["stem_relu"])
    error = error_text(session.tensors, [pictures[2]], ["x", "scores", "y"])
    assert error.code == "E10016" and len(error.messages) == 2


def test_profile(digits, pictures):
    session = openatc.Session(digits, threads=1)
    assert not session.profiling
    assert all(row.microseconds == 0 for row in session.profile())
    session.profiling = True
    for _ in range(3):
        session.run([pictures[0]])
    rows = session.profile()
    session.profiling = False
    assert not session.profiling
    assert [row.launch for row in rows] == list(range(len(digits.launches)))
    assert [(row.name, row.kernel) for row in rows] == [(launch.name, launch.kernel)
                                                        for launch in digits.launches]
    assert sum(row.share for row in rows) == pytest.approx(1)
    assert max(row.microseconds for row in rows) > 0
    assert isinstance(rows[0], openatc.LaunchTime) and " us" in repr(rows[0])


def test_threads_take_turns(digits, pictures, right_scores):
    session = openatc.Session(digits, threads=2)
    wrong = []

    def work(d):
        for _ in range(50):
            if not np.allclose(session.run([pictures[d]])[0][0], right_scores[d], atol=1e-4):
                wrong.append(d)

    workers = [threading.Thread(target=work, args=(d,)) for d in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert not worker.is_alive()
    assert not wrong


def test_results_outlive_everything(digits_om, pictures, right_scores):
    scores, = openatc.Session(openatc.Model(digits_om)).run([pictures[7]])
    np.testing.assert_allclose(scores[0], right_scores[7], atol=1e-4)


# --- empty ---------------------------------------------------------------------------------

@pytest.mark.parametrize("shape", [(), 5, (3, 4), [2, 1, 7], (0, 3), np.int64(4)])
@pytest.mark.parametrize("dtype", ["float32", np.int8, np.dtype("f2"), bool, np.complex128])
def test_empty(shape, dtype):
    array, same = openatc.empty(shape, dtype), np.empty(shape, dtype)
    assert array.shape == same.shape and array.dtype == same.dtype
    assert address(array) % 64 == 0 and array.flags.c_contiguous and array.flags.writeable
    array[...] = 1
    assert (array == 1).all()


def test_empty_refuses():
    for wrong in (-1, (2, -3), 1 << 70, (1 << 40, 1 << 40)):
        with pytest.raises((ValueError, OverflowError)):
            openatc.empty(wrong)
    with pytest.raises(MemoryError):
        openatc.empty(1 << 60)
    for wrong in ((1, object), ("ab", "f4"), (None, "f4"), (2.5, "f4")):
        with pytest.raises(TypeError):
            openatc.empty(*wrong)


def test_importing_does_not_load_the_compiler():
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import openatc; "
            "print('LLVM' in open('/proc/self/maps').read())")
    answer = subprocess.run([sys.executable, "-c", code, str(BUILD / "python")],
                            capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


def test_gears(digits_onnx, pictures, right_scores):
    model = openatc.compile(digits_onnx, input_shapes={"image": (-1, 1, 28, 28)}, gears=[1, (4,)])
    assert model.gears == [(1,), (4,)] and model.gear_kind == "dims"
    assert model.inputs[0].shape == (None, 1, 28, 28)
    session = openatc.Session(model)
    assert session.gear is None
    scores, = session.run([np.concatenate(pictures[:4])])
    np.testing.assert_allclose(scores, right_scores[:4].reshape(scores.shape), rtol=1e-4, atol=1e-4)
    assert session.gear == (4,)
    session.run({"image": pictures[0]})
    assert session.gear == (1,)
    with pytest.raises(openatc.Error, match="the gears are 1; 4"):
        session.run([np.concatenate(pictures[:3])])
    session.set_gear([4])
    with pytest.raises(openatc.Error, match="E10014"):
        session.run([pictures[0]])
    with pytest.raises(openatc.Error, match="the gears are 1; 4"):
        session.set_gear([2])
    session.set_gear(None)
    session.run([pictures[0]])


def test_gears_that_cannot_be(digits_onnx, digits):
    with pytest.raises(openatc.Error, match="E10039"):
        openatc.compile(digits_onnx, input_shapes={"image": (-1, 1, 28, 28)}, gears=[2, 2])
    with pytest.raises(openatc.Error, match="E10040"):
        openatc.compile(digits_onnx, gears=[1, 2])
    assert digits.gears == [] and digits.gear_kind == "none"
    with pytest.raises(openatc.Error, match="has no gears"):
        openatc.Session(digits).set_gear([1])
    for values in ("abc", [10 ** 30], [None]):
        with pytest.raises(TypeError, match="must be integers of 64 bits, not"):
            openatc.Session(digits).set_gear(values)


def test_a_path_without_a_name():
    with pytest.raises(openatc.Error, match="E10410: the model file '' does not exist"):
        openatc.Model("")


def test_a_forked_process_has_no_threads_of_a_session():
    """What fork() leaves behind is refused and let go, and never waited for."""
    program = textwrap.dedent("""
        import os, signal, sys
        import numpy as np, openatc
        from openatc import builder
        graph = builder.Graph("g")
        graph.output("y", graph.op("Relu", graph.input("x", shape=[8, 64])))
        model = openatc.compile(graph.to_onnx())
        x = np.ones((8, 64), np.float32)
        session, other = (openatc.Session(model, threads=2) for _ in range(2))
        session.run([x])
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            for call in (lambda: session.run([x]), lambda: session.tensors([x]),
                         lambda: session(x), session.profile, lambda: session.threads):
                try:
                    call()
                except ValueError as error:
                    assert "another process" in str(error), error
                else:
                    os._exit(2)
            session.close()
            del other
            with openatc.Session(model, threads=2) as own:
                own.run([x])
            sys.exit(0)
        status = os.waitpid(child, 0)[1]
        session.run([x])
        session.close()
        sys.exit(os.waitstatus_to_exitcode(status) != 0)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={"PYTHONPATH": str(BUILD / "python")}, timeout=120, check=False)
    assert done.returncode == 0, done.stderr

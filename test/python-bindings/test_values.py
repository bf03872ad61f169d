# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models with values of any shape: openatc.Raw, openatc.Map, strings, sequences."""

import subprocess

import numpy as np
import pytest

import openatc
from conftest import BUILD


@pytest.fixture(scope="module")
def values(tmp_path_factory):
    """valuesModel in test/runtime-lite/GoldenWriter.cpp."""
    writer = BUILD / "bin" / "runtime-golden-writer"
    if not writer.exists():
        pytest.skip("needs runtime-golden-writer")
    path = tmp_path_factory.mktemp("values") / "values.om"
    subprocess.check_call([writer, path, "values"])
    return openatc.Model(path)


X = np.arange(6, dtype="f4").reshape(2, 3)
HALF = openatc.Raw("bf16", np.array([1, 2], "u2"), (2,))
GIVEN = {"x": X, "words": np.array(["a", b"b\0"], object), "half": HALF}


def test_what_is_not_known(values):
    x, words, s, m, half = values.inputs
    assert x.shape == (None, 3) and x.numpy_shape == (-1, 3) and x.kind == "tensor"
    assert words.dtype == "string" and words.numpy_dtype == object
    assert s.kind == "sequence" and s.optional and m.kind == "map" and not half.optional
    assert values.outputs[0].shape is None
    assert values.schema_version == (1, 3)
    assert [launch.host for launch in values.launches] == [True] * 4


def test_run(values):
    session = openatc.Session(values, threads=2)
    out = session.run({**GIVEN, "s": [X[:1]], "m": openatc.Map(np.array(["k"]), np.array([2.5]))})
    np.testing.assert_array_equal(out["y"], X + 1)
    assert out["twice"].tolist() == [b"aa", b"b\0b\0"]
    assert [each.shape for each in out["longer"]] == [(1, 3), (2, 3)]
    assert out["map"].keys.tolist() == [b"k"] and out["map"].values.tolist() == [2.5]
    assert out["half"].dtype == "bf16" and out["half"].bits.tolist() == [1, 2]
    assert out["nibbles"].dtype == "i4" and out["nibbles"].shape == (3,)
    assert "bf16" in repr(out["half"]) and "Map" in repr(out["map"])
    for rows in (0, 5):
        x = np.ones((rows, 6), "f4")[:, ::2]
        listed = session.run([x, GIVEN["words"], None, None, np.array([3], "u2")])
        assert listed[0].shape == (rows, 3) and (listed[0] == 2).all()
        assert listed[3] is None and listed[4].bits.tolist() == [3]


def test_errors(values):
    session = openatc.Session(values)
    with pytest.raises(openatc.Error) as caught:
        session.run({**GIVEN, "x": X.T})
    assert caught.value.code == "E10014" and "[3, 2]" in str(caught.value)
    with pytest.raises(openatc.Error, match="E10017"):
        session.run({**GIVEN, "z": X})
    with pytest.raises(openatc.Error, match="E10014"):
        session.run(GIVEN, outputs=[X])
    with pytest.raises(openatc.Error, match="E10016"):
        session.tensors(GIVEN)
    with pytest.raises(openatc.Error, match="no value"):
        session.run({"x": X})
    with pytest.raises(openatc.Error, match="E10014"):
        session.run({**GIVEN, "x": 7})
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        session.run({**GIVEN, "words": np.array(["a", "\udc80"], object)})
    for wrong in (np.zeros(1, "V3"), np.array([7], object)):
        with pytest.raises(TypeError):
            session.run({**GIVEN, "x": wrong})
    with pytest.raises(TypeError, match=r"byte order of other machines: give array.astype\('float32'\)"):
        session.run({**GIVEN, "x": X.astype(">f4")})
    for bits in (HALF.bits.astype(">u2"), openatc.Raw("bf16", HALF.bits.astype(">u2"), (2,))):
        with pytest.raises(TypeError, match=r"byte order of other machines: give array.astype\('uint16'\)"):
            session.run({**GIVEN, "half": bits})
    for wrong in (openatc.Raw("f33", [1], (1,)), openatc.Raw("bf16", HALF.bits, (3,)),
                  openatc.Map(np.zeros(2), np.zeros(3))):
        with pytest.raises(ValueError):
            session.run({**GIVEN, "half": wrong})


def test_lists_that_contain_themselves(values):
    session = openatc.Session(values)
    endless = []
    endless.append(endless)
    deep = [X]
    for _ in range(100000):
        deep = [deep]
    for wrong in (endless, deep):
        with pytest.raises(ValueError, match="too deep in each other"):
            session.run({**GIVEN, "s": wrong})


def test_ceilings(values):
    def refused(code, session):
        with pytest.raises(openatc.Error) as caught:
            session().run(GIVEN)
        assert caught.value.code == code
        return str(caught.value)

    assert "beyond its ceiling of 1 bytes" in refused(
        "E10058", lambda: openatc.Session(values, max_memory=1))
    late = openatc.Session(values, max_seconds=1e-6)
    for _ in range(2):
        assert "1 microseconds" in refused("E10058", lambda: late)
    open_ended = openatc.Session(values, max_memory=openatc.NO_LIMIT,
                                 max_iterations=openatc.NO_LIMIT, max_seconds=float("inf"))
    assert (open_ended.run(GIVEN)["y"] == X + 1).all()
    for wrong in ({"max_memory": -1}, {"max_seconds": "long"}):
        with pytest.raises(TypeError):
            openatc.Session(values, **wrong)
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError):
            openatc.Session(values, max_seconds=wrong)


def test_cancel(values):
    session = openatc.Session(values)
    session.cancel()
    with pytest.raises(openatc.Error) as caught:
        session.run(GIVEN)
    assert caught.value.code == "E10059" and "host_add_one" in str(caught.value)
    assert (session.run(GIVEN)["y"] == X + 1).all()


def test_large_results_are_not_copied_where_nobody_else_has_them(tmp_path):
    """An array may be a result's own memory, but not that of an input, of a constant or of another
    result: each can be changed, and outlives its session."""
    count = 1 << 19
    graph = openatc.builder.Graph("large")
    x = graph.input("x", "float32", ["n"])
    y = graph.op("Neg", x)
    graph.output("own", graph.op("Abs", x))
    graph.output("first", y)
    graph.output("second", graph.op("Unsqueeze", y, np.array([0])))
    graph.output("same", graph.op("Identity", x))
    graph.output("stored", graph.op("Identity", np.arange(count, dtype=np.float32)))
    with pytest.warns(UserWarning, match="W11001"):
        session = openatc.Session(openatc.compile(graph, tmp_path / "large.om"), threads=1)
    data = np.linspace(-1, 1, count, dtype=np.float32)
    want = [abs(data), -data, -data[None], data, np.arange(count, dtype=np.float32)]
    results = session.run([data])
    assert type(results[0].base).__name__ == "PyCapsule"
    for i, result in enumerate(results):
        assert result.strides == want[i].strides  # pybind11 may know another layout of numpy's types
        np.testing.assert_array_equal(result, want[i])
        result += 5
        for j in range(i + 1, len(results)):
            np.testing.assert_array_equal(results[j], want[j])
    for got, right in zip(session.run([data]), want):
        np.testing.assert_array_equal(got, right)
    session.close()
    for result, right in zip(results, want):
        np.testing.assert_array_equal(result, right + np.float32(5))


def test_bits_are_given_to_the_interpreter(tmp_path, digits_onnx):
    """A module takes the bits of a type that numpy lacks; a Raw is refused by name."""
    path = tmp_path / "half.mlir"
    path.write_text("""func.func @main(%a: tensor<2xbf16> {om.name = "a"}) -> (tensor<2xbf16> {om.name = "y"}) {
  %0 = graph.relu %a : (tensor<2xbf16>) -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}
""")
    module = openatc.load(path)
    given = openatc.Raw("bf16", np.array([0x3F80, 0xBF80], "u2"), (2,))
    assert module.interpret([given.bits])[0].tolist() == [0x3F80, 0]
    calibrate = lambda sample: openatc.quantize(digits_onnx, [sample])  # noqa: E731
    for function, name in ((module.interpret, "a"), (module.tensors, "a"), (calibrate, "image")):
        for values in (given, [given], {name: given}):
            with pytest.raises(TypeError, match=r"openatc\.Raw \(bf16\) cannot be given here: give its bits, an array of uint16"):
                function(values)

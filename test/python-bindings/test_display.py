# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Profile, _repr_html_, to_dict, to_pandas; arrays of other frameworks."""

import numpy as np
import pytest

import openatc
from conftest import SMALL
from test_foreign import run_with
from test_runtime import error_text


def test_profile(digits, pictures):
    session = openatc.Session(digits)
    session.profiling = True
    session.run([pictures[0]])
    profile = session.profile()
    assert isinstance(profile, openatc.Profile) and isinstance(profile, list)
    columns = profile.to_dict()
    assert set(columns) == {"launch", "name", "kernel", "microseconds", "share"}
    assert columns["name"] == [row.name for row in profile]
    assert abs(sum(columns["share"]) - 1) < 1e-6
    assert all(name in str(profile) for name in columns["name"])
    page = profile._repr_html_()
    assert page.count("<tr") == len(profile) + 1 and page.count("bold") == 1
    assert openatc.Profile()._repr_html_() and str(openatc.Profile())


def test_pages_of_models_and_comparisons(digits, digits_onnx, pictures):
    page = digits._repr_html_()
    assert "image" in page and "[1, 1, 28, 28]" in page and f"{digits.file_bytes:,}" in page
    module = openatc.load(digits_onnx)
    assert "scores" in module._repr_html_()
    comparison = openatc.compare(digits, digits_onnx, [pictures[0]])
    assert "all tensors agree" in comparison._repr_html_()
    columns = comparison.to_dict()
    assert set(columns) == {"tensor", "launch", "kernel", "max_abs", "of_range", "cosine",
                            "tolerance", "bad"}
    assert len(columns["bad"]) == len(comparison.errors) and not any(columns["bad"])
    strict = openatc.Comparison(-1.0, comparison.errors)
    assert strict.first_bad.tensor in strict._repr_html_() and all(strict.to_dict()["bad"])


def test_names_are_no_markup():
    text = SMALL.replace('"a"', '"<script>\\1B[2J"')
    for page in (openatc.parse(text)._repr_html_(),
                 openatc.compile(openatc.parse(text))._repr_html_()):
        assert "&lt;script&gt;" in page and "<script>" not in page and "\x1b" not in page


def test_pandas(small, pair):
    pandas = pytest.importorskip("pandas", reason="needs pandas (Debian: python3-pandas)")
    session = openatc.Session(small)
    session.profiling = True
    session.run(pair)
    frame = session.profile().to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.name) == \
        [launch.name for launch in small.launches]
    frame = openatc.compare(small, openatc.parse(SMALL), pair).to_pandas()
    assert set(frame.tensor) == {"sum", "positive"}


def test_without_pandas(monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_dict"):
        openatc.Profile().to_pandas()


class OnlyDlpack:
    """An array that other packages see by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack(small, pair):
    session = openatc.Session(small)
    right = session.run(pair)
    for name, array in session.run({"a": OnlyDlpack(pair[0]), "b": pair[1]}).items():
        np.testing.assert_array_equal(array, right[["sum", "positive"].index(name)])
    # And out: results are arrays, which have DLPack.
    np.testing.assert_array_equal(np.from_dlpack(session.run(pair)[0]), right[0])
    assert error_text(session.run, [OnlyDlpack(pair[0].astype("f8")), pair[1]]).code == "E10014"
    class Elsewhere(OnlyDlpack):
        def __dlpack__(self, **options):
            raise BufferError("the memory is on another device")
    with pytest.raises(TypeError, match="numpy cannot take: the memory is on another device"):
        session.run([Elsewhere(pair[0]), pair[1]])
    # What DLPack gives must not be written.
    with pytest.raises((openatc.Error, TypeError)):
        session.run(pair, outputs=[OnlyDlpack(right[0]), right[1]])


def test_torch_tensors():
    run_with("torch", f"""
        import numpy as np, torch, openatc
        model = openatc.compile(openatc.parse({SMALL!r}))
        session = openatc.Session(model)
        a, b = torch.randn(2, 3), torch.randn(2, 3, requires_grad=True)
        total, positive = session(a, b)
        np.testing.assert_allclose(total, (a + b).detach())
        outputs = [torch.empty(2, 3), torch.empty(2, 3)]
        results = session.run([a, b.t().contiguous().t()], outputs=outputs)
        assert results[0] is outputs[0]
        torch.testing.assert_close(outputs[0], (a + b).detach())
        torch.testing.assert_close(outputs[1], a.relu())
        torch.testing.assert_close(torch.from_dlpack(session(a, b)[1]), a.relu())
        for wrong, kind in ((torch.empty(3, 2).t(), ValueError),
                            (torch.empty(2, 3, dtype=torch.float64), openatc.Error)):
            try:
                session.run([a, b], outputs=[wrong, outputs[1]])
            except kind:
                pass
            else:
                raise AssertionError(wrong)
        graph = openatc.builder.Graph()
        x = graph.input("x", "bf16", [2])
        graph.output("y", x + x)
        y = openatc.Session(openatc.compile(graph))(torch.tensor([1.5, -2], dtype=torch.bfloat16))
        assert y.tolist() == [0x4040, 0xc080], y      # the bits of 3 and -4
    """)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""from_torch, from_keras, torch_backend: models that are objects of other frameworks."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import openatc
from conftest import BUILD, ROOT
from test_runtime import error_text

# OPENATC_TORCH_PYTHON and OPENATC_TENSORFLOW_PYTHON name a Python that has the framework.
PYTHONS = {framework: [os.environ.get(f"OPENATC_{framework.upper()}_PYTHON", sys.executable),
                       sys.executable] for framework in ("torch", "tensorflow")}


def run_with(framework, program, needs=()):
    """Runs a program in the first Python that has a framework, for few have all of them."""
    for python in PYTHONS[framework]:
        try:
            found = subprocess.run([python, "-c", "import importlib.util as u, sys; sys.exit("
                                    "not all(map(u.find_spec, sys.argv[1:])))", framework, *needs])
        except OSError:
            continue
        if found.returncode == 0:
            break
    else:
        pytest.skip(f"needs {', '.join((framework, *needs))} (pip install)")
    head = f"import sys\nsys.path.insert(0, {str(BUILD / 'python')!r})\nROOT = {str(ROOT)!r}\n"
    done = subprocess.run([python, "-c", head + textwrap.dedent(program)], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_inputs_that_a_torch_module_returns_keep_their_names():
    run_with("torch", """
        import numpy as np, torch, openatc

        class Both(torch.nn.Module):
            def forward(self, a, b_orig, c_orig): return c_orig, a, a * b_orig

        class Same(torch.nn.Module):
            def forward(self, a): return a

        arrays = [np.full((2, 3), k, np.float32) for k in range(3)]
        session = openatc.Session(openatc.compile(Both(), args=tuple(arrays)))
        assert [port.name for port in session.inputs] == ["a", "b_orig", "c_orig"], session.inputs
        outputs = session(*arrays)
        for output, right in zip(outputs, (arrays[2], arrays[0], arrays[0] * arrays[1])):
            np.testing.assert_array_equal(output, right)
        model = openatc.compile(Same(), args=tuple(arrays[:1]))
        assert [port.name for port in model.inputs] == ["a"], model.inputs
        """, needs=("onnxscript",))


def test_torch():
    run_with("torch", """
        import numpy as np, torch, openatc

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
                self.norm = torch.nn.BatchNorm2d(8)
                self.head = torch.nn.Linear(8, 5)
            def forward(self, image, scale=None):
                y = torch.relu(self.norm(self.conv(image))).mean((2, 3))
                return self.head(y if scale is None else y * scale)

        torch.manual_seed(1)
        net, image = Net(), torch.randn(2, 3, 8, 8)
        assert net.training and net.norm.training
        session = openatc.Session(openatc.compile(net, args=(image,)))
        assert net.training and net.norm.training
        net.eval()
        with torch.no_grad():
            right = net(image)
        np.testing.assert_allclose(session(image), right.numpy(), atol=1e-5)

        # Dynamic dims, and inputs by name.
        module = openatc.from_torch(net, image, dynamic_shapes={"image": {0: "batch"}})
        assert module.inputs["image"].shape == ("batch", 3, 8, 8), module.inputs
        session = openatc.Session(module.compile())
        for rows in (1, 5):
            image = torch.randn(rows, 3, 8, 8)
            with torch.no_grad():
                np.testing.assert_allclose(session(image), net(image).numpy(), atol=1e-5)
        image = image[:2]
        kwargs = {"scale": torch.full((8,), 2.0)}
        session = openatc.Session(openatc.compile(net, args=(image,), kwargs=kwargs))
        with torch.no_grad():
            np.testing.assert_allclose(session(image=image, **kwargs), net(image, **kwargs),
                                       atol=1e-5)

        # Arrays are examples as well as tensors are.
        for args in (image.numpy(), [image.numpy()]):
            assert openatc.from_torch(net, args).inputs["image"].shape == (2, 3, 8, 8)
        named = openatc.compile(net, args=image, kwargs={"scale": kwargs["scale"].numpy()})
        assert named.inputs["scale"].shape == (8,)

        # A program of torch.export brings its own inputs.
        program = torch.export.export(net, (image,))
        with torch.no_grad():
            np.testing.assert_allclose(openatc.Session(openatc.compile(program))(image),
                                       net(image).numpy(), atol=1e-5)
        for wrong in (lambda: openatc.compile(net), lambda: openatc.compile(program, args=image)):
            try:
                wrong()
            except TypeError as error:
                assert "inputs" in str(error)
            else:
                raise AssertionError("no TypeError")

        class Odd(torch.nn.Module):
            def forward(self, x):
                return x + 1 if float(x.sum()) > 0 else x
        try:
            openatc.from_torch(Odd(), torch.ones(3))
        except openatc.Error as error:
            assert error.code == "E10055" and "Odd" in str(error), error
        else:
            raise AssertionError("no Error")
    """, needs=("onnx", "onnxscript"))


def test_torch_samples_and_inputs():
    run_with("torch", """
        import numpy as np, torch, openatc

        net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                                  torch.nn.Linear(8 * 6 * 6, 4)).eval()
        samples = [torch.randn(2, 3, 8, 8) for _ in range(3)]
        kinds = (samples, [[x] for x in samples], [(x,) for x in samples], iter(samples),
                 [{"input": x} for x in samples], [x.numpy() for x in samples],
                 [x.clone().requires_grad_() for x in samples])
        scales = [openatc.quantize(net, data).scales for data in kinds]
        assert scales[0] and all(each == scales[0] for each in scales)
        module = openatc.load(net, args=(samples[0],))
        assert openatc.quantize(module, samples).scales == scales[0]

        x = samples[0].requires_grad_()
        right = net(x).detach().numpy()
        for results in (openatc.interpret(net, x), openatc.interpret(net, [x]),
                        list(openatc.interpret(net, {"input": x}).values()), module.interpret(x)):
            np.testing.assert_allclose(results[0], right, atol=1e-4)
    """, needs=("onnx", "onnxscript"))


def test_torch_backend_takes_numbers_and_fused_layers():
    run_with("torch", """
        import warnings
        import torch, openatc
        from openatc import _compile
        warnings.filterwarnings("error", message=".*openatc.*")
        compiled = []
        real = _compile._compile_foreign
        _compile._compile_foreign = lambda *all: compiled.append(real(*all)) or compiled[-1]

        def check(module, *calls, **given):
            torch._dynamo.reset()
            compiled.clear()
            fast = torch.compile(module, backend=openatc.torch_backend)
            for inputs in calls:
                torch.testing.assert_close(fast(*inputs, **given), module(*inputs, **given),
                                           atol=1e-5, rtol=1e-5)
            assert 0 < len(compiled) <= len(calls), compiled

        torch.manual_seed(1)
        with torch.no_grad():
            # PyTorch passes epsilon and momentum as tensors once the sizes vary.
            net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8)).eval()
            sizes = [(2, 3, 8, 8), (5, 3, 8, 8), (4, 3, 9, 11), (1, 3, 9, 11)]
            check(net, *((torch.randn(size),) for size in sizes))
            # A number that varies becomes an input.
            check(lambda x, t: x * t + torch.full((2,), t),
                  *((torch.randn(2), t) for t in (0.5, 0.75, 1.0, 1.25)))
            # Outside of training a layer of an encoder is one fused operator.
            mask = torch.zeros(2, 7, dtype=torch.bool)
            mask[1, 5:] = True
            for first, function in ((False, "relu"), (True, "gelu")):
                layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True,
                                                         norm_first=first, activation=function)
                layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
                x = torch.randn(2, 7, 16)
                check(layers, (x,))
                check(layers, (x,), src_key_padding_mask=mask)
                causal = torch.nn.Transformer.generate_square_subsequent_mask(7)
                check(layers, (x,), mask=causal, is_causal=True)
    """, needs=("onnx", "onnxscript"))


def test_torch_backend():
    run_with("torch", """
        import warnings
        import numpy as np, torch, openatc
        warnings.filterwarnings("error", message=".*openatc.*")

        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.BatchNorm1d(16),
                                  torch.nn.GELU(), torch.nn.Linear(16, 3)).eval()
        fast = torch.compile(net, backend=openatc.torch_backend)
        compiled = []
        from openatc import _compile
        real = _compile._compile_foreign
        _compile._compile_foreign = lambda *all: compiled.append(real(*all)) or compiled[-1]
        with torch.inference_mode():
            for rows in (4, 4, 7, 9, 11):        # the second size makes the batch dynamic
                x = torch.randn(rows, 6)
                torch.testing.assert_close(fast(x), net(x), atol=1e-5, rtol=1e-5)
        assert len(compiled) == 2, compiled
        rows, columns = compiled[1].inputs[0].shape
        assert isinstance(rows, str) and columns == 6, compiled[1].inputs
        with torch.no_grad():                     # a weight that changed counts
            net[3].bias.add_(1)
            torch.testing.assert_close(fast(x), net(x), atol=1e-5, rtol=1e-5)

        def function(x, y):
            return torch.sin(x) @ y, x.sum()
        made = torch.compile(function, backend=openatc.torch_backend,
                             options={"target_cpu": "host"})
        a, b = torch.randn(3, 4, dtype=torch.float64), torch.randn(4, 2, dtype=torch.float64)
        for left, right in zip(made(a, b), function(a, b)):
            torch.testing.assert_close(left, right)
        assert len(compiled) == 4

        # A wrong option is an error of the caller, not a graph that is refused.
        try:
            torch.compile(function, backend=openatc.torch_backend, options={"sock": "x"})(a, b)
        except Exception as error:                # PyTorch wraps what a backend raises
            assert "openatc.compile has no option 'sock'" in str(error), error
        else:
            raise AssertionError("no error")
        torch._dynamo.reset()

        # By its name, as an installed package has it.
        from torch._dynamo.backends import registry
        getattr(registry._discover_entrypoint_backends, "cache_clear", lambda: None)()
        registry._lazy_import.cache_clear()
        torch._dynamo.reset()
        x = torch.randn(3)
        torch.testing.assert_close(torch.compile(torch.exp, backend="openatc")(x), x.exp())
        assert len(compiled) == 5

        # What needs gradients, and what is refused, runs in PyTorch and says so.
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fast(torch.randn(4, 6)).sum().backward()
            assert net[0].weight.grad is not None
            solve = torch.compile(lambda m: torch.linalg.eigvals(m), backend=openatc.torch_backend)
            torch.testing.assert_close(solve(torch.eye(3)), torch.linalg.eigvals(torch.eye(3)))
        texts = [str(each.message) for each in said]
        assert any("computes no gradients" in text for text in texts), texts
        assert any("refuses" in text and "E10055" in text for text in texts), texts
    """, needs=("onnx", "onnxscript"))


def test_keras():
    run_with("tensorflow", """
        import os
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import numpy as np, tensorflow as tf, keras, openatc

        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.layers.Input((8, 8, 3)), keras.layers.Conv2D(4, 3),
                                  keras.layers.BatchNormalization(), keras.layers.ReLU(),
                                  keras.layers.Flatten(), keras.layers.Dense(5)])
        x = np.random.default_rng(1).standard_normal((2, 8, 8, 3)).astype("f4")
        session = openatc.Session(openatc.compile(model))
        for rows in (x, x[:1]):
            np.testing.assert_allclose(session(rows), model(rows), atol=1e-4)

        quantized = openatc.quantize(model, [x, x])
        assert len(quantized.scales) > 1
        comparison = openatc.compare(openatc.compile(model), model, x)
        assert comparison.first_bad is None and comparison.errors

        @tf.function
        def function(a, b):
            return tf.sin(a) @ b + 1
        a, b = x[0, :, :, 0], x[1, :, :, 0]
        module = openatc.from_keras(function, (a, tf.TensorSpec((8, 8), tf.float32)))
        inputs = [a if "a" in port.name else b for port in module.inputs]
        np.testing.assert_allclose(module.interpret(inputs)[0], function(a, b), atol=1e-5)
        try:
            openatc.compile(function)
        except TypeError as error:
            assert "args" in str(error)
        else:
            raise AssertionError("no TypeError")
        counter = tf.Module()
        counter.weights = tf.Variable(tf.ones((8, 2)))
        counter.__call__ = tf.function(lambda v: v @ counter.weights)
        session = openatc.Session(openatc.compile(counter.__call__, args=a))
        np.testing.assert_allclose(session(a), a @ np.ones((8, 2), "f4"), atol=1e-5)
    """, needs=("keras",))


@pytest.mark.parametrize("name, front, words", [
    ("net.pt", b"PK\x03\x04", "a PyTorch file"), ("net.pth", b"\x80\x02", "args="),
    ("net.pt2", b"PK\x03\x04", "torch.export.load"), ("net.h5", b"\x89HDF\r\n\x1a\n", "keras"),
    ("net", b"\x89HDF\r\n\x1a\n", "HDF5"), ("net.keras", b"PK\x03\x04", "a Keras file"),
    ("net.om", b"OATC", "openatc.Model"), ("weights.safetensors", b"\0" * 8, "weights"),
    ("net.zip", b"PK\x03\x04", "unpack")])
def test_other_formats(tmp_path, name, front, words):
    (tmp_path / name).write_bytes(front)
    for read in (openatc.load, openatc.compile):
        error = error_text(read, tmp_path / name)
        assert error.code == "E13005" and words in str(error)


def test_other_objects(digits_onnx):
    for options in ({"args": (1,)}, {"kwargs": {}}, {"dynamic_shapes": {}}):
        with pytest.raises(TypeError, match="PyTorch"):
            openatc.compile(digits_onnx, **options)
    assert callable(openatc.torch_backend) and "options" in openatc.torch_backend.__doc__
    with pytest.raises(TypeError):
        openatc.from_torch(np.zeros(3), np.zeros(3))
    with pytest.raises(TypeError):
        openatc.from_keras(3)

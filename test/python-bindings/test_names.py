# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every public name has a test, and the stubs say what is there."""

import ast
import functools
import inspect
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import openatc
from conftest import BUILD

HERE = Path(__file__).parent
PACKAGE = BUILD / "python" / "openatc"
# What dataclasses, named tuples and exceptions bring.
INHERITED = {"count", "index", "args", "with_traceback", "add_note", "characters_written", "errno",
             "filename", "filename2", "strerror"} | (set(dir(list)) - {"__init__"})


def members(kind):
    fields = set(getattr(kind, "__annotations__", {}))
    return sorted((fields | set(dir(kind))) - INHERITED)


def public_names():
    names = []
    for module, prefix in ((openatc, ""), (openatc.builder, "builder.")):
        for name in module.__all__:
            names.append(prefix + name)
            value = getattr(module, name)
            if inspect.isclass(value):
                names += [f"{prefix}{name}.{each}" for each in members(value)
                          if not each.startswith("_")]
    return names


def parameters():
    """Every parameter of a public function or constructor that must be given by its name, as the
    stubs and sources of the package have them."""
    names = set()
    for path in sorted(PACKAGE.glob("_*.py*")):
        if path.suffix not in (".py", ".pyi") or path.name in ("__init__.py", "_compiler.pyi"):
            continue
        tree = ast.parse(path.read_text())
        bodies = [("", tree.body)] + [(node.name + ".", node.body) for node in tree.body
                                      if isinstance(node, ast.ClassDef)]
        for owner, body in bodies:
            for node in body:
                if isinstance(node, ast.FunctionDef) and (
                        node.name == "__init__" or not node.name.startswith("_")):
                    names |= {f"{owner}{node.name}({each.arg})" for each in node.args.kwonlyargs}
    return sorted(names)


@functools.cache
def used_names(with_keys=False):
    """Attributes, keyword arguments and names in the tests' code, not in their comments."""
    used = set()
    for path in HERE.glob("test_*.py"):
        if path != Path(__file__):
            trees = [ast.parse(path.read_text())]
            # The programs for the Python of another framework are texts.
            trees += [ast.parse(textwrap.dedent(ast.literal_eval(node.args[1])))
                      for node in ast.walk(trees[0]) if isinstance(node, ast.Call)
                      and getattr(node.func, "id", "") == "run_with"
                      and isinstance(node.args[1], ast.Constant)]
            for node in (node for tree in trees for node in ast.walk(tree)):
                if isinstance(node, ast.Attribute):
                    used.add(node.attr)
                elif isinstance(node, ast.keyword) and node.arg:
                    used.add(node.arg)
                elif isinstance(node, ast.Dict) and with_keys:  # for f(**{"name": value})
                    used |= {key.value for key in node.keys if isinstance(key, ast.Constant)}
    return used


def test_there_are_names():
    assert {"Model", "Session", "load", "compile", "compare"} <= set(dir(openatc))
    assert set(dir(openatc)) == set(openatc.__all__)
    assert len(public_names()) > 60
    with pytest.raises(AttributeError):
        openatc.no_such_name


@pytest.mark.parametrize("name", public_names())
def test_has_a_test(name):
    if name == "__version__":
        assert openatc.__version__.count(".") == 2
        return
    assert name.rpartition(".")[2] in used_names(), f"no test uses openatc.{name}"


@functools.cache
def described_in_sources():
    """Names that a text stands behind: fields of classes, which have no docstring at run time."""
    found = set()
    for path in [*PACKAGE.glob("*.py"), *PACKAGE.glob("*.pyi")]:
        for node in ast.walk(ast.parse(path.read_text())):
            body = getattr(node, "body", None)
            for field, text in zip(body, body[1:]) if isinstance(body, list) else ():
                if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                    found.add((getattr(node, "name", ""), field.target.id))
    return found


@pytest.mark.parametrize("name", public_names())
def test_has_a_docstring(name):
    if name in ("__version__", "NO_LIMIT", "Model.name"):
        return
    value = openatc
    for word in name.split("."):
        owner, value = value, getattr(value, word, None)
    text = inspect.getdoc(value) if not isinstance(value, (int, float, list)) else ""
    inherited = inspect.getdoc(type(value)) if value is not None else None
    described = text and text != inherited and not text.startswith("Alias for field")
    assert described or (getattr(owner, "__name__", ""), word) in described_in_sources(), name


@pytest.mark.parametrize("name", parameters())
def test_parameter_has_a_test(name):
    parameter = name.partition("(")[2].rstrip(")")
    assert parameter in used_names(with_keys=True), f"no test gives openatc.{name}"


def test_there_are_parameters():
    assert {"compile(soc)", "Module.compile(soc)", "Session.__init__(check_hazards)",
            "Model.__init__(verify)", "compare(tolerance)"} <= set(parameters())


@pytest.mark.parametrize("name", ["_runtime", "_compiler"])
def test_stub_and_module_agree(name):
    module = __import__(f"openatc.{name}", fromlist=["x"])
    stub = ast.parse((PACKAGE / f"{name}.pyi").read_text())

    def names_in(body):
        constants = {node.target.id for node in body if isinstance(node, ast.AnnAssign)
                     and not node.target.id.startswith("_")}
        return constants | {node.name for node in body
                            if isinstance(node, (ast.FunctionDef, ast.ClassDef))}

    def real(thing):
        return {each for each in dir(thing) if not each.startswith("_")}

    assert names_in(stub.body) == real(module)
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            described = {each for each in names_in(node.body) if not each.startswith("_")}
            assert described == real(getattr(module, node.name)), node.name


def test_the_compiler_is_loaded_apart_from_tensorflow():
    """_compile loads it so that a TensorFlow in the process does not show it its protobuf; a module
    that loads it first takes TensorFlow's, and crashes."""
    for path in sorted(PACKAGE.glob("*.py")):
        loads = [(node.module, [each.name for each in node.names])
                 for node in ast.parse(path.read_text()).body
                 if isinstance(node, ast.ImportFrom) and node.level == 1]
        if (None, ["_compiler"]) in loads:
            before = loads[:loads.index((None, ["_compiler"]))]
            assert any(module == "_compile" for module, _ in before), path.name


def typed_program():
    """The calls that the pages show, with the types of what they return."""
    return textwrap.dedent("""
        import numpy as np
        import openatc
        from numpy.typing import NDArray
        from typing import Any

        model: openatc.Model = openatc.compile("net.onnx", "net.om")
        image: NDArray[np.float32] = np.zeros((1, 1, 28, 28), np.float32)
        session = openatc.Session("net.om", threads=2)
        alone: list[NDArray[Any]] = session.run(image)
        listed: list[NDArray[Any]] = session.run([image], outputs=image)
        named: dict[str, NDArray[Any]] = session.run({"image": image})
        chosen: list[NDArray[Any]] = session.run(["scores"], {"image": image})
        every: list[NDArray[Any]] = session.run(None, {"image": image})
        module: openatc.Module = openatc.load("net.onnx")
        interpreted: list[NDArray[Any]] = module.interpret(image)
        by_name: dict[str, NDArray[Any]] = openatc.interpret(module, {"image": image})
        tensors: dict[str, NDArray[Any]] = session.tensors(image)
        comparison: openatc.Comparison = openatc.compare(model, module, image)
        quantized: openatc.QuantizedModel = openatc.quantize("net.onnx", [image], method="mse")

        async def run() -> list[Any]:
            return await session.run_async(image)
        """)


def test_stubtest(tmp_path):
    """mypy compares the stubs with the modules, and checks the package's own types."""
    pytest.importorskip("mypy.stubtest", reason="needs mypy (pip install mypy)")
    # Of pybind11: its metaclass, and the constructor that refuses for every class without one.
    allowed = tmp_path / "allowed"
    allowed.write_text(r"openatc\._(runtime|compiler)\.[A-Z]\w*(\.__init__|\.__new__)?" + "\n")
    environment = dict(os.environ, MYPYPATH=str(PACKAGE.parent), PYTHONPATH=str(PACKAGE.parent))
    for command in (["mypy.stubtest", "openatc._runtime", "openatc._compiler",
                     "--allowlist", str(allowed), "--ignore-unused-allowlist"],
                    # The server needs packages of its own, which are not typed.
                    ["mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "-p", "openatc",
                     "--exclude", "openatc/serve"],
                    ["mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "-c",
                     typed_program()]):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True,
                              env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def test_package_is_typed():
    assert (PACKAGE / "py.typed").exists()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every public name has a test, and the stubs say what is there."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import openatc
from conftest import BUILD

HERE = Path(__file__).parent
PACKAGE = BUILD / "python" / "openatc"
# What dataclasses, named tuples and exceptions bring.
INHERITED = {"count", "index", "args", "with_traceback", "add_note", "characters_written", "errno",
             "filename", "filename2", "strerror"}


def members(kind):
    fields = set(getattr(kind, "__annotations__", {}))
    return sorted((fields | set(dir(kind))) - INHERITED)


def public_names():
    names = []
    for name in openatc.__all__:
        names.append(name)
        value = getattr(openatc, name)
        if inspect.isclass(value):
            names += [f"{name}.{each}" for each in members(value) if not each.startswith("_")]
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


def used_names(with_keys=False):
    """Attributes, keyword arguments and names in the tests' code, not in their comments."""
    used = set()
    for path in HERE.glob("test_*.py"):
        if path != Path(__file__):
            for node in ast.walk(ast.parse(path.read_text())):
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


def test_stubtest(tmp_path):
    """mypy compares the stubs with the modules, and checks the package's own types."""
    pytest.importorskip("mypy.stubtest", reason="needs mypy (pip install mypy)")
    # Of pybind11: its metaclass, and the constructor that refuses for every class without one.
    allowed = tmp_path / "allowed"
    allowed.write_text(r"openatc\._(runtime|compiler)\.[A-Z]\w*(\.__init__|\.__new__)?" + "\n")
    environment = dict(os.environ, MYPYPATH=str(PACKAGE.parent), PYTHONPATH=str(PACKAGE.parent))
    for command in (["mypy.stubtest", "openatc._runtime", "openatc._compiler",
                     "--allowlist", str(allowed), "--ignore-unused-allowlist"],
                    ["mypy", "--cache-dir", str(tmp_path / "cache"), "-p", "openatc"]):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True,
                              env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def test_package_is_typed():
    assert (PACKAGE / "py.typed").exists()

# What each component of `cmake --install` holds, of which packages are made; whether CMake and
# pkg-config find all of them. The packages themselves are proved by `scripts/package.sh --check`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pathlib
import re
import shutil

import pytest

from conftest import BUILD, ROOT, cmake_program, install, need, run

COMPONENTS = ["runtime", "dev", "tools", "ascend", "compiler", "compiler-dev", "python", "examples"]
if (BUILD / "lib" / "libopenatc_mpi.so").exists():
    COMPONENTS.append("mpi")

# Patterns of files that a component must have; all of its files match one of its own patterns.
HOLDS = {
    "runtime": [r"lib/libopenatc_runtime\.so\.\d[\d.]*"],
    "dev": [r"include/openatc/(om|npu|trust)\.h", r"include/openatc/\w+\.(h|hpp)",
            r"lib/libopenatc_(bare|collectives|runtime|npu|trust)\.a", r"lib/libopenatc_runtime\.so",
            r"lib/cmake/OpenATC/OpenATC\w+(-release)?\.cmake", r"lib/pkgconfig/openatc(-npu|-trust)?\.pc",
            r"share/openatc/om\.fbs"],
    "tools": [r"bin/(om-(run|dump|sign)|npu-cluster)"],
    "mpi": [r"lib/libopenatc_mpi\.so"],
    "ascend": [r"lib/lib(ascendcl|acl_\w+|ms_tools_ext|msprofiler|nnopbase|opapi|opapi_\w+)\.so",
               r"lib/lib(fmk_onnx_parser|fmk_parser|ge_compiler|ge_executor|ge_runner|graph|graph_base)\.so", r"include/(acl|aclnn|aclnnop|ge|graph|mstx|op_proto|parser)/.*\.h", r"lib/openatc/toolkit/.*",
               r"lib/cmake/OpenATC/OpenATCAscendTargets.*", r"lib/pkgconfig/ascendcl\.pc", r"bin/(benchmark\.x86_64|msame|msopgen|msopst|msprof|npu-smi)"],
    "compiler": [r"bin/(atc|amct|amct_onnx|amct_caffe|amct_tensorflow|aoe|npu-sim|atc-opt|atc-translate|atc-lsp-server)"],
    "compiler-dev": [r"include/openatc/compiler/.*\.(h|td|def|inc)", r"lib/openatc/compiler/lib\w+\.a",
                     r"lib/cmake/OpenATC/OpenATCCompilerTargets.*", r"lib/pkgconfig/openatc-compiler\.pc"],
    "python": [r"bin/npu-sweep", r"lib/python3/dist-packages/openatc/.*",
               r"lib/python3/dist-packages/openatc-[\d.]+\.dist-info/(METADATA|entry_points\.txt)",
               r"lib/pkgconfig/openatc-python\.pc"],
    "examples": [r"share/openatc/examples/.*"],
}
EVERYWHERE = [r"share/doc/[\w-]+/(copyright|THIRD-PARTY-NOTICES\.md)", r"share/man/man1/[\w-]+\.1",
              r"share/bash-completion/completions/[\w-]+", r"share/zsh/vendor-completions/_[\w-]+"]
SOME = {
    "compiler": {"atc", "amct", "atc-opt", "atc-translate"},
    "tools": {"om-run", "om-dump", "om-sign"},
    "compiler-dev": {"Graph.h", "ConvOps.h.inc", "Passes.td", "Compiler.h", "libOpenATCDriver.a"},
    "ascend": {"libascendcl.so", "acl.h", "set_env.sh"},
    "examples": {"digits.onnx", "digit_7.npy", "classify.c"},
}


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """{component: the tree that it is installed into}"""
    folder = tmp_path_factory.mktemp("components")
    for component in COMPONENTS:
        install(folder / component, component)
    yield {component: folder / component for component in COMPONENTS}
    shutil.rmtree(folder)


def files_of(tree):
    return {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_symlink() or path.is_file()}


@pytest.mark.parametrize("component", COMPONENTS)
def test_content(trees, component):
    files = files_of(trees[component])
    allowed = re.compile("|".join(HOLDS[component] + EVERYWHERE))
    assert not sorted(file for file in files if not allowed.fullmatch(file))
    for pattern in HOLDS[component]:
        assert any(re.fullmatch(pattern, file) for file in files), pattern
    names = {pathlib.Path(file).name for file in files}
    assert SOME.get(component, set()) <= names
    assert {"copyright", "THIRD-PARTY-NOTICES.md"} <= names


def test_a_file_belongs_to_one_component(trees):
    owner = {}
    for component, tree in trees.items():
        for file in files_of(tree):
            assert owner.setdefault(file, component) == component, file


def test_no_paths_of_the_build(trees):
    """In no text and no binary: a package works wherever it is installed."""
    forbidden = [os.fsencode(path) for path in (ROOT, BUILD)]
    for tree in trees.values():
        for path in tree.rglob("*"):
            if path.is_symlink():
                assert not os.path.isabs(os.readlink(path)), path
            elif path.is_file():
                content = path.read_bytes()
                assert not any(word in content for word in forbidden), path


def test_programs_find_libmlir_where_debian_puts_it(trees):
    need("objdump")
    for path in (trees["compiler"] / "bin" / "atc",
                 next(trees["python"].glob("**/_compiler*.so"))):
        text = run("objdump", "-p", path)
        rpath = re.findall(r"(?:RUNPATH|RPATH)\s+(\S+)", text)
        assert rpath and all(re.fullmatch(r"/usr/lib/llvm-\d+/lib", part) for part in rpath), rpath
    # The runtime asks for nothing but the system's own libraries.
    library = next(trees["runtime"].glob("lib/libopenatc_runtime.so.0"))
    assert not re.findall(r"RUNPATH|RPATH", run("objdump", "-p", library))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The tree with every component."""
    prefix = tmp_path_factory.mktemp("whole")
    install(prefix, *COMPONENTS)
    yield prefix
    shutil.rmtree(prefix)


def test_cmake_finds_every_component(whole, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p C CXX)\n"
        "find_package(OpenATC REQUIRED COMPONENTS runtime npu trust ascend compiler python)\n"
        "foreach(target runtime runtime_shared npu trust ascendcl compiler Driver GraphPasses)\n"
        "  if(NOT TARGET OpenATC::${target})\n    message(SEND_ERROR \"no ${target}\")\n  endif()\n"
        "endforeach()\nmessage(STATUS \"python in ${OpenATC_PYTHON_DIR}\")\n", encoding="utf-8")
    text = run(cmake_program(), "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={whole}",
               "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22")
    folder = re.search(r"python in (.*)", text)[1]
    assert (pathlib.Path(folder) / "openatc" / "__init__.py").is_file()


def test_pkg_config_finds_every_component(whole):
    need("pkg-config")
    environment = {"PKG_CONFIG_PATH": str(whole / "lib" / "pkgconfig")}
    for name in ("openatc", "openatc-npu", "openatc-trust", "ascendcl", "openatc-compiler"):
        flags = run("pkg-config", "--cflags", "--libs", name, env=environment)
        for folder in re.findall(r"-[IL](\S+)", flags):
            assert pathlib.Path(folder).is_dir(), (name, folder)
        for library in re.findall(r"-l((?:openatc|OpenATC|acl|ascend)\w*)", flags):
            assert list(whole.glob(f"lib/**/lib{library}.*")), (name, library)
    folder = run("pkg-config", "--variable=pythondir", "openatc-python", env=environment).strip()
    assert (pathlib.Path(folder) / "openatc").is_dir()


def test_every_component_is_packaged():
    config = (BUILD / "CPackConfig.cmake").read_text(encoding="utf-8")
    packaged = re.search(r'set\(CPACK_COMPONENTS_ALL "([^"]*)"\)', config)[1].split(";")
    assert sorted(packaged) == sorted(COMPONENTS)
    for component in COMPONENTS:
        name = re.search(rf'CPACK_DEBIAN_{component.upper()}_PACKAGE_NAME "([^"]+)"', config)
        assert name, component

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/check_sources.py finds each source, also where a build compiles several as one."""

import importlib.util
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_script():
    spec = importlib.util.spec_from_file_location("check_sources", ROOT / "scripts/check_sources.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_joined_sources_have_the_command_of_their_group(tmp_path):
    joined = tmp_path / "lib.dir" / "Unity" / "unity_0_cxx.cxx"
    joined.parent.mkdir(parents=True)
    sources = [ROOT / "passes/cpu/SelectWinograd.cpp", ROOT / "passes/cpu/SelectHalfProducts.cpp"]
    joined.write_text("".join(f'/* comment */\n#include "{source}"\n' for source in sources))
    alone = ROOT / "driver/Driver.cpp"
    (tmp_path / "compile_commands.json").write_text(json.dumps([
        {"directory": str(tmp_path), "file": str(joined),
         "command": f"clang++ -DJOINED -Xclang -include-pch -Xclang a.pch -o a.o -c {joined}"},
        {"directory": str(tmp_path), "file": str(alone), "command": f"clang++ -DALONE -o b.o -c {alone}"},
        {"directory": str(tmp_path), "file": str(tmp_path / "made.cpp"), "command": "clang++ -c made.cpp"},
    ]))
    entries = load_script().commands_of(tmp_path)
    assert {name: entry["arguments"] for name, entry in entries.items()} == {
        "passes/cpu/SelectWinograd.cpp": ["clang++", "-DJOINED", str(sources[0])],
        "passes/cpu/SelectHalfProducts.cpp": ["clang++", "-DJOINED", str(sources[1])],
        "driver/Driver.cpp": ["clang++", "-DALONE", str(alone)],
    }

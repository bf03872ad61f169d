# Passes and rewrite rules of a user: plug-ins that are built against the installed tree, rules at
# run time, and the language server.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import subprocess

import pytest

from conftest import BUILD, DIGITS, EXAMPLES, build_example, install, need, run

ATC = BUILD / "bin" / "atc"
RULES = EXAMPLES / "fusion-rules" / "activations.pdll"
SILU = """
func.func @main(%x: tensor<1x8xf32> {om.name = "x"}) -> (tensor<1x8xf32> {om.name = "y"}) {
  %s = graph.sigmoid %x : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %y = graph.mul %s, %x : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %r = graph.relu %y : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %q = graph.relu %r : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return %q : tensor<1x8xf32>
}
"""
PDL = """pdl.pattern @p : benefit(1) {{
  %x = operand
  %t = type
  %root = operation "graph.relu"(%x : !pdl.value) -> (%t : !pdl.type)
  rewrite %root {{
    {0}
  }}
}}
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.mlir"
    path.write_text(SILU)
    return path


PLUGIN = BUILD / "test" / "CountOps.so"


@pytest.fixture(scope="module", params=["of the build", "of the installed tree"])
def plugin(request, tmp_path_factory):
    """examples/pass-plugin, as the build makes it; with OPENATC_ALL_COMMANDS=1 also as its page says."""
    if request.param == "of the build":
        return PLUGIN
    if os.environ.get("OPENATC_ALL_COMMANDS") != "1":
        pytest.skip("runs with OPENATC_ALL_COMMANDS=1")
    need("clang++-22")
    folder = tmp_path_factory.mktemp("plugin")
    install(folder / "tree", "runtime", "dev", "compiler-dev")
    return build_example("pass-plugin", folder / "tree", folder / "build",
                         "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22",
                         program="CountOps.so")


def compile_model(model, *flags, fails=False):
    """What atc prints, and the module behind `--stop_after=import` unless another is given."""
    output = model.with_name("out")
    result = subprocess.run([ATC, f"--model={model}", f"--output={output}", "--target=cpu",
                             *([] if any("stop" in flag for flag in flags) else ["--stop_after=import"]),
                             *flags], capture_output=True, text=True, timeout=120)
    assert (result.returncode != 0) == fails, result.stdout + result.stderr
    return result.stdout, "" if fails else output.with_suffix(".mlir").read_text()


def test_plugin_in_atc_opt(plugin, model):
    text = run(BUILD / "bin" / "atc-opt", f"--load-pass-plugin={plugin}",
               "--pass-pipeline=builtin.module(func.func(count-ops{print=false}))", model)
    assert text.count("graph.relu") == 1 and "graph.relu: 2" not in text


def test_dialect_of_the_plugin(plugin, model):
    model.write_text('"notes.todo"() {text = "fuse"} : () -> ()\n')
    atc_opt = BUILD / "bin" / "atc-opt"
    assert "notes" in run(atc_opt, model, fails=True)
    assert '"notes.todo"' in run(atc_opt, f"--load-dialect-plugin={plugin}", model)


def test_plugin_in_atc(plugin, model):
    printed, module = compile_model(model, f"--load_pass_plugin={plugin}",
                                    "--extra_passes=import:count-ops")
    assert "graph.relu: 2" in printed and module.count("graph.relu") == 1
    # Behind another phase the graph passes have been there first.
    printed, _ = compile_model(model, f"--load_pass_plugin={plugin}", "--stop_after=graph",
                               "--extra_passes=graph:count-ops;import:count-ops{print=false}")
    assert printed.count("func.return: 1") == 1


def test_plugins_and_passes_that_are_wrong(model, tmp_path):
    def errors(*flags):
        return compile_model(model, *flags, fails=True)[0]
    assert "E10410" in errors("--load_pass_plugin=nothing.so")
    (tmp_path / "text.so").write_text("no library")
    assert "E10041: the plug-in" in errors(f"--load_pass_plugin={tmp_path / 'text.so'}")
    text = errors(f"--load_pass_plugin={PLUGIN}", "--extra_passes=import:count-op;later:cse;emit:cse")
    assert text.count("E10001") == 3 and "count-op" in text and "import, quantize, graph" in text
    assert "E10001" in errors("--extra_passes=graph:count-ops{print=maybe}")


def test_rules_of_the_example(model, tmp_path):
    need("mlir-pdll-22")
    assert compile_model(model)[1].count("graph.sigmoid") == 1
    _, module = compile_model(model, f"--fusion_rules={RULES}")
    assert "graph.silu" in module and "graph.sigmoid" not in module and "graph.mul" not in module
    # The whole network: every relu6 becomes a relu, and it still reads digits.
    om = tmp_path / "digits"
    run(ATC, f"--model={DIGITS / 'digits.onnx'}", "--framework=5", "--target=cpu", f"--output={om}",
        f"--fusion_rules={RULES}")
    assert run(BUILD / "bin" / "om-run", om.with_suffix(".om"))


def rules_error(model, text, suffix=".mlir"):
    path = model.with_name("rules" + suffix)
    path.write_text(text)
    printed, _ = compile_model(model, f"--fusion_rules={path}", fails=True)
    lines = [line for line in printed.splitlines() if line.startswith("E")]
    assert len(lines) == 1 and str(path) in lines[0], printed
    return lines[0]


@pytest.mark.parametrize("rewrite, error", [
    ('%n = operation "graph.relo"(%x : !pdl.value) -> (%t : !pdl.type)\nreplace %root with %n',
     'E10001 "graph.relo", which there is not; did you mean "graph.relu"?'),
    ('%n = operation "graph.neg"(%x : !pdl.value)\nreplace %root with %n',
     "E10001 without the type of its result"),
    ('%n = operation "graph.leaky_relu"(%x : !pdl.value) -> (%t : !pdl.type)\nreplace %root with %n',
     "E10001 a graph that is not valid"),
    ('%n = operation "graph.add"(%x : !pdl.value) -> (%t : !pdl.type)\nreplace %root with %n',
     "E10001 a graph that is not valid"),
    ('%n = operation "graph.relu"(%x : !pdl.value) -> (%t : !pdl.type)\nreplace %root with %n',
     "E10001 do not come to an end"),
    ('%n = apply_native_rewrite "Fold"(%x : !pdl.value) : !pdl.value\nreplace %root with (%n : !pdl.value)',
     'E10001 native function "Fold"'),
    ('%a = attribute = "text"\n%n = operation "graph.clip"(%x : !pdl.value) {"min" = %a} -> (%t : !pdl.type)\n'
     "replace %root with %n", "E10001 requires attribute"),
    ("erase %root", "E10001 a graph that is not valid"),
    ("erase %nothing", "E13005 cannot be read: line 6"),
])
def test_rules_that_are_wrong(model, rewrite, error):
    code, _, words = error.partition(" ")
    line = rules_error(model, PDL.format(rewrite))
    assert line.startswith(code) and words in line, line


def test_rule_files_that_are_wrong(model):
    assert "hold no pattern" in rules_error(model, "")
    assert 'hold "func.func" beside' in rules_error(model, SILU)
    assert compile_model(model, "--fusion_rules=nothing.pdll", fails=True)[0].count("E10410") == 1
    need("mlir-pdll-22")
    assert "E13005" in rules_error(model, "Pattern { erase nothing; }", ".pdll")


def test_has_one_use(model):
    constraint = PDL.replace("rewrite %root", 'apply_native_constraint "HasOneUse"(%x : !pdl.value)\n  rewrite %root')
    path = model.with_name("rules.mlir")
    path.write_text(constraint.format("replace %root with (%x : !pdl.value)"))
    assert "graph.relu" not in compile_model(model, f"--fusion_rules={path}")[1]
    model.write_text(SILU.replace("graph.relu %r", "graph.add %r, %r").replace(
        "(tensor<1x8xf32>) -> tensor<1x8xf32>\n  return", "(tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>\n  return"))
    path.write_text(constraint.replace("graph.relu", "graph.add").replace(
        "(%x : !pdl.value) ->", "(%x, %x : !pdl.value, !pdl.value) ->").format("replace %root with (%x : !pdl.value)"))
    assert "graph.add" in compile_model(model, f"--fusion_rules={path}")[1]


def test_language_server_knows_the_dialects():
    def message(method, params, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more})
        return f"Content-Length: {len(body)}\r\n\r\n{body}"
    document = SILU.replace("graph.mul", "graph.mull")
    talk = (message("initialize", {"processId": 1, "rootUri": None, "capabilities": {}}, id=0) +
            message("textDocument/didOpen", {"textDocument": {
                "uri": "file:///x.mlir", "languageId": "mlir", "version": 1, "text": document}}) +
            message("shutdown", None, id=1) + message("exit", None))
    result = subprocess.run([BUILD / "bin" / "atc-lsp-server"], input=talk, capture_output=True,
                            text=True, timeout=60)
    assert '"capabilities"' in result.stdout
    diagnostics = [line for line in result.stdout.splitlines() if "publishDiagnostics" in line]
    assert "graph.mull" in result.stdout and "graph.sigmoid" not in "".join(diagnostics)

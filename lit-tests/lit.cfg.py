# Configuration of the FileCheck tests; run with `lit lit-tests`.
import os
import lit.formats

config.name = "OpenATC"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)

build = lit_config.params.get("build", os.path.join(config.test_source_root, "..", "build"))
config.test_exec_root = os.path.join(build, "lit-tests")
llvm = lit_config.params.get("llvm", "/usr/lib/llvm-22")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(os.path.abspath(build), "bin"), os.path.join(llvm, "bin"), os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "--dump-input=fail"

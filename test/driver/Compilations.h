//===-- Compilations.h - small compilations for tests ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_DRIVER_COMPILATIONS_H
#define OPENATC_TEST_DRIVER_COMPILATIONS_H

#include "driver/Compiler.h"
#include "driver/targets/MakeTarget.h"

#include <filesystem>
#include <fstream>
#include <regex>

namespace atc::driver::test {

/// Returns the options of a compilation of examples/digits for one CPU level, or for an NPU
/// and that CPU.
inline CompilerOptions digitsOptions(const std::string &soc = "") {
  TargetRequest request;
  request.target = soc.empty() ? "cpu" : "npu";
  if (!soc.empty())
    request.soc = soc;
  CompilerOptions options;
  options.source.path = OPENATC_SOURCE_DIR "/examples/digits/digits.onnx";
  Diagnostics diagnostics;
  options.target = makeTarget(request, diagnostics);
  assert(options.target);
  options.commandLine = "test";
  return options;
}

/// A context, a compiler and the messages of both.
struct Compilation {
  explicit Compilation(CompilerOptions options)
      : context(makeCompilerContext()), compiler(*context, std::move(options), diagnostics) {}

  /// Returns the module as text, without the numbers in the names of constants, which count on
  /// from one compilation to the next.
  std::string text() {
    std::string text;
    llvm::raw_string_ostream os(text);
    compiler.module().print(os,
                            mlir::OpPrintingFlags().elideLargeResourceString().assumeVerified());
    return std::regex_replace(text, std::regex("dense_resource<[^>]*>"), "dense_resource<>");
  }
  std::string messages() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    diagnostics.print(os);
    return text;
  }

  Diagnostics diagnostics;
  std::unique_ptr<mlir::MLIRContext> context;
  Compiler compiler;
};

/// Returns a path in a folder of the test's own, without a file there.
inline std::string scratchPath(const std::string &name) {
  std::filesystem::create_directories(OPENATC_TEST_SCRATCH);
  const std::string path = std::string(OPENATC_TEST_SCRATCH) + "/" + name;
  std::filesystem::remove_all(path);
  return path;
}

inline std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace atc::driver::test

#endif // OPENATC_TEST_DRIVER_COMPILATIONS_H

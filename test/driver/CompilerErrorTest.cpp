//===-- CompilerErrorTest.cpp - compilations that fail --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/driver/Compilations.h"

#include <catch2/catch.hpp>

using namespace atc;
using namespace atc::driver;
using namespace atc::driver::test;
using Catch::Contains;

namespace {

/// Compiles into a file, which must fail, and returns the messages.
std::string failingMessages(CompilerOptions options) {
  const std::string path = scratchPath("failed.om");
  Compilation compilation(std::move(options));
  CHECK_FALSE(compilation.compiler.emitFile(path));
  CHECK(compilation.diagnostics.hasErrors());
  CHECK_FALSE(compilation.compiler.module());
  CHECK_FALSE(std::filesystem::exists(path));
  return compilation.messages();
}

CompilerOptions mlirOptions(const std::string &text) {
  CompilerOptions options = digitsOptions();
  options.source.path = scratchPath("model.mlir");
  options.source.format = ModelFormat::Mlir;
  std::ofstream(options.source.path) << text;
  return options;
}

} // namespace

TEST_CASE("errors of the model file") {
  CompilerOptions options = digitsOptions();
  options.source.path = scratchPath("none.onnx");
  CHECK_THAT(failingMessages(options), Contains("E10410: ") && Contains("none.onnx"));
  std::ofstream(options.source.path) << "no model";
  CHECK_THAT(failingMessages(options), Contains("E13005: "));
  CHECK_THAT(failingMessages(mlirOptions("func.func @main(")), Contains("E13005: "));
  CHECK_THAT(failingMessages(mlirOptions("module {}")), Contains("E16004: "));
}

TEST_CASE("an error of a pass names the node") {
  const std::string messages = failingMessages(mlirOptions(R"(
func.func @main(%x: tensor<?xf32> {om.name = "x"}) -> tensor<?xf32> {
  %0 = graph.sin %x : (tensor<?xf32>) -> tensor<?xf32> loc("wave")
  return %0 : tensor<?xf32>
})"));
  CHECK_THAT(messages, Contains("wave"));
}

TEST_CASE("names of passes that cannot be left out") {
  CompilerOptions options = digitsOptions();
  options.disabledPasses = {"no-such-pass", "om-reuse-in-place", "npu-reorder"};
  const std::string messages = failingMessages(options);
  // That pass is another target's.
  CHECK_THAT(messages, Contains("\"no-such-pass\"") && Contains("\"npu-reorder\""));
  CHECK_THAT(messages, !Contains("om-reuse-in-place"));
  options = digitsOptions("Ascend310P3");
  options.disabledPasses = {"npu-reorder"};
  Compilation compilation(options);
  CHECK(compilation.compiler.lower(Phase::Graph));
}

TEST_CASE("folders and files that cannot be written") {
  CompilerOptions options = digitsOptions();
  options.tempDir = scratchPath("a file");
  std::ofstream(options.tempDir) << "in the way";
  CHECK_THAT(failingMessages(options), Contains("E13004: ") && Contains("a file"));

  Compilation compilation(digitsOptions());
  CHECK_FALSE(compilation.compiler.emitFile(scratchPath("none") + "/x.om"));
  CHECK_THAT(compilation.messages(), Contains("E13004: "));
}

TEST_CASE("a quantizer that fails leaves an error") {
  CompilerOptions options = digitsOptions();
  options.quantizer = [](mlir::ModuleOp, Diagnostics &) { return false; };
  CHECK_THAT(failingMessages(options), Contains("E19999: the model could not be quantized"));
  options.quantizer = [](mlir::ModuleOp, Diagnostics &diagnostics) {
    diagnostics.error("E10014", "no samples");
    return false;
  };
  CHECK(failingMessages(options) == "E10014: no samples\n");
}

TEST_CASE("a target without levels has no code to emit") {
  CompilerOptions options = digitsOptions();
  options.target = std::make_shared<CpuTarget>();
  Compilation lowering(options);
  CHECK(lowering.compiler.lower(Phase::Schedule));
  CHECK_THAT(failingMessages(options), Contains("E19999: "));
}

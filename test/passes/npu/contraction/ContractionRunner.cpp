//===-- ContractionRunner.cpp - compiles and runs contractions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/npu/contraction/ContractionRunner.h"

#include "backends/npu/ProgramEncoder.h"
#include "npu/isa/Verify.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/CubeSupport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace mlir;

namespace atc::npu::test {

static void setTile(Operation *op, const ContractionOptions &options) {
  const SocTable &soc = *findSoc(options.soc);
  auto set = [&](auto contraction) {
    std::string errorText;
    const Contraction described = describe(contraction, soc, errorText);
    REQUIRE(errorText == "");
    if (std::optional<Tile> tile = options.tile(described, soc))
      contraction.setTileAttr(attributeOf(op->getContext(), *tile));
  };
  if (auto conv = dyn_cast<ir::Conv2DOp>(op))
    set(conv);
  else if (auto matmul = dyn_cast<ir::MatMulOp>(op))
    set(matmul);
}

Contracted compileContraction(const std::string &text, const std::vector<std::string> &types,
                              const ContractionOptions &options) {
  DialectRegistry registry;
  ir::registerNpuDialect(registry);
  registry.insert<func::FuncDialect>();
  MLIRContext context(registry);
  Contracted result;
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    (diagnostic.getSeverity() == DiagnosticSeverity::Remark ? result.report : messages) +=
        diagnostic.str() + "\n";
    return success();
  });
  std::string source = "func.func private @kernel(", op = text;
  for (size_t i = 0; i < types.size(); ++i) {
    std::string hole = "$" + std::to_string(i);
    source += (i ? ", %" : "%") + std::to_string(i) + ": " + types[i];
    for (size_t at; (at = op.find(hole)) != std::string::npos;)
      op.replace(at, hole.size(), types[i]);
  }
  source +=
      ") attributes {npu.kernel, npu.soc = \"" + options.soc + "\"} {\n" + op + "\n  return\n}\n";
  auto module = parseSourceString<ModuleOp>(source, &context);
  INFO(source);
  INFO(messages);
  REQUIRE(module);
  if (options.tile)
    module->walk([&](Operation *op) { setTile(op, options); });
  auto run = [&](auto &&fill) {
    PassManager manager(&context);
    fill(manager);
    bool passed = succeeded(manager.run(*module));
    INFO(messages);
    REQUIRE(passed);
  };
  run([&](PassManager &manager) {
    NpuSelectTilesOptions tiles;
    tiles.fixed = options.fixed;
    tiles.measure = options.measure;
    tiles.report = true;
    manager.addNestedPass<func::FuncOp>(createNpuSelectTiles(tiles));
  });
  module->walk([&](Operation *op) {
    if (auto tile = op->getAttr("tile"))
      llvm::raw_string_ostream(result.tile) << tile;
  });
  size_t number = result.report.find("estimate: ");
  if (number != std::string::npos)
    result.estimate = std::atof(result.report.c_str() + number + 10);
  INFO(result.tile);
  run([&](PassManager &manager) {
    manager.addPass(createNpuExpandConv2D());
    manager.addPass(createNpuExpandMatMul());
    NpuProgramOptions programs;
    programs.maxBuffers = options.buffers;
    if (options.pipeline)
      buildNpuProgramPipeline(manager, programs);
    else
      manager.addNestedPass<ir::ProgramOp>(createNpuAllocateLocalMemory());
  });
  ir::ProgramOp program = *module->getOps<ir::ProgramOp>().begin();
  FailureOr<Program> encoded = encodeProgram(program);
  REQUIRE(succeeded(encoded));
  result.program = std::move(*encoded);
  std::vector<std::string> errorLines = verify(result.program, *findSoc(options.soc));
  REQUIRE(errorLines == std::vector<std::string>());
  return result;
}

void runContraction(const std::string &text, const std::vector<Buffer *> &buffers,
                    const ContractionOptions &options) {
  std::vector<std::string> types;
  Contents contents;
  for (Buffer *buffer : buffers) {
    types.push_back(buffer->type());
    int64_t element = buffer->element() == "f32" ? 4 : buffer->element() == "ui8" ? 1 : 2;
    auto *data = static_cast<uint8_t *>(buffer->data());
    contents.emplace_back(data, data + buffer->span() * element);
  }
  Contracted compiled = compileContraction(text, types, options);
  INFO(compiled.tile);
  const SocTable &soc = *findSoc(options.soc);
  Contents after = runSequentially(compiled.program, soc, contents);
  if (options.pipeline) {
    std::string error;
    Contents simulated = runSimulated(compiled.program, soc, contents, true, error);
    REQUIRE(error == "");
    CHECK(simulated == after);
    CHECK(hazardsOf(compiled.program, soc) == "");
  }
  std::memcpy(buffers.back()->data(), after.back().data(), after.back().size());
}

} // namespace atc::npu::test

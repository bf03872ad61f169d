//===-- VectorRunner.cpp - compiles and runs kernels of the vector queue -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/npu/vector/VectorRunner.h"

#include "backends/npu/ProgramEncoder.h"
#include "npu/isa/Verify.h"
#include "passes/npu/Passes.h"
#include "passes/npu/VectorPasses.h"
#include "passes/npu/vector/TileNest.h"
#include "passes/npu/vector/VectorSupport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace mlir;

namespace atc::npu::test {

namespace {

struct Compiler {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string messages, source;

  static DialectRegistry registry() {
    DialectRegistry registry;
    ir::registerNpuDialect(registry);
    registry.insert<func::FuncDialect, arith::ArithDialect, math::MathDialect>();
    return registry;
  }

  Compiler(const std::string &text, const std::vector<std::string> &types, const std::string &soc)
      : context(registry()) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return success();
    });
    std::string op = text;
    source = "func.func private @kernel(";
    for (size_t i = types.size(); i-- > 0;) {
      std::string hole = "$" + std::to_string(i);
      for (size_t at; (at = op.find(hole)) != std::string::npos;)
        op.replace(at, hole.size(), types[i]);
    }
    for (size_t i = 0; i < types.size(); ++i)
      source += (i ? ", %" : "%") + std::to_string(i) + ": " + types[i];
    source += ") attributes {npu.kernel, npu.soc = \"" + soc + "\"} {\n" + op + "\n  return\n}\n";
    module = parseSourceString<ModuleOp>(source, &context);
    INFO(source);
    INFO(messages);
    REQUIRE(module);
  }

  Operation *kernelOp() {
    return &(*module->getOps<func::FuncOp>().begin()).getBody().front().front();
  }

  Program compile(const SocTable &soc, int64_t maxBuffers = 2) {
    INFO(source);
    REQUIRE(whyUnsupportedVectorKernel(kernelOp(), soc) == "");
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return success();
    });
    PassManager manager(&context);
    manager.addPass(createNpuExpandArgReduce());
    manager.addPass(createNpuExpandCopy());
    manager.addPass(createNpuExpandLayerNorm());
    manager.addPass(createNpuExpandMap());
    manager.addPass(createNpuExpandPool());
    manager.addPass(createNpuExpandReduce());
    manager.addPass(createNpuExpandResize());
    manager.addPass(createNpuExpandSoftmax());
    NpuProgramOptions options;
    options.maxBuffers = maxBuffers;
    buildNpuProgramPipeline(manager, options);
    bool passed = succeeded(manager.run(*module));
    INFO(messages);
    REQUIRE(passed);
    auto programs = module->getOps<ir::ProgramOp>();
    REQUIRE(!programs.empty());
    FailureOr<Program> encoded = encodeProgram(*programs.begin());
    INFO(messages);
    REQUIRE(succeeded(encoded));
    std::vector<std::string> errorLines = verify(*encoded, soc);
    if (errorLines.size() && std::getenv("VECTOR_DUMP"))
      module->dump();
    REQUIRE(errorLines == std::vector<std::string>());
    return *encoded;
  }
};

std::vector<std::string> typesOf(const std::vector<Buffer *> &buffers) {
  std::vector<std::string> types;
  for (const Buffer *buffer : buffers)
    types.push_back(buffer->type());
  return types;
}

int64_t elementBytes(const Buffer &buffer) {
  const std::string &name = buffer.element();
  return name.ends_with("64") ? 8 : name.ends_with("32") ? 4 : name.ends_with("16") ? 2 : 1;
}

} // namespace

std::string refusal(const std::string &text, const std::vector<Buffer *> &buffers,
                    const std::string &soc) {
  return whyUnsupportedVectorKernel(Compiler(text, typesOf(buffers), soc).kernelOp(),
                                    *findSoc(soc));
}

Statistics runVectorKernel(const std::string &text, const std::vector<Buffer *> &buffers,
                           const std::string &name, int64_t boxPercent, int64_t maxBuffers) {
  const SocTable &soc = *findSoc(name);
  Compiler compiler(text, typesOf(buffers), name);
  if (boxPercent != 100)
    compiler.kernelOp()->setAttr(kBoxAttr,
                                 Builder(&compiler.context).getI64IntegerAttr(boxPercent));
  Program program = compiler.compile(soc, maxBuffers);
  INFO(compiler.source);
  Contents contents;
  for (const Buffer *buffer : buffers) {
    auto *data = static_cast<uint8_t *>(buffer->data());
    contents.emplace_back(data, data + buffer->span() * elementBytes(*buffer));
  }
  Contents after = runSequentially(program, soc, contents);
  std::string error;
  Statistics statistics;
  Contents simulated = runSimulated(program, soc, contents, true, error, &statistics);
  REQUIRE(error == "");
  CHECK(simulated == after);
  CHECK(hazardsOf(program, soc) == "");
  std::memcpy(buffers.back()->data(), after.back().data(), after.back().size());
  return statistics;
}

Statistics timeVectorKernel(const std::string &text, const std::vector<std::string> &types,
                            const std::string &name) {
  const SocTable &soc = *findSoc(name);
  Compiler compiler(text, types, name);
  Program program = compiler.compile(soc);
  Simulator simulator(soc);
  Launch launch;
  launch.program = &program;
  launch.name = "kernel";
  uint64_t address = 1 << 28;
  for (uint64_t bytes : program.arguments) {
    launch.addresses.push_back(address);
    address += (bytes + 511) / 512 * 512;
  }
  std::string error;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(simulator.run(launch, error));
    REQUIRE(error == "");
  }
  return simulator.launches().back();
}

} // namespace atc::npu::test

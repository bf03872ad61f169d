//===-- HostProgramTest.cpp - the description of dynamic schedules --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/HostProgram.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/HostCalls.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace atc;

namespace {

uint64_t maskOf(mlir::ArrayRef<mlir::Type> types) {
  uint64_t mask = 0;
  for (mlir::Type type : types)
    mask |= uint64_t(1) << graph::dtypeOf(type);
  return mask;
}

} // namespace

TEST_CASE("host kernels have code for the element types of their own calls") {
  mlir::DialectRegistry registry;
  graph::registerGraphDialect(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%f: tensor<?xf32>, %x: tensor<?xf64>, %s: !graph.sequence<tensor<*xi8>>) -> tensor<*xf16> {
      %shape = graph.host_call "Shape"(%x) {} : (tensor<?xf64>) -> tensor<1xi64>
      %at = graph.host_call "Add"(%shape, %shape) {} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
      %in = graph.host_call "SequenceAt"(%s, %at) {} : (!graph.sequence<tensor<*xi8>>, tensor<1xi64>) -> tensor<*xi8>
      %half = graph.host_call "Cast"(%in) {to = 10 : i64} : (tensor<*xi8>) -> tensor<*xf16>
      %sum = graph.host_call "Add"(%half, %half) {} : (tensor<*xf16>, tensor<*xf16>) -> tensor<*xf16>
      %mean = graph.host_call "LayerNormalization"(%sum, %sum) {stash_type = 16 : i64}
        : (tensor<*xf16>, tensor<*xf16>) -> tensor<*xf16>
      %rnn = graph.host_call "RNN"(%f, %f, %f) {packed = array<i64: 3>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<*xf32>
      %gru = graph.host_call "GRU"(%f, %f, %f) {packed = array<i64: 5>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<*xf32>
      return %mean : tensor<*xf16>
    })",
                                                        &context);
  REQUIRE(module);
  const auto main = *module->getOps<mlir::func::FuncOp>().begin();
  mlir::Builder b(&context);
  const mlir::Type i8 = b.getIntegerType(8), i64 = b.getI64Type(), f16 = b.getF16Type(),
                   f32 = b.getF32Type(), f64 = b.getF64Type(), bf16 = b.getBF16Type();
  const std::vector<cpu::HostKernel> kernels = om::hostKernelsOf(main);
  // In the order of the first calls; every kernel may compute in f32.
  const std::vector<std::pair<std::string, uint64_t>> expected = {
      {"Shape", maskOf({f32, f64, i64})},
      {"Add", maskOf({f32, i64, f16})},
      {"SequenceAt", maskOf({f32, i8, i64})},
      {"Cast", maskOf({f32, i8, f16})},
      {"LayerNormalization", maskOf({f32, f16, bf16})},
      {"RNN", maskOf({f32})},
      // Its weights are bytes.
      {"GRU", maskOf({f32, i8})},
  };
  REQUIRE(kernels.size() == expected.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    CHECK(kernels[i].name == expected[i].first);
    CHECK(kernels[i].types == expected[i].second);
  }
  CHECK(kernels[1].symbol() == "atc_kernel_Add");
}

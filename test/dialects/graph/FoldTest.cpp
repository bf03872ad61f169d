//===-- FoldTest.cpp - folding while building -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "test/dialects/graph/RunGraph.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::test;

namespace {

/// A position to build ops, and constants in it.
struct Workbench {
  Workbench() : builder(&graph.context), loc(builder.getUnknownLoc()) {
    module = ModuleOp::create(builder, loc);
    builder.setInsertionPointToEnd(module->getBody());
  }

  Value integers(ArrayRef<int64_t> values) {
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, builder.getI64Type());
    return ConstantOp::create(builder, loc, makeConstant(type, values));
  }
  Value integer(int64_t value) {
    auto type = RankedTensorType::get({}, builder.getI64Type());
    return ConstantOp::create(builder, loc, makeConstant(type, ArrayRef<int64_t>(value)));
  }
  /// The elements of a value that is a constant; fails the test otherwise.
  Numbers elementsOf(Value value) {
    Attribute attribute;
    REQUIRE(matchPattern(value, m_Constant(&attribute)));
    auto tensor = Tensor::fromAttribute(attribute);
    REQUIRE(succeeded(tensor));
    return tensor->toDoubles();
  }

  Graph graph;
  OpBuilder builder;
  Location loc;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST_CASE("createOrFold resolves the arithmetic of shapes", "[fold]") {
  Workbench b;
  Value shape = b.integers({2, 3, 224, 112});
  Value height = b.builder.createOrFold<GatherOp>(b.loc, shape, b.integer(-2), 0);
  Value half = b.builder.createOrFold<DivOp>(b.loc, height, b.integer(2));
  auto one = RankedTensorType::get({1}, b.builder.getI64Type());
  Value row = b.builder.createOrFold<ReshapeOp>(b.loc, one, half);
  Value both = b.builder.createOrFold<ConcatOp>(b.loc, ValueRange{row, row}, 0);
  CHECK(b.elementsOf(both) == Numbers{112, 112});
}

TEST_CASE("large results stay", "[fold]") {
  Workbench b;
  std::vector<int64_t> values(2000, 7);
  Value large = b.integers(values);
  Value sum = b.builder.createOrFold<AddOp>(b.loc, large, b.integer(1));
  CHECK(sum.getDefiningOp<AddOp>());
  auto sums = b.builder.createOrFold<ReduceOp>(b.loc, large, ReduceKind::Sum, ArrayRef<int64_t>{0});
  CHECK(b.elementsOf(sums) == Numbers{14000});
}

TEST_CASE("what cannot be evaluated stays, silently", "[fold]") {
  Workbench b;
  Value outside = b.builder.createOrFold<GatherOp>(b.loc, b.integers({1, 2}), b.integer(5), 0);
  CHECK(outside.getDefiningOp<GatherOp>());
  Value quotient = b.builder.createOrFold<DivOp>(b.loc, b.integer(1), b.integer(0));
  CHECK(quotient.getDefiningOp<DivOp>());
  CHECK(b.graph.lastMessage.empty());
}

TEST_CASE("a reshape of a constant shares its bytes", "[fold]") {
  Workbench b;
  Value large = b.integers(std::vector<int64_t>(2000, 7));
  auto type = RankedTensorType::get({20, 100}, b.builder.getI64Type());
  Value reshaped = b.builder.createOrFold<ReshapeOp>(b.loc, type, large);
  Attribute before, after;
  REQUIRE(matchPattern(large, m_Constant(&before)));
  REQUIRE(matchPattern(reshaped, m_Constant(&after)));
  CHECK(ConstantBytes::get(before)->bytes().data() == ConstantBytes::get(after)->bytes().data());
}

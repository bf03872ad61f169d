//===-- ExpandLayerNorm.cpp - cpu.layer_norm as loops ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row is read three times, the second and third time from L1: for its mean, for the squared
// differences from it, and for the result.
//
//===----------------------------------------------------------------------===//

#include "dialects/cpu/Transformer.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/expand/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDLAYERNORM
#include "passes/cpu/Passes.h.inc"

namespace {

class LayerNormExpander {
public:
  explicit LayerNormExpander(LayerNormOp op)
      : op(op), b(op), input(b, op.getInput()), output(b, op.getOutput()),
        columns(shapeOf(op.getOutput())[1]), lanes(b.level().getLanes()),
        walk{lanes, std::clamp<int64_t>(columns / lanes, 1, 4)} {
    if (op.getGamma())
      gamma.emplace(b, op.getGamma());
    if (op.getBeta())
      beta.emplace(b, op.getBeta());
  }

  void expand() {
    const int64_t inStride = stridesOf(op.getInput())[0], outStride = stridesOf(op.getOutput())[0];
    SmallVector<Range> ranges =
        beginTasks(b, shapeOf(op.getOutput())[0], /*bytesPerPosition=*/4 * columns * 4);
    forEach(b, ranges[0],
            [&](Value row) { normalize(b.mul(row, inStride), b.mul(row, outStride)); });
    op.erase();
  }

private:
  Value load(Value from, Value i, int64_t v, int64_t count, Value pad) {
    return input.load(b.add(b.add(from, i), v * lanes), lanes, count, /*stride=*/1, pad);
  }

  /// Loads weights, which may be stored as f16 or bf16.
  Value loadWide(LaneBuffer &weights, Value at, int64_t count) {
    Value value = weights.load(at, lanes, count);
    Type wide = laneType(b.getF32Type(), lanes);
    return value.getType() == wide ? value : arith::ExtFOp::create(b, wide, value).getResult();
  }

  /// Returns the mean of fn(x) over the row at `from`, in all lanes; x is `pad` past the end.
  Value mean(Value from, Value pad, function_ref<Value(Value)> fn) {
    Value total = reduceRow(
        b, Combiner::Sum, b.getF32Type(), columns, walk,
        [&](Value i, int64_t v, int64_t count) { return fn(load(from, i, v, count, pad)); });
    Value count = laneConstant(b, b.getF32Type(), 1, double(columns));
    return spread(b, arith::DivFOp::create(b, total, count), lanes);
  }

  void normalize(Value from, Value to) {
    Value zero = laneConstant(b, b.getF32Type(), lanes, 0.0);
    Value center = mean(from, zero, [](Value x) { return x; });
    Value variance = mean(from, center, [&](Value x) -> Value {
      Value difference = arith::SubFOp::create(b, x, center);
      return arith::MulFOp::create(b, difference, difference);
    });
    Value epsilon = laneConstant(b, b.getF32Type(), lanes, op.getEpsilon().convertToDouble());
    Value deviation = math::SqrtOp::create(b, arith::AddFOp::create(b, variance, epsilon));
    Value scale = arith::DivFOp::create(b, laneConstant(b, b.getF32Type(), lanes, 1.0), deviation);
    forEachVectors(b, Range{columns}, walk, [&](Value i, ArrayRef<int64_t> counts) {
      for (auto [v, count] : llvm::enumerate(counts)) {
        Value at = b.add(i, v * lanes);
        Value x = load(from, i, v, count, zero);
        Value y = arith::MulFOp::create(b, arith::SubFOp::create(b, x, center), scale);
        if (gamma && beta)
          y = b.madd(y, loadWide(*gamma, at, count), loadWide(*beta, at, count));
        else if (gamma)
          y = arith::MulFOp::create(b, y, loadWide(*gamma, at, count));
        else if (beta)
          y = arith::AddFOp::create(b, y, loadWide(*beta, at, count));
        output.store(y, b.add(to, at), count);
      }
    });
  }

  LayerNormOp op;
  KernelBuilder b;
  LaneBuffer input, output;
  std::optional<LaneBuffer> gamma, beta;
  int64_t columns, lanes;
  Lanes walk;
};

struct CpuExpandLayerNormPass : impl::CpuExpandLayerNormBase<CpuExpandLayerNormPass> {
  void runOnOperation() override {
    getOperation().walk([](LayerNormOp op) { LayerNormExpander(op).expand(); });
  }
};

} // namespace
} // namespace atc::cpu

//===-- ExpandTopK.cpp - the largest elements by comparisons --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rank of an element is the number of elements that come before it. Result p is the element of
// rank p, which a reduction picks. Comparing all pairs takes n^2 steps, so long rows are divided
// into blocks, of which the first k elements each remain, until one block is left. Elements, and
// the digits of their positions, are planes of one tensor, so that one reduction picks all of them.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTEXPANDTOPK
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Positions up to here are numbers of f16, in which a target may compute.
constexpr int64_t kMaxExact = 2048;
/// Longer positions have two digits, the lower one below this base.
constexpr int64_t kBase = 128;
constexpr int64_t kMaxK = 1024;
constexpr int64_t kMinBlock = 64;

/// Returns the length of the blocks in which rows of `size` elements are compared; `size` where
/// they are compared as a whole.
int64_t blockOf(int64_t size, int64_t k) {
  const int64_t block = std::max<int64_t>(llvm::alignTo(2 * k, 16), kMinBlock);
  return size <= std::min(2 * block, kMaxExact) ? size : block;
}

/// A TopK of static shapes.
struct Selection {
  Value x;
  RankedTensorType type;
  int64_t axis = 0, k = 0, size = 0, rows = 0;
  bool isLargest = true;

  /// Reads a call. Returns the reason why comparisons cannot replace it; empty: they can.
  std::string read(HostCallOp call, int64_t maxComparisons) {
    const SmallVector<Value> inputs = inputsOf(call, 2);
    x = inputs[0];
    type = x ? dyn_cast<RankedTensorType>(x.getType()) : RankedTensorType();
    if (!type || !type.hasStaticShape() || type.getRank() == 0 || type.getNumElements() == 0)
      return "the shape of its input is not known";
    if (!type.getElementType().isF32() && !type.getElementType().isF16())
      return "its elements are neither f32 nor f16";
    std::optional<double> number = inputs[1] ? graph::getScalarConstant(inputs[1]) : std::nullopt;
    if (!number)
      return "k is not known";
    k = int64_t(*number);
    isLargest = integerOf(call, "largest", 1) != 0;
    std::optional<int64_t> dim = axisOf(call, -1, type.getRank());
    if (!dim)
      return "its axis is not valid";
    axis = *dim;
    size = type.getDimSize(axis);
    rows = type.getNumElements() / size;
    if (k < 1 || k > std::min(size, kMaxK))
      return "k is " + std::to_string(k) + ", expected 1 to " + std::to_string(kMaxK) +
             " and no more than the elements of a row";
    if (k == 1)
      return {};
    if (size > kMaxExact * kBase)
      return "its rows have " + std::to_string(size) + " elements, expected at most " +
             std::to_string(kMaxExact * kBase);
    double comparisons = 0;
    for (int64_t left = size;;) {
      const int64_t block = blockOf(left, k);
      comparisons += double(rows) * double(left) * double(block);
      if (comparisons > double(maxComparisons))
        return "it would take more than " + std::to_string(maxComparisons) + " comparisons";
      if (block == left)
        return {};
      left = left / block * k + left % block;
    }
  }
};

/// Replaces the results of a call.
class TopKExpander {
public:
  TopKExpander(HostCallOp call, const Selection &selection)
      : call(call), s(selection), builder(call), loc(graph::derivedLoc(call.getLoc(), "top")),
        element(s.type.getElementType()) {}

  void run() {
    if (s.k == 1)
      replaceByExtreme();
    else
      replaceByRanks();
    call.erase();
  }

private:
  void replaceByExtreme() {
    const auto kind = s.isLargest ? graph::ReduceKind::Max : graph::ReduceKind::Min;
    if (!call.getResult(0).use_empty())
      call.getResult(0).replaceAllUsesWith(graph::ReduceOp::create(
          builder, call.getLoc(), s.x, kind, ArrayRef<int64_t>{s.axis}, /*keepdims=*/true));
    if (!hasIndices())
      return;
    Value index = s.isLargest
                      ? graph::ArgMaxOp::create(builder, loc, s.x, s.axis, true, false).getResult()
                      : graph::ArgMinOp::create(builder, loc, s.x, s.axis, true, false).getResult();
    call.getResult(1).replaceAllUsesWith(index);
  }

  void replaceByRanks() {
    Value rows = reshape(transposed(s.x), {s.rows, 1, s.size});
    Value planes = graph::ConcatOp::create(builder, loc, ValueRange{rows, positions()}, 1);
    const int64_t count = graph::getTensorType(planes).getDimSize(1);
    for (int64_t left = s.size;;) {
      const int64_t block = blockOf(left, s.k), blocks = left / block, rest = left % block;
      Value whole = rest ? slice(planes, 2, 0, left - rest) : planes;
      Value found = first(reshape(whole, {s.rows, count, blocks, block}));
      found = reshape(found, {s.rows, count, blocks * s.k});
      if (block == left) {
        planes = found;
        break;
      }
      // Candidates keep their order, by which equal elements are ranked.
      if (rest)
        found = graph::ConcatOp::create(builder, loc,
                                        ValueRange{found, slice(planes, 2, left - rest, rest)}, 2);
      planes = found;
      left = blocks * s.k + rest;
    }
    if (!call.getResult(0).use_empty()) {
      Value values = back(slice(planes, 1, 0, 1));
      values.getDefiningOp()->setLoc(call.getLoc());
      call.getResult(0).replaceAllUsesWith(values);
    }
    if (hasIndices())
      call.getResult(1).replaceAllUsesWith(back(indices(planes, count)));
  }

  bool hasIndices() { return call.getNumResults() > 1 && !call.getResult(1).use_empty(); }

  /// Returns the digits of all positions, the lower one first: [rows, digits, size].
  Value positions() {
    const int64_t digits = s.size > kMaxExact ? 2 : 1;
    SmallVector<double> numbers;
    for (int64_t i = 0; i < s.size; ++i)
      numbers.push_back(double(digits == 1 ? i : i % kBase));
    for (int64_t i = 0; digits == 2 && i < s.size; ++i)
      numbers.push_back(double(i / kBase));
    Value constant = this->constant({1, digits, s.size}, numbers);
    return s.rows == 1
               ? constant
               : graph::ExpandOp::create(builder, loc, typeOf({s.rows, digits, s.size}), constant)
                     .getResult();
  }

  /// Returns the first k of the planes [rows, planes, blocks, size], by the elements of plane 0.
  Value first(Value planes) {
    ArrayRef<int64_t> shape = graph::getTensorType(planes).getShape();
    const int64_t count = shape[1], blocks = shape[2], size = shape[3];
    Value x = slice(planes, 1, 0, 1);
    Value mine = reshape(x, {s.rows, 1, blocks, size, 1}),
          others = reshape(x, {s.rows, 1, blocks, 1, size});
    using graph::ComparePredicate;
    const auto before = s.isLargest ? ComparePredicate::Gt : ComparePredicate::Lt;
    Value isEarlier = compare(ComparePredicate::Lt, iota({1, size}), iota({size, 1}));
    Value isEqual = compare(ComparePredicate::Eq, others, mine);
    Value isBefore =
        graph::OrOp::create(builder, loc, compare(before, others, mine),
                            graph::AndOp::create(builder, loc, isEqual, isEarlier).getResult());
    Value ones = where(isBefore, constant({}, {1}), constant({}, {0}));
    Value rank = graph::ReduceOp::create(builder, loc, ones, graph::ReduceKind::Sum,
                                         ArrayRef<int64_t>{4}, /*keepdims=*/true);
    Value isThere =
        compare(ComparePredicate::Eq, reshape(rank, {s.rows, 1, blocks, 1, size}), iota({s.k, 1}));
    // Where NaNs leave no element of some rank, its position is a valid one all the same.
    SmallVector<double> none(count, 0);
    none[0] = -std::numeric_limits<double>::infinity();
    Value picked = where(isThere, reshape(planes, {s.rows, count, blocks, 1, size}),
                         constant({1, count, 1, 1, 1}, none));
    return graph::ReduceOp::create(builder, loc, picked, graph::ReduceKind::Max,
                                   ArrayRef<int64_t>{4}, /*keepdims=*/false);
  }

  /// Returns the positions of planes [rows, 1 + digits, k] as integers [rows, 1, k].
  Value indices(Value planes, int64_t count) {
    Type f32 = builder.getF32Type(), i64 = builder.getI64Type();
    SmallVector<Value> digits;
    for (int64_t i = 1; i < count; ++i)
      digits.push_back(slice(planes, 1, i, 1));
    auto map =
        graph::MapOp::create(builder, loc, RankedTensorType::get({s.rows, 1, s.k}, i64), digits);
    Block &body = map.getBody().emplaceBlock();
    OpBuilder inner = OpBuilder::atBlockBegin(&body);
    SmallVector<Value> numbers;
    for (size_t i = 0; i < digits.size(); ++i) {
      Value number = body.addArgument(element, loc);
      numbers.push_back(element.isF32() ? number : arith::ExtFOp::create(inner, loc, f32, number));
    }
    auto number = [&](double value) {
      return arith::ConstantOp::create(inner, loc, inner.getF32FloatAttr(float(value)));
    };
    Value position = numbers[0];
    if (numbers.size() > 1) {
      Value high = arith::MulFOp::create(inner, loc, numbers[1], number(double(kBase)));
      position = arith::AddFOp::create(inner, loc, high, position);
    }
    // A target that computes with these integers as floats has to know how large they are.
    position = arith::MaximumFOp::create(inner, loc, position, number(0));
    position = arith::MinimumFOp::create(inner, loc, position, number(double(s.size - 1)));
    graph::YieldOp::create(inner, loc,
                           arith::FPToSIOp::create(inner, loc, i64, position).getResult());
    return map;
  }

  /// Returns the input with its axis as the last dim.
  Value transposed(Value value) {
    const int64_t rank = s.type.getRank();
    if (s.axis == rank - 1)
      return value;
    return graph::TransposeOp::create(builder, loc, value, order());
  }
  SmallVector<int64_t> order() {
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < s.type.getRank(); ++i)
      if (i != s.axis)
        order.push_back(i);
    order.push_back(s.axis);
    return order;
  }
  /// Returns [rows, 1, k] with the dims of the result.
  Value back(Value value) {
    SmallVector<int64_t> shape, inverse(s.type.getRank());
    for (auto [location, dim] : llvm::enumerate(order())) {
      shape.push_back(dim == s.axis ? s.k : s.type.getDimSize(dim));
      inverse[dim] = location;
    }
    value = reshape(value, shape);
    if (s.axis == s.type.getRank() - 1)
      return value;
    return graph::TransposeOp::create(builder, loc, value, inverse);
  }

  RankedTensorType typeOf(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, element); }
  Value constant(ArrayRef<int64_t> shape, ArrayRef<double> numbers) {
    return graph::createConstant(builder, loc, typeOf(shape), numbers);
  }
  /// Returns 0, 1, 2, ... in the given shape.
  Value iota(ArrayRef<int64_t> shape) {
    SmallVector<double> numbers;
    for (int64_t i = 0; i < ShapedType::getNumElements(shape); ++i)
      numbers.push_back(double(i));
    return constant(shape, numbers);
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, graph::getTensorType(value).getElementType());
    return type == value.getType()
               ? value
               : graph::ReshapeOp::create(builder, loc, type, value).getResult();
  }
  Value slice(Value value, int64_t dim, int64_t start, int64_t size) {
    SmallVector<int64_t> starts(graph::getTensorType(value).getRank(), 0),
        sizes(graph::getTensorType(value).getShape()), steps(starts.size(), 1);
    starts[dim] = start;
    sizes[dim] = size;
    return graph::SliceOp::create(builder, loc, value, starts, sizes, steps);
  }
  Value compare(graph::ComparePredicate predicate, Value a, Value b) {
    return graph::CompareOp::create(builder, loc, a, b, predicate);
  }
  Value where(Value condition, Value a, Value b) {
    return graph::WhereOp::create(builder, loc, condition, a, b);
  }

  HostCallOp call;
  const Selection &s;
  OpBuilder builder;
  Location loc;
  Type element;
};

struct HostExpandTopK : impl::HostExpandTopKBase<HostExpandTopK> {
  using HostExpandTopKBase::HostExpandTopKBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    const graph::HostNodes hostNodes(function);
    SmallVector<HostCallOp> calls;
    function.walk([&](HostCallOp call) {
      if (call.getKernel() == "TopK" && !hostNodes.contains(call))
        calls.push_back(call);
    });
    for (HostCallOp call : calls) {
      Selection selection;
      if (std::string why = selection.read(call, maxComparisons); !why.empty()) {
        remarkMissed(getArgument(), call.getLoc(), "Kept")
            << remark::add("TopK stays a call of a host kernel: {0}", why);
        continue;
      }
      remarkPassed(getArgument(), call.getLoc(), "Expanded") << remark::add(
          "the first {0} of {1} elements are found by comparisons", selection.k, selection.size);
      TopKExpander(call, selection).run();
      ++numExpanded;
    }
  }
};

} // namespace
} // namespace atc::host

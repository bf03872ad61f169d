//===-- ExpandScatter.cpp - scatters to known positions as slices ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exporters write x[:, 2:5] = y as a scatter whose indices list all positions. Where these are the
// points of a grid in their order, the result is the data around it and the updates in it.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/PositionRuns.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <numeric>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTEXPANDSCATTER
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;
using graph::PositionRun;
using graph::runsOf;

/// More pieces than this cost more than the call of a host kernel.
constexpr int64_t kMaxPieces = 33;

/// A scatter to the points of a grid.
struct Scatter {
  Value data, updates;
  RankedTensorType type;
  SmallVector<SmallVector<int64_t>> positions; ///< ascending, per dim of the grid, outermost first

  /// Reads a call. Returns the reason why slices cannot replace it; empty: they can.
  std::string read(HostCallOp call) {
    const SmallVector<Value> inputs = inputsOf(call, 3);
    data = inputs[0];
    updates = inputs[2];
    auto known = [](Value value) {
      auto tensor = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
      return tensor && tensor.hasStaticShape() && tensor.getNumElements() > 0 ? tensor
                                                                              : RankedTensorType();
    };
    type = known(data);
    const RankedTensorType updated = known(updates);
    if (!type || !updated || type.getRank() == 0)
      return "its shapes are not known";
    if (!type.getElementType().isIntOrFloat())
      return "its elements are no numbers";
    const auto reduction = call.getParameters().getAs<StringAttr>("reduction");
    if (reduction && reduction.getValue() != "none")
      return "it combines elements";
    ElementsAttr indices = inputs[1] ? graph::getConstant(inputs[1]) : ElementsAttr();
    if (!indices || indices.getNumElements() == 0)
      return "its indices are not known";
    SmallVector<int64_t> numbers;
    if (!readIntegers(indices, numbers))
      return "its indices cannot be read";
    const ArrayRef<int64_t> shape = indices.getShapedType().getShape();
    const std::string why = call.getKernel() == "ScatterND" ? readPoints(shape, numbers)
                                                            : readElements(call, shape, numbers);
    if (!why.empty())
      return why;
    int64_t elements = updated.getNumElements();
    for (size_t dim = 0; dim < size_t(type.getRank()); ++dim) {
      const int64_t size =
          dim < positions.size() ? int64_t(positions[dim].size()) : type.getDimSize(int64_t(dim));
      if (elements % size)
        return "its updates do not fit its indices";
      elements /= size;
    }
    if (elements != 1)
      return "its updates do not fit its indices";
    return pieces() > kMaxPieces ? "its positions are too far apart" : "";
  }

private:
  /// Returns the number of slices of data and updates that make the result, at most a bit more than
  /// kMaxPieces.
  int64_t pieces() const {
    int64_t count = 1;
    for (size_t dim = positions.size(); dim-- > 0 && count <= kMaxPieces;) {
      const SmallVector<PositionRun> runs = runsOf(positions[dim], kMaxPieces);
      int64_t gaps = runs.front().start > 0;
      gaps += int64_t(runs.size()) - 1;
      gaps += runs.back().start + runs.back().size < type.getDimSize(int64_t(dim));
      count = gaps + int64_t(std::min<size_t>(runs.size(), kMaxPieces + 1)) * count;
    }
    return count;
  }

  static bool readIntegers(ElementsAttr indices, SmallVector<int64_t> &numbers) {
    FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(indices);
    if (failed(bytes))
      return false;
    auto append = [&](auto all) {
      for (int64_t number : all)
        numbers.push_back(number);
    };
    if (indices.getElementType().isInteger(64))
      append(bytes->expandedAs<int64_t>());
    else if (indices.getElementType().isInteger(32))
      append(bytes->expandedAs<int32_t>());
    return !numbers.empty();
  }

  /// Makes a number that counts from the end one from the start. Returns false where the result is
  /// out of range.
  bool normalize(int64_t &number, int64_t dim) const {
    number += number < 0 ? type.getDimSize(dim) : 0;
    return number >= 0 && number < type.getDimSize(dim);
  }

  /// Reads the indices of a ScatterND: points in the first dims of the data.
  std::string readPoints(ArrayRef<int64_t> shape, MutableArrayRef<int64_t> numbers) {
    const int64_t depth = shape.empty() ? 0 : shape.back();
    if (depth < 1 || depth > type.getRank())
      return "its indices do not fit its data";
    const int64_t count = int64_t(numbers.size()) / depth;
    positions.resize(depth);
    for (int64_t point = 0; point < count; ++point)
      for (int64_t dim = 0; dim < depth; ++dim) {
        if (!normalize(numbers[point * depth + dim], dim))
          return "its indices are out of range";
        positions[dim].push_back(numbers[point * depth + dim]);
      }
    int64_t product = 1;
    for (SmallVector<int64_t> &list : positions) {
      llvm::sort(list);
      list.erase(llvm::unique(list), list.end());
      product *= int64_t(list.size());
      if (product > count)
        break;
    }
    if (product != count)
      return "its positions are no grid";
    // The points of a grid in their order, none of them twice.
    for (int64_t point = 0; point < count; ++point)
      for (int64_t dim = depth, rest = point; dim-- > 0;) {
        const int64_t size = int64_t(positions[dim].size());
        if (numbers[point * depth + dim] != positions[dim][rest % size])
          return "its positions are no grid in its order";
        rest /= size;
      }
    return {};
  }

  /// Reads the indices of a ScatterElements: along one dim, and the first positions of the others.
  std::string readElements(HostCallOp call, ArrayRef<int64_t> shape,
                           MutableArrayRef<int64_t> numbers) {
    const std::optional<int64_t> found = axisOf(call, 0, type.getRank());
    if (!found || int64_t(shape.size()) != type.getRank())
      return "its indices do not fit its data";
    const int64_t axis = *found;
    int64_t inner = 1;
    for (int64_t dim = axis + 1; dim < type.getRank(); ++dim)
      inner *= shape[dim];
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      SmallVector<int64_t> &list = positions.emplace_back(shape[dim]);
      std::iota(list.begin(), list.end(), 0);
      if (shape[dim] > type.getDimSize(dim))
        return "its indices do not fit its data";
      for (int64_t i = 0; i < shape[dim] && dim == axis; ++i) {
        list[i] = numbers[i * inner];
        if (!normalize(list[i], axis))
          return "its indices are out of range";
        if (i && list[i] <= list[i - 1])
          return "its positions are no grid in its order";
      }
    }
    for (auto [position, number] : llvm::enumerate(numbers))
      if (!normalize(number, axis) ||
          number != positions[axis][int64_t(position) / inner % shape[axis]])
        return "its positions are no grid";
    return {};
  }
};

/// Replaces the result of a call.
class ScatterExpander {
public:
  ScatterExpander(HostCallOp call, const Scatter &scatter)
      : call(call), s(scatter), builder(call), loc(graph::derivedLoc(call.getLoc(), "around")) {}

  void run() {
    SmallVector<int64_t> shape;
    for (ArrayRef<int64_t> list : s.positions)
      shape.push_back(int64_t(list.size()));
    llvm::append_range(shape, s.type.getShape().drop_front(s.positions.size()));
    auto type = RankedTensorType::get(shape, s.type.getElementType());
    Value updates = s.updates;
    if (updates.getType() != type)
      updates = graph::ReshapeOp::create(builder, loc, type, updates);
    call.getResult(0).replaceAllUsesWith(fill(s.data, updates, 0));
    call.erase();
  }

private:
  /// Returns `data` with `updates` at the positions of the dims from `dim` on; both have only the
  /// positions of the dims before it.
  Value fill(Value data, Value updates, size_t dim) {
    const int64_t size = graph::getTensorType(data).getDimSize(int64_t(dim));
    SmallVector<Value> pieces;
    int64_t next = 0, used = 0;
    for (PositionRun run : runsOf(s.positions[dim], kMaxPieces)) {
      if (run.start > next)
        pieces.push_back(slice(data, dim, next, run.start - next));
      const Value updated = slice(updates, dim, used, run.size);
      pieces.push_back(dim + 1 == s.positions.size()
                           ? updated
                           : fill(slice(data, dim, run.start, run.size), updated, dim + 1));
      next = run.start + run.size;
      used += run.size;
    }
    if (next < size)
      pieces.push_back(slice(data, dim, next, size - next));
    return pieces.size() == 1
               ? pieces.front()
               : graph::ConcatOp::create(builder, call.getLoc(), pieces, int64_t(dim)).getResult();
  }

  Value slice(Value value, size_t dim, int64_t start, int64_t size) {
    SmallVector<int64_t> starts(graph::getTensorType(value).getRank(), 0),
        sizes(graph::getTensorType(value).getShape()), steps(starts.size(), 1);
    if (start == 0 && sizes[dim] == size)
      return value;
    starts[dim] = start;
    sizes[dim] = size;
    return graph::SliceOp::create(builder, loc, value, starts, sizes, steps);
  }

  HostCallOp call;
  const Scatter &s;
  OpBuilder builder;
  Location loc;
};

struct HostExpandScatter : impl::HostExpandScatterBase<HostExpandScatter> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    const graph::HostNodes hostNodes(function);
    SmallVector<HostCallOp> calls;
    function.walk([&](HostCallOp call) {
      if (llvm::is_contained({"ScatterND", "ScatterElements"}, call.getKernel()) &&
          !hostNodes.contains(call))
        calls.push_back(call);
    });
    for (HostCallOp call : calls) {
      Scatter scatter;
      if (std::string why = scatter.read(call); !why.empty()) {
        remarkMissed(getArgument(), call.getLoc(), "Kept")
            << remark::add("{0} stays a call of a host kernel: {1}", call.getKernel(), why);
        continue;
      }
      remarkPassed(getArgument(), call.getLoc(), "Expanded")
          << remark::add("the updates are put between slices of the data");
      ScatterExpander(call, scatter).run();
      ++numExpanded;
    }
  }
};

} // namespace
} // namespace atc::host

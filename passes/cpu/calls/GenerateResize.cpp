//===-- GenerateResize.cpp - resizing to sizes that are known at run time -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nearest neighbours: a row of the result is copied in blocks of columns, whose positions along the
// last dim are found once for all rows. Along the other dims they are found per row. Interpolation
// is left to the host kernel, which sums along one dim after the other.

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "kernels/core/ResizeMode.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::cpu {

namespace {

using kernels::ResizeMode;
using Coordinates = ResizeMode::Coordinates;
using Method = ResizeMode::Method;
using Rounding = ResizeMode::Rounding;

/// Reads the attributes of a call by the names that a host kernel uses.
struct CallAttributes {
  graph::HostCallOp call;

  bool is(StringRef name, StringRef defaultText, StringRef text) const {
    return hasText(call, name, defaultText, text);
  }
  int64_t integer(StringRef name, int64_t defaultValue) const {
    return host::integerOf(call, name, defaultValue);
  }
  double number(StringRef name, double defaultValue) const {
    return host::numberOf(call, name, defaultValue);
  }
};

/// Returns the type of positions and scales, that of the host kernel.
Type numberType(RowBuilder &b, const ResizeMode &mode) {
  return mode.hasSinglePositions() ? b.getF32Type() : b.getF64Type();
}

/// A dim of a resize. Numbers are of `numberType`.
struct Axis {
  Value in, out, inSize, outSize; ///< as index, and as number
  Value scale, start, end;        ///< null: the dim is not resized
  Value isResized;
  bool bySize = false; ///< the size is given, and the scale follows from it
};

/// The input that is one result along an axis.
struct Neighbour {
  Value index, isOutside;
};

class Resize {
public:
  Resize(RowBuilder &b, const ResizeMode &mode, SmallVector<Axis> axes)
      : b(b), in(b.in(0)), mode(mode), axes(std::move(axes)), number(numberType(b, mode)) {}

  void build() {
    const Axis &last = axes.back();
    const bool marksOutside = mode.coordinates == Coordinates::TfCropAndResize;
    Port positions = b.scratch(b.getIndexType(), kBlock);
    Port outside = marksOutside ? b.scratch(b.getI8Type(), kBlock) : Port();
    for (size_t d = 0; d + 1 < axes.size(); ++d) {
      offsetTables.push_back(b.scratch(b.getIndexType(), 1));
      outsideTables.push_back(b.scratch(b.getI8Type(), 1));
    }
    Value blocks = b.div(b.add(last.out, b.index(kBlock - 1)), b.index(kBlock));
    b.loop(blocks, [&](Value block) {
      Value first = b.mul(block, b.index(kBlock));
      Value n = b.min(b.index(kBlock), b.sub(last.out, first));
      b.loop(n, [&](Value j) {
        Neighbour found = neighbourOf(last, b.add(first, j));
        b.store(positions, found.index, j);
        if (marksOutside)
          b.store(outside, arith::ExtUIOp::create(b, b.getI8Type(), found.isOutside), j);
      });
      b.forEachRow([&](ArrayRef<Value> indices, Value row, Value) {
        Value to = b.add(row, first);
        for (size_t d = 0; d < indices.size(); ++d)
          updateTables(d, indices);
        Value base = b.index(0);
        for (size_t d = 0; d < indices.size(); ++d)
          base = b.add(base, axes[d].isResized ? b.load(offsetTables[d], b.index(0))
                                               : b.mul(indices[d], in.strides[d]));
        copy(to, n, base, first, positions);
        if (marksOutside)
          extrapolate(to, n, outside);
      });
    });
  }

private:
  static constexpr int64_t kBlock = 256;

  Value real(double value) { return b.constant(number, value); }

  /// Returns the position in the input of result `x` along a dim.
  Value sourceOf(const Axis &axis, Value x) {
    Value half = real(0.5), one = real(1), zero = real(0);
    auto halfPixel = [&] { return b.subF(b.divF(b.addF(x, half), axis.scale), half); };
    auto several = [&] { return b.compareF(arith::CmpFPredicate::OGT, axis.outSize, one); };
    switch (mode.coordinates) {
    case Coordinates::HalfPixel:
      return halfPixel();
    case Coordinates::HalfPixelSymmetric: {
      Value adjusted = b.divF(axis.outSize, b.mulF(axis.scale, axis.inSize));
      Value shift = b.mulF(b.divF(axis.inSize, real(2)), b.subF(one, adjusted));
      return b.subF(b.addF(shift, b.divF(b.addF(x, half), axis.scale)), half);
    }
    case Coordinates::PytorchHalfPixel:
      return b.select(several(), halfPixel(), zero);
    case Coordinates::AlignCorners: {
      Value width =
          axis.bySize || mode.hasWholeLengths ? axis.outSize : b.mulF(axis.scale, axis.inSize);
      Value isOne = b.compareF(arith::CmpFPredicate::OEQ, width, one);
      Value at = b.divF(b.mulF(x, b.subF(axis.inSize, one)), b.subF(width, one));
      return b.select(isOne, zero, at);
    }
    case Coordinates::Asymmetric:
      return b.divF(x, axis.scale);
    case Coordinates::TfHalfPixelForNn:
      return b.divF(b.addF(x, half), axis.scale);
    case Coordinates::TfCropAndResize: {
      Value room = b.subF(axis.inSize, one);
      Value along =
          b.divF(b.mulF(b.mulF(x, b.subF(axis.end, axis.start)), room), b.subF(axis.outSize, one));
      Value middle = b.mulF(b.mulF(half, b.addF(axis.start, axis.end)), room);
      return b.select(several(), b.addF(b.mulF(axis.start, room), along), middle);
    }
    }
    llvm_unreachable("all coordinates have a formula");
  }

  Value roundNearest(Value x) {
    Value half = real(0.5);
    switch (mode.rounding) {
    case Rounding::PreferFloor:
      return math::CeilOp::create(b, b.subF(x, half));
    case Rounding::PreferCeil:
      return b.floorF(b.addF(x, half));
    case Rounding::Floor:
      return b.floorF(x);
    case Rounding::Ceil:
      return math::CeilOp::create(b, x);
    }
    llvm_unreachable("all ways of rounding have a formula");
  }

  Neighbour neighbourOf(const Axis &axis, Value index) {
    using arith::CmpFPredicate;
    if (!axis.isResized)
      return {index, b.compare(arith::CmpIPredicate::ne, index, index)};
    Value max = b.subF(axis.inSize, real(1)), own = b.toFloat(number, index);
    Value x = b.select(axis.isResized, sourceOf(axis, own), own);
    Value outside = arith::OrIOp::create(b, b.compareF(CmpFPredicate::OLT, x, real(0)),
                                         b.compareF(CmpFPredicate::OGT, x, max));
    // Positions far outside the input are equivalent; NaN is mapped to one of them.
    Value lowest = real(-4), highest = b.addF(max, real(4));
    x = b.select(b.compareF(CmpFPredicate::OGT, x, lowest), x, lowest);
    x = b.smallerF(x, highest);
    Value at = b.smallerF(b.largerF(roundNearest(x), real(0)), max);
    // f32 has no number for each index of a long dim that stays as it is.
    return {b.select(axis.isResized, b.toIndex(at), index),
            arith::AndIOp::create(b, axis.isResized, outside)};
  }

  /// Stores the input along dim d of the row at `indices`, where it is not that of the row before.
  void updateTables(size_t d, ArrayRef<Value> indices) {
    using arith::CmpIPredicate;
    if (!axes[d].isResized)
      return;
    auto update = [&] {
      Neighbour found = neighbourOf(axes[d], indices[d]);
      b.store(offsetTables[d], b.mul(found.index, in.strides[d]), b.index(0));
      Value outside = arith::ExtUIOp::create(b, b.getI8Type(), found.isOutside);
      b.store(outsideTables[d], outside, b.index(0));
    };
    if (d + 1 == indices.size())
      return update();
    // An index changes where all behind it begin again.
    Value isNew;
    for (Value index : indices.drop_front(d + 1)) {
      Value isFirst = b.compare(CmpIPredicate::eq, index, b.index(0));
      isNew = isNew ? arith::AndIOp::create(b, isNew, isFirst).getResult() : isFirst;
    }
    Value isFirst = b.compare(CmpIPredicate::eq, b.row(), b.firstRow());
    b.ifThen(arith::OrIOp::create(b, isNew, isFirst), update);
  }

  void copy(Value to, Value n, Value base, Value first, const Port &positions) {
    auto inPlace = [&] { b.copyRow(b.out(), to, n, in, b.add(base, first), b.index(1)); };
    if (!axes.back().isResized)
      return inPlace();
    b.ifElse(
        axes.back().isResized,
        [&] {
          b.loop(n, [&](Value j) {
            b.store(b.out(), b.load(in, b.add(base, b.load(positions, j))), b.add(to, j));
          });
        },
        inPlace);
  }

  void extrapolate(Value to, Value n, const Port &outside) {
    Value any = arith::ConstantIntOp::create(b, 0, 8);
    for (auto [axis, table] : llvm::zip(axes, outsideTables))
      if (axis.isResized)
        any = arith::OrIOp::create(b, any, b.load(table, b.index(0)));
    Value rowIsOutside = arith::TruncIOp::create(b, b.getI1Type(), any);
    Value fill =
        b.narrow(b.constant(RowBuilder::computeType(in.element), mode.extrapolation), b.out());
    b.loop(n, [&](Value j) {
      Value own = arith::TruncIOp::create(b, b.getI1Type(), b.load(outside, j));
      Value isOutside = arith::OrIOp::create(b, rowIsOutside, own);
      Value at = b.add(to, j);
      b.store(b.out(), b.select(isOutside, fill, b.load(b.out(), at)), at);
    });
  }

  RowBuilder &b;
  const Port &in;
  const ResizeMode &mode;
  SmallVector<Axis> axes;
  Type number;
  /// The input of a row, per dim, and whether the row is beyond the input.
  std::vector<Port> offsetTables, outsideTables;
};

/// Reads what both operators state of a dim; `scale` is null where it is not resized.
Axis makeAxis(RowBuilder &b, Type number, int64_t d) {
  Axis axis;
  axis.in = b.in(0).dims[d];
  axis.out = b.out().dims[d];
  axis.inSize = b.toFloat(number, axis.in);
  axis.outSize = b.toFloat(number, axis.out);
  return axis;
}

Value differs(RowBuilder &b, const Axis &axis) {
  Value one = b.constant(axis.scale.getType(), 1);
  return arith::OrIOp::create(b, b.compareF(arith::CmpFPredicate::UNE, axis.scale, one),
                              b.compare(arith::CmpIPredicate::ne, axis.in, axis.out));
}

bool isFloats(const Port &port) { return port.isFloat(); }

bool resize(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  const SmallVector<Value> inputs = call.inputsByPosition();
  const ResizeMode mode = ResizeMode::read(CallAttributes{call});
  const bool crops = mode.coordinates == Coordinates::TfCropAndResize;

  auto isEmpty = [&](unsigned i) {
    auto type = dyn_cast<RankedTensorType>(inputs[i].getType());
    return type && type.hasStaticShape() && type.getNumElements() == 0;
  };
  const bool byScales = b.has(2) && !isEmpty(2), bySizes = b.has(3);
  SmallVector<int64_t> list = integersOf(call, "axes").value_or(SmallVector<int64_t>());
  if (list.empty())
    list = llvm::to_vector(llvm::seq<int64_t>(0, in.rank()));
  // Both may be given where the number of scales is not known: one of them is empty.
  if (mode.method != Method::Nearest || in.rank() == 0 || b.out().rank() != in.rank() ||
      byScales == bySizes || (crops && (!b.has(1) || !in.isFloat())) ||
      (byScales && !isFloats(b.in(2))) || (bySizes && isFloats(b.in(3))))
    return false;

  Type number = numberType(b, mode);
  SmallVector<Axis> axes;
  for (int64_t d = 0; d < in.rank(); ++d)
    axes.push_back(makeAxis(b, number, d));
  Value common;
  const bool larger = hasText(call, "keep_aspect_ratio_policy", "stretch", "not_smaller");
  const bool smaller = hasText(call, "keep_aspect_ratio_policy", "stretch", "not_larger");
  Value zero = b.index(0), count = b.index(list.size());
  Value hasRegion =
      crops ? b.compare(arith::CmpIPredicate::eq, b.product(b.in(1).dims), b.index(2 * list.size()))
            : Value();
  for (auto [i, given] : llvm::enumerate(list)) {
    const int64_t d = given < 0 ? given + in.rank() : given;
    if (d < 0 || d >= in.rank())
      return false;
    Axis &axis = axes[d];
    if (byScales) {
      axis.scale = b.convertF(number, b.load(b.in(2), b.index(i)));
    } else {
      Value wanted = b.toFloat(number, b.loadIndex(b.in(3), b.index(i)));
      axis.scale = b.divF(wanted, axis.inSize);
      axis.bySize = !larger && !smaller;
      common = !common  ? axis.scale
               : larger ? b.largerF(common, axis.scale)
                        : b.smallerF(common, axis.scale);
    }
    axis.start = b.constant(number, 0);
    axis.end = b.constant(number, 1);
    if (crops) {
      if (!b.in(1).isFloat())
        return false;
      auto bound = [&](Value at, Value otherwise) -> Value {
        auto branch = scf::IfOp::create(b, TypeRange(number), hasRegion, /*withElse=*/true);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(&branch.getThenRegion().front());
        scf::YieldOp::create(b, b.convertF(number, b.load(b.in(1), at)));
        b.setInsertionPointToStart(&branch.getElseRegion().front());
        scf::YieldOp::create(b, otherwise);
        return branch.getResult(0);
      };
      axis.start = bound(b.add(zero, b.index(i)), axis.start);
      axis.end = bound(b.add(count, b.index(i)), axis.end);
    }
  }
  for (Axis &axis : axes) {
    if (!axis.scale)
      continue;
    if (bySizes && (larger || smaller))
      axis.scale = common;
    axis.isResized = crops || mode.coordinates == Coordinates::TfHalfPixelForNn
                         ? arith::ConstantIntOp::create(b, 1, 1).getResult()
                         : differs(b, axis);
  }
  Resize(b, mode, std::move(axes)).build();
  return true;
}

bool upsample(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  const ResizeMode mode = ResizeMode::readUpsample(CallAttributes{call});
  if (mode.method != Method::Nearest || in.rank() == 0 || b.out().rank() != in.rank() ||
      !b.has(1) || !b.in(1).isFloat())
    return false;
  Type number = numberType(b, mode);
  SmallVector<Axis> axes;
  for (int64_t d = 0; d < in.rank(); ++d) {
    Axis axis = makeAxis(b, number, d);
    axis.scale = b.convertF(number, b.load(b.in(1), b.index(d)));
    axis.isResized = differs(b, axis);
    axes.push_back(axis);
  }
  Resize(b, mode, std::move(axes)).build();
  return true;
}

} // namespace

Generator findResizeGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"Resize", resize},
      {"Upsample", upsample},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu

//===-- GenerateResize.cpp - resizing to sizes that are known at run time -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row of the result is computed in blocks of columns, whose positions along the last dim are
// found once for all rows. Along the other dims they are found per row. Nearest neighbours are
// copied. Interpolation sums up along the last dim first; the sums of the rows of the input that
// the next row of the result needs as well are kept. The host kernel, which has tables for all rows
// of a large image, runs the code of small ones.

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "kernels/core/ResizeMode.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
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

/// The loops over blocks of columns and rows, and where the inputs of a result are.
class Resize {
public:
  Resize(RowBuilder &b, const ResizeMode &mode, SmallVector<Axis> axes)
      : b(b), in(b.in(0)), mode(mode), axes(std::move(axes)), number(numberType(b, mode)) {}
  virtual ~Resize() = default;

  void build() {
    const Axis &last = axes.back();
    const bool marksOutside = mode.coordinates == Coordinates::TfCropAndResize;
    Port outside = marksOutside ? b.scratch(b.getI8Type(), kBlock) : Port();
    for (size_t d = 0; d + 1 < axes.size(); ++d)
      outsideTables.push_back(b.scratch(b.getI8Type(), 1));
    makeTables();
    Value blocks = b.div(b.add(last.out, b.index(kBlock - 1)), b.index(kBlock));
    b.loop(blocks, [&](Value block) {
      Value first = b.mul(block, b.index(kBlock));
      Value n = b.min(b.index(kBlock), b.sub(last.out, first));
      b.loop(n, [&](Value j) {
        Value isOutside = findColumn(j, b.add(first, j));
        if (marksOutside)
          b.store(outside, arith::ExtUIOp::create(b, b.getI8Type(), isOutside), j);
      });
      beginBlock();
      b.forEachRow([&](ArrayRef<Value> indices, Value row, Value) {
        for (size_t d = 0; d < indices.size(); ++d)
          updateTables(d, indices);
        Value to = b.add(row, first);
        writeRow(indices, to, first, n);
        if (marksOutside)
          extrapolate(to, n, outside);
      });
    });
  }

protected:
  static constexpr int64_t kBlock = 256;

  /// Allocates the tables of positions.
  virtual void makeTables() = 0;
  /// Stores the inputs along the last dim of result `index` as those of column `j`, and returns
  /// whether it is beyond the input.
  virtual Value findColumn(Value j, Value index) = 0;
  virtual void beginBlock() {}
  /// Stores the inputs along dim d of the rows at `index`, and returns whether they are beyond the
  /// input.
  virtual Value findRow(size_t d, Value index) = 0;
  /// Computes `n` results from number `first` of a row on.
  virtual void writeRow(ArrayRef<Value> indices, Value to, Value first, Value n) = 0;

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

  /// Returns a position in the input, and whether it is beyond it. Positions far outside, which are
  /// equivalent, are moved to within `room` of it; NaN becomes one of them.
  std::pair<Value, Value> positionOf(const Axis &axis, Value index, double room) {
    using arith::CmpFPredicate;
    Value max = b.subF(axis.inSize, real(1)), own = b.toFloat(number, index);
    Value x = b.select(axis.isResized, sourceOf(axis, own), own);
    Value outside = arith::OrIOp::create(b, b.compareF(CmpFPredicate::OLT, x, real(0)),
                                         b.compareF(CmpFPredicate::OGT, x, max));
    Value lowest = real(-room), highest = b.addF(max, real(room));
    x = b.select(b.compareF(CmpFPredicate::OGT, x, lowest), x, lowest);
    return {b.smallerF(x, highest), arith::AndIOp::create(b, axis.isResized, outside)};
  }

  /// Returns a whole number as an index of a dim, whose last element it is at most.
  Value indexIn(const Axis &axis, Value whole) {
    Value max = b.subF(axis.inSize, real(1));
    return b.toIndex(b.smallerF(b.largerF(whole, real(0)), max));
  }

  RowBuilder &b;
  const Port &in;
  const ResizeMode &mode;
  SmallVector<Axis> axes;
  Type number;

private:
  /// Stores the input along dim d of the row at `indices`, where it is not that of the row before.
  void updateTables(size_t d, ArrayRef<Value> indices) {
    using arith::CmpIPredicate;
    if (!axes[d].isResized)
      return;
    auto update = [&] {
      Value outside = arith::ExtUIOp::create(b, b.getI8Type(), findRow(d, indices[d]));
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

  /// Whether the row is beyond the input, per dim.
  std::vector<Port> outsideTables;
};

/// Copies the nearest neighbours.
class Nearest : public Resize {
public:
  using Resize::Resize;

private:
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
    if (!axis.isResized)
      return {index, b.compare(arith::CmpIPredicate::ne, index, index)};
    auto [x, isOutside] = positionOf(axis, index, 4);
    // f32 has no number for each index of a long dim that stays as it is.
    return {b.select(axis.isResized, indexIn(axis, roundNearest(x)), index), isOutside};
  }

  void makeTables() override {
    positions = b.scratch(b.getIndexType(), kBlock);
    for (size_t d = 0; d + 1 < axes.size(); ++d)
      offsetTables.push_back(b.scratch(b.getIndexType(), 1));
  }

  Value findColumn(Value j, Value index) override {
    Neighbour found = neighbourOf(axes.back(), index);
    b.store(positions, found.index, j);
    return found.isOutside;
  }

  Value findRow(size_t d, Value index) override {
    Neighbour found = neighbourOf(axes[d], index);
    b.store(offsetTables[d], b.mul(found.index, in.strides[d]), b.index(0));
    return found.isOutside;
  }

  void writeRow(ArrayRef<Value> indices, Value to, Value first, Value n) override {
    Value base = b.index(0);
    for (size_t d = 0; d < indices.size(); ++d)
      base = b.add(base, axes[d].isResized ? b.load(offsetTables[d], b.index(0))
                                           : b.mul(indices[d], in.strides[d]));
    copy(to, n, base, first);
  }

  void copy(Value to, Value n, Value base, Value first) {
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

  Port positions;                 ///< along the last dim, per column
  std::vector<Port> offsetTables; ///< of a row, per dim
};

/// Sums up weighted neighbours.
class Interpolation : public Resize {
public:
  Interpolation(RowBuilder &b, const ResizeMode &mode, SmallVector<Axis> axes)
      : Resize(b, mode, std::move(axes)), wide(RowBuilder::computeType(in.element)),
        taps(mode.method == Method::Cubic ? 4 : 2) {}

private:
  /// Returns the weight of an input this far from the position of a result.
  Value weightOf(Value distance) {
    Value x = math::AbsFOp::create(b, distance), one = real(1), zero = real(0);
    auto isBelow = [&](double bound) {
      return b.compareF(arith::CmpFPredicate::OLT, x, real(bound));
    };
    if (mode.method == Method::Linear)
      return b.select(isBelow(1), b.subF(one, x), zero);
    const double a = mode.cubic;
    Value near = b.subF(b.mulF(real(a + 2), x), real(a + 3));
    near = b.addF(b.mulF(b.mulF(near, x), x), one);
    Value far = b.mulF(b.subF(b.mulF(real(a), x), real(5 * a)), x);
    far = b.subF(b.mulF(b.addF(far, real(8 * a)), x), real(4 * a));
    return b.select(isBelow(1), near, b.select(isBelow(2), far, zero));
  }

  /// Stores the inputs of result `index` of a dim, times `stride`, and their weights from `at` on,
  /// `step` apart. Returns whether the result is beyond the input.
  Value findTaps(const Axis &axis, Value index, Value stride, const Port &positions,
                 const Port &weights, Value at, int64_t step) {
    using arith::CmpFPredicate;
    auto slot = [&](int64_t t) { return b.add(at, b.index(t * step)); };
    const int64_t own = taps / 2 - 1; // the input at or in front of the position
    if (!axis.isResized) {
      for (int64_t t = 0; t < taps; ++t) {
        b.store(positions, b.mul(index, stride), slot(t));
        b.store(weights, b.constant(wide, t == own), slot(t));
      }
      return b.compare(arith::CmpIPredicate::ne, index, index);
    }
    auto [x, isOutside] = positionOf(axis, index, 4 * taps);
    Value whole = b.floorF(x), max = b.subF(axis.inSize, real(1)), sum = real(0);
    Indices found;
    for (int64_t t = 0; t < taps; ++t) {
      Value position = b.addF(whole, real(t - own)), weight = weightOf(b.subF(position, x));
      if (mode.excludeOutside) {
        Value exists = arith::AndIOp::create(b, b.compareF(CmpFPredicate::OGE, position, real(0)),
                                             b.compareF(CmpFPredicate::OLE, position, max));
        weight = b.select(exists, weight, real(0));
        sum = b.addF(sum, weight);
      }
      found.push_back(weight);
      Value input = b.select(axis.isResized, indexIn(axis, position), index);
      b.store(positions, b.mul(input, stride), slot(t));
    }
    for (int64_t t = 0; t < taps; ++t) {
      Value weight = found[t];
      if (mode.excludeOutside)
        weight =
            b.select(b.compareF(CmpFPredicate::UNE, sum, real(0)), b.divF(weight, sum), weight);
      weight = b.select(axis.isResized, weight, real(t == own));
      b.store(weights, b.convertF(wide, weight), slot(t));
    }
    return isOutside;
  }

  void makeTables() override {
    columnPositions = b.scratch(b.getIndexType(), taps * kBlock);
    columnWeights = b.scratch(wide, taps * kBlock);
    sums = b.scratch(wide, kBlock);
    lines = b.scratch(wide, taps * kBlock);
    lineOffsets = b.scratch(b.getIndexType(), taps);
    for (size_t d = 0; d + 1 < axes.size(); ++d) {
      rowPositions.push_back(b.scratch(b.getIndexType(), taps));
      rowWeights.push_back(b.scratch(wide, taps));
      if (axes[d].isResized)
        resized.push_back(d);
    }
  }

  Value findColumn(Value j, Value index) override {
    return findTaps(axes.back(), index, b.index(1), columnPositions, columnWeights, j, kBlock);
  }

  Value findRow(size_t d, Value index) override {
    return findTaps(axes[d], index, in.strides[d], rowPositions[d], rowWeights[d], b.index(0), 1);
  }

  void beginBlock() override {
    b.loop(b.index(taps), [&](Value line) { b.store(lineOffsets, b.index(-1), line); });
  }

  void writeRow(ArrayRef<Value> indices, Value to, Value, Value n) override {
    Value base = b.index(0);
    for (size_t d = 0; d < indices.size(); ++d)
      if (!axes[d].isResized)
        base = b.add(base, b.mul(indices[d], in.strides[d]));
    b.loop(n, [&](Value j) { b.store(sums, b.constant(wide, 0), j); });
    Indices counts = llvm::map_to_vector(resized, [&](size_t) { return b.index(taps); });
    b.nest(counts, [&](ArrayRef<Value> tap) {
      Value from = base, weight = b.constant(wide, 1);
      for (auto [d, t] : llvm::zip_equal(resized, tap)) {
        from = b.add(from, b.load(rowPositions[d], t));
        weight = b.mulF(weight, b.load(rowWeights[d], t));
      }
      // What has no weight may be infinite.
      Value isUsed = b.compareF(arith::CmpFPredicate::UNE, weight, b.constant(wide, 0));
      b.ifThen(isUsed, [&] { addLine(from, weight, n); });
    });
    b.loop(n, [&](Value j) { b.storeWide(b.out(), b.load(sums, j), b.add(to, j)); });
  }

  /// Adds the weighted sums along the last dim of the inputs from `from` on. Neighbours along the
  /// innermost dim that is resized are in different lines.
  void addLine(Value from, Value weight, Value n) {
    Value line = b.index(0);
    if (!resized.empty()) {
      const size_t d = resized.back();
      line = b.rem(b.div(from, in.strides[d]), b.index(taps));
    }
    Value first = b.mul(line, b.index(kBlock));
    Value isOther = b.compare(arith::CmpIPredicate::ne, b.load(lineOffsets, line), from);
    b.ifThen(isOther, [&] {
      b.store(lineOffsets, from, line);
      b.loop(n, [&](Value j) {
        Value sum = b.constant(wide, 0);
        for (int64_t t = 0; t < taps; ++t) {
          Value at = b.add(j, b.index(t * kBlock));
          Value own = b.load(columnWeights, at), zero = b.constant(wide, 0);
          Value x = b.loadWide(in, b.add(from, b.load(columnPositions, at)));
          Value isZero = b.compareF(arith::CmpFPredicate::OEQ, own, zero);
          sum = b.addF(sum, b.select(isZero, zero, b.mulF(own, x)));
        }
        b.store(lines, sum, b.add(first, j));
      });
    });
    b.loop(n, [&](Value j) {
      Value product = b.mulF(weight, b.load(lines, b.add(first, j)));
      b.store(sums, b.addF(b.load(sums, j), product), j);
    });
  }

  Type wide;
  int64_t taps;
  SmallVector<size_t> resized;         ///< dims in front of the last one
  Port columnPositions, columnWeights; ///< [taps, columns]
  std::vector<Port> rowPositions, rowWeights;
  Port sums, lines, lineOffsets;
};

void buildResize(RowBuilder &b, const ResizeMode &mode, SmallVector<Axis> axes) {
  if (mode.method == Method::Nearest)
    Nearest(b, mode, std::move(axes)).build();
  else
    Interpolation(b, mode, std::move(axes)).build();
}

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

/// Returns whether there is code for the method. Integers are interpolated by rules of their own,
/// and images in blocks of channels, whose last dim stays as it is, by the host kernel.
bool hasForm(RowBuilder &b, graph::HostCallOp call, const ResizeMode &mode, const Axis &last,
             Value scales) {
  if (mode.method == Method::Nearest)
    return true;
  DenseFPElementsAttr known;
  const bool keepsLast = scales && matchPattern(scales, m_Constant(&known)) &&
                         known.getNumElements() == b.in(0).rank() &&
                         (*std::prev(known.value_end<APFloat>())).isExactlyValue(1);
  return b.in(0).isFloat() && last.isResized && !keepsLast &&
         host::integerOf(call, "antialias", 0) == 0;
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
  if (in.rank() == 0 || b.out().rank() != in.rank() || byScales == bySizes ||
      (crops && (!b.has(1) || !in.isFloat())) || (byScales && !isFloats(b.in(2))) ||
      (bySizes && isFloats(b.in(3))))
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
  if (!hasForm(b, call, mode, axes.back(), byScales ? inputs[2] : Value()))
    return false;
  buildResize(b, mode, std::move(axes));
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
  Nearest(b, mode, std::move(axes)).build();
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

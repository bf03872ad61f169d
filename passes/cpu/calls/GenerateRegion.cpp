//===-- GenerateRegion.cpp - samples of regions, dims known at run time ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows and columns that the samples of a region read, and their weights, are found once for all
// channels.

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;

namespace atc::cpu {

namespace {

/// Builds RoiAlign: images [n, c, h, w], regions [r, 4], and the image of each.
class RegionAlign {
public:
  RegionAlign(RowBuilder &b, int64_t rows, int64_t columns, int64_t ratio, double scale,
              bool isHalf, bool isMax)
      : b(b), in(b.in(0)), rows(rows), columns(columns), ratio(ratio), scale(scale), isHalf(isHalf),
        isMax(isMax), wide(RowBuilder::computeType(in.element)), number(b.getF64Type()) {}

  void build() {
    const Taps down = makeTaps(rows * ratio), across = makeTaps(columns * ratio);
    b.setRowDims(2);
    b.forEachRow([&](ArrayRef<Value> indices, Value row, Value) {
      using arith::CmpIPredicate;
      Value region = indices[0], channel = indices[1];
      Value isFirst = b.compare(CmpIPredicate::eq, b.row(), b.firstRow());
      Value isNew = b.compare(CmpIPredicate::eq, channel, b.index(0));
      b.ifThen(arith::OrIOp::create(b, isFirst, isNew), [&] {
        findTaps(down, region, 1, rows);
        findTaps(across, region, 0, columns);
      });
      Value image = b.checked(b.loadIndex(b.in(2), region), in.dims[0], /*wraps=*/false);
      Value plane = b.add(b.mul(image, in.strides[0]), b.mul(channel, in.strides[1]));
      b.loop(b.index(rows), [&](Value y) {
        b.loop(b.index(columns), [&](Value x) {
          Value to = b.add(b.add(row, b.mul(y, b.index(columns))), x);
          b.storeWide(b.out(), cell(plane, down, across, y, x), to);
        });
      });
    });
  }

private:
  /// Per sample along a dim: the offsets of both neighbours in a plane, and their weights.
  struct Taps {
    Port low, high, lowWeight, highWeight;
  };

  Taps makeTaps(int64_t count) {
    return {b.scratch(b.getIndexType(), count), b.scratch(b.getIndexType(), count),
            b.scratch(wide, count), b.scratch(wide, count)};
  }

  Value real(double value) { return b.constant(number, value); }
  /// Returns coordinate `i` of a region in pixels of the image.
  Value corner(Value region, int64_t i) {
    Value given = b.loadWide(b.in(1), b.add(b.mul(region, b.index(4)), b.index(i)));
    Value scaled = b.mulF(b.convertF(number, given), real(scale));
    return isHalf ? b.subF(scaled, real(0.5)) : scaled;
  }

  /// Finds the samples of `cells` cells along x (0) or y (1). Those outside of the image, or at no
  /// number, have no weight.
  void findTaps(const Taps &taps, Value region, int64_t axis, int64_t cells) {
    using arith::CmpFPredicate;
    const int64_t dim = axis == 0 ? 3 : 2;
    Value size = in.dims[dim], last = b.sub(size, b.index(1)), zero = real(0), one = real(1);
    Value begin = corner(region, axis);
    Value length = b.subF(corner(region, axis + 2), begin);
    if (!isHalf)
      length = b.largerF(length, one);
    Value step = b.divF(length, real(double(cells)));
    b.loop(b.index(cells * ratio), [&](Value i) {
      // The sample of a cell is in the middle of its part of the cell.
      Value within = b.addF(b.toFloat(number, b.rem(i, b.index(ratio))), real(0.5));
      Value position =
          b.addF(b.toFloat(number, b.div(i, b.index(ratio))), b.divF(within, real(double(ratio))));
      Value at = b.addF(begin, b.mulF(position, step));
      Value isInside =
          arith::AndIOp::create(b, b.compareF(CmpFPredicate::OGE, at, real(-1)),
                                b.compareF(CmpFPredicate::OLE, at, b.toFloat(number, size)));
      at = b.largerF(b.select(isInside, at, zero), zero);
      Value low = b.min(b.toIndex(at), last), high = b.min(b.add(low, b.index(1)), last);
      Value share = b.subF(b.smallerF(at, b.toFloat(number, last)), b.toFloat(number, low));
      auto storeWeight = [&](const Port &to, Value weight) {
        b.store(to, b.convertF(wide, b.select(isInside, weight, zero)), i);
      };
      storeWeight(taps.lowWeight, b.subF(one, share));
      storeWeight(taps.highWeight, share);
      b.store(taps.low, b.mul(low, in.strides[dim]), i);
      b.store(taps.high, b.mul(high, in.strides[dim]), i);
    });
  }

  /// Returns the mean of the samples of a cell, or the largest share that an element has in one.
  Value cell(Value plane, const Taps &down, const Taps &across, Value y, Value x) {
    Value count = b.index(ratio);
    Value firstRow = b.mul(y, count), firstColumn = b.mul(x, count);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Value initial = b.constant(wide, isMax ? -infinity : 0);
    Value total = b.fold(count, initial, [&](Value i, ValueRange outer) -> Indices {
      Value v = b.add(firstRow, i);
      return b.fold(count, outer.front(), [&](Value j, ValueRange inner) -> Indices {
        Value u = b.add(firstColumn, j), result = inner.front();
        for (bool isLower : {true, false})
          for (bool isLeft : {true, false}) {
            const Port &offsets = isLower ? down.low : down.high;
            const Port &others = isLeft ? across.low : across.high;
            Value at = b.add(plane, b.add(b.load(offsets, v), b.load(others, u)));
            Value weight = b.mulF(b.load(isLower ? down.lowWeight : down.highWeight, v),
                                  b.load(isLeft ? across.lowWeight : across.highWeight, u));
            Value share = b.mulF(weight, b.loadWide(in, at));
            result = isMax ? b.largerF(result, share) : b.addF(result, share);
          }
        return {result};
      });
    })[0];
    return isMax ? total : b.divF(total, b.constant(wide, double(ratio * ratio)));
  }

  RowBuilder &b;
  const Port &in;
  int64_t rows, columns, ratio;
  double scale;
  bool isHalf, isMax;
  Type wide, number;
};

bool roiAlign(RowBuilder &b, graph::HostCallOp call) {
  // Tables of samples are on the stack. Without a ratio their number depends on the regions.
  constexpr int64_t kMaxSamples = 256;
  const int64_t rows = host::integerOf(call, "output_height", 1);
  const int64_t columns = host::integerOf(call, "output_width", 1);
  const int64_t ratio = host::integerOf(call, "sampling_ratio", 0);
  if (!b.has(1) || !b.has(2) || b.in(0).rank() != 4 || !b.in(0).isFloat() || b.out().rank() != 4 ||
      b.in(1).rank() != 2 || !b.in(1).isFloat() || b.in(2).isFloat() || ratio < 1 ||
      ratio > kMaxSamples || rows < 1 || rows > kMaxSamples / ratio || columns < 1 ||
      columns > kMaxSamples / ratio)
    return false;
  RegionAlign(b, rows, columns, ratio, host::numberOf(call, "spatial_scale", 1),
              hasText(call, "coordinate_transformation_mode", "half_pixel", "half_pixel"),
              hasText(call, "mode", "avg", "max"))
      .build();
  return true;
}

} // namespace

Generator findRegionGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {{"RoiAlign", roiAlign}};
  return generators.lookup(kernel);
}

} // namespace atc::cpu

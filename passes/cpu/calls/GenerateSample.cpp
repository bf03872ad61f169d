//===-- GenerateSample.cpp - samples at points, dims known at run time ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The offsets and weights of the neighbours of a block of points are found once for all channels.

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::cpu {

namespace {

enum class Padding { Zeros, Border, Reflection };
enum class Sampling { Nearest, Linear, Cubic };

/// Samples images [n, c, ...] at the points of a grid [n, ..., coordinates].
class Sampler {
public:
  Sampler(RowBuilder &b, Padding padding, Sampling sampling, bool aligns)
      : b(b), in(b.in(0)), grid(b.in(1)), padding(padding), sampling(sampling), aligns(aligns),
        rank(in.rank() - 2), number(b.getF64Type()), wide(RowBuilder::computeType(in.element)) {}

  /// Returns the number of neighbours in a dim.
  static int64_t tapsOf(Sampling sampling) {
    return sampling == Sampling::Nearest ? 1 : sampling == Sampling::Linear ? 2 : 4;
  }

  void build() {
    int64_t all = 1;
    for (int64_t d = 0; d < rank; ++d)
      all *= tapsOf(sampling);
    const bool isNearest = sampling == Sampling::Nearest;
    Port offsets = b.scratch(b.getIndexType(), all * kBlock);
    Port weights = isNearest ? Port() : b.scratch(wide, all * kBlock);
    // All bits where a neighbour exists, else none: what it is does not change how long it takes.
    Type bits = b.getIntegerType(wide.getIntOrFloatBitWidth());
    const bool isMasked = padding == Padding::Zeros && !isNearest;
    Port masks = isMasked ? b.scratch(bits, all * kBlock) : Port();
    b.setRowDims(rank);
    Value points = b.product(ArrayRef(b.out().dims).drop_front(2));
    Value blocks = b.div(b.add(points, b.index(kBlock - 1)), b.index(kBlock));
    b.loop(blocks, [&](Value block) {
      Value first = b.mul(block, b.index(kBlock));
      Value n = b.min(b.index(kBlock), b.sub(points, first));
      b.forEachRow([&](ArrayRef<Value> indices, Value row, Value) {
        using arith::CmpIPredicate;
        Value isFirst = b.compare(CmpIPredicate::eq, b.row(), b.firstRow());
        Value isNew = b.compare(CmpIPredicate::eq, indices[1], b.index(0));
        b.ifThen(arith::OrIOp::create(b, isFirst, isNew), [&] {
          b.loop(n, [&](Value j) {
            Value point = b.add(b.mul(indices[0], points), b.add(first, j));
            storeNeighbours(b.mul(point, b.index(rank)), j, offsets, weights, masks);
          });
        });
        Value plane = b.add(b.mul(indices[0], in.strides[0]), b.mul(indices[1], in.strides[1]));
        b.loop(n, [&](Value j) {
          Value to = b.add(b.add(row, first), j), sum;
          for (int64_t t = 0; t < all; ++t) {
            Value at = b.add(j, b.index(t * kBlock));
            Value x = b.load(offsets, at), exists;
            if (padding == Padding::Zeros && !isMasked) {
              exists = b.compare(CmpIPredicate::sge, x, b.index(0));
              x = b.select(exists, x, b.index(0));
            }
            x = b.load(in, b.add(plane, x));
            if (exists)
              x = b.select(exists, x, b.constant(in.element, 0));
            if (isNearest)
              return b.store(b.out(), x, to);
            x = b.widen(x);
            if (isMasked) {
              Value own = arith::BitcastOp::create(b, bits, x);
              own = arith::AndIOp::create(b, own, b.load(masks, at));
              x = arith::BitcastOp::create(b, wide, own);
            }
            x = b.mulF(x, b.load(weights, at));
            sum = sum ? b.addF(sum, x) : x;
          }
          b.storeWide(b.out(), sum, to);
        });
      });
    });
  }

private:
  static constexpr int64_t kBlock = 128;

  struct Neighbours {
    SmallVector<Value> indices; ///< -1 where a sample is zero
    SmallVector<Value> weights;
  };

  Value real(double value) { return b.constant(number, value); }

  /// Returns x reflected at both ends into the image of a dim.
  Value reflected(Value x, Value size) {
    using arith::CmpFPredicate;
    Value low = real(aligns ? 0 : -0.5);
    Value high = b.subF(size, real(aligns ? 1 : 0.5)), range = b.subF(high, low);
    Value isBelow = b.compareF(CmpFPredicate::OLT, x, low);
    Value isAbove = b.compareF(CmpFPredicate::OGT, x, high);
    Value distance = b.select(isBelow, b.subF(low, x), b.subF(x, high));
    Value turns = b.floorF(b.divF(distance, range));
    Value rest = b.subF(distance, b.mulF(turns, range));
    Value half = b.mulF(b.floorF(b.divF(turns, real(2))), real(2));
    Value isOdd = b.compareF(CmpFPredicate::UNE, half, turns);
    Value fromLow = arith::XOrIOp::create(b, isBelow, isOdd);
    Value moved = b.select(fromLow, b.addF(low, rest), b.subF(high, rest));
    Value isOutside = arith::OrIOp::create(b, isBelow, isAbove);
    // A dim of one element has no room to reflect in.
    Value hasRoom = b.compareF(CmpFPredicate::OGT, range, real(0));
    return b.select(hasRoom, b.select(isOutside, moved, x), low);
  }

  /// Returns the index that is read at a whole position, or -1.
  Value indexOf(Value at, Value size) {
    using arith::CmpFPredicate;
    Value last = b.subF(size, real(1)), zero = real(0);
    if (padding == Padding::Zeros) {
      Value exists = arith::AndIOp::create(b, b.compareF(CmpFPredicate::OGE, at, zero),
                                           b.compareF(CmpFPredicate::OLE, at, last));
      return b.select(exists, b.toIndex(b.select(exists, at, zero)), b.index(-1));
    }
    if (padding == Padding::Reflection)
      at = reflected(at, size);
    return b.toIndex(b.smallerF(b.largerF(at, zero), last));
  }

  Neighbours neighboursOf(Value coordinate, Value dim) {
    using arith::CmpFPredicate;
    Value size = b.toFloat(number, dim), one = real(1);
    Value moved = b.addF(b.convertF(number, coordinate), one);
    Value x = aligns ? b.mulF(b.divF(moved, real(2)), b.subF(size, one))
                     : b.divF(b.subF(b.mulF(moved, size), one), real(2));
    // As in ONNX Runtime: what is no number, or infinite, is the lower end of the grid.
    Value isFinite = b.compareF(CmpFPredicate::OLT, math::AbsFOp::create(b, x), real(0x1p62));
    x = b.smallerF(b.largerF(x, real(-0x1p40)), real(0x1p40));
    x = b.select(isFinite, x, real(aligns ? 0 : -0.5));
    Neighbours result;
    if (sampling == Sampling::Nearest) {
      result.indices = {indexOf(math::RoundEvenOp::create(b, x), size)};
      return result;
    }
    if (sampling == Sampling::Linear && padding != Padding::Zeros) {
      if (padding == Padding::Reflection)
        x = reflected(x, size);
      x = b.smallerF(b.largerF(x, real(0)), b.subF(size, one));
    }
    Value whole = b.floorF(x), rest = b.subF(x, whole);
    if (sampling == Sampling::Linear) {
      result.indices = {indexOf(whole, size), indexOf(b.addF(whole, one), size)};
      result.weights = {b.subF(one, rest), rest};
      return result;
    }
    constexpr double a = -0.75;
    auto polynomial = [&](Value t, std::initializer_list<double> factors) {
      Value sum;
      for (double factor : factors)
        sum = sum ? b.addF(b.mulF(sum, t), real(factor)) : real(factor);
      return sum;
    };
    for (int64_t i = 0; i < 4; ++i) {
      Value t = math::AbsFOp::create(b, b.subF(b.addF(rest, one), real(double(i))));
      const bool isInner = i == 1 || i == 2;
      result.indices.push_back(indexOf(b.addF(whole, real(double(i - 1))), size));
      result.weights.push_back(isInner ? polynomial(t, {a + 2, -(a + 3), 0, 1})
                                       : polynomial(t, {a, -5 * a, 8 * a, -4 * a}));
    }
    return result;
  }

  /// Stores the neighbours of the point whose coordinates begin at `at`, as number j of the block.
  void storeNeighbours(Value at, Value j, const Port &offsets, const Port &weights,
                       const Port &masks) {
    SmallVector<Neighbours> all;
    // The coordinates are in the order x, y, z.
    for (int64_t d = 0; d < rank; ++d)
      all.push_back(
          neighboursOf(b.loadWide(grid, b.add(at, b.index(rank - 1 - d))), in.dims[d + 2]));
    int64_t number = 0;
    auto descend = [&](auto &&self, int64_t d, Value offset, Value weight, Value isZero) -> void {
      if (d == rank) {
        Value to = b.add(j, b.index(number++ * kBlock));
        const int64_t none = masks ? 0 : -1;
        b.store(offsets, isZero ? b.select(isZero, b.index(none), offset) : offset, to);
        if (masks)
          b.store(masks,
                  b.select(isZero, b.constant(masks.element, 0), b.constant(masks.element, -1)),
                  to);
        if (weight)
          b.store(weights, b.convertF(wide, weight), to);
        return;
      }
      for (size_t t = 0; t < all[d].indices.size(); ++t) {
        Value index = all[d].indices[t], none = isZero;
        if (padding == Padding::Zeros) {
          Value own = b.compare(arith::CmpIPredicate::slt, index, b.index(0));
          none = isZero ? arith::OrIOp::create(b, isZero, own).getResult() : own;
        }
        Value next = weight;
        if (!all[d].weights.empty())
          next = weight ? b.mulF(weight, all[d].weights[t]) : all[d].weights[t];
        self(self, d + 1, b.add(offset, b.mul(index, in.strides[d + 2])), next, none);
      }
    };
    descend(descend, 0, b.index(0), Value(), Value());
  }

  RowBuilder &b;
  const Port &in, &grid;
  Padding padding;
  Sampling sampling;
  bool aligns;
  int64_t rank;
  Type number, wide;
};

bool gridSample(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  const bool isCubic =
      hasText(call, "mode", "linear", "cubic") || hasText(call, "mode", "linear", "bicubic");
  const Sampling sampling = hasText(call, "mode", "linear", "nearest") ? Sampling::Nearest
                            : isCubic                                  ? Sampling::Cubic
                                                                       : Sampling::Linear;
  const Padding padding = hasText(call, "padding_mode", "zeros", "border") ? Padding::Border
                          : hasText(call, "padding_mode", "zeros", "reflection")
                              ? Padding::Reflection
                              : Padding::Zeros;
  const int64_t rank = in.rank() - 2;
  if (rank < 1 || rank > 3 || (isCubic && rank > 2) || !b.has(1) || b.in(1).rank() != in.rank() ||
      !b.in(1).isFloat() || b.out().rank() != in.rank() ||
      (sampling != Sampling::Nearest && !in.isFloat()))
    return false;
  Sampler(b, padding, sampling, host::integerOf(call, "align_corners", 0) != 0).build();
  return true;
}

} // namespace

Generator findSampleGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {{"GridSample", gridSample}};
  return generators.lookup(kernel);
}

} // namespace atc::cpu

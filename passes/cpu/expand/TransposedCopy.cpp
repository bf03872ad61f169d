//===-- TransposedCopy.cpp - copies that change the contiguous dim --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors are read along dim P, in which the input is contiguous, and written along dim Q, in which
// the output is; in between a square block of them is transposed in registers. Where P or Q has
// 2..4 positions that are contiguous in memory, vectors are interleaved or deinterleaved instead.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/cpu/expand/DataMovement.h"

using namespace mlir;

namespace atc::cpu {

namespace {

constexpr int64_t largestInterleave = 4;

/// A plane that is transposed: strides of both buffers along P and Q.
struct Plane {
  int64_t inP, inQ, outP, outQ;
};

class BlockCopier {
public:
  BlockCopier(KernelBuilder &b, LaneBuffer &input, LaneBuffer &output, Plane plane)
      : b(b), input(input), output(output), plane(plane), lanes(b.level().getLanes()) {}

  /// Copies a block of `countP` by `countQ` positions; of its rows along P only
  /// the first `validQ` are read, the others are 0.
  void copy(Value from, Value to, int64_t countP, int64_t countQ, int64_t validQ) {
    SmallVector<Value> rows;
    for (int64_t q = 0; q < std::min(countQ, validQ); ++q)
      rows.push_back(input.load(b.add(from, q * plane.inQ), lanes, countP, plane.inP));
    Value zero;
    for (int64_t q = rows.size(); q < countQ; ++q) {
      if (!zero)
        zero = laneConstant(b, input.element(), lanes, 0.0);
      rows.push_back(zero);
    }
    // Nothing of the rows that only make the block square is written.
    rows.resize(lanes, rows.front());
    SmallVector<Value> columns = transposeBlock(b, rows);
    for (int64_t p = 0; p < countP; ++p)
      output.store(columns[p], b.add(to, p * plane.outP), countQ, plane.outQ);
  }

  /// Copies the blocks of two ranges.
  void copyAll(Value from, Value to, const Range &p, const Range &q) {
    // Two blocks of a short dim share their cache lines.
    bool pInside = p.size <= 2 * lanes;
    const Range &outer = pInside ? q : p, &inner = pInside ? p : q;
    Lanes one{lanes, 1}, some{lanes, inner.size <= 2 * lanes && inner.size > lanes ? 2 : 1};
    forEachVectors(b, outer, one, [&](Value i, ArrayRef<int64_t> outerCounts) {
      forEachVectors(b, inner, some, [&](Value j, ArrayRef<int64_t> innerCounts) {
        for (auto [v, count] : llvm::enumerate(innerCounts)) {
          Value inside = b.add(j, v * lanes);
          Value atP = pInside ? inside : i, atQ = pInside ? i : inside;
          int64_t countP = pInside ? count : outerCounts[0];
          int64_t countQ = pInside ? outerCounts[0] : count;
          copy(b.mulAdd(atP, plane.inP, b.mulAdd(atQ, plane.inQ, from)),
               b.mulAdd(atP, plane.outP, b.mulAdd(atQ, plane.outQ, to)), countP, countQ, countQ);
        }
      });
    });
  }

private:
  KernelBuilder &b;
  LaneBuffer &input, &output;
  Plane plane;
  int64_t lanes;
};

/// Q is short and the output's next dim is P: vectors along P are interleaved.
void copyInterleaved(KernelBuilder &b, LaneBuffer &input, LaneBuffer &output, const Space &space,
                     int64_t sizeQ, int64_t inQ) {
  int64_t width = b.level().getLanes();
  forEachRow(b, space, 2 * sizeQ * output.bytes(), {width, 1},
             [&](ArrayRef<Value> at, const Range &row) {
               forEachVectors(b, row, {width, 1}, [&](Value p, ArrayRef<int64_t> counts) {
                 SmallVector<Value> vectors;
                 Value from = b.add(at[0], p), to = b.mulAdd(p, sizeQ, at[1]);
                 for (int64_t q = 0; q < sizeQ; ++q)
                   vectors.push_back(input.load(b.add(from, q * inQ), width, counts[0]));
                 int64_t left = counts[0] * sizeQ;
                 for (auto [r, value] : llvm::enumerate(interleave(b, vectors))) {
                   if (left > 0)
                     output.store(value, b.add(to, r * width), std::min(left, width));
                   left -= width;
                 }
               });
             });
}

/// P is short and the input's next dim is Q: its vectors are taken apart.
void copyDeinterleaved(KernelBuilder &b, LaneBuffer &input, LaneBuffer &output, const Space &space,
                       int64_t sizeP, int64_t outP) {
  int64_t width = b.level().getLanes();
  forEachRow(
      b, space, 2 * sizeP * output.bytes(), {width, 1}, [&](ArrayRef<Value> at, const Range &row) {
        forEachVectors(b, row, {width, 1}, [&](Value q, ArrayRef<int64_t> counts) {
          SmallVector<Value> vectors;
          Value from = b.mulAdd(q, sizeP, at[0]), to = b.add(at[1], q);
          int64_t left = counts[0] * sizeP;
          for (int64_t r = 0; r < sizeP; ++r, left -= width)
            vectors.push_back(left > 0
                                  ? input.load(b.add(from, r * width), width, std::min(left, width))
                                  : vectors.front());
          for (auto [p, value] : llvm::enumerate(deinterleave(b, vectors)))
            output.store(value, b.add(to, p * outP), counts[0]);
        });
      });
}

} // namespace

std::optional<size_t> findTransposedDim(const Space &space) {
  if (space.strides[1].back() != 1 || space.strides[0].back() <= 1)
    return std::nullopt;
  for (size_t d = 0; d + 1 < space.rank(); ++d)
    if (space.strides[0][d] == 1)
      return d;
  return std::nullopt;
}

void copyTransposed(KernelBuilder &b, LaneBuffer &input, LaneBuffer &output, Space space,
                    size_t inputDim) {
  Space q = space.takeDim(space.rank() - 1), p = space.takeDim(inputDim);
  Plane plane{p.strides[0][0], q.strides[0][0], p.strides[1][0], q.strides[1][0]};
  int64_t sizeP = p.sizes[0], sizeQ = q.sizes[0];

  if (sizeQ <= largestInterleave && plane.outP == sizeQ) {
    space.addDim(sizeP, {plane.inP, plane.outP});
    return copyInterleaved(b, input, output, space, sizeQ, plane.inQ);
  }
  if (sizeP <= largestInterleave && plane.inQ == sizeP) {
    space.addDim(sizeQ, {plane.inQ, plane.outQ});
    return copyDeinterleaved(b, input, output, space, sizeP, plane.outP);
  }

  int64_t lanes = b.level().getLanes();
  bool pInside = sizeP <= 2 * lanes;
  SmallVector<int64_t> sizes(space.sizes), multiples(space.rank(), 1);
  sizes.append({pInside ? sizeQ : sizeP, pInside ? sizeP : sizeQ});
  multiples.append({lanes, lanes});
  SmallVector<Range> ranges = beginTasks(b, sizes, 2 * output.bytes(), multiples);
  Range second = ranges.pop_back_val(), first = ranges.pop_back_val();

  BlockCopier blocks(b, input, output, plane);
  auto copyPlane = [&](Value from, Value to) {
    blocks.copyAll(from, to, pInside ? second : first, pInside ? first : second);
  };
  SmallVector<Value> start(2, b.index(0));
  if (space.rank() == 0)
    return copyPlane(start[0], start[1]);
  forEachRow(b, space, ranges, start, [&](ArrayRef<Value> at, const Range &row) {
    forEach(b, row, [&](Value i) {
      SmallVector<Value> moved = advance(b, space, space.rank() - 1, i, at);
      copyPlane(moved[0], moved[1]);
    });
  });
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {

/// Returns the space [N][C/b][H][W] + [b] (last) of a blocked and a plain buffer, with strides of
/// (plain, blocked).
Space packSpace(Value plain, Value blocked) {
  SmallVector<int64_t> p = stridesOf(plain), s = stridesOf(blocked);
  ArrayRef<int64_t> shape = shapeOf(blocked);
  int64_t block = shape[4];
  Space space;
  space.addDim(shape[0], {p[0], s[0]});
  space.addDim(shape[1], {p[1] * block, s[1]});
  space.addDim(shape[2], {p[2], s[2]});
  space.addDim(shape[3], {p[3], s[3]});
  space.addDim(block, {p[1], s[4]});
  return space;
}

/// Packs or unpacks where the last block is partial. Channel blocks are not part of the normalized
/// space because the last one is copied by other code.
void copyWithTail(KernelBuilder &b, LaneBuffer &input, LaneBuffer &output, Value plain,
                  Value blocked, bool isPack) {
  Space all = packSpace(plain, blocked);
  Space lane = all.takeDim(4), block = all.takeDim(1);
  if (!isPack)
    for (Space *space : {&all, &lane, &block})
      std::swap(space->strides[0], space->strides[1]);
  all.normalize(isPack ? 0 : 1);
  Space pixels = all.takeDim(all.rank() - 1);

  int64_t width = b.level().getLanes(), blocks = block.sizes[0], channels = lane.sizes[0];
  int64_t valid = shapeOf(plain)[1] - (blocks - 1) * channels;
  // Pixels are P of a pack and Q of an unpack; channels are the other dim.
  Plane plane{pixels.strides[0][0], lane.strides[0][0], pixels.strides[1][0], lane.strides[1][0]};
  if (!isPack) {
    std::swap(plane.inP, plane.inQ);
    std::swap(plane.outP, plane.outQ);
  }
  BlockCopier copier(b, input, output, plane);

  SmallVector<int64_t> sizes{blocks}, multiples(all.rank() + 1, 1);
  sizes.append(all.sizes);
  sizes.push_back(pixels.sizes[0]);
  multiples.push_back(width);
  SmallVector<Range> ranges = beginTasks(b, sizes, 2 * channels * output.bytes(), multiples);
  Range blockRange = ranges.front(), pixelRange = ranges.back();
  ranges = SmallVector<Range>(llvm::drop_end(llvm::drop_begin(ranges)));

  auto copyBlock = [&](ArrayRef<Value> at, int64_t present) {
    int64_t written = isPack ? channels : present;
    forEachVectors(b, pixelRange, {width, 1}, [&](Value i, ArrayRef<int64_t> counts) {
      SmallVector<Value> moved = advance(b, pixels, 0, i, at);
      for (int64_t c = 0; c < written; c += width) {
        int64_t count = std::min(width, written - c);
        Value from = b.add(moved[0], c * lane.strides[0][0]);
        Value to = b.add(moved[1], c * lane.strides[1][0]);
        if (isPack)
          copier.copy(from, to, counts[0], count, std::max<int64_t>(0, present - c));
        else
          copier.copy(from, to, count, counts[0], counts[0]);
      }
    });
  };
  auto copyBlocks = [&](Value c, int64_t present) {
    SmallVector<Value> at = advance(b, block, 0, c, {b.index(0), b.index(0)});
    if (all.rank() == 0)
      return copyBlock(at, present);
    forEachRow(b, all, ranges, at, [&](ArrayRef<Value> row, const Range &range) {
      forEach(b, range,
              [&](Value i) { copyBlock(advance(b, all, all.rank() - 1, i, row), present); });
    });
  };

  forEach(b, blockRange, [&](Value c) {
    if (blocks == 1)
      return copyBlocks(c, valid);
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, c, b.index(blocks - 1));
    auto ifOp = scf::IfOp::create(b, isLast, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    copyBlocks(c, valid);
    b.setInsertionPointToStart(ifOp.elseBlock());
    copyBlocks(c, channels);
  });
}

void expandPacking(Operation *op, Value plain, Value blocked, bool isPack) {
  KernelBuilder b(op);
  LaneBuffer input(b, op->getOperand(0)), output(b, op->getOperand(1));
  if (shapeOf(plain)[1] % shapeOf(blocked)[4] != 0) {
    copyWithTail(b, input, output, plain, blocked, isPack);
    return op->erase();
  }
  Space space = packSpace(plain, blocked);
  if (!isPack)
    std::swap(space.strides[0], space.strides[1]);
  space.normalize(/*key=*/1);
  if (std::optional<size_t> dim = findTransposedDim(space))
    copyTransposed(b, input, output, space, *dim);
  else
    copyRows(b, input, output, space);
  op->erase();
}

} // namespace

void expandPack(PackOp op) { expandPacking(op, op.getInput(), op.getOutput(), /*isPack=*/true); }
void expandUnpack(UnpackOp op) {
  expandPacking(op, op.getOutput(), op.getInput(), /*isPack=*/false);
}

} // namespace atc::cpu

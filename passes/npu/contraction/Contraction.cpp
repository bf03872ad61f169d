//===-- Contraction.cpp - loops and buffers of a tiled contraction ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/contraction/Contraction.h"
#include "passes/npu/contraction/PackNpuWeights.h"

#include "dialects/graph/scalar/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace atc::npu {

using llvm::alignTo;
using llvm::divideCeil;

//===----------------------------------------------------------------------===//
// Tiles as attributes
//===----------------------------------------------------------------------===//

Tile tileOf(ir::TileAttr a) {
  Order order = a.getOrder() == "lhs"   ? Order::Lhs
                : a.getOrder() == "rhs" ? Order::Rhs
                                        : Order::None;
  return {a.getM(),   a.getN(),      a.getK(),      a.getL1M(), a.getL1N(),
          a.getL1K(), a.getCoresM(), a.getCoresN(), order};
}

ir::TileAttr attributeOf(MLIRContext *context, const Tile &t) {
  StringRef order = t.order == Order::Lhs ? "lhs" : t.order == Order::Rhs ? "rhs" : "none";
  return ir::TileAttr::get(context, t.m, t.n, t.k, t.l1M, t.l1N, t.l1K, t.coresM, t.coresN, order);
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

bool Contraction::convertsWithRelu() const {
  // A clip from 0 on is a relu and an upper bound.
  const bool isRelu =
      activation &&
      (activation.getKind() == graph::ActivationKind::Relu ||
       (activation.getKind() == graph::ActivationKind::Clip && activation.getAlpha() == 0));
  return isRelu && scale == 1 && (!residual.value || residualLast || identity);
}

bool Contraction::needsVector() const {
  if (addition)
    return false;
  const bool isConverted =
      convertsWithRelu() && activation.getKind() == graph::ActivationKind::Relu;
  return body || (residual.value && !identity) || scale != 1 || (activation && !isConverted);
}

std::unique_ptr<Block> epilogueBody(const Contraction &c) {
  auto block = std::make_unique<Block>();
  if (c.body) {
    IRMapping mapping;
    for (BlockArgument argument : c.body->getArguments())
      mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
    for (Operation &op : *c.body)
      block->push_back(op.clone(mapping));
    return block;
  }
  Location loc = c.output.value.getLoc();
  Value x = block->addArgument(c.outputType, loc), residual, slope;
  if (c.residual.value)
    residual = block->addArgument(c.outputType, loc);
  if (c.slope)
    slope = block->addArgument(cast<MemRefType>(c.slope.getType()).getElementType(), loc);
  OpBuilder b(loc.getContext());
  b.setInsertionPointToEnd(block.get());
  if (c.scale != 1)
    x = arith::MulFOp::create(b, loc, x, graph::buildScalarConstant(b, loc, x.getType(), c.scale));
  if (residual && !c.residualLast)
    x = arith::AddFOp::create(b, loc, x, residual);
  if (!c.convertsWithRelu() && c.activation)
    x = graph::buildActivation(b, loc, c.activation, x, slope);
  else if (c.activation && c.activation.getKind() == graph::ActivationKind::Clip)
    x = arith::MinimumFOp::create(
        b, loc, x, graph::buildScalarConstant(b, loc, x.getType(), c.activation.getBeta()));
  if (residual && c.residualLast)
    x = arith::AddFOp::create(b, loc, x, residual);
  kernel::YieldOp::create(b, loc, x);
  return block;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {

/// Computes one plan; each part returns false with the reason.
class Planner {
public:
  Planner(const Contraction &c, const Tile &tile, const SocTable &soc) : c(c), soc(soc) {
    p.tile = tile;
  }
  Plan plan() {
    (void)(sizes() && rows() && columns() && depth() && l1() && ub() && loops());
    return std::move(p);
  }

private:
  bool fail(const char *why) {
    p.errorText = why;
    return false;
  }

  bool sizes() {
    const Tile &t = p.tile;
    if (t.m < 1 || t.n < 16 || t.k < 16 || t.n % c.lanes() || t.k % 16 || t.l1M < t.m ||
        t.l1N < t.n || t.l1K < t.k || t.l1N % t.n || t.coresM < 1 || t.coresN < 1 ||
        t.coresM * t.coresN > int64_t(soc.cores(false)))
      return fail("sizes of a tile do not go together");
    int64_t rows = alignTo(t.m, 16);
    // A block of the residual's columns, and the matrix that multiplies it, lie beside the steps.
    const int64_t blockBytes = c.identity ? rows * 16 * 2 * 2 : 0,
                  identityBytes = c.identity ? kFractal * kFractal * 2 : 0;
    if (rows * t.k * 4 + blockBytes > int64_t(soc.l0aBytes) ||
        t.n * t.k * 4 + identityBytes > int64_t(soc.l0bBytes))
      return fail("two steps do not fit into l0a and l0b");
    if (rows * t.n * 4 > int64_t(soc.l0cBytes))
      return fail("a tile does not fit into l0c");
    p.l0cBuffers = rows * t.n * 8 <= int64_t(soc.l0cBytes) ? 2 : 1;
    if (c.bias && t.n * 4 > int64_t(soc.btBytes))
      return fail("the bias of a tile does not fit into bt");
    return true;
  }

  /// Cores share outers first, as far as these divide evenly.
  void shareRows(int64_t outerChunks, int64_t rowChunks) {
    int64_t best = INT64_MAX;
    for (int64_t outer = 1; outer <= p.tile.coresM; ++outer) {
      int64_t row = p.tile.coresM / outer;
      if (p.tile.coresM % outer || outerChunks % outer || row > rowChunks)
        continue;
      int64_t trips = outerChunks / outer * divideCeil(rowChunks, row);
      if (trips > best)
        continue;
      best = trips;
      p.coresOuter = outer;
      p.coresRow = row;
      p.outerTrips = outerChunks / outer;
      p.rowTrips = divideCeil(rowChunks, row);
    }
    if (best == INT64_MAX)
      p.coresOuter = 0;
  }

  bool rows() {
    const Tile &t = p.tile;
    bool joined = c.joinsOuters && t.l1M > c.rows && t.l1M % c.rows == 0;
    // Chunks that are not bound to the rows of an image may be rounded up.
    int64_t max = joined ? c.outers * c.rows : c.rowUnit == 1 ? alignTo(c.rows, 16) : c.rows;
    if (t.l1M > max)
      return fail("a chunk of rows is no part of an image and no whole images");
    if (!joined && t.l1M % c.rowUnit)
      return fail("a chunk of rows ends inside a row of the image");
    p.chunkOuters = joined ? t.l1M / c.rows : 1;
    int64_t rowChunks = joined ? 1 : divideCeil(c.rows, t.l1M);
    shareRows(divideCeil(c.outers, p.chunkOuters), rowChunks);
    if (!p.coresOuter)
      return fail("the cores cannot share the rows");
    bool exact = t.l1M % t.m == 0;
    bool even =
        joined ? c.outers % p.chunkOuters == 0 : c.rows % t.l1M == 0 && rowChunks % p.coresRow == 0;
    p.relativeRows = even && (joined || rowChunks == 1 || !c.img2col);
    if (!p.relativeRows && !exact)
      return fail("tiles of rows do not divide their chunk");
    if (soc.split && joined && !p.relativeRows)
      return fail("fix writes no part of a chunk of images");
    if (!c.denseResult && t.m % c.rowUnit)
      return fail("a tile ends inside a row of a strided result");
    p.mTiles = divideCeil(t.l1M, t.m);
    p.imagesOfTile = joined && exact && t.m % c.rows == 0 ? t.m / c.rows : 0;
    const Img2ColShape &w = c.window;
    if (c.blocked())
      p.inRows = rowChunks == 1
                     ? w.height
                     : (t.l1M / c.rowUnit - 1) * w.strideH + (w.kernelH - 1) * w.dilationH + 1;
    return true;
  }

  bool columns() {
    const Tile &t = p.tile;
    p.nTiles = t.l1N / t.n;
    if (c.groups > 1) {
      if (c.groupColumns() % t.l1N || t.coresN > c.groups)
        return fail("chunks of columns do not divide a group");
      p.groupTrips = divideCeil(c.groups, t.coresN);
      p.columnTrips = c.groupColumns() / t.l1N;
      return true;
    }
    int64_t chunks = divideCeil(c.columns, t.l1N);
    if (t.coresN > chunks)
      return fail("more cores than chunks of columns");
    p.columnTrips = divideCeil(chunks, t.coresN);
    return true;
  }

  bool depth() {
    const Tile &t = p.tile;
    int64_t whole = c.depthBlocks() * 16;
    if (t.l1K > whole || t.l1K % 16 || (t.l1K < whole && t.l1K / 16 % c.depthUnit))
      return fail("a chunk of the sum ends inside a channel block");
    p.depthTrips = divideCeil(whole, t.l1K);
    if (t.order != Order::None && p.depthTrips > 1)
      return fail("an operand that stays in l1 needs the whole sum there");
    if (t.order == Order::None && (t.l1M != t.m || t.l1N != t.n))
      return fail("both operands stream, one tile at a time");
    if (p.depthTrips > 1 && (t.l1K % t.k || c.groups > 1))
      return fail("steps do not divide a chunk of the sum");
    p.steps = divideCeil(t.l1K, t.k);
    return true;
  }

  bool l1() {
    const Tile &t = p.tile;
    int64_t blocks = p.depthBlocksInL1(), pixel = c.window.c0 * c.window.elementBytes;
    if (c.lhsForm == LhsForm::Rows) {
      p.lhsColumn = alignTo(t.l1M, 16) * 32;
      p.lhsBytes = blocks * p.lhsColumn;
    } else {
      p.lhsImage = p.inRows * c.window.width * pixel;
      p.lhsColumn = p.chunkOuters * p.lhsImage;
      p.lhsBytes = p.lhsColumn * (c.lhsForm == LhsForm::Image ? 1 : blocks / c.depthUnit);
    }
    // Whole fractals are loaded, also where the rows end.
    if (!c.img2col)
      p.lhsBytes +=
          std::max<int64_t>(0, ((p.mTiles - 1) * t.m + alignTo(t.m, 16)) * 32 - p.lhsColumn);
    p.lhsBytes = alignTo(p.lhsBytes, 512);
    p.rhsBytes = t.l1K * t.l1N * 2;
    int64_t coreColumns = c.groups > 1 ? p.groupTrips * c.groupColumns() : p.columnTrips * t.l1N;
    p.biasResident = coreColumns * 4 <= 65536;
    p.biasBytes = c.bias ? (p.biasResident ? coreColumns : t.n) * 4 : 0;

    int64_t outside = c.others * p.groupTrips, rowLoads = p.outerTrips * p.rowTrips;
    int64_t lhsLoads = outside * rowLoads, rhsLoads = outside * p.columnTrips;
    if (t.order != Order::Lhs)
      lhsLoads *= p.columnTrips * p.depthTrips;
    if (t.order != Order::Rhs)
      rhsLoads *= rowLoads * p.depthTrips;
    else if (c.rhsOuter)
      rhsLoads *= p.outerTrips;
    p.lhsBuffers = lhsLoads > 1 ? 2 : 1;
    p.rhsBuffers = rhsLoads > 1 ? 2 : 1;
    // FIX reads the scales of results here.
    const int64_t scales = soc.split && c.scales ? alignTo(alignTo(c.columns, 16) * 4, 512) : 0;
    if (c.identity)
      p.residualBytes = alignTo(((t.n / 16 - 1) * t.m + alignTo(t.m, 16)) * 32, 512);
    const int64_t residual = c.identity ? 2 * p.residualBytes + 512 : 0;
    auto fits = [&] {
      return scales + residual + p.lhsBytes * p.lhsBuffers + p.rhsBytes * p.rhsBuffers +
                 int64_t(alignTo(p.biasBytes, 512)) * (p.biasResident ? 1 : 2) <=
             int64_t(soc.l1Bytes);
    };
    if (!fits())
      (t.order == Order::Rhs ? p.rhsBuffers : p.lhsBuffers) = 1;
    if (!fits() && t.order != Order::None)
      p.lhsBuffers = p.rhsBuffers = 1;
    return fits() || fail("the chunks do not fit into l1");
  }

  /// Returns the number of equal chunks of at most `max`.
  static int64_t piecesOf(int64_t size, int64_t max) {
    int64_t pieces = divideCeil(size, max);
    while (size % pieces)
      ++pieces;
    return pieces;
  }

  /// Divides a tile into chunks that fit in ub.
  bool ub() {
    const Tile &t = p.tile;
    p.pieceM = t.m;
    p.pieceN = t.n;
    if (soc.split)
      return true;
    int64_t element = c.resultBytes() * (c.residual.value ? 4 : 2) + c.scratchPerElement;
    // Numbers of f32 between l0c and the result, two buffers of them.
    element += c.body ? 8 : 0;
    int64_t resident = (c.slope ? c.columns * 2 : 0) + (c.scales ? c.columns * 4 : 0);
    int64_t room = int64_t(soc.ubBytes) - int64_t(alignTo(resident, 512)) - 2048;
    int64_t elements = room / element;
    if (c.blocked()) {
      int64_t lanes = c.lanes();
      int64_t blocks = std::min<int64_t>(t.n / lanes, elements / (t.m * lanes));
      if (blocks < 1)
        return fail("a tile's rows do not fit into ub");
      // Blocks of f32 and of bytes are not of one shape but one by one.
      p.pieces = piecesOf(t.n / lanes, c.body ? 1 : blocks);
      p.pieceN = t.n / p.pieces;
    } else {
      int64_t rows = std::min<int64_t>(t.m, elements / t.n);
      if (rows < 1)
        return fail("a tile's columns do not fit into ub");
      p.pieces = piecesOf(t.m, rows);
      p.pieceM = t.m / p.pieces;
    }
    return true;
  }

  bool loops() {
    unsigned around = 0, sum = 0, results = 0, residual = 0;
    int64_t points = p.grid();
    auto count = [&](unsigned &depth, int64_t trips) {
      depth += trips > 1;
      points *= trips;
    };
    for (int64_t trips :
         {c.others, p.groupTrips, p.outerTrips, p.rowTrips, p.columnTrips, p.nTiles, p.mTiles})
      count(around, trips);
    int64_t before = points;
    count(sum, p.depthTrips);
    count(sum, p.steps);
    std::swap(before, points);
    int64_t ofResidual = c.identity ? points * std::max(p.tile.n / 16, p.chunkOuters) : 0;
    residual += c.identity && ofResidual > points;
    count(results, p.pieces);
    if (p.chunkOuters > 1 && (!p.imagesOfTile || soc.split))
      count(results, p.chunkOuters);
    if (!c.denseResult && soc.split)
      count(results, p.tile.m / c.rowUnit);
    if (around + std::max({sum, results, residual}) > kMaxLoops)
      return fail("more than 6 loops");
    // The verifier checks programs iteration by iteration before they run.
    if (std::max({before, points, ofResidual}) > 1000000)
      return fail("more than 1000000 iterations");
    return true;
  }

  const Contraction &c;
  const SocTable &soc;
  Plan p;
};

} // namespace

Plan planOf(const Contraction &contraction, const Tile &tile, const SocTable &soc) {
  return Planner(contraction, tile, soc).plan();
}

} // namespace atc::npu

//===-- ContractionWriter.cpp - writes the program of a contraction --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges use absolute positions wherever possible, so that their limits clamp everything behind the
// last row, column or step of the contracted dim.

#include "passes/npu/contraction/Contraction.h"
#include "passes/npu/contraction/PackNpuWeights.h"
#include "passes/npu/vector/VectorCode.h"

using namespace mlir;

namespace atc::npu {

namespace {

using llvm::alignTo;
using llvm::divideCeil;

/// All of `length` positions.
Span run(int64_t length) {
  Span span;
  span.length = length;
  return span;
}

class ContractionWriter {
public:
  ContractionWriter(ProgramWriter &w, const Contraction &c, const Plan &p)
      : w(w), c(c), p(p), t(p.tile), f16(w.builder().getF16Type()), f32(w.builder().getF32Type()) {}

  void write() {
    coreColumns = c.groups > 1 ? p.groupTrips * c.groupColumns() : p.columnTrips * t.l1N;
    coreN = coordinate(2, t.coresN);
    constants();
    nest(c.others, [&](Expr i) {
      other = i;
      nest(p.groupTrips, [&](Expr i) {
        localColumn = i * (c.groups > 1 ? c.groupColumns() : 0);
        group = c.groups > 1 ? coreN * p.groupTrips + i : Expr(0);
        chunks();
      });
    });
  }

private:
  /// Writes a loop; loops of one trip are omitted because the number of loops is limited.
  void nest(int64_t trips, llvm::function_ref<void(Expr)> body) {
    if (trips == 1)
      return body(Expr(0));
    w.loop(trips, [&](Value iv) { body(Expr(iv)); });
  }

  Expr coordinate(unsigned dim, int64_t cores) {
    return cores == 1 ? Expr(0) : Expr(w.coordinate(dim));
  }

  /// Loads the constants that stay in their buffers for the whole program.
  void constants() {
    int64_t all = alignTo(c.columns, 16);
    if (c.bias && p.biasResident) {
      biasL1 = w.alloc(ir::MemoryKind::L1, coreColumns * 4);
      Expr start = coreN * (coreColumns * 4);
      w.move(biasL1, {w.argument(c.bias), start}, {coreColumns * 4, start, all * 4});
    }
    if (c.slope) {
      slopeUb = w.alloc(ir::MemoryKind::UB, all * 2);
      w.move(slopeUb, w.argument(c.slope), run(all * 2));
    }
    if (c.scales) {
      scales = w.alloc(w.soc().split ? ir::MemoryKind::L1 : ir::MemoryKind::UB, all * 4);
      w.move(scales, w.argument(c.scales), run(all * 4));
    }
    if (c.identity) {
      constexpr int64_t bytes = kFractal * kFractal * 2;
      Value inL1 = w.alloc(ir::MemoryKind::L1, bytes);
      w.move(inL1, w.argument(c.identity), run(bytes));
      identity = w.alloc(ir::MemoryKind::L0B, bytes);
      w.load2d(identity, inL1, run(1), run(1), {bytes, bytes}, {bytes, bytes});
    }
    if (c.needsVector())
      body = epilogueBody(c);
  }

  //===--------------------------------------------------------------------===//
  // Chunks in l1
  //===--------------------------------------------------------------------===//

  void outers(llvm::function_ref<void()> inside) {
    Expr core = coordinate(0, p.coresOuter);
    nest(p.outerTrips, [&](Expr i) {
      outerChunk = core * p.outerTrips + i;
      inside();
    });
  }
  void rows(llvm::function_ref<void()> inside) {
    Expr core = coordinate(1, p.coresRow);
    nest(p.rowTrips, [&](Expr i) {
      rowChunk = core * p.rowTrips + i;
      inside();
    });
  }
  void columns(llvm::function_ref<void()> inside) {
    Expr groupColumn = localColumn;
    nest(p.columnTrips, [&](Expr i) {
      columnChunk = (c.groups > 1 ? Expr(0) : coreN * p.columnTrips) + i;
      localColumn = groupColumn + i * t.l1N;
      inside();
    });
    localColumn = groupColumn;
  }

  void chunks() {
    switch (t.order) {
    case Order::Lhs:
      outers([&] {
        rows([&] {
          loadLhs(0);
          columns([&] {
            loadRhs(0);
            tiles();
          });
        });
      });
      return;
    case Order::Rhs: {
      auto inner = [&] {
        rows([&] {
          loadLhs(0);
          tiles();
        });
      };
      // A right operand per outer is loaded inside.
      if (c.rhsOuter)
        outers([&] {
          columns([&] {
            loadRhs(0);
            inner();
          });
        });
      else
        columns([&] {
          loadRhs(0);
          outers(inner);
        });
      return;
    }
    case Order::None:
      outers([&] { rows([&] { columns([&] { tiles(); }); }); });
      return;
    }
  }

  /// First row of the image that is in l1.
  Expr imageRow() const {
    if (p.inRows == c.window.height && p.coresRow * p.rowTrips == 1)
      return 0;
    return rowChunk * (t.l1M / c.rowUnit * c.window.strideH) - c.window.padTop;
  }

  void loadLhs(const Expr &depthChunk) {
    lhsL1 = w.alloc(ir::MemoryKind::L1, p.lhsBytes);
    BufferAddress dst(lhsL1),
        src(w.argument(c.lhs), outerChunk * (p.chunkOuters * c.lhsOuter) + other * c.lhsOther);
    const Img2ColShape &s = c.window;
    if (c.lhsForm == LhsForm::Rows) {
      Expr row = rowChunk * t.l1M, column = depthChunk * t.l1K;
      src.offset = src.offset + row * c.lhsRow + column * 2;
      w.ndToNz(dst, src, {t.l1M, row, c.rows}, {t.l1K, column, c.depth}, f16, c.lhsRow,
               p.lhsColumn);
      return;
    }
    Expr y = imageRow();
    BufferAddress chroma = src;
    src.offset = src.offset + y * c.lhsRow;
    Span imageRows{p.inRows, y, s.height};
    if (c.colours) {
      src.offset = src.offset + c.colours->luma;
      chroma.offset = chroma.offset + c.colours->chroma;
      w.loadYuv(dst, src, chroma, imageRows, s.width, s.c0, c.lhsRow, s.width * s.c0 * 2,
                *c.colours, c.pixels);
      return;
    }
    if (c.lhsForm == LhsForm::Image) {
      w.loadImage(dst, src, imageRows, c.lhsType, c.channels, s.width, s.c0, c.lhsBlock, c.lhsRow,
                  s.width * s.c0 * 2, c.pixels, c.imageQuantization);
      return;
    }
    int64_t blocks = p.depthBlocksInL1() / c.depthUnit, row = s.width * 32;
    Expr block = group * s.channels1 + depthChunk * blocks;
    src.offset = src.offset + block * c.lhsBlock;
    Span channels{blocks, block, s.channels1 * c.groups};
    if (p.chunkOuters > 1)
      w.move(dst, src, run(p.lhsImage), channels, {p.lhsColumn, p.lhsImage},
             {c.lhsBlock, c.lhsOuter}, {p.chunkOuters, outerChunk * p.chunkOuters, c.outers});
    else if (c.denseImage)
      w.move(dst, src, {p.inRows * row, y * row, s.height * row}, channels, {p.lhsColumn, 0},
             {c.lhsBlock, 0});
    else
      w.move(dst, src, run(row), channels, {p.lhsColumn, row}, {c.lhsBlock, c.lhsRow}, imageRows);
  }

  void loadRhs(const Expr &depthChunk) {
    rhsL1 = w.alloc(ir::MemoryKind::L1, p.rhsBytes);
    BufferAddress dst(rhsL1), src(w.argument(c.rhs), outerChunk * c.rhsOuter + other * c.rhsOther);
    Expr column = columnChunk * t.l1N, depth = depthChunk * t.l1K;
    Span columns{t.l1N, column, c.columns}, sum{t.l1K, depth, c.depth};
    if (c.rhsForm == RhsForm::Rows) {
      src.offset = src.offset + depth * c.rhsRow + column * 2;
      w.ndToNz(dst, src, sum, columns, f16, c.rhsRow, t.l1K * 32);
      return;
    }
    if (c.rhsForm == RhsForm::TransposedRows) {
      src.offset = src.offset + column * c.rhsRow + depth * 2;
      w.ndToNz(dst, src, columns, sum, f16, c.rhsRow, t.l1N * 32);
      return;
    }
    // [K1][N1] of each group: column blocks of 512 bytes.
    int64_t blocks = p.depthBlocksInL1(), row = divideCeil(c.groupColumns(), 16) * 512;
    Expr block = depthChunk * blocks + group * c.depthBlocks(), from = column * 32;
    src.offset = src.offset + block * row + from;
    w.move(dst, src, {t.l1N * 32, from, row}, {blocks, block, c.depthBlocks() * c.groups},
           {t.l1N * 32, 0}, {row, 0});
  }

  //===--------------------------------------------------------------------===//
  // Tiles in l0
  //===--------------------------------------------------------------------===//

  void tiles() {
    nest(p.nTiles, [&](Expr i) {
      nTile = i;
      column = group * (c.groups > 1 ? c.groupColumns() : 0) + columnChunk * t.l1N + i * t.n;
      if (c.bias)
        loadBias();
      nest(p.mTiles, [&](Expr i) {
        mTile = i;
        tile();
      });
    });
  }

  void loadBias() {
    Span bytes{t.n * 4, column * 4, int64_t(alignTo(c.columns, 16)) * 4};
    BufferAddress from(biasL1, (localColumn + nTile * t.n) * 4);
    if (!p.biasResident) {
      from = BufferAddress(w.alloc(ir::MemoryKind::L1, t.n * 4));
      w.move(from, {w.argument(c.bias), column * 4}, bytes);
    }
    biasBt = w.alloc(ir::MemoryKind::BT, t.n * 4);
    w.move(biasBt, from, bytes);
  }

  /// Returns the tile's first row where rows are clamped.
  Expr firstRow() const {
    Expr inChunk = mTile * t.m;
    return p.relativeRows ? inChunk : (p.chunkOuters > 1 ? outerChunk : rowChunk) * t.l1M + inChunk;
  }
  int64_t rowLimit() const {
    return p.relativeRows ? t.l1M : c.rows * (p.chunkOuters > 1 ? c.outers : 1);
  }

  void tile() {
    int64_t column1 = alignTo(t.m, 16) * 64;
    l0c = w.alloc(ir::MemoryKind::L0C, t.n / 16 * column1);
    Value residual;
    if (c.identity) {
      pieceColumn = column;
      pieceRow = 0;
      residual = w.alloc(ir::MemoryKind::L1, p.residualBytes);
      transfer(c.residual, residual, false);
    }
    nest(p.depthTrips, [&](Expr depthChunk) {
      if (t.order == Order::None) {
        loadLhs(depthChunk);
        loadRhs(depthChunk);
      }
      nest(p.steps, [&](Expr step) {
        Value a = toL0A(depthChunk, step), b = toL0B(depthChunk, step);
        const int64_t pair = c.isInteger ? 2 : 1;
        SmallVector<Value> first;
        for (const Expr &expr : {depthChunk, step})
          for (auto [iv, stride] : expr.terms)
            first.push_back(iv);
        w.mmad(l0c, a, b, c.bias ? std::optional(BufferAddress(biasBt)) : std::nullopt,
               {t.m, firstRow(), rowLimit()}, {t.n, column, c.columns},
               {t.k * pair, (depthChunk * t.l1K + step * t.k) * pair, c.depth * pair},
               c.isInteger ? c.lhsType : f16, first, column1, t.k * 32, t.n * 32);
      });
    });
    if (residual)
      addResidual(residual, column1);
    if (w.soc().split)
      results();
    else
      nest(p.pieces, [&](Expr i) { piece(i); });
  }

  /// Adds the residual to the accumulators, 16 columns at a time: as a product with the identity.
  void addResidual(Value residual, int64_t column1) {
    const int64_t fractals = divideCeil(t.m, 16);
    nest(t.n / 16, [&](Expr block) {
      Value a = w.alloc(ir::MemoryKind::L0A, fractals * 512);
      w.load2d(a, {residual, block * (t.m * 32)}, run(fractals), run(1), {512, 512},
               {512, t.m * 32});
      w.mmad({l0c, block * column1}, a, identity, std::nullopt, {t.m, firstRow(), rowLimit()},
             {16, column + block * 16, c.columns}, run(16), f16, {}, column1, 512, 512,
             /*accumulate=*/true);
    });
  }

  Value toL0A(const Expr &depthChunk, const Expr &step) {
    int64_t blocks = t.k / 16, m1 = divideCeil(t.m, 16);
    Value a = w.alloc(ir::MemoryKind::L0A, m1 * t.k * 32);
    Span sum{blocks, depthChunk * p.depthBlocksInL1() + step * blocks, c.depthBlocks()};
    if (c.img2col) {
      int64_t channels = p.depthBlocksInL1() / c.depthUnit;
      Expr from = depthChunk * (c.lhsForm == LhsForm::Image ? 0 : -channels * p.lhsColumn);
      if (p.chunkOuters > 1 && !p.relativeRows)
        from = from - outerChunk * (p.chunkOuters * p.lhsImage);
      w.img2col(a, {lhsL1, from}, {t.m, firstRow(), rowLimit()}, sum, {1, imageRow()}, c.window,
                p.lhsImage, p.lhsColumn, t.k * 32);
      return a;
    }
    Span fractals = run(m1);
    if (t.m % 16 == 0 && t.l1M % 16 == 0) {
      Expr start = firstRow();
      fractals.limit = divideCeil(rowLimit(), 16);
      fractals.start.base = start.base / 16;
      for (auto [iv, stride] : start.terms)
        fractals.start.terms.push_back({iv, stride / 16});
    }
    w.load2d(a, {lhsL1, mTile * (t.m * 32) + step * (blocks * p.lhsColumn)}, fractals, sum,
             {t.k * 32, 512}, {512, p.lhsColumn});
    return a;
  }

  Value toL0B(const Expr &depthChunk, const Expr &step) {
    int64_t blocks = t.k / 16, n1 = t.n / 16;
    Value b = w.alloc(ir::MemoryKind::L0B, t.n * t.k * 2);
    Span sum{blocks, depthChunk * p.depthBlocksInL1() + step * blocks, c.depthBlocks()};
    int64_t groupBlocks = c.groups > 1 ? c.groupColumns() / 16 : 0;
    Span columns{n1, group * groupBlocks + columnChunk * (t.l1N / 16) + nTile * n1,
                 c.columnBlocks()};
    bool rows = c.rhsForm == RhsForm::Rows;
    Steps from = rows ? Steps{512, t.l1K * 32} : Steps{t.l1N * 32, 512};
    w.load2d(b, {rhsL1, step * (blocks * from.outer) + nTile * (n1 * from.inner)}, sum, columns,
             {t.n * 32, 512}, from, rows);
    return b;
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// Writes a chunk of the tile: out of l0c, through the vector unit, to gm.
  void piece(const Expr &number) {
    int64_t element = c.resultBytes(), column1 = alignTo(t.m, 16) * 64;
    bool blocked = c.blocked();
    pieceColumn = column + (blocked ? number * p.pieceN : Expr(0));
    pieceRow = blocked ? Expr(0) : number * p.pieceM;
    int64_t bytes = p.pieceM * p.pieceN * element;
    Steps steps{blocked ? p.pieceM * 32 : p.pieceN * element, 0};
    Value residual;
    if (c.residual.value) {
      residual = w.alloc(ir::MemoryKind::UB, bytes);
      transfer(c.residual, residual, false);
    }
    Value ub = w.alloc(ir::MemoryKind::UB, bytes);
    BufferAddress from(l0c,
                       blocked ? number * (p.pieceN / 16 * column1) : number * (p.pieceM * 64));
    Span rows{p.pieceM, firstRow() + pieceRow, rowLimit()};
    Span columns{p.pieceN, pieceColumn, c.columns};
    VectorOperand result{ub, 0, c.outputType, steps};
    SmallVector<VectorOperand> inputs{result};
    if (c.requantization) {
      BufferAddress factors(scales, pieceColumn * 4);
      if (c.addition) {
        w.requantizeAdd(ub, from, factors, residual, rows, columns, sumType(), *c.requantization,
                        *c.addition, column1, 32, steps.outer);
      } else if (body) {
        // Converts one block of columns to rows of f32.
        inputs.front() = {w.alloc(ir::MemoryKind::UB, bytes * 4), 0, f32, {p.pieceM * 128, 0}};
        w.requantize(inputs.front().buffer, from, factors, rows, columns, sumType(),
                     *c.requantization, column1, 128, 64);
      } else {
        w.requantize(ub, from, factors, rows, columns, sumType(), *c.requantization, column1, 32,
                     steps.outer);
      }
    } else {
      w.moveL0C(ub, from, rows, columns, f32, c.outputType, c.convertsWithRelu(), column1,
                blocked ? 32 : steps.outer, blocked ? steps.outer : 16 * element);
    }
    if (body) {
      VectorShape shape{rows, {}, columns};
      if (blocked)
        shape = {blockSpan(),
                 {},
                 {p.pieceM * c.lanes(), rows.start * c.lanes(), rows.limit * c.lanes()}};
      if (residual)
        inputs.push_back({residual, 0, c.outputType, steps});
      if (c.slope)
        inputs.push_back({slopeUb, pieceColumn * 2, f16, {32, 0}, 0});
      emitScalarCode(w, *body, inputs, result, shape);
    }
    transfer(c.output, ub, true);
  }

  /// Returns the type of the sums in l0c.
  Type sumType() const { return c.isInteger ? Type(w.builder().getI32Type()) : f32; }

  Span blockSpan() const {
    Expr start;
    const int64_t lanes = c.lanes();
    start.base = pieceColumn.base / lanes;
    for (auto [iv, stride] : pieceColumn.terms)
      start.terms.push_back({iv, stride / lanes});
    return {p.pieceN / lanes, start, int64_t(divideCeil(c.columns, lanes))};
  }

  /// Moves a chunk between gm and ub.
  void transfer(const ResultLayout &layout, Value ub, bool toGm) {
    int64_t element = c.resultBytes();
    auto move = [&](Expr gmOffset, Span bytes, Span outer, Span inner, Steps gm, Steps local) {
      BufferAddress there(w.argument(layout.value), std::move(gmOffset)), here(ub);
      if (toGm)
        w.move(there, here, bytes, outer, gm, local, inner);
      else
        w.move(here, there, bytes, outer, local, gm, inner);
    };
    Expr inImage = rowChunk * t.l1M + mTile * t.m;
    Expr base = outerChunk * (p.chunkOuters * layout.outer) + other * layout.other;
    if (!c.blocked()) {
      move(base + (inImage + pieceRow) * layout.row + pieceColumn * element,
           {p.pieceN * element, pieceColumn * element, c.columns * element}, {},
           {p.pieceM, firstRow() + pieceRow, rowLimit()}, {0, layout.row}, {0, p.pieceN * element});
      return;
    }
    Span blocks = blockSpan();
    base = base + blocks.start * layout.block;
    int64_t localBlock = p.pieceM * 32;
    if (p.imagesOfTile) {
      Expr image = mTile * p.imagesOfTile;
      move(base + image * layout.outer, run(c.rows * 32), blocks,
           {p.imagesOfTile, outerChunk * p.chunkOuters + image, c.outers},
           {layout.block, layout.outer}, {localBlock, c.rows * 32});
    } else if (p.chunkOuters > 1) {
      // The tile's part of each image of the chunk, often empty.
      nest(p.chunkOuters, [&](Expr image) {
        Expr start = mTile * (t.m * 32) - image * (c.rows * 32);
        move(base + image * layout.outer + start, {t.m * 32, start, c.rows * 32}, blocks,
             {1, outerChunk * p.chunkOuters + image, c.outers}, {layout.block, 0}, {localBlock, 0});
      });
    } else if (c.denseResult) {
      move(base + inImage * 32, {t.m * 32, firstRow() * 32, rowLimit() * 32}, blocks, {},
           {layout.block, 0}, {localBlock, 0});
    } else {
      int64_t unit = c.rowUnit;
      Expr tileRow = mTile * (t.m / unit), imageRow = rowChunk * (t.l1M / unit) + tileRow;
      move(base + imageRow * layout.row, run(unit * 32), blocks,
           {t.m / unit, p.relativeRows ? tileRow : imageRow, rowLimit() / unit},
           {layout.block, layout.row}, {localBlock, unit * 32});
    }
  }

  /// Split cores: fix writes straight to gm.
  void results() {
    int64_t element = c.resultBytes(), column1 = alignTo(t.m, 16) * 64;
    const ResultLayout &layout = c.output;
    Expr inImage = rowChunk * t.l1M + mTile * t.m;
    Expr base = outerChunk * (p.chunkOuters * layout.outer) + other * layout.other;
    Span columns{t.n, column, c.columns};
    auto move = [&](Expr to, Expr from, Span rows, int64_t rowStep, int64_t columnStep) {
      BufferAddress result(w.argument(layout.value), std::move(to)), sums(l0c, std::move(from));
      if (c.requantization)
        w.requantize(result, sums, {scales, column * 4}, std::move(rows), columns, sumType(),
                     *c.requantization, column1, rowStep, columnStep);
      else
        w.moveL0C(result, sums, std::move(rows), columns, f32, c.outputType, c.convertsWithRelu(),
                  column1, rowStep, columnStep);
    };
    if (!c.blocked())
      return move(base + inImage * layout.row + column * element, 0, {t.m, firstRow(), rowLimit()},
                  layout.row, 16 * element);
    pieceColumn = column;
    base = base + blockSpan().start * layout.block;
    if (p.chunkOuters > 1)
      nest(p.chunkOuters, [&](Expr image) {
        Expr start = mTile * t.m - image * c.rows;
        move(base + image * layout.outer + start * 32, 0, {t.m, start, c.rows}, 32, layout.block);
      });
    else if (c.denseResult)
      move(base + inImage * 32, 0, {t.m, firstRow(), rowLimit()}, 32, layout.block);
    else
      nest(t.m / c.rowUnit, [&](Expr row) {
        Expr imageRow = rowChunk * (t.l1M / c.rowUnit) + mTile * (t.m / c.rowUnit) + row;
        move(base + imageRow * layout.row, row * (c.rowUnit * 64),
             {c.rowUnit, firstRow() + row * c.rowUnit, rowLimit()}, 32, layout.block);
      });
  }

  ProgramWriter &w;
  const Contraction &c;
  const Plan &p;
  const Tile &t;
  Type f16, f32;
  int64_t coreColumns = 0;
  Expr coreN, other, group, outerChunk, rowChunk, columnChunk, mTile, nTile;
  Expr column;      ///< first one of the tile, of all groups
  Expr localColumn; ///< the chunk's first one of those of this core
  Expr pieceColumn, pieceRow;
  Value biasL1, biasBt, slopeUb, scales, lhsL1, rhsL1, l0c, identity;
  std::unique_ptr<Block> body;
};

} // namespace

void writeContraction(ProgramWriter &writer, const Contraction &contraction, const Plan &plan) {
  ContractionWriter(writer, contraction, plan).write();
}

} // namespace atc::npu

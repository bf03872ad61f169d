//===-- Contraction.h - what convolutions and matmuls have in common -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// npu.conv2d and npu.matmul are both products of rows (output positions, rows
// of a matrix) by columns (output channels). A Contraction says where the rows,
// columns and results lie, a Tile how they are cut, a Plan what follows from
// both for loops and buffers. Cost model and expansion read the same Plan.

#ifndef OPENATC_PASSES_NPU_CONTRACTION_CONTRACTION_H
#define OPENATC_PASSES_NPU_CONTRACTION_CONTRACTION_H

#include "dialects/graph/Graph.h"
#include "passes/npu/program/ProgramWriter.h"
#include "llvm/Support/MathExtras.h"

namespace atc::npu {

enum class LhsForm { Blocks, Image, Rows };          ///< NC1HWC0, planes, row-major
enum class RhsForm { Packed, Rows, TransposedRows }; ///< fractals, [K][N], [N][K]

/// Where a result (or residual) lies; bytes.
struct ResultPlace {
  mlir::Value value;
  int64_t outer = 0, other = 0; ///< to the next image or product
  int64_t block = 0;            ///< to the next 16 columns (of blocks)
  int64_t row = 0;              ///< to the next row: of an image, of a matrix
};

struct Contraction {
  LhsForm lhsForm = LhsForm::Blocks;
  RhsForm rhsForm = RhsForm::Packed;
  mlir::Value lhs, rhs, bias, slope, scales;
  ResultPlace output, residual;
  mlir::Type lhsType, outputType;
  graph::ActivationAttr activation;
  bool residualLast = false;
  double scale = 1;
  /// Of results that leave l0c as quantized numbers, and what follows.
  std::optional<Requantization> requantization;
  mlir::Block *body = nullptr;
  /// The same where it only adds a residual: done while l0c is left.
  std::optional<Addition> addition;
  /// Bytes are multiplied. Sizes along the sum count pairs of them, so that all
  /// blocks have the bytes that they have in f16.
  bool isInteger = false;
  /// Of the epilogue's code: bytes of temporaries and cycles for an element.
  int64_t scratchPerElement = 0;
  double vectorCycles = 0;

  int64_t outers = 1;       ///< images, or products that cores may share
  int64_t others = 1;       ///< products around them
  int64_t groups = 1;       ///< of columns, each with its own part of the sum
  int64_t rows = 1;         ///< of one outer
  int64_t rowUnit = 1;      ///< chunks inside an image are multiples of it
  bool joinsOuters = false; ///< a chunk may be several whole images
  bool denseResult = true;  ///< an image's rows lie one behind the other
  int64_t columns = 1;      ///< of all groups
  int64_t depth = 1;        ///< of the sum of one group
  int64_t depthUnit = 1;    ///< chunks of the sum are multiples of it (in fractals)

  // Left operand; bytes.
  int64_t lhsOuter = 0, lhsOther = 0, lhsBlock = 0, lhsRow = 0;
  int64_t channels = 0; ///< of an image in planes
  std::optional<ImageQuantization> imageQuantization;
  bool img2col = false;   ///< else rows in l1 are those of l0a
  bool denseImage = true; ///< an image's rows lie one behind the other in gm
  Img2ColShape window;    ///< its height counts the rows that are moved
  // Right operand; bytes.
  int64_t rhsOuter = 0, rhsOther = 0, rhsRow = 0;

  int64_t groupColumns() const { return columns / groups; }
  int64_t depthBlocks() const { return llvm::divideCeil(depth, 16); }
  int64_t columnBlocks() const { return llvm::divideCeil(columns, 16); }
  int64_t resultBytes() const { return outputType.getIntOrFloatBitWidth() / 8; }
  /// Channels of 32 bytes of a blocked result.
  int64_t lanes() const { return requantization ? 32 : 16; }
  bool blocked() const { return lhsForm != LhsForm::Rows; }
  /// The vector unit has work beside converting results.
  bool needsVector() const;
  /// relu while results are converted.
  bool convertsWithRelu() const;
};

/// The body of an integer convolution, if it only adds a residual of bytes and
/// stores the sum.
std::optional<Addition> additionOf(mlir::Block &body);

/// What the vector unit does: scalar code on (result, residual if there is one,
/// slope if there is one), ending in a kernel.yield.
std::unique_ptr<mlir::Block> epilogueBody(const Contraction &contraction);

/// Which operand stays in l1 while the other one streams past it.
enum class Order { Lhs, Rhs, None };

struct Tile {
  int64_t m = 16, n = 16, k = 16, l1M = 16, l1N = 16, l1K = 16, coresM = 1, coresN = 1;
  Order order = Order::None;
};
Tile tileOf(ir::TileAttr attribute);
ir::TileAttr attributeOf(mlir::MLIRContext *context, const Tile &tile);

/// Loops and buffers that a tile leads to, or why it cannot be.
struct Plan {
  std::string fault;
  Tile tile;
  int64_t coresOuter = 1, coresRow = 1;
  int64_t chunkOuters = 1;                 ///< images in a chunk of rows
  int64_t outerTrips = 1, rowTrips = 1;    ///< chunks of a core
  int64_t groupTrips = 1, columnTrips = 1; ///< ... of columns
  int64_t mTiles = 1, nTiles = 1;          ///< tiles of a chunk
  int64_t depthTrips = 1, steps = 1;       ///< chunks of the sum, steps of a chunk
  bool relativeRows = false;               ///< rows are cut at the chunk's end
  int64_t inRows = 1;                      ///< of an image in l1
  int64_t lhsColumn = 0;                   ///< bytes from one block of the sum to the next in l1
  int64_t lhsImage = 0;
  int64_t lhsBytes = 0, rhsBytes = 0, biasBytes = 0;
  bool biasResident = true;
  int64_t lhsBuffers = 1, rhsBuffers = 1, l0cBuffers = 1;
  int64_t pieceM = 0, pieceN = 0, pieces = 1; ///< of a tile in ub
  int64_t imagesOfTile = 0;                   ///< whole images that a tile is, 0 if it is not
  int64_t grid() const { return coresOuter * coresRow * tile.coresN; }
  int64_t depthBlocksInL1() const { return tile.l1K / 16; }
};
Plan planOf(const Contraction &contraction, const Tile &tile, const SocTable &soc);

/// Writes the whole program.
void writeContraction(ProgramWriter &writer, const Contraction &contraction, const Plan &plan);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_CONTRACTION_H

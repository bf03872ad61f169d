//===-- Contraction.h - common view of convolutions and matmuls ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// npu.conv2d and npu.matmul are both products of rows (output positions, rows of a matrix) by
// columns (output channels). A Contraction describes the layout of operands and results, a Tile
// their tiling, a Plan the resulting loops and buffers. Cost model and expansion use the same Plan.

#ifndef OPENATC_PASSES_NPU_CONTRACTION_CONTRACTION_H
#define OPENATC_PASSES_NPU_CONTRACTION_CONTRACTION_H

#include "dialects/graph/GraphDialect.h"
#include "passes/npu/program/ProgramWriter.h"
#include "llvm/Support/MathExtras.h"

namespace atc::npu {

enum class LhsForm { Blocks, Image, Rows };          ///< NC1HWC0, planes, row-major
enum class RhsForm { Packed, Rows, TransposedRows }; ///< fractals, [K][N], [N][K]

/// The location of a result (or residual); strides are in bytes.
struct ResultLayout {
  mlir::Value value;
  int64_t outer = 0, other = 0; ///< to the next image or product
  int64_t block = 0;            ///< to the next 16 columns (of blocks)
  int64_t row = 0;              ///< to the next row: of an image, of a matrix
};

/// A convolution or matrix product.
struct Contraction {
  LhsForm lhsForm = LhsForm::Blocks;
  RhsForm rhsForm = RhsForm::Packed;
  mlir::Value lhs, rhs, bias, slope, scales;
  /// A matrix by which the cube multiplies the residual to add it to the accumulators; none: the
  /// vector unit adds it.
  mlir::Value identity;
  ResultLayout output, residual;
  mlir::Type lhsType, outputType;
  graph::ActivationAttr activation;
  bool residualLast = false;
  double scale = 1;
  /// How results are quantized when they leave l0c, if they are, and the code that follows.
  std::optional<Requantization> requantization;
  mlir::Block *body = nullptr;
  /// The residual, if that code only adds one: it is added while the results leave l0c.
  std::optional<Addition> addition;
  /// Bytes are multiplied. Sizes along the contracted dim count pairs of bytes, so that all blocks
  /// have the same size in bytes as in f16.
  bool isInteger = false;
  /// The cost of the epilogue's code: bytes of temporaries and cycles per element.
  int64_t scratchPerElement = 0;
  double vectorCycles = 0;

  int64_t outers = 1;       ///< images, or products that cores may share
  int64_t others = 1;       ///< products around them
  int64_t groups = 1;       ///< of columns, each with its own part of the contracted dim
  int64_t rows = 1;         ///< per outer
  int64_t rowUnit = 1;      ///< chunks inside an image are multiples of it
  bool joinsOuters = false; ///< a chunk may consist of several whole images
  bool denseResult = true;  ///< the rows of an image are contiguous
  int64_t columns = 1;      ///< of all groups
  int64_t depth = 1;        ///< length of the contracted dim per group
  int64_t depthUnit = 1;    ///< chunks of the contracted dim are multiples of it (in fractals)

  // Left operand; bytes.
  int64_t lhsOuter = 0, lhsOther = 0, lhsBlock = 0, lhsRow = 0;
  int64_t channels = 0; ///< of an image
  ImagePixels pixels;   ///< of an image
  std::optional<ImageColours> colours;
  std::optional<ImageQuantization> imageQuantization;
  bool img2col = false;     ///< else rows in l1 are those of l0a
  bool denseImage = true;   ///< the rows of an image are contiguous in gm
  Img2ColShape window = {}; ///< its height counts the rows that are moved
  // Right operand; bytes.
  int64_t rhsOuter = 0, rhsOther = 0, rhsRow = 0;

  /// Return sizes derived from the fields: columns per group, blocks of 16 along the depth and the
  /// columns, and the bytes per element of the result.
  int64_t groupColumns() const { return columns / groups; }
  int64_t depthBlocks() const { return llvm::divideCeil(depth, 16); }
  int64_t columnBlocks() const { return llvm::divideCeil(columns, 16); }
  int64_t resultBytes() const { return outputType.getIntOrFloatBitWidth() / 8; }
  /// Returns the channels per 32 bytes of a blocked result.
  int64_t lanes() const { return requantization ? 32 : 16; }
  bool blocked() const { return lhsForm != LhsForm::Rows; }
  /// Returns whether the vector unit has work besides converting results.
  bool needsVector() const;
  /// Returns whether relu, or the lower bound of a clip from 0 on, is applied while results are
  /// converted.
  bool convertsWithRelu() const;
};

/// Returns the addition of an integer convolution's body, if it only adds a quantized residual and
/// stores the result; nothing otherwise.
std::optional<Addition> additionOf(mlir::Block &body);

/// Returns the code of the vector unit: scalar code on (result, residual if there is one, slope if
/// there is one), ending in a kernel.yield.
std::unique_ptr<mlir::Block> epilogueBody(const Contraction &contraction);

/// The operand that stays in l1 while the other one is streamed.
enum class Order { Lhs, Rhs, None };

/// The sizes of tiles in l0 and l1 and the division among cores.
struct Tile {
  int64_t m = 16, n = 16, k = 16, l1M = 16, l1N = 16, l1K = 16, coresM = 1, coresN = 1;
  Order order = Order::None;
};
/// Convert a tile to and from its attribute.
Tile tileOf(ir::TileAttr attribute);
ir::TileAttr attributeOf(mlir::MLIRContext *context, const Tile &tile);

/// The loops and buffers that result from a tile.
struct Plan {
  /// The reason why the tile is not possible; empty: it is.
  std::string errorText;
  Tile tile;
  int64_t coresOuter = 1, coresRow = 1;
  int64_t chunkOuters = 1;                 ///< images in a chunk of rows
  int64_t outerTrips = 1, rowTrips = 1;    ///< chunks per core
  int64_t groupTrips = 1, columnTrips = 1; ///< ... of columns
  int64_t mTiles = 1, nTiles = 1;          ///< tiles per chunk
  int64_t depthTrips = 1, steps = 1;       ///< chunks of the contracted dim, steps per chunk
  bool relativeRows = false;               ///< rows are clamped at the chunk's end
  int64_t inRows = 1;                      ///< rows of an image in l1
  int64_t lhsColumn = 0; ///< bytes from one block of the contracted dim to the next in l1
  int64_t lhsImage = 0;
  int64_t lhsBytes = 0, rhsBytes = 0, biasBytes = 0;
  int64_t residualBytes = 0; ///< of a tile's residual in l1, if the cube adds it
  bool biasResident = true;
  int64_t lhsBuffers = 1, rhsBuffers = 1, l0cBuffers = 1;
  int64_t pieceM = 0, pieceN = 0, pieces = 1; ///< chunks of a tile in ub
  /// number of whole images in a tile, 0 if it is not made of whole images
  int64_t imagesOfTile = 0;
  int64_t grid() const { return coresOuter * coresRow * tile.coresN; }
  int64_t depthBlocksInL1() const { return tile.l1K / 16; }
};
/// Returns the plan for a tile.
Plan planOf(const Contraction &contraction, const Tile &tile, const SocTable &soc);

/// Writes the whole program.
void writeContraction(ProgramWriter &writer, const Contraction &contraction, const Plan &plan);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_CONTRACTION_H

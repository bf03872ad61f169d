//===-- ProgramWriter.h - writes npu programs ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The common base of all npu-expand-* passes: addresses and ranges are expressions over induction
// variables of loops (ivs), from which the ops' iv lists and affine attributes are made.

#ifndef OPENATC_PASSES_NPU_PROGRAM_PROGRAMWRITER_H
#define OPENATC_PASSES_NPU_PROGRAM_PROGRAMWRITER_H

#include "dialects/npu/Npu.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "npu/soc/Soc.h"
#include "passes/om/Schedule.h"

namespace atc::npu {

/// An expression: base + sum of stride x iv.
struct Expr {
  int64_t base = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 4> terms;
  Expr() = default;
  Expr(int64_t base) : base(base) {}
  /// Converts an iv, with stride 1.
  Expr(mlir::Value iv) : terms{{iv, 1}} {}
};
Expr operator+(Expr a, const Expr &b);
Expr operator-(Expr a, const Expr &b);
Expr operator*(Expr a, int64_t factor);

/// The positions [start, start + length) clamped to [0, limit).
struct Span {
  int64_t length = 1;
  Expr start;
  int64_t limit = INT64_MAX;
};

/// A location in a buffer, `offset` bytes from its start.
struct BufferAddress {
  mlir::Value buffer;
  Expr offset;
  BufferAddress() = default;
  BufferAddress(mlir::Value buffer, Expr offset = {}) : buffer(buffer), offset(std::move(offset)) {}
};

/// The strides of two nested ranges in bytes.
struct Steps {
  int64_t outer = 0, inner = 0;
};

/// A condition: an instruction runs only in some iterations of the loop of `iv`.
struct When {
  ir::GuardKind kind = ir::GuardKind::Always;
  mlir::Value iv;
};

/// The shape of an img2col in elements; `channels1` counts blocks of c0 channels.
struct Img2ColShape {
  int64_t c0 = 16, channels1, height, width, outHeight, outWidth;
  int64_t kernelH, kernelW, strideH, strideW, dilationH = 1, dilationW = 1;
  int64_t padTop = 0, padLeft = 0;
  int64_t elementBytes = 2, pad = 0; ///< `pad`: the bits of the padding value
};

/// The conversion of accumulators to stored integers: saturate(round(sum * scale) + offset), at
/// least `offset` with `relu`. With a nonzero factor the result is (stored - offset) * factor.
struct Requantization {
  mlir::Type stored;
  bool relu = false;
  double offset = 0, factor = 0;
};

/// The quantization of an image: saturate(round(x / scale) + offset) as int8 or uint8.
struct ImageQuantization {
  double scale = 1, offset = 0;
  bool isSigned = false;
};

/// The order and the normalization of the pixels of an image: `step` bytes from one to the next (0:
/// one element), and channel c becomes (x - means[c]) * factors[c] where there are factors.
struct ImagePixels {
  int64_t step = 0;
  llvm::SmallVector<double, 4> means, factors;
};

/// The colours of an image of luma and chroma: channel c is floor((matrix[3 c] * luma +
/// matrix[3 c + 1] * u + matrix[3 c + 2] * v + bias[c]) / 256), kept in 0 .. 255.
struct ImageColours {
  int64_t luma = 0, chroma = 0; ///< bytes from the begin of an image to row 0 of its window
  int64_t chromaRows = 0;       ///< of the window
  llvm::SmallVector<int64_t, 9> matrix;
  llvm::SmallVector<int64_t, 3> bias;
};

/// The addition of a stored byte, read as (byte - offset) * factor, to (stored - offset) * factor,
/// and the conversion of the total, at least 0 with `relu`: saturate(round(total * resultFactor) +
/// resultOffset) of `result`.
struct Addition {
  mlir::Type type, result;
  double offset = 0, factor = 1;
  bool relu = false;
  double resultFactor = 1, resultOffset = 0;
};

/// An operand of a vector instruction; `block` is 32, or 0 to repeat the first 32 bytes of a run.
struct VectorSource {
  BufferAddress address;
  Steps steps;
  int64_t block = 32;
};

/// Turns a kernel function into a program. Instructions are appended to the innermost open loop;
/// `when` applies to all instructions until it is changed.
class ProgramWriter {
public:
  /// Creates a program in place of `kernel` (a func.func with the attributes npu.kernel and
  /// npu.soc): one gm buffer per argument, followed by the `grid` coordinates. The function exists
  /// until `finish`.
  ProgramWriter(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> grid, bool vectorCore = false);
  /// Adds to a block of a program that exists, in front of `point`.
  ProgramWriter(ir::ProgramOp program, mlir::Block *block, mlir::Block::iterator point);
  /// Erases the function; the program takes its name.
  void finish();

  const SocTable &soc() const { return table; }
  mlir::ImplicitLocOpBuilder &builder() { return b; }
  mlir::MLIRContext *context() { return b.getContext(); }
  /// Returns the gm buffer of an argument of the kernel function.
  mlir::Value argument(unsigned index);
  mlir::Value argument(mlir::Value functionArgument);
  /// Returns the core's coordinate in dim `index` of the grid.
  mlir::Value coordinate(unsigned index);

  /// Allocates a buffer of `bytes` bytes in a local memory, inside the current loop.
  mlir::Value alloc(ir::MemoryKind memory, int64_t bytes);
  /// Writes a loop, even for a single trip, so that code has a uniform structure.
  void loop(int64_t trips, llvm::function_ref<void(mlir::Value)> body);
  When when;

  /// Writes a move of `outer` x `inner` runs of `bytes` bytes.
  void move(BufferAddress dst, BufferAddress src, Span bytes, Span outer = {}, Steps dstSteps = {},
            Steps srcSteps = {}, Span inner = {});
  /// The following functions write one instruction each; docs/npu-isa.md describes them. Strides
  /// are in bytes.
  void ndToNz(BufferAddress dst, BufferAddress src, Span rows, Span cols, mlir::Type type,
              int64_t srcRow, int64_t dstCol);
  void loadImage(BufferAddress dst, BufferAddress src, Span rows, mlir::Type type, int64_t channels,
                 int64_t width, int64_t c0, int64_t srcPlane, int64_t srcRow, int64_t dstRow,
                 const ImagePixels &pixels = {},
                 const std::optional<ImageQuantization> &quantization = std::nullopt);
  /// Loads an image of luma and chroma; `chroma` is the position of its row 0.
  void loadYuv(BufferAddress dst, BufferAddress luma, BufferAddress chroma, Span rows,
               int64_t width, int64_t c0, int64_t srcRow, int64_t dstRow,
               const ImageColours &colours, const ImagePixels &pixels);
  void load2d(BufferAddress dst, BufferAddress src, Span outer, Span inner, Steps dstSteps,
              Steps srcSteps, bool transpose = false);
  void img2col(BufferAddress dst, BufferAddress src, Span m, Span k, Span row0,
               const Img2ColShape &shape, int64_t srcImage, int64_t srcChannel, int64_t dstRow);
  /// Starts from zero (or `bias`) in iterations where all ivs of `first` are 0.
  void mmad(BufferAddress dst, BufferAddress a, BufferAddress b, std::optional<BufferAddress> bias,
            Span m, Span n, Span k, mlir::Type type, llvm::ArrayRef<mlir::Value> first,
            int64_t dstCol, int64_t aRow, int64_t bRow, bool accumulate = false);
  void moveL0C(BufferAddress dst, BufferAddress src, Span m, Span n, mlir::Type type,
               mlir::Type dstType, bool relu, int64_t srcCol, int64_t dstRow, int64_t dstCol,
               double scale = 1.0);
  void requantize(BufferAddress dst, BufferAddress src, BufferAddress scales, Span m, Span n,
                  mlir::Type type, const Requantization &to, int64_t srcCol, int64_t dstRow,
                  int64_t dstCol);
  /// Writes a requantization with addition; `addend` has the layout of the result in `dst`.
  void requantizeAdd(BufferAddress dst, BufferAddress src, BufferAddress scales,
                     BufferAddress addend, Span m, Span n, mlir::Type type,
                     const Requantization &first, const Addition &addition, int64_t srcCol,
                     int64_t dstRow, int64_t dstCol);
  void vector(VectorOp op, BufferAddress dst, Steps dstSteps, std::optional<VectorSource> a,
              std::optional<VectorSource> b, std::optional<VectorSource> mask, Span outer,
              Span inner, Span lanes, mlir::Type type, mlir::Type dstType, double scalar = 0,
              int64_t dstBlock = 32);
  /// Writes a copy of those of `tableRows` rows, `srcRow` bytes apart, that indices in ub name.
  void gatherRows(BufferAddress dst, BufferAddress src, BufferAddress indices, Span rows,
                  Span bytes, int64_t tableRows, int64_t srcRow, int64_t dstRow, int64_t indexStep);
  void transpose(BufferAddress dst, Steps dstSteps, int64_t dstRow, BufferAddress src,
                 Steps srcSteps, int64_t srcRow, Span outer, Span inner);

private:
  class Emission;
  mlir::func::FuncOp kernel;
  ir::ProgramOp program;
  mlir::ImplicitLocOpBuilder b;
  SocTable table;
};

/// Returns the SoC table of the code that contains `op`.
SocTable socOf(mlir::Operation *op);

/// Returns the only kernel op of an NPU kernel function; null if it is not an OpT.
template <typename OpT> OpT kernelOpOf(mlir::func::FuncOp function) {
  if (!function->hasAttr(om::kNpuKernelAttr) || function.getBody().empty())
    return {};
  return llvm::dyn_cast<OpT>(function.getBody().front().front());
}

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_PROGRAMWRITER_H

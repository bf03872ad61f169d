//===-- ProgramWriter.h - writes npu programs ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all npu-expand-* passes write programs with: addresses and ranges are
// expressions over loop ivs, the ops' iv lists and affine attributes are made
// from them.

#ifndef OPENATC_PASSES_NPU_PROGRAM_PROGRAMWRITER_H
#define OPENATC_PASSES_NPU_PROGRAM_PROGRAMWRITER_H

#include "dialects/npu/Npu.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "npu/soc/Soc.h"
#include "passes/om/Schedule.h"

namespace atc::npu {

/// base + sum of stride x iv.
struct Expr {
  int64_t base = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 4> terms;
  Expr() = default;
  Expr(int64_t base) : base(base) {}
  /// An iv counts by itself.
  Expr(mlir::Value iv) : terms{{iv, 1}} {}
};
Expr operator+(Expr a, const Expr &b);
Expr operator-(Expr a, const Expr &b);
Expr operator*(Expr a, int64_t factor);

/// Positions [start, start + length) cut to [0, limit).
struct Span {
  int64_t length = 1;
  Expr start;
  int64_t limit = INT64_MAX;
};

/// Bytes of a buffer from `offset` on.
struct Place {
  mlir::Value buffer;
  Expr offset;
  Place() = default;
  Place(mlir::Value buffer, Expr offset = {}) : buffer(buffer), offset(std::move(offset)) {}
};

/// Of two nested ranges: how far a step of each leads, in bytes.
struct Steps {
  int64_t outer = 0, inner = 0;
};

/// Runs an instruction only in some iterations of the loop of `iv`.
struct When {
  ir::GuardKind kind = ir::GuardKind::Always;
  mlir::Value iv;
};

struct Img2ColShape {
  int64_t c0 = 16, channels1, height, width, outHeight, outWidth;
  int64_t kernelH, kernelW, strideH, strideW, dilationH = 1, dilationW = 1;
  int64_t padTop = 0, padLeft = 0;
  int64_t elementBytes = 2, pad = 0; ///< `pad`: the bits of what stands around
};

/// From sums to stored integers: saturate(round(sum * scale) + offset), at least
/// `offset` with `relu`. With a factor the result is (stored - offset) * factor.
struct Requantization {
  mlir::Type stored;
  bool relu = false;
  double offset = 0, factor = 0;
};

/// saturate(round(x / scale) + offset), of bytes with a sign or without.
struct ImageQuantization {
  double scale = 1, offset = 0;
  bool isSigned = false;
};

/// What is added to (stored - offset) * factor, a stored byte that is read as
/// (byte - offset) * factor, and how the total, at least 0 with `relu`, is stored
/// again: saturate(round(total * resultFactor) + resultOffset) of `result`.
struct Addition {
  mlir::Type type, result;
  double offset = 0, factor = 1;
  bool relu = false;
  double resultFactor = 1, resultOffset = 0;
};

/// Operands of a vector instruction beside its result; `block` is 32, or 0 to
/// repeat the first 32 bytes of a run.
struct VectorSource {
  Place place;
  Steps steps;
  int64_t block = 32;
};

/// Turns one kernel function into a program. Instructions go to the end of the
/// innermost loop that is open; `when` holds for all that is written until it
/// is changed.
class ProgramWriter {
public:
  /// Makes a program in place of `kernel` (a func.func with the attributes
  /// npu.kernel and npu.soc): one gm buffer for each of its arguments, `grid`
  /// coordinates behind. The function stays until `finish`.
  ProgramWriter(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> grid, bool vectorCore = false);
  /// Erases the function; the program has its name.
  void finish();

  const SocTable &soc() const { return table; }
  mlir::ImplicitLocOpBuilder &builder() { return b; }
  mlir::MLIRContext *context() { return b.getContext(); }
  /// The gm buffer of the kernel function's argument.
  mlir::Value argument(unsigned index);
  mlir::Value argument(mlir::Value functionArgument);
  mlir::Value coordinate(unsigned index);

  mlir::Value alloc(ir::MemoryKind memory, int64_t bytes);
  /// Writes a loop; one of a single trip too, so that code has one shape.
  void loop(int64_t trips, llvm::function_ref<void(mlir::Value)> body);
  When when;

  /// `outer` x `inner` runs of `bytes`.
  void move(Place dst, Place src, Span bytes, Span outer = {}, Steps dstSteps = {},
            Steps srcSteps = {}, Span inner = {});
  void ndToNz(Place dst, Place src, Span rows, Span cols, mlir::Type type, int64_t srcRow,
              int64_t dstCol);
  void loadImage(Place dst, Place src, Span rows, mlir::Type type, int64_t channels, int64_t width,
                 int64_t c0, int64_t srcPlane, int64_t srcRow, int64_t dstRow,
                 const std::optional<ImageQuantization> &quantization = std::nullopt);
  void load2d(Place dst, Place src, Span outer, Span inner, Steps dstSteps, Steps srcSteps,
              bool transpose = false);
  void img2col(Place dst, Place src, Span m, Span k, Span row0, const Img2ColShape &shape,
               int64_t srcImage, int64_t srcChannel, int64_t dstRow);
  /// Starts from zero (or `bias`) where all of `first` are 0.
  void mmad(Place dst, Place a, Place b, std::optional<Place> bias, Span m, Span n, Span k,
            mlir::Type type, llvm::ArrayRef<mlir::Value> first, int64_t dstCol, int64_t aRow,
            int64_t bRow, bool accumulate = false);
  void moveL0C(Place dst, Place src, Span m, Span n, mlir::Type type, mlir::Type dstType, bool relu,
               int64_t srcCol, int64_t dstRow, int64_t dstCol, double scale = 1.0);
  void requantize(Place dst, Place src, Place scales, Span m, Span n, mlir::Type type,
                  const Requantization &to, int64_t srcCol, int64_t dstRow, int64_t dstCol);
  /// `addend` lies as the result does in `dst`.
  void requantizeAdd(Place dst, Place src, Place scales, Place addend, Span m, Span n,
                     mlir::Type type, const Requantization &first, const Addition &addition,
                     int64_t srcCol, int64_t dstRow, int64_t dstCol);
  void vector(VectorOp op, Place dst, Steps dstSteps, std::optional<VectorSource> a,
              std::optional<VectorSource> b, std::optional<VectorSource> mask, Span outer,
              Span inner, Span lanes, mlir::Type type, mlir::Type dstType, double scalar = 0,
              int64_t dstBlock = 32);
  void transpose(Place dst, Steps dstSteps, int64_t dstRow, Place src, Steps srcSteps,
                 int64_t srcRow, Span outer, Span inner);

private:
  class Emission;
  mlir::func::FuncOp kernel;
  ir::ProgramOp program;
  mlir::ImplicitLocOpBuilder b;
  SocTable table;
};

/// The table of the SoC that `op` stands in the code for.
SocTable socOf(mlir::Operation *op);

/// The only kernel op of an NPU kernel function, null if it is another op than OpT.
template <typename OpT> OpT kernelOpOf(mlir::func::FuncOp function) {
  if (!function->hasAttr(om::kNpuKernelAttr) || function.getBody().empty())
    return {};
  return llvm::dyn_cast<OpT>(function.getBody().front().front());
}

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_PROGRAMWRITER_H

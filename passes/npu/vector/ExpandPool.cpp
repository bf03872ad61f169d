//===-- ExpandPool.cpp - kernel.pool as a program ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a plane of blocks are loaded into ub with room for the padding, which is filled. Windows
// are reduced along the columns first and then along the rows: this takes as many instructions as a
// window has columns and rows, each for all outputs in ub. Means are accumulated in f32. Bytes
// become f16, in which they are exact, on their way into these rows.
//
//===----------------------------------------------------------------------===//

#include "passes/npu/Passes.h"
#include "passes/npu/vector/TileNest.h"
#include "passes/npu/vector/VectorKernels.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDPOOL
#include "passes/npu/Passes.h.inc"

namespace {

/// Windows along H or W.
struct WindowDim {
  int64_t in, out, kernel, stride, low, high, dilation;

  /// Input positions, padding with them, that `outputs` windows cover.
  int64_t covered(int64_t outputs) const {
    return (outputs - 1) * stride + (kernel - 1) * dilation + 1;
  }
  /// Elements that a mean divides by, along this dim.
  int64_t counted(int64_t position, bool withPadding) const {
    int64_t begin = withPadding ? 0 : low, end = low + in + (withPadding ? high : 0), count = 0;
    for (int64_t tap = 0; tap < kernel; ++tap) {
      int64_t at = position * stride + tap * dilation;
      count += at >= begin && at < end;
    }
    return std::max<int64_t>(count, 1);
  }
};

class PoolExpander {
public:
  PoolExpander(kernel::PoolOp op, const SocTable &soc)
      : op(op), soc(soc), inType(cast<MemRefType>(op.getInput().getType())),
        outType(cast<MemRefType>(op.getOutput().getType())), element(inType.getElementType()),
        isMax(op.getKind() == kernel::PoolKind::Max), block(inType.getDimSize(4)) {
    inStrides = inType.getStridesAndOffset().first;
    outStrides = outType.getStridesAndOffset().first;
    for (int d : {0, 1})
      dims[d] = {inType.getDimSize(2 + d), outType.getDimSize(2 + d), op.getKernel()[d],
                 op.getStrides()[d],       op.getPads()[d],           op.getPads()[2 + d],
                 op.getDilations()[d]};
    width = std::max(dims[1].covered(dims[1].out), dims[1].low + 1);
    planes = TileSpace();
    planes.addDim(inType.getDimSize(0), {inStrides[0], outStrides[0]});
    planes.addDim(inType.getDimSize(1), {inStrides[1], outStrides[1]});
    planes.normalize(1);
  }

  std::string whyUnsupported() {
    if ((!element.isF16() && !element.isF32() && !(isByte() && isMax)) ||
        outType.getElementType() != element)
      return "elements that are neither f16 nor f32, nor bytes of which the largest is sought";
    if ((block != 32 && block != 16) || inStrides[4] != 1 || outStrides[4] != 1)
      return "blocks that are neither 16 nor 32 channels";
    if (inStrides[3] != block || outStrides[3] != block)
      return "columns that do not lie behind each other";
    if (width * block > (int64_t(1) << 20) || bytesFor(1) > int64_t(soc.ubBytes) - 2048)
      return "the rows of a window do not fit into ub";
    return {};
  }

  void expand(func::FuncOp function) {
    TileNest nest = plan();
    ProgramWriter w(function, nest.grid(), onVectorCores(soc));
    nest.enter(w);
    // Bytes are exact in f16.
    computed = isByte() ? Type(w.builder().getF16Type())
               : isMax  ? element
                        : Type(w.builder().getF32Type());
    if (element.isInteger(8) && op.getIsUnsigned())
      element = IntegerType::get(op.getContext(), 8, IntegerType::Unsigned);
    Value columnScales = isMax ? Value() : writeColumnScales(w);
    nest.loops(w, [&] { expandBox(w, nest, columnScales); });
    w.finish();
  }

private:
  int64_t bytesOf(Type type) const { return type.getIntOrFloatBitWidth() / 8; }
  bool isByte() const { return element.isInteger(8); }
  bool needsCast() const { return isByte() || (!isMax && element.isF16()); }
  /// Returns the bytes from a row of results in ub to the next one.
  int64_t outPitch() const { return llvm::alignTo(dims[1].out * block * bytesOf(element), 32); }

  /// Bytes of ub for `rows` output rows.
  int64_t bytesFor(int64_t rows) const {
    int64_t compute = isByte() ? 2 : isMax ? bytesOf(element) : 4, inRows = dims[0].covered(rows);
    int64_t in = inRows * width * block, joined = inRows * dims[1].out * block;
    int64_t out = rows * dims[1].out * block;
    return 2 * in * bytesOf(element) + (needsCast() ? in * compute : 0) + joined * compute +
           2 * rows * outPitch() + (needsCast() ? out * compute : 0) +
           (isMax ? 0 : dims[1].out * block * 4);
  }

  TileNest plan() {
    return planOfBoxes(op, [&](int64_t percent) { return plan(percent); });
  }

  TileNest plan(int64_t percent) {
    SmallVector<Axis> axes;
    int64_t cores = vectorCoreCount(soc), all = 1;
    for (int64_t size : planes.sizes) {
      axes.push_back({size});
      all *= size;
    }
    int64_t rows = dims[0].out;
    // At least two boxes per core, but enough rows that few are read twice.
    int64_t min = std::min<int64_t>(rows, 2 * llvm::divideCeil(dims[0].kernel, dims[0].stride));
    rows =
        std::clamp(scaledBox(all * rows / (2 * cores), percent), std::max<int64_t>(min, 1), rows);
    while (rows > 1 && bytesFor(rows) > int64_t(soc.ubBytes) - 2048)
      --rows;
    rows = llvm::divideCeil(dims[0].out, llvm::divideCeil(dims[0].out, rows));
    if (axes.empty())
      axes.push_back({1});
    axes.push_back({dims[0].out, rows});
    // Moves clamp the rows and the last dim of planes.
    makeExact(axes, 2);
    return TileNest(axes, cores);
  }

  /// 1 / columns counted of each output column; none where it is always the same.
  Value writeColumnScales(ProgramWriter &w) {
    auto count = [&](int64_t x) { return dims[1].counted(x, op.getCountIncludePad()); };
    uniformColumns = count(0);
    for (int64_t x = 1; x < dims[1].out; ++x)
      if (count(x) != uniformColumns)
        uniformColumns = 0;
    if (uniformColumns)
      return {};
    Value scales = w.alloc(ir::MemoryKind::UB, dims[1].out * block * 4);
    for (int64_t first = 0, last; first < dims[1].out; first = last) {
      for (last = first + 1; last < dims[1].out && count(last) == count(first);)
        ++last;
      w.vector(VectorOp::Fill, {scales, first * block * 4}, {}, {}, {}, {}, {}, {},
               Span{(last - first) * block, {}}, computed, computed, 1. / double(count(first)));
    }
    return scales;
  }

  void expandBox(ProgramWriter &w, const TileNest &nest, Value columnScales) {
    size_t rowAxis = nest.size() - 1;
    int64_t rows = nest.axis(rowAxis).tile, inRows = dims[0].covered(rows);
    int64_t bytes = bytesOf(element);
    Expr from, to;
    for (size_t i = 0; i < planes.rank(); ++i) {
      from = from + nest.start(i) * (planes.strides[0][i] * bytes);
      to = to + nest.start(i) * (planes.strides[1][i] * bytes);
    }
    // The first row in ub may be a row of the padding.
    Expr first = nest.start(rowAxis) * dims[0].stride - Expr(dims[0].low);
    Value source = isByte() ? loadBytes(w, nest, from, first, inRows)
                            : loadFloats(w, nest, from, first, inRows);
    Value joined = joinColumns(w, source, inRows);

    int64_t computeRow = dims[1].out * block * bytesOf(computed);
    Value out = w.alloc(ir::MemoryKind::UB, rows * outPitch()), sums = out;
    if (needsCast())
      sums = w.alloc(ir::MemoryKind::UB, rows * computeRow);
    Span outRows = nest.span(rowAxis), lanes{dims[1].out * block, {}};
    join(dims[0].kernel, [&](VectorOp op, int64_t a, int64_t b) {
      auto tap = [&](int64_t k) {
        if (k < 0)
          return VectorSource{sums, {0, computeRow}, 32};
        return VectorSource{
            {joined, k * dims[0].dilation * computeRow}, {0, dims[0].stride * computeRow}, 32};
      };
      w.vector(op, sums, {0, computeRow}, tap(a),
               op == VectorOp::Copy ? std::nullopt : std::optional(tap(b)), {}, {}, outRows, lanes,
               computed, computed);
    });
    if (!isMax)
      divide(w, nest, sums, columnScales, computeRow);
    if (needsCast())
      w.vector(VectorOp::Cast, out, {0, outPitch()}, VectorSource{sums, {0, computeRow}, 32}, {},
               {}, {}, outRows, lanes, computed, element);
    w.move({w.argument(1u), to + nest.start(rowAxis) * (outStrides[2] * bytes)}, out,
           Span{dims[1].out * block * bytes, {}}, outRows, {outStrides[2] * bytes, 0},
           {outPitch(), 0}, nest.span(rowAxis - 1));
  }

  /// Loads rows from `first` on, with padding, in the type that is computed in.
  Value loadFloats(ProgramWriter &w, const TileNest &nest, const Expr &from, const Expr &first,
                   int64_t inRows) {
    const int64_t bytes = bytesOf(element), inRow = width * block * bytes;
    Value in = w.alloc(ir::MemoryKind::UB, inRows * inRow);
    fillPadding(w, nest, in, element, first, inRows);
    w.move({in, dims[1].low * block * bytes},
           {w.argument(0u), from + first * (inStrides[2] * bytes)},
           Span{columnsRead() * block * bytes, {}}, Span{inRows, first, dims[0].in}, {inRow, 0},
           {inStrides[2] * bytes, 0}, nest.span(nest.size() - 2));
    if (!needsCast())
      return in;
    Value source = w.alloc(ir::MemoryKind::UB, inRows * width * block * bytesOf(computed));
    w.vector(VectorOp::Cast, source, {}, VectorSource{in, {}, 32}, {}, {}, {}, {},
             Span{inRows * width * block, {}}, element, computed);
    return source;
  }

  /// Does the same with bytes. They are loaded without padding: a block of 16 of them would not
  /// begin where a vector instruction can begin.
  Value loadBytes(ProgramWriter &w, const TileNest &nest, const Expr &from, const Expr &first,
                  int64_t inRows) {
    const int64_t elements = columnsRead() * block, pitch = llvm::alignTo(elements, 32);
    const int64_t row = width * block * bytesOf(computed);
    const Span rows{inRows, first, dims[0].in};
    Value in = w.alloc(ir::MemoryKind::UB, inRows * pitch);
    w.move(in, {w.argument(0u), from + first * inStrides[2]}, Span{elements, {}}, rows, {pitch, 0},
           {inStrides[2], 0}, nest.span(nest.size() - 2));
    Value source = w.alloc(ir::MemoryKind::UB, inRows * row);
    fillPadding(w, nest, source, computed, first, inRows);
    w.vector(VectorOp::Cast, {source, dims[1].low * block * bytesOf(computed)}, {0, row},
             VectorSource{in, {0, pitch}, 32}, {}, {}, {}, rows, Span{elements, {}}, element,
             computed);
    return source;
  }

  /// Returns the columns of the input that windows cover.
  int64_t columnsRead() const { return std::min(dims[1].in, width - dims[1].low); }

  /// Calls `emit` for steps that join `taps`: op(a, b), -1 being what is there.
  void join(int64_t taps, function_ref<void(VectorOp, int64_t, int64_t)> emit) {
    VectorOp pair = isMax ? VectorOp::Max : VectorOp::Add;
    if (taps == 1)
      return emit(VectorOp::Copy, 0, 0);
    emit(pair, 0, 1);
    for (int64_t tap = 2; tap < taps; ++tap)
      emit(pair, -1, tap);
  }

  /// Rows above and below the input, columns left and right of it.
  void fillPadding(ProgramWriter &w, const TileNest &nest, Value in, Type type, const Expr &first,
                   int64_t inRows) {
    const Axis &rows = nest.axis(nest.size() - 1);
    int64_t bytes = bytesOf(type), inRow = width * block * bytes;
    double lowest = !isByte()                      ? -std::numeric_limits<double>::infinity()
                    : element.isUnsignedInteger(8) ? 0.
                                                   : -128.;
    double value = isMax ? lowest : 0.;
    auto fill = [&](Expr offset, Span positions, int64_t step, int64_t columns) {
      w.vector(VectorOp::Fill, {in, std::move(offset)}, {0, step}, {}, {}, {}, {},
               std::move(positions), Span{columns * block, {}}, type, type, value);
    };
    if (dims[1].low > 0)
      fill(0, {inRows, {}}, inRow, dims[1].low);
    if (int64_t right = width - dims[1].low - dims[1].in; right > 0)
      fill((dims[1].low + dims[1].in) * block * bytes, {inRows, {}}, inRow, right);
    // Positions count upwards from the row above the input.
    if (dims[0].low > 0)
      fill((inRows - 1) * inRow, {inRows, Expr(-inRows) - first, INT64_MAX}, -inRow, width);
    int64_t steps = rows.trips() * rows.cores * rows.tile;
    if ((steps - 1) * dims[0].stride + (dims[0].kernel - 1) * dims[0].dilation >=
        dims[0].low + dims[0].in)
      fill(0, {inRows, first - Expr(dims[0].in), INT64_MAX}, inRow, width);
  }

  /// Combines the taps along a row, for each output column.
  Value joinColumns(ProgramWriter &w, Value source, int64_t inRows) {
    const WindowDim &dim = dims[1];
    int64_t bytes = bytesOf(computed), pixel = block * bytes, blocks = pixel / 32;
    int64_t outRow = dim.out * pixel;
    if (dim.kernel == 1 && dim.stride == 1 && width == dim.out)
      return source;
    Value joined = w.alloc(ir::MemoryKind::UB, inRows * outRow);
    join(dim.kernel, [&](VectorOp op, int64_t a, int64_t b) {
      auto tap = [&](int64_t k) {
        if (k < 0)
          return VectorSource{joined, {outRow, 32}, pixel};
        return VectorSource{
            {source, k * dim.dilation * pixel}, {width * pixel, 32}, dim.stride * pixel};
      };
      w.vector(op, joined, {outRow, 32}, tap(a),
               op == VectorOp::Copy ? std::nullopt : std::optional(tap(b)), {}, Span{inRows, {}},
               Span{blocks, {}}, Span{dim.out * 32 / bytes, {}}, computed, computed, 0, pixel);
    });
    return joined;
  }

  void divide(ProgramWriter &w, const TileNest &nest, Value sums, Value columnScales,
              int64_t computeRow) {
    size_t rowAxis = nest.size() - 1;
    Span all = nest.span(rowAxis), lanes{dims[1].out * block, {}};
    VectorSource source{sums, {0, computeRow}, 32};
    auto count = [&](int64_t y) { return dims[0].counted(y, op.getCountIncludePad()); };
    double usual = double(count(dims[0].out / 2));
    if (columnScales)
      w.vector(VectorOp::Mul, sums, {0, computeRow}, source, VectorSource{columnScales, {}, 32}, {},
               {}, all, lanes, computed, computed);
    double scale = 1. / (usual * (columnScales ? 1. : double(uniformColumns)));
    w.vector(VectorOp::MulScalar, sums, {0, computeRow}, source, {}, {}, {}, all, lanes, computed,
             computed, scale);
    // Rows at the edges have counted less.
    for (int64_t first = 0, last; first < dims[0].out; first = last) {
      for (last = first + 1; last < dims[0].out && count(last) == count(first);)
        ++last;
      if (double(count(first)) != usual)
        w.vector(VectorOp::MulScalar, sums, {0, computeRow}, source, {}, {}, {},
                 Span{nest.axis(rowAxis).tile, nest.start(rowAxis) - Expr(first), last - first},
                 lanes, computed, computed, usual / double(count(first)));
    }
  }

  kernel::PoolOp op;
  SocTable soc;
  MemRefType inType, outType;
  Type element, computed;
  bool isMax;
  int64_t block; ///< channels side by side
  SmallVector<int64_t> inStrides, outStrides;
  WindowDim dims[2];
  int64_t width; ///< of a row in ub, including padding
  int64_t uniformColumns = 0;
  TileSpace planes;
};

struct NpuExpandPoolPass : impl::NpuExpandPoolBase<NpuExpandPoolPass> {
  void runOnOperation() override { expandKernels<kernel::PoolOp>(getOperation(), expandPool); }
};

} // namespace

std::string whyUnsupportedPool(kernel::PoolOp op, const SocTable &soc) {
  auto type = cast<MemRefType>(op.getInput().getType());
  if (type.getRank() != 5)
    return "a buffer that is not [N][C1][H][W][16]";
  return PoolExpander(op, soc).whyUnsupported();
}

void expandPool(func::FuncOp function, kernel::PoolOp op) {
  PoolExpander(op, socOf(function)).expand(function);
}

} // namespace atc::npu

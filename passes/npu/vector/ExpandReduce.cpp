//===-- ExpandReduce.cpp - kernel.reduce as a program ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dims in front of the reduced one are planes, those behind it are runs that are reduced
// elementwise: halves of a plane are combined until one run is left. Without dims behind it, rows
// are reduced to elements. Accumulators are f32.
//
//===----------------------------------------------------------------------===//

#include "passes/npu/Passes.h"
#include "passes/npu/vector/RowKernels.h"
#include "passes/npu/vector/VectorKernels.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDREDUCE
#include "passes/npu/Passes.h.inc"

using graph::ReduceKind;

namespace {

class ReduceExpander {
public:
  ReduceExpander(kernel::ReduceOp op, const SocTable &soc)
      : op(op), soc(soc), kind(op.getKind()), inType(cast<MemRefType>(op.getInput().getType())),
        outType(cast<MemRefType>(op.getOutput().getType())), element(inType.getElementType()),
        space(inType.getShape(), {op.getInput(), op.getOutput()}) {
    SmallVector<bool> isReduced(inType.getRank(), false);
    for (int64_t axis : op.getAxes())
      isReduced[axis] = true;
    for (size_t dim = 0; dim < space.rank(); ++dim)
      if (isReduced[dim])
        space.strides[1][dim] = 0;
    space.normalize(0);
    for (size_t dim = 0; dim < space.rank(); ++dim)
      if (space.strides[1][dim] == 0) {
        ++reducedDims;
        position = dim;
      }
    if (reducedDims != 1)
      return;
    reduced = space.sizes[position];
    reducedStride = space.strides[0][position];
    behind = space.rank() - position - 1;
    if (behind == 1) {
      run = space.sizes.back();
      runStrides = {space.strides[0].back(), space.strides[1].back()};
      space.removeDim(space.rank() - 1);
    }
    space.removeDim(position);
    space.pad(2);
    // A plane that does not fit is reduced in parts.
    part = reduced;
    if (behind == 1 && bytesFor(1) > capacity())
      for (part = reduced / 2; part > 1 && (reduced % part != 0 || bytesFor(1) > capacity());)
        --part;
  }

  std::string whyUnsupported() {
    if ((!element.isF16() && !element.isF32()) || outType.getElementType() != element)
      return "elements that are neither f16 nor f32";
    if (kind == ReduceKind::Prod || kind == ReduceKind::LogSumExp)
      return "this kind of reduction";
    if (reducedDims != 1 || behind > 1)
      return "reduced dims that do not lie behind each other";
    if (behind == 0 && (reducedStride != 1 || (space.sizes.back() > 1 && !packs())))
      return "rows that are not dense";
    if (behind == 1 && (runStrides[0] != 1 || runStrides[1] != 1))
      return "runs that are not dense";
    if (bytesFor(1) > capacity())
      return "what is reduced to one element does not fit into ub";
    return plan().loopCount() + 1 <= kMaxLoops ? "" : "more than 6 loops";
  }

  void expand(func::FuncOp function) {
    TileNest nest = plan();
    ProgramWriter w(function, nest.grid(), onVectorCores(soc));
    nest.enter(w);
    nest.loops(w, [&] { behind == 0 ? reduceRows(w, nest) : reducePlanes(w, nest); });
    w.finish();
  }

private:
  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  int64_t capacity() const { return int64_t(soc.ubBytes) - 4096; }
  bool isMax() const { return kind == ReduceKind::Max || kind == ReduceKind::Min; }
  bool packs() const { return space.strides[1].back() == 1; }
  VectorOp pairOp() const {
    return kind == ReduceKind::Max   ? VectorOp::Max
           : kind == ReduceKind::Min ? VectorOp::Min
                                     : VectorOp::Add;
  }
  Type computed() const { return isMax() ? element : Type(Float32Type::get(element.getContext())); }
  int64_t paddedRun() const { return llvm::alignTo(run, 16); }

  /// Returns the bytes of ub for this number of planes.
  int64_t bytesFor(int64_t planes) const {
    int64_t compute = isMax() ? bytes() : 4;
    int64_t size = behind == 0 ? int64_t(llvm::alignTo(reduced, 16)) : part * paddedRun();
    return planes * (size * (2 * bytes() + compute) + paddedRun() * (2 * bytes() + 4) + 96);
  }

  TileNest plan() {
    return planOfBoxes(op, [&](int64_t percent) { return plan(percent); });
  }

  TileNest plan(int64_t percent) {
    SmallVector<Axis> axes;
    int64_t cores = vectorCoreCount(soc), all = 1;
    for (int64_t size : space.sizes) {
      axes.push_back({size});
      all *= size;
    }
    Axis &inner = axes.back();
    // Rows are written packed: a step has blocks of them, but for one core.
    int64_t wanted = std::clamp<int64_t>(scaledBox(all / (cores * 2), percent), 1, 4096);
    int64_t planes = std::min({inner.size, wanted, std::max<int64_t>(1, capacity() / bytesFor(1))});
    inner.tile = llvm::divideCeil(inner.size, llvm::divideCeil(inner.size, planes));
    makeExact(axes, 1);
    return TileNest(axes, cores);
  }

  BufferAddress addressOf(ProgramWriter &w, const TileNest &nest, unsigned operand) {
    Expr address;
    for (size_t dim = 0; dim < nest.size(); ++dim)
      address = address + nest.start(dim) * (space.strides[operand][dim] * bytes());
    return {w.argument(operand), address};
  }

  /// Computes the values that are accumulated from x.
  void prepare(ProgramWriter &w, Value buffer, const Span &lanes) {
    VectorSource x{buffer, {}, 32};
    if (kind == ReduceKind::L1)
      w.vector(VectorOp::Abs, buffer, {}, x, {}, {}, {}, {}, lanes, computed(), computed());
    if (kind == ReduceKind::L2 || kind == ReduceKind::SumSquare)
      w.vector(VectorOp::Mul, buffer, {}, x, x, {}, {}, {}, lanes, computed(), computed());
  }

  /// The reduced values, `lanes` of them, as elements of the output.
  Value finish(ProgramWriter &w, Value sums, int64_t pitch, const Span &rows, const Span &lanes) {
    auto apply = [&](VectorOp op, double scalar) {
      w.vector(op, sums, {0, pitch}, VectorSource{sums, {0, pitch}, 32}, {}, {}, {}, rows, lanes,
               computed(), computed(), scalar);
    };
    if (kind == ReduceKind::Mean)
      apply(VectorOp::MulScalar, 1. / double(reduced));
    if (kind == ReduceKind::L2)
      apply(VectorOp::Sqrt, 0);
    if (kind == ReduceKind::LogSum)
      apply(VectorOp::Ln, 0);
    return sums;
  }

  void reduceRows(ProgramWriter &w, const TileNest &nest) {
    size_t inner = nest.size() - 1;
    Span count = nest.span(inner);
    RowWriter rows(w, count, reduced);
    Rows in = rows.allocate(element);
    w.move(in.buffer, addressOf(w, nest, 0), Span{reduced * bytes(), {}}, count, {in.pitch, 0},
           {space.strides[0].back() * bytes(), 0});
    Rows x = in;
    if (computed() != element) {
      x = rows.allocate(computed());
      rows.cast(x, in);
    }
    Span whole = count;
    whole.length *= x.pitch / x.bytes();
    whole.start = whole.start * (x.pitch / x.bytes());
    if (whole.limit != INT64_MAX)
      whole.limit *= x.pitch / x.bytes();
    prepare(w, x.buffer, whole);
    Value result = finish(w, rows.reduce(pairOp(), x, x), 0, {}, count);
    if (computed() != element) {
      Value narrow = w.alloc(ir::MemoryKind::UB, llvm::alignTo(count.length * bytes(), 32));
      w.vector(VectorOp::Cast, narrow, {}, VectorSource{result, {}, 32}, {}, {}, {}, {}, count,
               computed(), element);
      result = narrow;
    }
    w.move(addressOf(w, nest, 1), result, nest.span(inner, bytes()));
  }

  void reducePlanes(ProgramWriter &w, const TileNest &nest) {
    size_t inner = nest.size() - 1;
    Span planes = nest.span(inner);
    int64_t row = paddedRun() * bytes(), width = computed().getIntOrFloatBitWidth() / 8;
    int64_t computeRow = paddedRun() * width;
    auto rowsOf = [&](Value buffer, int64_t pitch) { return VectorSource{buffer, {0, pitch}, 32}; };
    Value sums = w.alloc(ir::MemoryKind::UB, computeRow * planes.length);
    int64_t parts = reduced / part;
    if (parts == 1) {
      Value x = reducePart(w, nest, 0);
      w.vector(VectorOp::Copy, sums, {0, computeRow}, rowsOf(x, part * computeRow), {}, {}, {},
               planes, {run, {}}, computed(), computed());
    } else {
      double start = kind == ReduceKind::Max   ? -std::numeric_limits<double>::infinity()
                     : kind == ReduceKind::Min ? std::numeric_limits<double>::infinity()
                                               : 0.;
      w.vector(VectorOp::Fill, sums, {}, {}, {}, {}, {}, {}, Span{paddedRun() * planes.length, {}},
               computed(), computed(), start);
      w.loop(parts, [&](Value iv) {
        Value x = reducePart(w, nest, Expr(iv) * (part * reducedStride * bytes()));
        w.vector(pairOp(), sums, {0, computeRow}, rowsOf(sums, computeRow),
                 rowsOf(x, part * computeRow), {}, {}, planes, {run, {}}, computed(), computed());
      });
    }
    finish(w, sums, computeRow, planes, {run, {}});
    Value out = w.alloc(ir::MemoryKind::UB, row * planes.length);
    w.vector(computed() == element ? VectorOp::Copy : VectorOp::Cast, out, {0, row},
             rowsOf(sums, computeRow), {}, {}, {}, planes, {run, {}}, computed(), element);
    w.move(addressOf(w, nest, 1), out, Span{run * bytes(), {}}, planes,
           {space.strides[1].back() * bytes(), 0}, {row, 0});
  }

  /// Reduces the part that begins `offset` bytes into a plane to its first run.
  Value reducePart(ProgramWriter &w, const TileNest &nest, const Expr &offset) {
    size_t inner = nest.size() - 1;
    Span planes = nest.span(inner);
    int64_t row = paddedRun() * bytes(), plane = part * row;
    Value in = w.alloc(ir::MemoryKind::UB, plane * planes.length), x = in;
    BufferAddress from = addressOf(w, nest, 0);
    from.offset = from.offset + offset;
    w.move(in, from, Span{run * bytes(), {}}, planes, {plane, row},
           {space.strides[0].back() * bytes(), reducedStride * bytes()}, {part, {}});
    int64_t width = computed().getIntOrFloatBitWidth() / 8;
    int64_t computeRow = paddedRun() * width, computePlane = part * computeRow;
    Span whole = planes;
    whole.length *= part * paddedRun();
    whole.start = whole.start * (part * paddedRun());
    if (whole.limit != INT64_MAX)
      whole.limit *= part * paddedRun();
    if (computed() != element) {
      x = w.alloc(ir::MemoryKind::UB, computePlane * planes.length);
      w.vector(VectorOp::Cast, x, {}, VectorSource{in, {}, 32}, {}, {}, {}, {}, whole, element,
               computed());
    }
    prepare(w, x, whole);
    for (int64_t left = part; left > 1;) {
      int64_t kept = llvm::divideCeil(left, 2);
      w.vector(pairOp(), x, {0, computePlane}, VectorSource{x, {0, computePlane}, 32},
               VectorSource{{x, kept * computeRow}, {0, computePlane}, 32}, {}, {}, planes,
               Span{(left - kept) * paddedRun(), {}}, computed(), computed());
      left = kept;
    }
    return x;
  }

  kernel::ReduceOp op;
  SocTable soc;
  ReduceKind kind;
  MemRefType inType, outType;
  Type element;
  TileSpace space;
  unsigned reducedDims = 0;
  size_t position = 0, behind = 0;
  int64_t reduced = 1, part = 1, reducedStride = 1, run = 1;
  SmallVector<int64_t> runStrides;
};

struct NpuExpandReducePass : impl::NpuExpandReduceBase<NpuExpandReducePass> {
  void runOnOperation() override { expandKernels<kernel::ReduceOp>(getOperation(), expandReduce); }
};

} // namespace

std::string whyUnsupportedReduce(kernel::ReduceOp op, const SocTable &soc) {
  return ReduceExpander(op, soc).whyUnsupported();
}

void expandReduce(func::FuncOp function, kernel::ReduceOp op) {
  ReduceExpander(op, socOf(function)).expand(function);
}

} // namespace atc::npu

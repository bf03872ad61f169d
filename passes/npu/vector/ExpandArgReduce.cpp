//===-- ExpandArgReduce.cpp - kernel.arg_reduce as a program -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Along rows, the extremum is reduced, the elements that equal it become numbers that count down
// (up, for the last one), and their maximum is reduced. Along another dim, runs of elements are
// compared one after the other with the best ones so far. Indices are f32, exact below 2^24; they
// leave ub one by one, in the first eight bytes of a block of 32: a pair of 32-bit integers, the
// second one 0, is an integer of 64 bits.
//
//===----------------------------------------------------------------------===//

#include "passes/npu/VectorPasses.h"
#include "passes/npu/vector/ArgReduce.h"
#include "passes/npu/vector/RowKernels.h"
#include "passes/npu/vector/VectorKernels.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDARGREDUCE
#include "passes/npu/VectorPasses.h.inc"

namespace {

/// Returns a span whose positions have `unit` elements each.
Span scaled(Span span, int64_t unit) {
  span.length *= unit;
  span.start = span.start * unit;
  if (span.limit != INT64_MAX)
    span.limit *= unit;
  return span;
}

/// Stores indices to gm.
class IndexWriter {
public:
  explicit IndexWriter(ProgramWriter &writer)
      : w(writer), f32(writer.builder().getF32Type()), pattern(w.alloc(ir::MemoryKind::UB, 32)) {
    w.vector(VectorOp::Fill, pattern, {}, {}, {}, {}, {}, {}, {8, {}}, f32, f32, 0);
    w.vector(VectorOp::Fill, pattern, {}, {}, {}, {}, {}, {}, {1, {}}, f32, f32, 1);
  }

  /// Stores packed f32 as i64, `step` bytes apart.
  void store(BufferAddress to, int64_t step, Value indices, const Span &count) {
    Value blocks = w.alloc(ir::MemoryKind::UB, count.length * 32);
    w.vector(VectorOp::Broadcast, blocks, {0, 32}, VectorSource{indices, {}, 32}, {}, {}, {}, count,
             {}, f32, f32);
    w.vector(VectorOp::Mul, blocks, {}, VectorSource{blocks, {}, 32}, VectorSource{pattern, {}, 0},
             {}, {}, {}, scaled(count, 8), f32, f32);
    Value pairs = w.alloc(ir::MemoryKind::UB, count.length * 32);
    w.vector(VectorOp::Cast, pairs, {}, VectorSource{blocks, {}, 32}, {}, {}, {}, {},
             scaled(count, 8), f32, w.builder().getI32Type());
    w.move(to, pairs, {8, {}}, {}, {0, step}, {0, 32}, count);
  }

private:
  ProgramWriter &w;
  Type f32;
  Value pattern; ///< 1 and seven zeros
};

class ArgReduceExpander {
public:
  ArgReduceExpander(kernel::ArgReduceOp op, const SocTable &soc)
      : op(op), soc(soc), inType(cast<MemRefType>(op.getInput().getType())),
        element(inType.getElementType()), length(inType.getDimSize(op.getAxis())),
        rows(inType.getShape(), {op.getInput(), op.getOutput()}, op.getAxis()),
        runs(inType.getShape(), {op.getInput(), op.getOutput()}) {
    alongRows = rows.along[0] == 1 || length == 1;
    rows.along.back() = rows.along[0]; // the output has one element per row
    axisStride = runs.strides[0][op.getAxis()];
    runs.removeDim(op.getAxis());
    runs.normalize(1);
    runs.pad(1);
  }

  std::string whyUnsupported() {
    if (!element.isF16() && !element.isF32())
      return "elements that are neither f16 nor f32";
    if (!cast<MemRefType>(op.getOutput().getType()).getElementType().isInteger(64))
      return "indices that have not 64 bits";
    if (length >= 1 << 24)
      return "more elements than f32 can count";
    if (alongRows)
      return rows.whyUnsupported(soc, bytesPerElement(), kResident);
    if (runs.strides[0].back() != 1 && runs.sizes.back() != 1)
      return "runs that are not dense";
    // The loop along the axis is one more.
    return runPlan().loopCount() + 1 <= kMaxLoops ? "" : "more than 6 loops";
  }

  void expand(func::FuncOp function) { alongRows ? expandRows(function) : expandRuns(function); }

private:
  /// Input twice, rows of f32 and half as much to reduce in.
  int64_t bytesPerElement() { return 2 * elementBytes(op.getInput()) + 6; }
  static constexpr int64_t kResident = 4;

  /// Allocates a row of the numbers length, length - 1, ..., 1, or 1, 2, ..., length.
  Value countRow(ProgramWriter &w) {
    Type f32 = w.builder().getF32Type();
    const double step = op.getSelectLast() ? 1 : -1, first = op.getSelectLast() ? 1 : length;
    Value row = w.alloc(ir::MemoryKind::UB, llvm::alignTo(length, 16) * 4);
    constexpr int64_t block = 8;
    for (int64_t i = block; i-- > 0;)
      w.vector(VectorOp::Fill, row, {}, {}, {}, {}, {}, {}, {i + 1, {}}, f32, f32,
               first + step * double(i));
    for (int64_t done = block; done < length; done *= 2)
      w.vector(VectorOp::AddScalar, {row, done * 4}, {}, VectorSource{row, {}, 32}, {}, {}, {}, {},
               {std::min(done, length - done), {}}, f32, f32, step * double(done));
    return row;
  }

  void expandRows(func::FuncOp function) {
    TileNest tiles = rows.plan(soc, bytesPerElement(), kResident);
    ProgramWriter w(function, tiles.grid(), onVectorCores(soc));
    Type f32 = w.builder().getF32Type();
    tiles.enter(w);
    BoxLayout layout{tiles, 1, 16};
    IndexWriter indices(w);
    Value counts = countRow(w);
    tiles.loops(w, [&] {
      BoxOperand input = rows.operand(0, element);
      input.load(w, w.argument(0u), layout);
      const Span count = tiles.span(layout.inner());
      RowWriter writer(w, count, length);
      Rows x = writer.allocate(f32), scratch = writer.allocateScratch(f32);
      writer.cast(x, rowsOf(input, element, layout));
      Value best = writer.reduce(op.getSmallest() ? VectorOp::Min : VectorOp::Max, x, scratch);
      writer.applyScalars(VectorOp::Equal, x, x, writer.blocks(best, f32));
      writer.applyRow(VectorOp::Mul, x, x, counts);
      Value index = writer.reduce(VectorOp::Max, x, x);
      if (!op.getSelectLast())
        writer.packed(VectorOp::MulScalar, index, f32, -1);
      writer.packed(VectorOp::AddScalar, index, f32, op.getSelectLast() ? -1 : double(length));
      // Where the extremum is NaN no element equals it.
      writer.packed(VectorOp::MaxScalar, index, f32, 0);
      writer.packed(VectorOp::MinScalar, index, f32, double(length - 1));
      Expr to;
      for (size_t i = 0; i < rows.space.rank(); ++i)
        to = to + tiles.start(i) * (rows.space.strides[1][i] * 8);
      indices.store({w.argument(1u), to}, rows.space.strides[1].back() * 8, index, count);
    });
    w.finish();
  }

  TileNest runPlan() const {
    SmallVector<Axis> axes;
    int64_t cores = vectorCoreCount(soc), all = 1;
    for (int64_t size : runs.sizes) {
      axes.push_back({size});
      all *= size;
    }
    // Input, five rows of f32 and two of blocks, each maybe twice; and work for all cores.
    int64_t max = std::min((int64_t(soc.ubBytes) - 4096) / (2 * (4 + 20 + 64)),
                           std::max<int64_t>(64, llvm::divideCeil(all, cores)));
    Axis &last = axes.back();
    last.tile = std::min<int64_t>(last.size, llvm::alignTo(max, 16));
    makeExact(axes, 1);
    return TileNest(axes, cores);
  }

  void expandRuns(func::FuncOp function) {
    TileNest nest = runPlan();
    ProgramWriter w(function, nest.grid(), onVectorCores(soc));
    Type f32 = w.builder().getF32Type();
    nest.enter(w);
    IndexWriter indices(w);
    const size_t last = nest.size() - 1;
    const int64_t bytes = elementBytes(op.getInput());
    const int64_t tile = llvm::alignTo(nest.axis(last).tile, 16);
    auto source = [](Value row) { return VectorSource{row, {}, 32}; };
    nest.loops(w, [&] {
      const Span lanes = nest.span(last);
      auto apply = [&](VectorOp vectorOp, Value dst, Value a, std::optional<Value> b = {},
                       std::optional<Value> mask = {}, double scalar = 0) {
        w.vector(vectorOp, dst, {}, source(a), b ? std::optional(source(*b)) : std::nullopt,
                 mask ? std::optional(source(*mask)) : std::nullopt, {}, {}, lanes, f32, f32,
                 scalar);
      };
      auto filled = [&](double value) {
        Value row = w.alloc(ir::MemoryKind::UB, tile * 4);
        w.vector(VectorOp::Fill, row, {}, {}, {}, {}, {}, {}, lanes, f32, f32, value);
        return row;
      };
      const double infinity = std::numeric_limits<double>::infinity();
      Value best = filled(op.getSmallest() ? infinity : -infinity), index = filled(0),
            number = filled(0);
      Expr from, to;
      for (size_t i = 0; i < nest.size(); ++i) {
        from = from + nest.start(i) * (runs.strides[0][i] * bytes);
        to = to + nest.start(i) * (runs.strides[1][i] * 8);
      }
      w.loop(length, [&](Value iv) {
        Value x = w.alloc(ir::MemoryKind::UB, tile * bytes);
        w.move(x, {w.argument(0u), from + Expr(iv) * (axisStride * bytes)}, scaled(lanes, bytes));
        if (!element.isF32()) {
          Value wide = w.alloc(ir::MemoryKind::UB, tile * 4);
          w.vector(VectorOp::Cast, wide, {}, source(x), {}, {}, {}, {}, lanes, element, f32);
          x = wide;
        }
        Value isBetter = w.alloc(ir::MemoryKind::UB, tile * 4);
        apply(op.getSelectLast() ? VectorOp::LessEqual : VectorOp::Less, isBetter,
              op.getSmallest() ? x : best, op.getSmallest() ? best : x);
        apply(VectorOp::Select, index, number, index, isBetter);
        apply(VectorOp::Select, best, x, best, isBetter);
        apply(VectorOp::AddScalar, number, number, {}, {}, 1);
      });
      indices.store({w.argument(1u), to}, runs.strides[1].back() * 8, index, lanes);
    });
    w.finish();
  }

  kernel::ArgReduceOp op;
  SocTable soc;
  MemRefType inType;
  Type element;
  int64_t length, axisStride = 0;
  RowNest rows;
  TileSpace runs;
  bool alongRows = false;
};

struct NpuExpandArgReducePass : impl::NpuExpandArgReduceBase<NpuExpandArgReducePass> {
  void runOnOperation() override {
    expandKernels<kernel::ArgReduceOp>(getOperation(),
                                       [](func::FuncOp function, kernel::ArgReduceOp op) {
                                         ArgReduceExpander(op, socOf(function)).expand(function);
                                       });
  }
};

} // namespace

std::string whyUnsupportedArgReduce(kernel::ArgReduceOp op, const SocTable &soc) {
  return ArgReduceExpander(op, soc).whyUnsupported();
}

} // namespace atc::npu

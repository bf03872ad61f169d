//===-- ExpandPool.cpp - kernel.pool as loops --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (image and channel block, output rows). The rows of a window are clipped by the bounds
// of their loop. Output columns whose window is inside the input are computed several at a time
// with the window's columns unrolled; those at the edges are computed one by one with clipped
// loops.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Passes.h"
#include "passes/cpu/tiles/LaneBuffer.h"
#include "passes/cpu/tiles/LoopNest.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDPOOL
#include "passes/cpu/Passes.h.inc"

namespace {

/// Window positions along H or W.
struct WindowDim {
  int64_t in, out, kernel, stride, low, high, dilation;

  /// Outputs [begin, end) have their whole window inside the input.
  int64_t insideBegin() const { return std::min(out, (low + stride - 1) / stride); }
  int64_t insideEnd() const {
    int64_t last = in + low - (kernel - 1) * dilation - 1;
    return last < 0 ? insideBegin() : std::clamp(last / stride + 1, insideBegin(), out);
  }
};

class PoolExpander {
public:
  explicit PoolExpander(PoolOp op)
      : b(op), isMax(op.getKind() == PoolKind::Max), countPadding(op.getCountIncludePad()),
        isUnsigned(op.getIsUnsigned()), input(b, op.getInput()), output(b, op.getOutput()),
        inStrides(stridesOf(op.getInput())), outStrides(stridesOf(op.getOutput())),
        shape(shapeOf(op.getOutput())), element(computeType(input.element())) {
    ArrayRef<int64_t> in = shapeOf(op.getInput());
    for (int d : {0, 1})
      dims[d] = {in[2 + d],       shape[2 + d],        op.getKernel()[d],   op.getStrides()[d],
                 op.getPads()[d], op.getPads()[2 + d], op.getDilations()[d]};
    int64_t channels = shape[4];
    width = std::min(b.level().getLanes(), channels);
    for (int64_t c = 0; c < channels; c += width)
      counts.push_back(std::min(width, channels - c));
  }

  void expand() {
    bool fromZero = !isMax || (isUnsigned && !isa<FloatType>(element));
    double start = fromZero ? 0.0 : -std::numeric_limits<double>::infinity();
    initial = laneConstant(b, element, width, start);

    SmallVector<int64_t> sizes{shape[0] * shape[1], shape[2]};
    int64_t rowBytes = shape[3] * shape[4] * output.bytes() *
                       (1 + std::min(dims[0].kernel, 2 * dims[0].stride) * dims[1].stride);
    SmallVector<Range> ranges = beginTasks(b, sizes, rowBytes);
    forEach(b, ranges[0], [&](Value plane) {
      Value image = b.index(0), block = plane;
      if (shape[0] > 1) {
        image = arith::DivUIOp::create(b, plane, b.index(shape[1]));
        block = arith::RemUIOp::create(b, plane, b.index(shape[1]));
      }
      Value from = b.mulAdd(image, inStrides[0], b.mul(block, inStrides[1]));
      Value to = b.mulAdd(image, outStrides[0], b.mul(block, outStrides[1]));
      forEach(b, ranges[1], [&](Value row) { expandRow(row, from, to); });
    });
  }

private:
  /// The part of a window inside the input: the position of its first tap (maybe outside) and the
  /// taps [begin, end).
  struct Clipped {
    Value first, begin, end, counted;
  };

  Clipped clip(Value position, const WindowDim &dim) {
    // All in the input's coordinates shifted by `low`, so that nothing is negative.
    Value shifted = b.mul(position, dim.stride);
    auto tapsBefore = [&](int64_t limit) -> Value {
      // Number of taps at shifted + tap * dilation < limit, limit >= 0.
      Value last = arith::SubIOp::create(b, b.index(limit + dim.dilation - 1), shifted);
      Value none = arith::MaxSIOp::create(b, last, b.index(0));
      Value taps = dim.dilation == 1
                       ? none
                       : arith::DivUIOp::create(b, none, b.index(dim.dilation)).getResult();
      return arith::MinUIOp::create(b, taps, b.index(dim.kernel));
    };
    Clipped result;
    result.first = shifted;
    result.begin = dim.low > 0 ? tapsBefore(dim.low) : b.index(0);
    result.end = tapsBefore(dim.low + dim.in);
    if (countPadding)
      result.counted = tapsBefore(dim.low + dim.in + dim.high);
    else
      result.counted = arith::SubIOp::create(b, result.end, result.begin);
    return result;
  }

  /// Returns the offset of a tap along a dim. Index arithmetic is unsigned, so the leading padding
  /// is subtracted last.
  Value tapOffset(const Clipped &window, Value tap, const WindowDim &dim, int64_t stride) {
    Value position = b.mulAdd(tap, dim.dilation, window.first);
    return b.add(b.mul(position, stride), -dim.low * stride);
  }

  Value combine(Value acc, Value x) {
    if (!isMax)
      return arith::AddFOp::create(b, acc, x);
    if (!isa<FloatType>(element)) {
      if (isUnsigned)
        return arith::MaxUIOp::create(b, acc, x);
      return arith::MaxSIOp::create(b, acc, x);
    }
    // The sign of a zero does not matter, NaN does.
    auto flags = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::nsz);
    return arith::MaximumFOp::create(b, acc, x, flags);
  }

  /// Builds a loop with carried values and bounds that are known at run time.
  SmallVector<Value> loop(Value begin, Value end, ValueRange carried,
                          function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    auto forOp = scf::ForOp::create(b, begin, end, b.index(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    scf::YieldOp::create(b, body(forOp.getInductionVar(), forOp.getRegionIterArgs()));
    return forOp.getResults();
  }

  SmallVector<Value> loadPixel(Value at) {
    SmallVector<Value> vectors;
    for (auto [v, count] : llvm::enumerate(counts)) {
      Value offset = b.add(at, v * width * inStrides[4]);
      vectors.push_back(widen(b, input.load(offset, width, count, inStrides[4])));
    }
    return vectors;
  }

  /// Returns 1 / the number of elements of a mean.
  Value scaleOf(Value rows, Value columns) {
    if (isMax)
      return {};
    Value number = arith::MulIOp::create(b, rows, columns);
    Value i32 = arith::IndexCastOp::create(b, b.getI32Type(), number);
    Value count = arith::SIToFPOp::create(b, element, i32);
    return spread(b, arith::DivFOp::create(b, laneConstant(b, element, 1, 1.0), count), width);
  }

  void storePixel(ValueRange accumulators, Value scale, Value to) {
    for (auto [v, acc] : llvm::enumerate(accumulators)) {
      Value result = isMax ? acc : arith::MulFOp::create(b, acc, scale).getResult();
      output.store(narrow(b, result, output.element()), b.add(to, v * width * outStrides[4]),
                   counts[v], outStrides[4]);
    }
  }

  void expandRow(Value row, Value from, Value to) {
    Clipped rows = clip(row, dims[0]);
    Value toRow = b.mulAdd(row, outStrides[2], to);
    int64_t begin = dims[1].insideBegin(), end = dims[1].insideEnd();
    if (int64_t inside = end - begin; inside > 0) {
      Value scale = scaleOf(rows.counted, b.index(dims[1].kernel));
      // Processes as many pixels at a time as leave registers for the loads.
      int64_t budget = std::max<int64_t>(1, b.level().getRegisters() / 2 / int64_t(counts.size()));
      int64_t pixels = std::min<int64_t>({budget, inside, 8});
      int64_t whole = inside / pixels * pixels;
      b.loop(whole / pixels, [&](Value i) {
        expandInside(rows, b.add(b.mul(i, pixels), begin), pixels, from, toRow, scale);
      });
      if (inside > whole)
        expandInside(rows, b.index(begin + whole), inside - whole, from, toRow, scale);
    }
    int64_t inside = end - begin, edges = dims[1].out - inside;
    b.loop(b.index(0), b.index(edges), 1, [&](Value i) {
      Value column = i;
      if (inside > 0) {
        Value isRight = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, i, b.index(begin));
        column = arith::SelectOp::create(b, isRight, b.add(i, inside), i);
      }
      expandEdge(rows, column, from, toRow);
    });
  }

  /// `pixels` outputs from `column` on, with windows inside the input's columns.
  void expandInside(const Clipped &rows, Value column, int64_t pixels, Value from, Value toRow,
                    Value scale) {
    const WindowDim &dim = dims[1];
    int64_t vectors = counts.size(), pixelStride = inStrides[3];
    Value first = b.add(b.mul(column, dim.stride * pixelStride), -dim.low * pixelStride);
    SmallVector<Value> start(pixels * vectors, initial);
    SmallVector<Value> sums = loop(rows.begin, rows.end, start, [&](Value tap, ValueRange carried) {
      Value at = b.add(b.add(tapOffset(rows, tap, dims[0], inStrides[2]), from), first);
      auto takeColumn = [&](Value offset, SmallVector<Value> acc) {
        for (int64_t p = 0; p < pixels; ++p)
          for (auto [v, x] :
               llvm::enumerate(loadPixel(b.add(offset, p * dim.stride * pixelStride))))
            acc[p * vectors + v] = combine(acc[p * vectors + v], x);
        return acc;
      };
      SmallVector<Value> acc(carried);
      int64_t step = dim.dilation * pixelStride;
      if (dim.kernel <= 5) {
        for (int64_t k = 0; k < dim.kernel; ++k)
          acc = takeColumn(b.add(at, k * step), acc);
        return acc;
      }
      return b.loop(dim.kernel, acc, [&](Value k, ValueRange inner) {
        return takeColumn(b.mulAdd(k, step, at), SmallVector<Value>(inner));
      });
    });
    for (int64_t p = 0; p < pixels; ++p)
      storePixel(ValueRange(sums).slice(p * vectors, vectors), scale,
                 b.add(b.mulAdd(column, outStrides[3], toRow), p * outStrides[3]));
  }

  /// Computes one output whose window is clipped on all sides.
  void expandEdge(const Clipped &rows, Value column, Value from, Value toRow) {
    Clipped columns = clip(column, dims[1]);
    SmallVector<Value> start(counts.size(), initial);
    SmallVector<Value> sums = loop(rows.begin, rows.end, start, [&](Value ky, ValueRange outer) {
      Value atRow = b.add(tapOffset(rows, ky, dims[0], inStrides[2]), from);
      return loop(columns.begin, columns.end, outer, [&](Value kx, ValueRange carried) {
        Value at = b.add(tapOffset(columns, kx, dims[1], inStrides[3]), atRow);
        SmallVector<Value> acc(carried);
        for (auto [a, x] : llvm::zip(acc, loadPixel(at)))
          a = combine(a, x);
        return acc;
      });
    });
    storePixel(sums, scaleOf(rows.counted, columns.counted),
               b.mulAdd(column, outStrides[3], toRow));
  }

  KernelBuilder b;
  bool isMax, countPadding, isUnsigned;
  LaneBuffer input, output;
  SmallVector<int64_t> inStrides, outStrides;
  ArrayRef<int64_t> shape;
  Type element;
  WindowDim dims[2];
  int64_t width;
  /// Channels of every vector of a block.
  SmallVector<int64_t> counts;
  Value initial;
};

struct CpuExpandPoolPass : impl::CpuExpandPoolBase<CpuExpandPoolPass> {
  void runOnOperation() override {
    getOperation().walk([&](PoolOp op) {
      if (op.getKind() == PoolKind::Average && !isa<FloatType>(elementOf(op.getInput()))) {
        op.emitOpError("computes means of floats only");
        return signalPassFailure();
      }
      PoolExpander(op).expand();
      op.erase();
    });
  }
};

} // namespace
} // namespace atc::cpu

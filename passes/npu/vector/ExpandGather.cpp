//===-- ExpandGather.cpp - kernel.gather as a program -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/soc/Limits.h"
#include "passes/ValueTypes.h"
#include "passes/npu/VectorPasses.h"
#include "passes/npu/vector/Gather.h"
#include "passes/npu/vector/TileNest.h"
#include "passes/npu/vector/VectorKernels.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDGATHER
#include "passes/npu/VectorPasses.h.inc"

namespace {

/// Writes the program of a gather from [A][K][B] by I indices to [A][I][B].
class GatherExpander {
public:
  GatherExpander(kernel::GatherOp op, const SocTable &soc)
      : op(op), soc(soc), bytes(elementBytes(op.getInput())),
        indexBytes(elementBytes(op.getIndices())), table(bufferTypeOf(op.getInput()).getShape()),
        in(stridesOf(op.getInput())), out(stridesOf(op.getOutput())) {}

  std::string whyUnsupported() {
    Type element = bufferTypeOf(op.getInput()).getElementType(),
         index = bufferTypeOf(op.getIndices()).getElementType();
    if (!element.isIntOrFloat() || (element.getIntOrFloatBitWidth() % 8 && !element.isInteger(1)))
      return "elements that are no whole bytes";
    if (!isa<IntegerType>(index) || (indexBytes != 4 && indexBytes != 8))
      return "indices that have neither 32 nor 64 bits";
    if (index.isUnsignedInteger())
      return "indices without sign";
    if (table[1] > int64_t(Limits::MaxCount))
      return "more rows than an instruction can count";
    const int64_t indices = bufferTypeOf(op.getIndices()).getDimSize(0);
    if (indices > 1 && stridesOf(op.getIndices())[0] != 1)
      return "indices that do not lie behind each other";
    if (table[2] > 1 && (in[2] != 1 || out[2] != 1))
      return "rows that are not dense";
    return plan().fitsLoops() ? "" : "more than 6 loops";
  }

  void expand(func::FuncOp function) {
    constexpr size_t outer = 0, rows = 1, columns = 2;
    TileNest nest = plan();
    ProgramWriter w(function, nest.grid(), onVectorCores(soc));
    Type s32 = w.builder().getI32Type();
    nest.enter(w);
    const int64_t rowBytes = llvm::alignTo(nest.axis(columns).tile * bytes, 32),
                  indicesBytes = llvm::alignTo(nest.axis(rows).tile * indexBytes, 32);
    auto address = [&](unsigned argument, ArrayRef<int64_t> strides, bool hasRows) {
      Expr offset = nest.start(outer) * (strides[0] * bytes) + nest.start(columns) * bytes;
      if (hasRows)
        offset = offset + nest.start(rows) * (strides[1] * bytes);
      return BufferAddress(w.argument(argument), offset);
    };
    nest.loops(w, [&] {
      Value loaded = w.alloc(ir::MemoryKind::UB, indicesBytes),
            indices = w.alloc(ir::MemoryKind::UB, indicesBytes);
      w.move(loaded, {w.argument(1u), nest.start(rows) * indexBytes}, nest.span(rows, indexBytes));
      // The queue that loads the indices is the one that uses them: flags of another queue order
      // both.
      w.vector(VectorOp::Copy, indices, {}, VectorSource{loaded, {}, 32}, {}, {}, {}, {},
               nest.span(rows, indexBytes / 4), s32, s32);
      Value found = w.alloc(ir::MemoryKind::UB, rowBytes * nest.axis(rows).tile);
      w.gatherRows(found, address(0, in, /*hasRows=*/false), indices, nest.span(rows),
                   nest.span(columns, bytes), table[1], in[1] * bytes, rowBytes, indexBytes);
      w.move(address(2, out, /*hasRows=*/true), found, nest.span(columns, bytes), nest.span(rows),
             {out[1] * bytes, 0}, {rowBytes, 0});
    });
    w.finish();
  }

private:
  /// Returns the strides of a buffer; those of dims of 1 are 0.
  static SmallVector<int64_t> stridesOf(Value buffer) {
    auto [strides, offset] = bufferTypeOf(buffer).getStridesAndOffset();
    for (auto [stride, size] : llvm::zip(strides, bufferTypeOf(buffer).getShape()))
      if (size == 1)
        stride = 0;
    return SmallVector<int64_t>(strides);
  }

  TileNest plan() {
    SmallVector<Axis> axes;
    for (int64_t size : bufferTypeOf(op.getOutput()).getShape())
      axes.push_back({size});
    const int64_t cores = vectorCoreCount(soc), block = std::max<int64_t>(1, 32 / bytes);
    // Two copies of a row, and of its index before and behind the copy.
    const int64_t perRow = 2 * (llvm::alignTo(axes.back().size * bytes, 32) + 2 * indexBytes);
    const int64_t perElement = std::max(
        2 * bytes, int64_t(llvm::divideCeil(perRow, llvm::alignTo(axes.back().size, block))));
    chooseTiles(axes, (int64_t(soc.ubBytes) - 4096) / perElement, cores, block, block);
    axes.front().tile = 1;
    makeExact(axes, 2);
    return TileNest(axes, cores);
  }

  kernel::GatherOp op;
  SocTable soc;
  int64_t bytes, indexBytes;
  ArrayRef<int64_t> table;
  SmallVector<int64_t> in, out;
};

struct NpuExpandGatherPass : impl::NpuExpandGatherBase<NpuExpandGatherPass> {
  void runOnOperation() override {
    expandKernels<kernel::GatherOp>(getOperation(), [](func::FuncOp function, kernel::GatherOp op) {
      GatherExpander(op, socOf(function)).expand(function);
    });
  }
};

} // namespace

std::string whyUnsupportedGather(kernel::GatherOp op, const SocTable &soc) {
  return GatherExpander(op, soc).whyUnsupported();
}

} // namespace atc::npu

//===-- ExpandIntegerConv.cpp - integer convolutions as loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (image, group of channel blocks, rows of pixels). Inside it:
//
//   for blocks of channels
//     for pixel tiles          32-bit sums in registers
//       for groups of steps    four bytes of each pixel, spread over all lanes,
//                              by four weights of each channel
//       epilogue               one body for the pixel's 16 channels
//
// Steps say where their bytes are, so there is one loop for any window, stride,
// dilation and grouping.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/IntegerTile.h"
#include "passes/cpu/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDINTEGERCONV
#include "passes/cpu/Passes.h.inc"

namespace {

Value bitcast(KernelBuilder &b, Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType());
  int64_t lanes =
      type.getNumElements() * type.getElementTypeBitWidth() / element.getIntOrFloatBitWidth();
  return vector::BitCastOp::create(b, VectorType::get({lanes}, element), vector);
}

/// Sums of products of bytes, by what the level has for them.
class Dot {
public:
  Dot(KernelBuilder &builder, int64_t lanes)
      : b(builder), lanes(lanes), dot(builder.level().getDot()) {
    // There is no instruction for 128 bits beside these of VNNI.
    if (dot == "vnni" && lanes < 8)
      dot = "maddubs";
    if (dot == "maddubs")
      ones = constant(b.getI16Type(), 2, 1);
  }

  /// Four bytes at `at`, repeated in every lane.
  Value spreadBytes(Value flat, Value at, bool isSigned) {
    Value four = vector::LoadOp::create(b, VectorType::get({4}, b.getI8Type()), flat, at);
    Value word = laneOf(b, bitcast(b, four, b.getI32Type()), 0);
    if (isSigned)
      word = arith::XOrIOp::create(
          b, word, arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(0x80808080))));
    Value all = vector::BroadcastOp::create(b, VectorType::get({lanes}, b.getI32Type()), word);
    return bitcast(b, all, b.getI8Type());
  }

  /// sum + the products of unsigned `bytes` and signed `weights`, four a lane, of
  /// all steps; the weights are such that pairs over all steps fit 16 bits.
  Value add(Value sum, ArrayRef<Value> bytes, ArrayRef<Value> weights) {
    if (dot == "maddubs") {
      Value pairs;
      for (auto [x, w] : llvm::zip_equal(bytes, weights)) {
        Value pair = call(lanes == 4   ? "llvm.x86.ssse3.pmadd.ub.sw.128"
                          : lanes == 8 ? "llvm.x86.avx2.pmadd.ub.sw"
                                       : "llvm.x86.avx512.pmaddubs.w.512",
                          b.getI16Type(), 2, {x, w});
        pairs = pairs ? arith::AddIOp::create(b, pairs, pair).getResult() : pair;
      }
      Value wide = call(lanes == 4   ? "llvm.x86.sse2.pmadd.wd"
                        : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                     : "llvm.x86.avx512.pmaddw.d.512",
                        b.getI32Type(), 1, {pairs, ones});
      return arith::AddIOp::create(b, sum, wide);
    }
    for (auto [x, w] : llvm::zip_equal(bytes, weights)) {
      if (dot == "vnni")
        sum = call(lanes == 8 ? "llvm.x86.avx512.vpdpbusd.256" : "llvm.x86.avx512.vpdpbusd.512",
                   b.getI32Type(), 1, {sum, x, w});
      else
        sum = arith::AddIOp::create(b, sum, products(x, w));
    }
    return sum;
  }

private:
  Value constant(Type element, int64_t perLane, int64_t value) {
    auto type = VectorType::get({lanes * perLane}, element);
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, Attribute(b.getIntegerAttr(element, value))));
  }
  Value call(StringRef name, Type element, int64_t perLane, ValueRange args) {
    Type type = VectorType::get({lanes * perLane}, element);
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), args).getResult(0);
  }
  /// Four products a lane, added by ordinary instructions.
  Value products(Value x, Value w) {
    auto wide = VectorType::get({4 * lanes}, b.getI32Type());
    Value all = arith::MulIOp::create(b, arith::ExtUIOp::create(b, wide, x),
                                      arith::ExtSIOp::create(b, wide, w));
    for (int64_t size = 2 * lanes; size >= lanes; size /= 2) {
      SmallVector<int64_t> even, odd;
      for (int64_t i = 0; i < size; ++i) {
        even.push_back(2 * i);
        odd.push_back(2 * i + 1);
      }
      all = arith::AddIOp::create(b, vector::ShuffleOp::create(b, all, all, even),
                                  vector::ShuffleOp::create(b, all, all, odd));
    }
    return all;
  }

  KernelBuilder &b;
  int64_t lanes;
  StringRef dot;
  Value ones;
};

class IntegerConvExpander {
public:
  IntegerConvExpander(IntegerConv2DOp op, TileAttr tile)
      : op(op), tile(tile), b(op), in(op.getInput(), op.getStrides()),
        steps(shapeOf(op.getFilter())[1]) {}

  void run() {
    input = b.flat(op.getInput());
    filter = b.flat(op.getFilter());
    table = b.flat(op.getSteps());
    bias = b.flat(op.getBias());
    IntegerEpilogue epilogue(b, op);
    ArrayRef<int64_t> out = epilogue.grid().shape();
    int64_t groups = std::min(tile.getGroups(), out[1]);
    PixelTiling tiling(out[2], out[3], tile);
    SmallVector<Value> task =
        b.beginTasks({out[0], int64_t(llvm::divideCeil(out[1], groups)), tiling.tasks()});
    Value firstBlock = b.mul(task[1], groups), endBlock = b.add(firstBlock, groups);
    if (out[1] % groups)
      endBlock = arith::MinUIOp::create(b, endBlock, b.index(out[1]));
    b.loop(firstBlock, endBlock, 1, [&](Value block) {
      tiling.forEachTile(b, task[2], [&](const PixelTile &pixels) {
        IntegerTile sums(b, pixels.count);
        sums.start(bias, b.mul(block, kSumBlock));
        addSteps(sums, pixels, task[0], block);
        epilogue.finish(sums, pixels, task[0], block);
      });
    });
    op.erase();
  }

private:
  void addSteps(IntegerTile &sums, const PixelTile &pixels, Value image, Value block) {
    int64_t group = op.getGroup(), stepBytes = kSumBlock * 4;
    SmallVector<Address> at = in.addresses(b, pixels, b.mul(image, in.stride(0)));
    Value firstStep = b.mul(block, steps);
    Dot dot(b, sums.lanes());
    VectorType weightType = sums.vectorType(b.getI8Type(), 4);
    sums.values() = b.loop(steps / group, sums.values(), [&](Value i, ValueRange carried) {
      sums.values().assign(carried.begin(), carried.end());
      Value step = b.mulAdd(i, group, firstStep);
      Value weightsAt = b.mul(step, stepBytes);
      SmallVector<Value> offsets;
      for (int64_t g = 0; g < group; ++g) {
        Value offset = memref::LoadOp::create(b, table, ValueRange{b.add(step, g)});
        offsets.push_back(arith::IndexCastOp::create(b, b.getIndexType(), offset));
      }
      SmallVector<SmallVector<Value>> weights(sums.vectors());
      for (int64_t v = 0; v < sums.vectors(); ++v)
        for (int64_t g = 0; g < group; ++g)
          weights[v].push_back(vector::LoadOp::create(
              b, weightType, filter,
              ValueRange{b.add(weightsAt, g * stepBytes + v * sums.lanes() * 4)}));
      // Pixels of a row share their base.
      llvm::SmallDenseMap<std::pair<Value, int64_t>, Value> bases;
      for (int64_t p = 0; p < sums.pixels(); ++p) {
        SmallVector<Value> bytes;
        for (int64_t g = 0; g < group; ++g) {
          Value &base = bases[{at[p].base, g}];
          if (!base)
            base = b.add(at[p].base, offsets[g]);
          bytes.push_back(dot.spreadBytes(input, b.add(base, at[p].offset), op.getSignedInput()));
        }
        for (int64_t v = 0; v < sums.vectors(); ++v)
          sums.sum(p, v) = dot.add(sums.sum(p, v), bytes, weights[v]);
      }
      return sums.values();
    });
  }

  IntegerConv2DOp op;
  TileAttr tile;
  KernelBuilder b;
  PixelGrid in;
  int64_t steps;
  Value input, filter, table, bias;
};

/// One multiplication a lane; the window is unrolled.
void expandDepthwise(IntegerDepthwiseOp op, TileAttr tile) {
  KernelBuilder b(op);
  ArrayRef<int64_t> filterShape = shapeOf(op.getFilter());
  SmallVector<int64_t> filterStrides = stridesOf(op.getFilter());
  Value input = b.flat(op.getInput()), filter = b.flat(op.getFilter()), bias = b.flat(op.getBias());
  PixelGrid in(op.getInput(), op.getStrides());
  IntegerEpilogue epilogue(b, op);
  ArrayRef<int64_t> out = epilogue.grid().shape();
  PixelTiling tiling(out[2], out[3], tile);
  SmallVector<Value> task = b.beginTasks({out[0], out[1], tiling.tasks()});
  Value image = task[0], block = task[1];
  bool unrollRows = filterShape[1] * filterShape[2] <= 25;

  tiling.forEachTile(b, task[2], [&](const PixelTile &pixels) {
    IntegerTile sums(b, pixels.count);
    sums.start(bias, b.mul(block, kSumBlock));
    SmallVector<Address> at =
        in.addresses(b, pixels, b.mulAdd(image, in.stride(0), b.mul(block, in.stride(1))));
    VectorType wide = sums.vectorType(b.getI32Type());
    auto addRow = [&](Value rowBase, Value filterBase, int64_t rowOffset, int64_t filterOffset) {
      for (int64_t kw = 0; kw < filterShape[2]; ++kw)
        for (int64_t v = 0; v < sums.vectors(); ++v) {
          Value w = vector::LoadOp::create(
              b, sums.vectorType(b.getI16Type()), filter,
              ValueRange{
                  b.add(filterBase, filterOffset + kw * filterStrides[2] + v * sums.lanes())});
          w = arith::ExtSIOp::create(b, wide, w);
          for (int64_t p = 0; p < pixels.count; ++p) {
            int64_t offset = at[p].offset + rowOffset + kw * op.getDilations()[1] * in.stride(3) +
                             v * sums.lanes();
            Value base = rowBase ? b.add(at[p].base, rowBase) : at[p].base;
            Value x = vector::LoadOp::create(b, sums.vectorType(b.getI8Type()), input,
                                             ValueRange{b.add(base, offset)});
            x = op.getSignedInput() ? arith::ExtSIOp::create(b, wide, x).getResult()
                                    : arith::ExtUIOp::create(b, wide, x).getResult();
            sums.sum(p, v) =
                arith::AddIOp::create(b, sums.sum(p, v), arith::MulIOp::create(b, x, w));
          }
        }
    };
    Value filterBase = b.mul(block, filterStrides[0]);
    int64_t rowStride = op.getDilations()[0] * in.stride(2);
    if (unrollRows) {
      for (int64_t kh = 0; kh < filterShape[1]; ++kh)
        addRow(Value(), filterBase, kh * rowStride, kh * filterStrides[1]);
    } else {
      sums.values() = b.loop(filterShape[1], sums.values(), [&](Value kh, ValueRange carried) {
        sums.values().assign(carried.begin(), carried.end());
        addRow(b.mul(kh, rowStride), b.mulAdd(kh, filterStrides[1], filterBase), 0, 0);
        return sums.values();
      });
    }
    epilogue.finish(sums, pixels, image, block);
  });
  op.erase();
}

struct CpuExpandIntegerConvPass : impl::CpuExpandIntegerConvBase<CpuExpandIntegerConvPass> {
  void runOnOperation() override {
    auto needsTile = [&](Operation *op) {
      op->emitOpError("needs a tile; run cpu-select-tiles first");
      signalPassFailure();
    };
    getOperation().walk([&](IntegerConv2DOp op) {
      if (TileAttr tile = op.getTileAttr())
        IntegerConvExpander(op, tile).run();
      else
        needsTile(op);
    });
    getOperation().walk([&](IntegerDepthwiseOp op) {
      if (TileAttr tile = op.getTileAttr())
        expandDepthwise(op, tile);
      else
        needsTile(op);
    });
  }
};

} // namespace
} // namespace atc::cpu

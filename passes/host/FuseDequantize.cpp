//===-- FuseDequantize.cpp - weights of few bits stay in few bits ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTFUSEDEQUANTIZE
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// The rows that MatMulNBits expands at a time: blocks of all rows are multiples of it.
constexpr int64_t unitRows = 32;

/// A k x n matrix of integers with a scale and a zero point per block of rows of a column. In
/// `weights` and `scales` columns are the outer dim where `transposed`.
struct BlockedWeights {
  ElementsAttr values, scales, zeros; ///< `zeros` may be null
  bool transposed = false;
  int64_t k = 0, n = 0, bits = 4, block = 0, blocks = 0;

  /// Reads the operands of a DequantizeLinear whose result is the matrix, or its transpose. Returns
  /// why they are no such matrix, or null.
  const char *read(HostCallOp call, bool isTransposed);

  bool isSigned() const { return !values.getElementType().isUnsignedInteger(); }
};

const char *BlockedWeights::read(HostCallOp call, bool isTransposed) {
  const SmallVector<Value> inputs = inputsOf(call, 3);
  values = graph::getConstant(inputs[0]);
  scales = graph::getConstant(inputs[1]);
  zeros = inputs[2] ? graph::getConstant(inputs[2]) : ElementsAttr();
  transposed = isTransposed;
  if (!values || !scales || (inputs[2] && !zeros))
    return "is not constant";
  const ShapedType type = values.getShapedType();
  if (!type.getElementType().isInteger() || type.getRank() != 2 || type.getNumElements() == 0)
    return "is no matrix of integers";
  bits = type.getElementTypeBitWidth();
  k = type.getDimSize(transposed);
  n = type.getDimSize(!transposed);
  block = integerOf(call, "block_size", 0);
  const bool isBlocked = block > 0;
  if ((bits != 4 && bits != 8) || (bits == 8 && !isBlocked))
    return "has another form than blocks of 4 or 8 bits";
  int64_t axis = integerOf(call, "axis", 1);
  axis += axis < 0 ? 2 : 0;
  // Blocks are along the rows, scales of whole columns along the columns.
  if (axis != (isBlocked ? int64_t(transposed) : int64_t(!transposed)) &&
      scales.getNumElements() != 1)
    return "has scales along the other dim";
  if (!isBlocked)
    block = llvm::alignTo(k, unitRows);
  blocks = llvm::divideCeil(k, block);
  if (block * bits % 8 || (scales.getNumElements() != n * blocks && scales.getNumElements() != 1))
    return "has scales of another shape";
  if (zeros && (zeros.getNumElements() != scales.getNumElements() ||
                zeros.getElementType() != type.getElementType()))
    return "has zero points of another shape or type";
  return nullptr;
}

/// The operands of MatMulNBits.
struct Packed {
  ElementsAttr weights, scales, zeros;
};

/// Returns the matrix as MatMulNBits reads it: columns one after the other, fields of 4 bits from
/// the low half of a byte on, levels and zero points without a sign. Null attributes where the data
/// cannot be read.
Packed pack(const BlockedWeights &w) {
  auto values = graph::ConstantBytes::get(w.values), scales = graph::ConstantBytes::get(w.scales);
  if (failed(values) || failed(scales))
    return {};
  const int64_t blockBytes = w.block * w.bits / 8,
                zeroBytes = llvm::divideCeil(w.blocks * w.bits, 8);
  const unsigned mask = (1u << w.bits) - 1, sign = w.isSigned() ? 1u << (w.bits - 1) : 0;
  std::vector<char> weights(w.n * w.blocks * blockBytes), zeros(w.n * zeroBytes);
  auto store = [&](char *to, int64_t index, unsigned value) {
    to[index * w.bits / 8] |= static_cast<char>(value << (index * w.bits % 8));
  };
  auto level = [&](char value) { return (static_cast<uint8_t>(value) & mask) ^ sign; };
  ArrayRef<char> from = values->expanded();
  for (int64_t j = 0; j < w.n; ++j)
    for (int64_t i = 0; i < w.k; ++i)
      store(weights.data() + (j * w.blocks + i / w.block) * blockBytes, i % w.block,
            level(from[w.transposed ? j * w.k + i : i * w.n + j]));

  // Scales and zero points: [columns, blocks]; one number stands for all.
  const bool isOne = w.scales.getNumElements() == 1;
  auto at = [&](int64_t j, int64_t b) {
    return isOne ? 0 : w.transposed ? j * w.blocks + b : b * w.n + j;
  };
  const int64_t size = graph::getElementBytes(w.scales.getElementType());
  ArrayRef<char> factors = scales->expanded();
  std::vector<char> factorBytes(w.n * w.blocks * size);
  ArrayRef<char> points;
  std::optional<graph::ConstantBytes> given;
  if (w.zeros) {
    auto read = graph::ConstantBytes::get(w.zeros);
    if (failed(read))
      return {};
    given = std::move(*read);
    points = given->expanded();
  }
  for (int64_t j = 0; j < w.n; ++j)
    for (int64_t b = 0; b < w.blocks; ++b) {
      std::memcpy(factorBytes.data() + (j * w.blocks + b) * size, factors.data() + at(j, b) * size,
                  size);
      store(zeros.data() + j * zeroBytes, b, level(points.empty() ? char(0) : points[at(j, b)]));
    }
  MLIRContext *context = w.values.getContext();
  Type byte = IntegerType::get(context, 8, IntegerType::Unsigned);
  return {graph::makeConstant(RankedTensorType::get({w.n, w.blocks, blockBytes}, byte),
                              std::move(weights), "few_bits"),
          graph::makeConstant(RankedTensorType::get({w.n * w.blocks}, w.scales.getElementType()),
                              std::move(factorBytes), "few_bits_scales"),
          graph::makeConstant(RankedTensorType::get({w.n * zeroBytes}, byte), std::move(zeros),
                              "few_bits_zeros")};
}

/// Packs each matrix once, however many products read it.
class Packer {
public:
  Packed get(HostCallOp call, const BlockedWeights &weights) {
    auto [found, isNew] = done.try_emplace({call.getOperation(), unsigned(weights.transposed)});
    if (isNew)
      found->second = pack(weights);
    return found->second;
  }

private:
  DenseMap<std::pair<Operation *, unsigned>, Packed> done;
};

/// Rewrites products: MatMul and Gemm calls, and graph.matmul.
struct FuseDequantize : RewritePattern {
  FuseDequantize(MLIRContext *context, Packer &packer, Pass::Statistic &count, bool isGraphIncluded)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), packer(packer), count(count),
        isGraphIncluded(isGraphIncluded) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto call = dyn_cast<HostCallOp>(op);
    auto matmul = dyn_cast<graph::MatMulOp>(op);
    const bool isGemm = call && call.getKernel() == "Gemm";
    if ((!matmul || !isGraphIncluded) && !isGemm && !(call && call.getKernel() == "MatMul"))
      return failure();
    if (call && !hasInputs(call, 2))
      return failure();
    const SmallVector<Value> inputs =
        call ? inputsOf(call, 3) : SmallVector<Value>{matmul.getLhs(), matmul.getRhs(), Value()};
    bool transposed = isGemm && integerOf(call, "transB", 0);
    HostCallOp source = dequantizeOf(inputs[1], transposed);
    if (!source)
      return failure();
    BlockedWeights weights;
    if (const char *reason = weights.read(source, transposed))
      return rewriter.notifyMatchFailure(op, reason);
    auto type = dyn_cast<TensorType>(inputs[0].getType());
    if (!type || type.getElementType() != weights.scales.getElementType() ||
        cast<TensorType>(source.getResult(0).getType()).getElementType() != type.getElementType())
      return rewriter.notifyMatchFailure(op, "its factors have different types");
    if (isGemm && !hasPlainForm(call, inputs[2], weights.n))
      return rewriter.notifyMatchFailure(op, "is no product with one bias per column");
    Packed packed = packer.get(source, weights);
    if (!packed.weights)
      return failure();
    auto constant = [&](ElementsAttr value, StringRef name) -> Value {
      return graph::ConstantOp::create(rewriter, graph::derivedLoc(inputs[1].getLoc(), name),
                                       value);
    };
    NamedAttrList parameters;
    for (auto [name, value] :
         {std::pair("K", weights.k), std::pair("N", weights.n), std::pair("bits", weights.bits),
          std::pair("block_size", weights.block)})
      parameters.append(name, rewriter.getDenseI64ArrayAttr(value));
    HostCallOp made = makeCall(rewriter, op->getLoc(), "MatMulNBits",
                               {inputs[0], constant(packed.weights, "few_bits"),
                                constant(packed.scales, "scales"), constant(packed.zeros, "zeros"),
                                Value(), inputs[2]},
                               op->getResult(0).getType(), parameters.getDictionary(getContext()));
    rewriter.replaceOp(op, made.getResults());
    ++count;
    return success();
  }

private:
  /// Returns the DequantizeLinear whose result is `value`, or is transposed to it: `transposed` is
  /// then inverted.
  static HostCallOp dequantizeOf(Value value, bool &transposed) {
    value = sourceOf(value);
    if (auto transpose = value.getDefiningOp<graph::TransposeOp>()) {
      if (transpose.getPermutation() != ArrayRef<int64_t>{1, 0})
        return {};
      transposed = !transposed;
      value = transpose.getInput();
    }
    return callOf(value, "DequantizeLinear");
  }

  static bool hasPlainForm(HostCallOp gemm, Value bias, int64_t n) {
    if (integerOf(gemm, "transA", 0) || numberOf(gemm, "alpha", 1) != 1)
      return false;
    auto type = bias ? dyn_cast<RankedTensorType>(bias.getType()) : RankedTensorType();
    return !bias ||
           (numberOf(gemm, "beta", 1) == 1 && type && type.getRank() > 0 && type.hasStaticShape() &&
            type.getNumElements() == n && type.getShape().back() == n);
  }

  Packer &packer;
  Pass::Statistic &count;
  bool isGraphIncluded;
};

struct HostFuseDequantize : impl::HostFuseDequantizeBase<HostFuseDequantize> {
  using HostFuseDequantizeBase::HostFuseDequantizeBase;

  void runOnOperation() override {
    Packer packer;
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseDequantize>(&getContext(), packer, numFused, graphProducts);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host

//===-- PackWeights.cpp - packs the weights of host calls -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/kernel/pack/NarrowWeights.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTPACKWEIGHTS
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// The columns of a panel; kPanel<float> of kernels/nn/Gemm.h.
constexpr int64_t panelWidth = 16;
/// Smaller weights stay as they are: reading them costs less than a call.
constexpr int64_t minElements = 1 << 12;

/// Copies a k x n matrix, stored transposed where `transposed`, to panels of 16 columns.
template <typename T> void copyPanels(T *to, const T *from, int64_t k, int64_t n, bool transposed) {
  for (int64_t first = 0; first < n; first += panelWidth, to += k * panelWidth) {
    const int64_t columns = std::min(panelWidth, n - first);
    // Blocks of rows, so that the lines of transposed weights stay in the cache.
    for (int64_t begin = 0; begin < k; begin += panelWidth)
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = begin; i < std::min(begin + panelWidth, k); ++i)
          to[i * panelWidth + j] = transposed ? from[(first + j) * k + i] : from[i * n + first + j];
  }
}

/// Returns a k x n matrix, stored transposed where `transposed`, as panels of 16 columns:
/// [ceil(n / 16), k, 16], zeros behind the last column. Null where its data cannot be read.
ElementsAttr packPanels(ElementsAttr weights, bool transposed) {
  auto data = graph::ConstantBytes::get(weights);
  if (failed(data))
    return {};
  const ShapedType type = weights.getShapedType();
  const int64_t k = type.getDimSize(transposed), n = type.getDimSize(!transposed);
  const int64_t panels = llvm::divideCeil(n, panelWidth),
                size = graph::getElementBytes(type.getElementType());
  std::vector<char> bytes(panels * k * panelWidth * size);
  auto copy = [&]<typename T>(T) {
    copyPanels(reinterpret_cast<T *>(bytes.data()), data->expandedAs<T>().data(), k, n, transposed);
  };
  size == 4 ? copy(uint32_t()) : copy(uint16_t());
  return graph::makeConstant(RankedTensorType::get({panels, k, panelWidth}, type.getElementType()),
                             std::move(bytes), "packed");
}

/// Packs each weight once, however many calls read it.
class Packer {
public:
  explicit Packer(kernel::WeightStorage storage) : storage(storage) {}

  ElementsAttr get(ElementsAttr weights, bool transposed) {
    ElementsAttr &packed = done[{weights, unsigned(transposed)}];
    if (packed)
      return packed;
    ElementsAttr narrow = storage.narrow(weights);
    return packed = packPanels(narrow ? narrow : weights, transposed);
  }

private:
  kernel::WeightStorage storage;
  DenseMap<std::pair<Attribute, unsigned>, ElementsAttr> done;
};

struct PackWeights : graph::CountingPattern<HostCallOp> {
  PackWeights(MLIRContext *context, Pass::Statistic &count, Packer &packer, bool onlyNarrow)
      : CountingPattern(context, count), packer(packer), onlyNarrow(onlyNarrow) {}

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    const bool isGemm = call.getKernel() == "Gemm";
    if ((!isGemm && call.getKernel() != "MatMul") || !hasInputs(call, 2))
      return failure();
    SmallVector<Value> inputs = inputsOf(call, 3);
    ElementsAttr weights = graph::getConstant(inputs[1]);
    if (!weights || weights.getShapedType().getRank() != 2 ||
        weights.getNumElements() < minElements)
      return rewriter.notifyMatchFailure(call, "has no constant matrix worth packing");
    const Type element = weights.getElementType();
    if (!(element.isF32() && !onlyNarrow) && !element.isF16() && !element.isBF16())
      return rewriter.notifyMatchFailure(call, "has a matrix of another type");
    const bool transposed = isGemm && integerOf(call, "transB", 0);
    const int64_t n = weights.getShapedType().getDimSize(!transposed);
    if (isGemm) {
      if (integerOf(call, "transA", 0) || numberOf(call, "alpha", 1) != 1)
        return rewriter.notifyMatchFailure(call, "its first factor is transposed or scaled");
      auto bias = inputs[2] ? dyn_cast<RankedTensorType>(inputs[2].getType()) : RankedTensorType();
      if (inputs[2] &&
          (numberOf(call, "beta", 1) != 1 || !bias || bias.getRank() == 0 ||
           !bias.hasStaticShape() || bias.getNumElements() != n || bias.getShape().back() != n))
        return rewriter.notifyMatchFailure(call, "its bias is not one number per column");
    }
    ElementsAttr packed = packer.get(weights, transposed);
    if (!packed)
      return failure();
    Value constant = graph::ConstantOp::create(
        rewriter, graph::derivedLoc(inputs[1].getLoc(), "packed"), packed);
    NamedAttrList parameters;
    parameters.append("n", rewriter.getDenseI64ArrayAttr(n));
    SmallVector<Value> operands = {inputs[0], constant};
    if (inputs[2])
      operands.push_back(inputs[2]);
    HostCallOp made = makeCall(rewriter, call.getLoc(), "PackedMatMul", operands,
                               call.getResult(0).getType(), parameters.getDictionary(getContext()));
    rewriter.replaceOp(call, made.getResults());
    ++count;
    return success();
  }

  Packer &packer;
  bool onlyNarrow;
};

struct HostPackWeights : impl::HostPackWeightsBase<HostPackWeights> {
  using HostPackWeightsBase::HostPackWeightsBase;

  void runOnOperation() override {
    const auto wanted = kernel::WeightStorage::parse(storage, convertsHalfs);
    if (!wanted) {
      getOperation().emitError("storage must be f32, exact, f16 or bf16, not ") << storage;
      return signalPassFailure();
    }
    Packer packer(*wanted);
    RewritePatternSet patterns(&getContext());
    patterns.add<PackWeights>(&getContext(), numPacked, packer, onlyNarrow);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host

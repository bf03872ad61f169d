//===-- OnnxMoments.cpp - the second moments of an ONNX model's inputs ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/OnnxMoments.h"

#include "dialects/graph/ops/ConvOps.h"
#include "passes/graph/Passes.h"
#include "quantize/Balance.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace atc::quantize {

/// The bytes of moments that one pass over the samples collects.
static constexpr int64_t kMaxBytesPerPass = int64_t(2) << 30;

std::optional<MomentsByOutput> collectOnnxMoments(OnnxModel &model, const SampleRequest &request,
                                                  DataSource &data, MLIRContext &context,
                                                  Diagnostics &diagnostics) {
  const InputShapes shapes = findInputShapes(model, request.inputShapes, data);
  const std::set<std::string> variables = model.variableNames();
  ReplayedSource replayed(data);
  MomentsByOutput result;
  std::set<std::string> done;
  for (bool isLast = false; !isLast;) {
    OwningOpRef<ModuleOp> module =
        importProto(model.proto, request.name, shapes, context, diagnostics);
    if (!module || !checkInputs(*module, diagnostics))
      return std::nullopt;
    // Weights that a node transposes are constants, too.
    PassManager fold(&context);
    fold.addNestedPass<func::FuncOp>(graph::createGraphFoldConstants());
    if (failed(fold.run(*module))) {
      diagnostics.error("E19999", "the constants of the model cannot be folded");
      return std::nullopt;
    }
    const Plan plan = makePlan(*module, QuantConfig(),
                               [&](StringRef name) { return variables.count(name.str()) != 0; });
    isLast = true;
    int64_t bytes = 0;
    auto wanted = [&](const PlannedLayer &layer) {
      const std::string output = tensorNameOf(layer.op->getResult(0));
      if (done.count(output))
        return false;
      const ArrayRef<int64_t> dims = cast<RankedTensorType>(layer.filter().getType()).getShape();
      const int64_t rows = dims[isa<graph::MatMulOp>(layer.op) ? 1 : 0];
      const int64_t length = rows ? ShapedType::getNumElements(dims) / rows : 0;
      const int64_t own = layer.groups * length * length * int64_t(sizeof(float));
      if (bytes && bytes + own > kMaxBytesPerPass) {
        isLast = false;
        return false;
      }
      bytes += own;
      done.insert(output);
      return true;
    };
    if (plan.layers.empty())
      break;
    std::optional<MomentsByOutput> some = collectMoments(*module, plan, replayed, request.batchNum,
                                                         wanted, request.progress, diagnostics);
    if (!some)
      return std::nullopt;
    result.merge(*some);
  }
  return result;
}

} // namespace atc::quantize

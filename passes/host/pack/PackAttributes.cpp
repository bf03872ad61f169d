//===-- PackAttributes.cpp - packs lists that host calls read -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/HostOps.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTPACKATTRIBUTES
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// A kernel that converts lists of a call, which are attributes, when the model is compiled.
struct Packing {
  StringLiteral calls;             ///< how the names of the kernels begin that read its results
  StringLiteral kernel;            ///< has the attributes of these calls and no inputs
  ArrayRef<StringLiteral> results; ///< the attributes that take the place of the lists
  ArrayRef<StringLiteral> lists;   ///< how the names of the lists begin
};

constexpr StringLiteral packedTrees[] = {"packed_nodes", "packed_votes", "packed_roots",
                                         "packed_members", "packed_facts"};
constexpr StringLiteral treeLists[] = {"nodes_", "target_",    "class_",
                                       "leaf_",  "tree_roots", "membership_values"};
constexpr StringLiteral packedVectors[] = {"packed_vectors"};
constexpr StringLiteral vectorLists[] = {"support_vectors"};
const Packing packings[] = {{"TreeEnsemble", "PackTrees", packedTrees, treeLists},
                            {"SVM", "PackVectors", packedVectors, vectorLists}};

struct PackAttributes : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    const auto *packing = llvm::find_if(
        packings, [&](const Packing &each) { return call.getKernel().starts_with(each.calls); });
    if (packing == std::end(packings) || call.getParameters().contains(packing->results[0]))
      return failure();
    graph::HostCall conversion;
    conversion.kernel = packing->kernel;
    conversion.parameters = call.getParameters();
    conversion.results = packing->results.size();
    // The results are about as large as the lists, and the work takes several times as much.
    FailureOr<SmallVector<ElementsAttr>> packed = graph::foldHostCall(
        conversion, getContext(), /*most=*/INT32_MAX, /*maxBytes=*/uint64_t(16) << 30);
    if (failed(packed))
      return rewriter.notifyMatchFailure(call, "its lists are missing or contradict each other");
    NamedAttrList parameters;
    for (NamedAttribute attribute : call.getParameters())
      if (llvm::none_of(packing->lists, [&](StringRef list) {
            return attribute.getName().strref().starts_with(list);
          }))
        parameters.append(attribute);
    for (auto [name, value] : llvm::zip_equal(packing->results, *packed))
      parameters.append(name, value);
    rewriter.modifyOpInPlace(
        call, [&] { call.setParametersAttr(parameters.getDictionary(getContext())); });
    ++count;
    return success();
  }
};

struct HostPackAttributes : impl::HostPackAttributesBase<HostPackAttributes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PackAttributes>(&getContext(), numPacked);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host

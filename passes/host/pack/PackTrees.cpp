//===-- PackTrees.cpp - packs the decision trees of host calls ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/HostOps.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTPACKTREES
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// The results of the kernel PackTrees, as attributes of the calls that walk the trees.
constexpr StringLiteral kPackedNames[] = {"packed_nodes", "packed_votes", "packed_roots",
                                          "packed_members", "packed_facts"};

/// Returns whether an attribute of an ensemble describes its trees, which PackTrees reads.
bool describesTrees(StringRef name) {
  return name.starts_with("nodes_") || name.starts_with("target_") || name.starts_with("class_") ||
         name.starts_with("leaf_") || name == "tree_roots" || name == "membership_values";
}

struct PackTrees : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (!call.getKernel().starts_with("TreeEnsemble") ||
        call.getParameters().contains(kPackedNames[0]))
      return failure();
    graph::HostCall packing;
    packing.kernel = "PackTrees";
    packing.parameters = call.getParameters();
    packing.results = std::size(kPackedNames);
    // The nodes of an ensemble are as many as its attributes have anyway.
    FailureOr<SmallVector<ElementsAttr>> packed =
        graph::foldHostCall(packing, getContext(), /*most=*/INT32_MAX);
    if (failed(packed))
      return rewriter.notifyMatchFailure(call, "its trees are not valid; the call says why");
    NamedAttrList parameters;
    for (NamedAttribute attribute : call.getParameters())
      if (!describesTrees(attribute.getName()))
        parameters.append(attribute);
    for (auto [name, value] : llvm::zip_equal(kPackedNames, *packed))
      parameters.append(name, value);
    rewriter.modifyOpInPlace(
        call, [&] { call.setParametersAttr(parameters.getDictionary(getContext())); });
    ++count;
    return success();
  }
};

struct HostPackTrees : impl::HostPackTreesBase<HostPackTrees> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PackTrees>(&getContext(), numPacked);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host

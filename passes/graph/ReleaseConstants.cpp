//===-- ReleaseConstants.cpp - free unused constants ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "passes/graph/Passes.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace atc::graph {
#define GEN_PASS_DEF_RELEASECONSTANTS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;

namespace {

struct ReleaseConstants : atc::graph::impl::ReleaseConstantsBase<ReleaseConstants> {
  void runOnOperation() override {
    auto [countBefore, bytesBefore] = measure();
    atc::graph::releaseUnusedConstants(getOperation());
    auto [countAfter, bytesAfter] = measure();
    numReleased += countBefore - countAfter;
    numBytes += bytesBefore - bytesAfter;
    markAllAnalysesPreserved();
  }

  /// The number of resources that hold data, and their bytes.
  std::pair<size_t, size_t> measure() {
    size_t count = 0, bytes = 0;
    using BlobMap = llvm::StringMap<DialectResourceBlobManager::BlobEntry>;
    DenseResourceElementsHandle::getManagerInterface(&getContext())
        .getBlobManager()
        .getBlobMap([&](const BlobMap &blobs) {
          for (const auto &entry : blobs) {
            const AsmResourceBlob *blob = entry.second.getBlob();
            size_t size = blob ? blob->getData().size() : 0;
            count += size != 0;
            bytes += size;
          }
        });
    return {count, bytes};
  }
};

} // namespace

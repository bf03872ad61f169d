//===-- Generators.h - code of operators for dims known at run time -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_GENERATORS_H
#define OPENATC_PASSES_CPU_CALLS_GENERATORS_H

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/RowBuilder.h"

namespace atc::cpu {

/// Builds the code of one kernel for the ranks of the builder's ports; returns false where the
/// attributes or constants of `call` ask for a form that it does not build. What has been built
/// then is discarded.
using Generator = bool (*)(RowBuilder &builder, graph::HostCallOp call);

/// Return the generator of a kernel; null where the family has none.
Generator findConvGenerator(llvm::StringRef kernel);
Generator findCreateGenerator(llvm::StringRef kernel);
Generator findEinsumGenerator(llvm::StringRef kernel);
Generator findIndexGenerator(llvm::StringRef kernel);
Generator findLossGenerator(llvm::StringRef kernel);
Generator findMoveGenerator(llvm::StringRef kernel);
Generator findNormGenerator(llvm::StringRef kernel);
Generator findPoolGenerator(llvm::StringRef kernel);
Generator findProductGenerator(llvm::StringRef kernel);
Generator findQuantizeGenerator(llvm::StringRef kernel);
Generator findReduceGenerator(llvm::StringRef kernel);
Generator findRegionGenerator(llvm::StringRef kernel);
Generator findResizeGenerator(llvm::StringRef kernel);
Generator findSampleGenerator(llvm::StringRef kernel);
Generator findScanGenerator(llvm::StringRef kernel);

/// Returns, as an index, where the greatest (or least) of `count` elements is that are neighbours
/// from `base` on, or a NaN; of equal ones the first (or last).
mlir::Value indexOfExtreme(RowBuilder &b, const Port &in, mlir::Value base, mlir::Value count,
                           bool largest, bool last);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_CALLS_GENERATORS_H

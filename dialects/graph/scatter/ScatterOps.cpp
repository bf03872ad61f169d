//===-- ScatterOps.cpp - verifiers of sums by index and running sums ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/scatter/Scatter.h"

#include "mlir/IR/OpImplementation.h"

#include "dialects/graph/TypeInference.h"
#include "dialects/graph/ops/RegisterOps.h"

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::detail;

#define GET_OP_CLASSES
#include "dialects/graph/scatter/ScatterOps.cpp.inc"

void atc::graph::registerScatter(GraphDialect &dialect) {
  registerOps<ScatterAddOp, CumulativeSumOp>(dialect);
}

FailureOr<RankedTensorType> CumulativeSumOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto type = rankedType(adaptor.getInput());
  if (failed(checkAxis(adaptor.getAxis(), type.getRank(), emitError)))
    return failure();
  if (!type.getElementType().isIntOrFloat() || type.getElementType().isInteger(1))
    return emitError() << "expects numbers, but input is " << type;
  return withoutEncoding(type);
}

LogicalResult ScatterAddOp::verify() {
  auto indices = cast<RankedTensorType>(getIndices().getType()),
       updates = cast<RankedTensorType>(getUpdates().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  if (!indices.getElementType().isInteger(32) && !indices.getElementType().isInteger(64))
    return emitOpError() << "indices must be i32 or i64, but are " << indices;
  if (!isa<FloatType>(updates.getElementType()) ||
      updates.getElementType() != result.getElementType())
    return emitOpError() << "updates and result must have one float type, but are " << updates
                         << " and " << result;
  if (indices.getRank() != 1 || updates.getRank() != 3 || result.getRank() != 3)
    return emitOpError() << "needs indices [I], updates [A, I, B] and a result [A, K, B], but has "
                         << indices << ", " << updates << " and " << result;
  const bool agree = updates.getDimSize(0) == result.getDimSize(0) &&
                     updates.getDimSize(1) == indices.getDimSize(0) &&
                     updates.getDimSize(2) == result.getDimSize(2);
  if (!agree || result.getDimSize(1) == 0)
    return emitOpError() << "dims of indices " << indices << ", updates " << updates
                         << " and result " << result << " do not agree";
  return success();
}

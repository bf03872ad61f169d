//===-- QuantOps.h - quantized tensors, int8 contractions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_OPS_QUANTOPS_H
#define OPENATC_DIALECTS_GRAPH_OPS_QUANTOPS_H

#include "dialects/graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dialects/graph/ops/QuantOps.h.inc"

#endif // OPENATC_DIALECTS_GRAPH_OPS_QUANTOPS_H

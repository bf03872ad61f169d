//===-- GraphOps.td - all ops of the graph dialect --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/graph/GraphStructureOps.td"
include "dialects/graph/GraphElementwiseOps.td"
include "dialects/graph/GraphConvOps.td"
include "dialects/graph/GraphHostOps.td"
include "dialects/graph/GraphQuantOps.td"
include "dialects/graph/GraphReduceOps.td"
include "dialects/graph/GraphShapeOps.td"

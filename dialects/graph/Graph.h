//===-- Graph.h - the whole graph dialect ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// For code that names ops of most families. A source that names a few includes their headers in
// ops/ instead, so that a change of one family rebuilds what uses that family.

#ifndef OPENATC_DIALECTS_GRAPH_GRAPH_H
#define OPENATC_DIALECTS_GRAPH_GRAPH_H

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"

#endif // OPENATC_DIALECTS_GRAPH_GRAPH_H

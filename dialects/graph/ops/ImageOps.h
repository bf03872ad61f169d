//===-- ImageOps.h - pixels of cameras ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_OPS_IMAGEOPS_H
#define OPENATC_DIALECTS_GRAPH_OPS_IMAGEOPS_H

#include "dialects/graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dialects/graph/ops/ImageOps.h.inc"

#endif // OPENATC_DIALECTS_GRAPH_OPS_IMAGEOPS_H

/*===-- parser/onnx_parser.h ----------------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_PARSER_ONNX_PARSER_H
#define OPENATC_PARSER_ONNX_PARSER_H

#include <map>

#include "ge/ge_api_types.h"
#include "graph/graph.h"

namespace ge {

/** Reads an ONNX model, which is checked when it is built. Parameters are OUT_NODES,
 * INPUT_FP16_NODES and the like; OUTPUT names the graph. */
graphStatus aclgrphParseONNX(const char *file, const std::map<AscendString, AscendString> &params,
                             Graph &graph);
graphStatus aclgrphParseONNXFromMem(const char *bytes, size_t size,
                                    const std::map<AscendString, AscendString> &params,
                                    Graph &graph);

} // namespace ge

#endif

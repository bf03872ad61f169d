/*===-- parser/tensorflow_parser.h ----------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_PARSER_TENSORFLOW_PARSER_H
#define OPENATC_PARSER_TENSORFLOW_PARSER_H

#include <map>

#include "ge/ge_api_types.h"
#include "graph/graph.h"

namespace ge {

/** Reads a frozen graph, which is checked when it is built. */
graphStatus aclgrphParseTensorFlow(const char *file, Graph &graph);
graphStatus aclgrphParseTensorFlow(const char *file,
                                   const std::map<AscendString, AscendString> &params,
                                   Graph &graph);

} // namespace ge

#endif

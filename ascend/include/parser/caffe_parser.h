/*===-- parser/caffe_parser.h ---------------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_PARSER_CAFFE_PARSER_H
#define OPENATC_PARSER_CAFFE_PARSER_H

#include <map>

#include "ge/ge_api_types.h"
#include "graph/graph.h"

namespace ge {

/** Reads a prototxt and its weights, which are checked when they are built. */
graphStatus aclgrphParseCaffe(const char *model, const char *weights, Graph &graph);
graphStatus aclgrphParseCaffe(const char *model, const char *weights,
                              const std::map<AscendString, AscendString> &params, Graph &graph);

} // namespace ge

#endif

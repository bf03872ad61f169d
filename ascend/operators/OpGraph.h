//===-- OpGraph.h - the graph that is one operator -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_OPERATORS_OPGRAPH_H
#define ASCEND_OPERATORS_OPGRAPH_H

#include <nlohmann/json.hpp>

namespace atc::ascend {

/// Returns the graph of an operator that is in the form of the files of `atc --singleop`, in the
/// form in which `atc --mode=1` writes graphs: its inputs, itself and what takes its outputs.
nlohmann::ordered_json graphOf(const nlohmann::ordered_json &op);

} // namespace atc::ascend

#endif

//===-- SearchInputs.h - inputs and attributes of a search for tokens -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_SEARCHINPUTS_H
#define OPENATC_FRONTENDS_ONNX_OPS_SEARCHINPUTS_H

#include <optional>

#include "frontends/onnx/GraphIndex.h"
#include "frontends/onnx/ops/SearchGraphs.h"

namespace atc::onnx_import {

/// The inputs of a search: names, types and constants, as its node and the model state them.
class SearchInputs {
public:
  /// `home` has the node; `around` are the graphs around it, from the innermost one.
  SearchInputs(onnx::GraphProto &home, llvm::ArrayRef<const onnx::GraphProto *> around,
               onnx::NodeProto &node);

protected:
  /// Returns an input, by the position that it has for a greedy search and for one with beams.
  std::string input(int greedy, int beam) const {
    const int at = isBeam ? beam : greedy;
    return at >= 0 && hasInput(node, at) ? node.input(at) : "";
  }
  std::string vocabMask() const { return input(4, 7); }
  std::string prefixMask() const { return input(5, 8); }
  std::string minLength() const { return input(2, 2); }
  std::string penalty() const { return input(3, 6); }
  int64_t eos() const { return integerOf(node, "eos_token_id", 0); }
  int64_t vocabulary() const { return integerOf(node, "vocab_size", -1); }

  /// Returns what is wrong with the inputs and outputs, and with the inputs that are constants.
  std::string checkNode() const;
  /// Returns the number that an initializer or constant of one element states.
  std::optional<double> statedNumber(const std::string &tensor) const;
  /// Returns the number of tokens that sequences begin with, where it is stated.
  std::optional<int64_t> promptLength() const;
  /// Returns which tokens sequences begin with.
  const char *promptName() const;
  /// Returns the type of the scores, which is that of the penalties; a model may state either.
  int64_t scoreType() const;

  onnx::GraphProto &home;
  const llvm::SmallVector<const onnx::GraphProto *> graphs; ///< `home`, and those around it
  onnx::NodeProto &node;
  const bool isBeam, isSampling;
  const int64_t type; ///< a ModelType

private:
  std::string checkNumbers() const;
  const onnx::TensorProto *storedValue(const std::string &tensor) const;
  std::optional<int64_t> statedType(const std::string &tensor) const;
};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_SEARCHINPUTS_H

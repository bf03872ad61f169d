//===-- FindStates.h - outputs that are the next values of inputs ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_FINDSTATES_H
#define OPENATC_BACKENDS_OM_FINDSTATES_H

#include "backends/om/OmWriter.h"

namespace atc::om {

/// Changes `model.states` as `rule`, the value of --state, asks for: pairs "input=output;...", in
/// which a `*` in both names stands for one text, replace the states of the same inputs and
/// outputs; "none" removes all states; or "auto" (as an empty rule), which links the names that
/// exporters give to caches: past_key_values.* to present.*, and its variants. It leaves out what a
/// decoder keeps of an encoder (*.encoder.*), which is the same in all steps: merged decoders
/// return it in the first one only. A dynamic outermost dim of a state, its batch, is that of the
/// first other input whose outermost dim is dynamic. Returns false and sets `error` to one line
/// with an error code where a pair names nothing, or two tensors of different types.
bool findStates(OmModel &model, const std::string &rule, std::string &error);

/// Adds a state per pair of names of an input and an output. Returns false, and `error` receives
/// the reason, where a name does not exist or the two are not tensors of one type.
bool addStates(OmModel &model, const std::vector<std::pair<std::string, std::string>> &pairs,
               std::string &error);

/// The first value of a state.
struct InitialState {
  std::string input; ///< the name of the state's input
  om_dtype dtype = OM_F32;
  int64_t elements = 0;
  std::vector<char> bytes; ///< of the elements in row-major order

  /// Returns the first value of a state of f32 elements.
  static InitialState ofFloats(std::string input, const std::vector<float> &elements);
};

/// Makes `values` the first values of states: they become weights of the model, which borrows their
/// bytes. Returns false, and sets `error`, where a value belongs to no state of its type and size.
bool setInitialStates(OmModel &model, const std::vector<InitialState> &values, std::string &error);

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_FINDSTATES_H

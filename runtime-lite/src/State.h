//===-- State.h - values that a session keeps from run to run -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_STATE_H
#define OPENATC_RUNTIME_STATE_H

#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/Value.h"

struct om_session;

namespace atc::rt {

/// The states of a session, one value per entry of Model.states; see "state" in om.h. One thread at
/// a time.
class SessionState {
public:
  explicit SessionState(const om::fb::Model &model) : model(model) {}
  SessionState(const SessionState &) = delete;
  SessionState &operator=(const SessionState &) = delete;
  ~SessionState() { reset(); }

  /// Returns whether the session keeps its state.
  bool isKept() const { return kept; }
  /// Returns whether an output of the model is a state that is kept.
  bool keepsOutput(uint32_t output) const { return kept && isOutput[output]; }
  /// Returns the bytes that the states hold, with those made for the current run.
  uint64_t bytes() const;

  /// Implement the functions of om.h.
  om_status keep(bool on, om_error *error);
  void reset();
  om_status read(uint32_t index, om_value **value, om_error *error) const;
  om_status write(uint32_t index, const om_value *value, om_error *error);

  /// Sets `all` to the inputs of a run: those given, and the states. The array is this object's.
  /// OM_ERROR_ARGUMENT where a state does not fit an input beside it.
  om_status addInputs(const om_session &session, const om_value *const *given,
                      const om_value *const *&all, om_error *error);
  /// Drops the references that addInputs has added.
  void forgetInputs();
  /// Takes over the outputs of a run that are states. Where one does not fit its input the run has
  /// failed: all outputs are released, and the state stays as it was.
  om_status takeOutputs(om_value **outputs, om_error *error);

private:
  /// Checks that there is state `index` and that it is kept.
  om_status check(uint32_t index, om_error *error) const;
  /// Makes the value of state `index` in the first run, for the inputs in `inputs`, and adds its
  /// bytes to those that the session holds.
  om_status makeFirst(uint32_t index, const om_session &session, uint64_t &held, om_error *error);
  om_status checkDims(uint32_t index, om_error *error) const;

  const om::fb::Model &model;
  bool kept = false;
  Array<om_value *> values;       ///< null before the first run
  Array<om_value *> firsts;       ///< made for the current run only
  Array<const om_value *> inputs; ///< of the current run
  Array<bool> isOutput;           ///< per output of the model
};

} // namespace atc::rt

#endif

//===-- GearRun.h - the gear of a run -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_GEARRUN_H
#define OPENATC_RUNTIME_GEARRUN_H

#include "runtime-lite/src/Support.h"
#include "runtime-lite/src/Value.h"
#include "runtime-lite/src/gears/GearTable.h"

namespace atc::rt {

/// Chooses the gear of each run of a session, and keeps the padded copies of inputs and
/// outputs whose sizes are below those of the gear.
class GearRun {
public:
  /// `model` has gears.
  explicit GearRun(const om::fb::Model &model) : table(model) {}

  /// Returns the bytes that start() allocates.
  uint64_t bytes() const;
  om_status start(om_error *error);

  /// Implements om_session_set_gear.
  om_status set(const int64_t *values, uint32_t count, om_error *error);
  /// Returns the gear that was set or used last, or OM_NO_GEAR.
  uint32_t current() const { return gear; }

  /// Chooses the gear of a run on plain memory; `inputs` may be null.
  om_status choose(const void *const *inputs, om_error *error);
  /// Chooses the gear of a run on values, and checks all of them; `inputs` may be null.
  om_status choose(const om_value *const *inputs, om_error *error);

  /// Writes the dims that an input or output has in this run, at most OM_MAX_RANK; -1 where
  /// only the run finds one.
  void dimsOf(bool output, uint32_t index, int64_t *dims) const;
  /// Returns the bytes of these dims.
  uint64_t bytesOf(bool output, uint32_t index) const;

  /// Returns where the schedule reads an input that the caller has at `from`: there, or in
  /// a copy that is padded with zeros.
  char *bindInput(uint32_t index, char *from);
  /// Returns where the schedule writes an output that the caller wants at `to`.
  char *bindOutput(uint32_t index, char *to);
  /// Copies an output that bindOutput has put elsewhere to the caller.
  void takeOutput(uint32_t index, char *to) const;

  const GearTable table;

private:
  uint32_t inputCount() const { return table.inputCount(); }
  uint32_t endCount() const { return inputCount() + table.outputs().size(); }
  uint64_t stagedBytes(uint32_t end) const;
  bool isStaged(bool output, uint32_t index) const;
  char *staged(bool output, uint32_t index) const {
    return staging.data() + offsets[output ? inputCount() + index : index];
  }
  bool hasDims(uint32_t number, const om_value *const *inputs) const;
  om_status chooseByShapes(const om_value *const *inputs, om_error *error);
  om_status use(const char *given, om_error *error);

  Array<int64_t> sizes;    ///< the values of this run
  Array<int64_t> wanted;   ///< values that are not known to be good yet
  Array<uint64_t> offsets; ///< in `staging`, of each input and then output that is padded
  Mapping staging;
  uint32_t gear = OM_NO_GEAR;
  bool isSet = false;
};

} // namespace atc::rt

#endif

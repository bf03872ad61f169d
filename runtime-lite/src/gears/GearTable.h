//===-- GearTable.h - the gears of a model --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_GEARTABLE_H
#define OPENATC_RUNTIME_GEARTABLE_H

#include "openatc/om.h"
#include "runtime-lite/schema/om_generated.h"

namespace atc::rt {

/// An input or output as it is in a gear. A dim of -1, which only an output of a host program
/// has, is found in the run.
struct GearEnd {
  uint8_t dtype;
  const flatbuffers::Vector<int64_t> *dims;

  /// Returns the bytes of the dims; 0 where one is not known.
  uint64_t bytes() const;
};

/// Answers questions about the gears of a model that the loader has checked. Indices are
/// those of the C interface, and in range.
class GearTable {
public:
  using Ports = flatbuffers::Vector<flatbuffers::Offset<om::fb::HostPort>>;

  /// `model` has a table of gears.
  explicit GearTable(const om::fb::Model &model) : model(model), table(*model.gears()) {}

  /// Returns which dims the gears choose.
  om_gear_kind kind() const { return static_cast<om_gear_kind>(table.kind()); }
  /// Returns whether inputs are padded and outputs cropped.
  bool pads() const { return table.kind() == om::fb::GearKind::range; }
  uint32_t count() const { return table.gears()->size(); }
  uint32_t values() const { return gear(0).values()->size(); }
  const om::fb::Gear &gear(uint32_t index) const { return *table.gears()->Get(index); }
  const Ports &inputs() const { return *table.inputs(); }
  const Ports &outputs() const { return *table.outputs(); }
  const flatbuffers::Vector<flatbuffers::Offset<om::fb::GearAxis>> &axes() const {
    return *table.axes();
  }
  /// Returns the input that chooses the gear, or OM_NO_INPUT.
  uint32_t shapeInput() const { return pads() ? OM_NO_INPUT : inputs().size() - 1; }

  /// Returns an input or output as it is in a gear; inputs are without the one that chooses it.
  GearEnd end(uint32_t gear, bool output, uint32_t index) const;
  uint32_t inputCount() const { return inputs().size() - !pads(); }

  /// Return the bounds of a value in a run.
  int64_t minValue(uint32_t value) const;
  int64_t maxValue(uint32_t value) const;

  /// Returns the gear that a run with these values uses, or OM_NO_GEAR: the one that has
  /// them, or where the model pads, of those that hold them the one with the fewest elements.
  uint32_t find(const int64_t *values) const;

  /// Fills the error for values that no gear has. `given` is the beginning of the sentence:
  /// where they come from.
  om_status refuse(const char *given, const int64_t *values, om_error *error) const;
  /// Fills the error with a sentence behind which the gears are listed.
  om_status refuse(const char *sentence, om_error *error) const;

private:
  const om::fb::Model &model;
  const om::fb::GearTable &table;
};

} // namespace atc::rt

#endif

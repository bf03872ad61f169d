//===-- VerifyGears.cpp - proves that a table of gears can be trusted -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session trusts that the gears divide the schedule, the inputs and the outputs among
// them, that every dim which changes between gears is a value of the gear where a run pads
// it, and that such a run finds a gear for all values within the bounds.

#include "runtime-lite/src/FileLimits.h"
#include "runtime-lite/src/Support.h"
#include "runtime-lite/src/Verify.h"
#include "runtime-lite/src/gears/GearTable.h"

namespace fb = atc::om::fb;

namespace atc::rt {

static_assert(static_cast<int>(fb::GearKind::batch) == OM_GEARS_BATCH &&
                  static_cast<int>(fb::GearKind::image) == OM_GEARS_IMAGE &&
                  static_cast<int>(fb::GearKind::dims) == OM_GEARS_DIMS &&
                  static_cast<int>(fb::GearKind::MAX) == OM_GEARS_RANGE,
              "the schema and om.h number kinds of gears alike");

namespace {

/// All functions return null, or what is wrong.
class GearChecker {
public:
  explicit GearChecker(const fb::Model &model)
      : model(model), gears(*model.gears()), pads(gears.kind() == fb::GearKind::range) {}

  const char *run() {
    const char *errorText = lists();
    for (const auto *ports : {gears.inputs(), gears.outputs()})
      for (uint32_t i = 0; !errorText && i < ports->size(); ++i)
        errorText = port(*ports->Get(i));
    errorText = errorText ? errorText : shapeInput();
    errorText = errorText ? errorText : partition();
    for (uint32_t g = 0; !errorText && g < gears.gears()->size(); ++g)
      errorText = gear(g);
    for (uint32_t a = 0; !errorText && a < gears.axes()->size(); ++a)
      errorText = axis(a);
    errorText = errorText ? errorText : everyDimHasAxis();
    return errorText ? errorText : values();
  }

private:
  const char *lists();
  const char *port(const fb::HostPort &port) const;
  const char *shapeInput() const;
  const char *partition() const;
  const char *gear(uint32_t index) const;
  const char *ends(uint32_t index, bool output) const;
  const char *hostEnds(const fb::HostProgram &host) const;
  const char *arena(const fb::Gear &gear) const;
  const char *axis(uint32_t index) const;
  bool hasAllSizes() const;
  const char *everyDimHasAxis() const;
  const char *values() const;

  const GearTable::Ports &ports(bool output) const {
    return output ? *gears.outputs() : *gears.inputs();
  }
  /// Inputs without the one that chooses the gear.
  uint32_t ends(bool output) const {
    return output ? gears.outputs()->size() : gears.inputs()->size() - !pads;
  }

  const fb::Model &model;
  const fb::GearTable &gears;
  const bool pads;
  uint32_t valueCount = 0;
};

const char *GearChecker::lists() {
  if (model.host())
    return "the model has a host program too";
  if (gears.kind() < fb::GearKind::batch || gears.kind() > fb::GearKind::MAX)
    return "they are of a kind this runtime does not know";
  if (gears.gears()->size() == 0 || gears.gears()->size() > limits::maxGears)
    return "there are none or too many";
  if (gears.axes()->size() > limits::maxGearAxes)
    return "they have too many axes";
  valueCount = gears.gears()->Get(0)->values()->size();
  if (valueCount == 0 || valueCount > limits::maxGearValues)
    return "a gear has no values or too many";
  if ((gears.kind() == fb::GearKind::batch && valueCount != 1) ||
      (gears.kind() == fb::GearKind::image && valueCount != 2))
    return "a gear does not have as many values as its kind says";
  if (pads != (gears.min() != nullptr) || !isAligned(gears.min()) ||
      (pads && gears.min()->size() != valueCount))
    return "they do not have a smallest value for each value where they pad";
  return nullptr;
}

const char *GearChecker::port(const fb::HostPort &port) const {
  bool good = port.kind() == fb::HostKind::tensor && !port.unranked() && !port.optional() &&
              isAligned(port.dims()) && port.dims()->size() <= OM_MAX_RANK && hasNamePerDim(port);
  for (uint32_t i = 0; good && i < port.dims()->size(); ++i)
    good = port.dims()->Get(i) >= -1;
  return good ? nullptr : "an input or output has an impossible kind, type, dims or names of dims";
}

const char *GearChecker::shapeInput() const {
  if (pads)
    return nullptr;
  if (gears.inputs()->size() == 0)
    return "there is no input that chooses the gear";
  const fb::HostPort &last = *gears.inputs()->Get(gears.inputs()->size() - 1);
  return last.name()->string_view() == OM_GEAR_INPUT_NAME && last.dtype() == fb::DataType::i64 &&
                 last.dims()->size() == 1 && last.dims()->Get(0) == int64_t(valueCount)
             ? nullptr
             : "the last input is not the one that chooses the gear";
}

/// Each gear goes on where the one before it ends, and nothing is left over.
const char *GearChecker::partition() const {
  uint64_t launch = 0, input = 0, output = 0;
  for (const fb::Gear *gear : *gears.gears()) {
    const fb::HostPart &part = *gear->part();
    if (part.first_launch() != launch || part.first_input() != input ||
        part.first_output() != output)
      return "a gear does not begin where the one before it ends";
    // The static regions of a dynamic schedule have as many inputs and outputs as it passes between
    // them.
    if (!gear->host() && (part.inputs() != ends(false) || part.outputs() != ends(true)))
      return "a gear does not have the inputs and outputs of the model";
    launch += part.launches();
    input += part.inputs();
    output += part.outputs();
  }
  return launch == model.schedule()->size() && input == model.inputs()->size() &&
                 output == model.outputs()->size()
             ? nullptr
             : "their parts are not the whole schedule";
}

const char *GearChecker::gear(uint32_t index) const {
  const fb::Gear &gear = *gears.gears()->Get(index);
  if (!isAligned(gear.values()) || gear.values()->size() != valueCount)
    return "a gear does not have as many values as the first";
  for (int64_t value : *gear.values())
    if (value < 1)
      return "a gear has a value below 1";
  const char *errorText = findPartError(model, *gear.part());
  if (!errorText && gear.host())
    errorText = hostEnds(*gear.host());
  if (!errorText && gear.host())
    errorText = findHostError(model, *gear.host(), *gear.part());
  errorText = errorText ? errorText : ends(index, false);
  errorText = errorText ? errorText : ends(index, true);
  return errorText ? errorText : arena(gear);
}

/// The ports of a gear's host program; what else there is to check is checked behind this.
const char *GearChecker::hostEnds(const fb::HostProgram &host) const {
  if (pads)
    return "a gear that is padded has a host program";
  if (host.inputs()->size() != ends(false) || host.outputs()->size() != ends(true))
    return "a gear does not have the inputs and outputs of the model";
  for (const auto *ports : {host.inputs(), host.outputs()})
    for (const fb::HostPort *own : *ports)
      if (const char *errorText = port(*own))
        return errorText;
  for (const fb::HostPort *input : *host.inputs())
    for (int64_t dim : *input->dims())
      if (dim < 0)
        return "a gear has an input whose dims are not known";
  return nullptr;
}

const char *GearChecker::ends(uint32_t index, bool output) const {
  for (uint32_t i = 0; i < ends(output); ++i) {
    const fb::HostPort &port = *ports(output).Get(i);
    const GearEnd is = GearTable(model).end(index, output, i);
    bool fits =
        static_cast<uint8_t>(port.dtype()) == is.dtype && port.dims()->size() == is.dims->size();
    for (uint32_t d = 0; fits && d < port.dims()->size(); ++d)
      fits = port.dims()->Get(d) < 0 || port.dims()->Get(d) == is.dims->Get(d);
    if (!fits)
      return "an input or output of a gear is not what the model says";
  }
  return nullptr;
}

/// On the device the inputs of a gear are behind what it uses of the arena.
const char *GearChecker::arena(const fb::Gear &gear) const {
  if (gear.arena_size() > model.arena_size())
    return "a gear uses more of the arena than there is";
  const fb::HostPart &part = *gear.part();
  for (uint32_t i = part.first_launch(); i < part.first_launch() + part.launches(); ++i) {
    const fb::Step &step = *model.schedule()->Get(i);
    const fb::NpuLaunch *npu = step.what_as_NpuLaunch();
    for (const fb::BufferRef *ref : npu ? *npu->args() : *step.what_as_Launch()->args())
      if (ref->space() == fb::Space::arena && ref->offset() + ref->size() > gear.arena_size())
        return "a launch reaches outside its gear's piece of the arena";
  }
  return nullptr;
}

const char *GearChecker::axis(uint32_t index) const {
  const fb::GearAxis &axis = *gears.axes()->Get(index);
  if (axis.output() && !pads)
    return "an axis is one of an output, which only padding has a use for";
  if (axis.index() >= ends(axis.output()) || axis.value() >= valueCount)
    return "an axis names an input, output or value that does not exist";
  const fb::HostPort &port = *ports(axis.output()).Get(axis.index());
  if (axis.dim() >= port.dims()->size() || port.dims()->Get(axis.dim()) >= 0)
    return "an axis is no dim that depends on the gear";
  if (pads && om_dtype_bits(static_cast<om_dtype>(port.dtype())) < 8)
    return "elements of less than a byte would be padded";
  for (uint32_t other = 0; other < index; ++other) {
    const fb::GearAxis &before = *gears.axes()->Get(other);
    if (before.output() == axis.output() && before.index() == axis.index() &&
        before.dim() == axis.dim())
      return "a dim is an axis twice";
  }
  for (uint32_t g = 0; g < gears.gears()->size(); ++g)
    if (GearTable(model).end(g, axis.output(), axis.index()).dims->Get(axis.dim()) !=
        gears.gears()->Get(g)->values()->Get(axis.value()))
      return "a dim of a gear is not its value";
  return nullptr;
}

/// Returns whether there are as many gears as combinations of values from the smallest to the
/// largest: then no run pads.
bool GearChecker::hasAllSizes() const {
  const uint32_t count = gears.gears()->size();
  const auto &last = *gears.gears()->Get(count - 1)->values();
  uint64_t all = 1;
  for (uint32_t i = 0; i < valueCount; ++i)
    all *= static_cast<uint64_t>(last.Get(i)) - static_cast<uint64_t>(gears.min()->Get(i)) + 1;
  return all == count;
}

/// Checks dims of inputs that are padded, and of outputs that are cropped. Each value is that of
/// some input: a gear can be found by the inputs' shapes. Without padding each gear has dims of
/// its own, and ports may depend on it in any way, in ranges only outputs.
const char *GearChecker::everyDimHasAxis() const {
  if (!pads)
    return nullptr;
  // No axis is there twice, and each is such a dim.
  uint64_t missing[2] = {}; // of inputs, of outputs
  for (const fb::GearAxis *axis : *gears.axes())
    --missing[axis->output()];
  for (const bool output : {false, true})
    for (const fb::HostPort *port : ports(output))
      for (int64_t dim : *port->dims())
        missing[output] += dim < 0;
  if (missing[0] || (missing[1] && !hasAllSizes()))
    return "a dim depends on the gear, but is none of its values";
  for (uint32_t value = 0; value < valueCount; ++value) {
    bool found = false;
    for (const fb::GearAxis *axis : *gears.axes())
      found |= !axis->output() && axis->value() == value;
    if (!found)
      return "a value is no dim of any input";
  }
  return nullptr;
}

const char *GearChecker::values() const {
  const uint32_t count = gears.gears()->size();
  const auto &last = *gears.gears()->Get(count - 1)->values();
  for (uint32_t g = 0; g < count; ++g) {
    const auto &mine = *gears.gears()->Get(g)->values();
    for (uint32_t other = 0; other < g; ++other) {
      bool equal = true;
      for (uint32_t i = 0; i < valueCount; ++i)
        equal = equal && mine.Get(i) == gears.gears()->Get(other)->values()->Get(i);
      if (equal)
        return "two gears have the same values";
    }
    for (uint32_t i = 0; pads && i < valueCount; ++i)
      if (mine.Get(i) > last.Get(i))
        return "the last gear does not have the largest values";
  }
  for (uint32_t i = 0; pads && i < valueCount; ++i)
    if (gears.min()->Get(i) < 1 || gears.min()->Get(i) > last.Get(i))
      return "a smallest value is below 1 or above the largest";
  return nullptr;
}

} // namespace

om_status verifyGears(const fb::Model &model, om_error *error) {
  const char *errorText = model.gears() ? GearChecker(model).run() : nullptr;
  return errorText ? fail(error, OM_ERROR_CORRUPT,
                          "the file is damaged: its gears cannot be used: %s.", errorText)
                   : OM_OK;
}

} // namespace atc::rt

//===-- GearRun.cpp - the gear of a run -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/gears/GearRun.h"

#include "runtime-lite/src/PortChecks.h"

#include <cstring>

namespace fb = atc::om::fb;

namespace atc::rt {

//===----------------------------------------------------------------------===//
// Padded copies
//===----------------------------------------------------------------------===//

/// Returns the bytes that an input (then output) needs for its padded copy: those of its
/// largest gear; 0 where it is never padded.
uint64_t GearRun::stagedBytes(uint32_t end) const {
  const bool output = end >= inputCount();
  const uint32_t index = output ? end - inputCount() : end;
  bool hasAxis = false;
  for (const fb::GearAxis *axis : table.axes())
    hasAxis |= axis->output() == output && axis->index() == index;
  uint64_t max = 0;
  for (uint32_t g = 0; table.pads() && hasAxis && g < table.count(); ++g) {
    const uint64_t size = table.end(g, output, index).bytes();
    max = size > max ? size : max;
  }
  return (max + OM_ALIGNMENT - 1) / OM_ALIGNMENT * OM_ALIGNMENT;
}

uint64_t GearRun::bytes() const {
  uint64_t sum = 0;
  for (uint32_t end = 0; end < endCount(); ++end)
    sum += stagedBytes(end);
  return sum;
}

om_status GearRun::start(om_error *error) {
  const uint64_t all = bytes();
  if (!sizes.allocate(table.values()) || !wanted.allocate(table.values()) ||
      !offsets.allocate(endCount()) || !staging.mapZeroed(all))
    return outOfMemory(error, all);
  uint64_t next = 0;
  for (uint32_t end = 0; end < endCount(); ++end) {
    offsets[end] = next;
    next += stagedBytes(end);
  }
  return OM_OK;
}

void GearRun::dimsOf(bool output, uint32_t index, int64_t *dims) const {
  const GearEnd end = table.end(gear, output, index);
  for (uint32_t i = 0; i < end.dims->size(); ++i)
    dims[i] = end.dims->Get(i);
  for (const fb::GearAxis *axis : table.axes())
    if (axis->output() == output && axis->index() == index)
      dims[axis->dim()] = sizes[axis->value()];
}

uint64_t GearRun::bytesOf(bool output, uint32_t index) const {
  const GearEnd end = table.end(gear, output, index);
  int64_t dims[OM_MAX_RANK];
  dimsOf(output, index, dims);
  uint64_t elements, bytes;
  return tensorSize(end.dtype, end.dims->size(), dims, elements, bytes) ? bytes : 0;
}

bool GearRun::isStaged(bool output, uint32_t index) const {
  return bytesOf(output, index) != table.end(gear, output, index).bytes();
}

/// Copies a dense tensor into one of other dims: what only `to` has becomes zeros, what only
/// `from` has is left out. Elements have `width` bytes.
static void copyCorner(const char *from, const int64_t *fromDims, char *to, const int64_t *toDims,
                       uint32_t rank, uint64_t width) {
  // Behind the last dim that differs everything is contiguous.
  uint32_t last = rank;
  while (last > 0 && fromDims[last - 1] == toDims[last - 1])
    width *= static_cast<uint64_t>(toDims[--last]);
  if (last == 0) {
    std::memcpy(to, from, width);
    return;
  }
  const uint32_t outer = last - 1;
  const uint64_t fromRow = static_cast<uint64_t>(fromDims[outer]) * width,
                 toRow = static_cast<uint64_t>(toDims[outer]) * width;
  const uint64_t common = fromRow < toRow ? fromRow : toRow;
  int64_t index[OM_MAX_RANK] = {};
  uint64_t rows = 1;
  for (uint32_t i = 0; i < outer; ++i)
    rows *= static_cast<uint64_t>(toDims[i]);
  for (uint64_t row = 0; row < rows; ++row, to += toRow) {
    bool inside = true;
    uint64_t source = 0;
    for (uint32_t i = 0; i < outer; ++i) {
      inside = inside && index[i] < fromDims[i];
      source = source * static_cast<uint64_t>(fromDims[i]) + static_cast<uint64_t>(index[i]);
    }
    const uint64_t copied = inside ? common : 0;
    if (copied)
      std::memcpy(to, from + source * fromRow, copied);
    std::memset(to + copied, 0, toRow - copied);
    for (uint32_t i = outer; i-- > 0;) {
      if (++index[i] < toDims[i])
        break;
      index[i] = 0;
    }
  }
}

static uint64_t widthOf(const GearEnd &end) {
  return om_dtype_bits(static_cast<om_dtype>(end.dtype)) / 8;
}

char *GearRun::bindInput(uint32_t index, char *from) {
  if (!isStaged(/*output=*/false, index))
    return from;
  const GearEnd end = table.end(gear, /*output=*/false, index);
  int64_t dims[OM_MAX_RANK];
  dimsOf(/*output=*/false, index, dims);
  char *to = staged(/*output=*/false, index);
  copyCorner(from, dims, to, end.dims->data(), end.dims->size(), widthOf(end));
  return to;
}

char *GearRun::bindOutput(uint32_t index, char *to) {
  return isStaged(/*output=*/true, index) ? staged(/*output=*/true, index) : to;
}

void GearRun::takeOutput(uint32_t index, char *to) const {
  if (!isStaged(/*output=*/true, index))
    return;
  const GearEnd end = table.end(gear, /*output=*/true, index);
  int64_t dims[OM_MAX_RANK];
  dimsOf(/*output=*/true, index, dims);
  copyCorner(staged(/*output=*/true, index), end.dims->data(), to, dims, end.dims->size(),
             widthOf(end));
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Makes `wanted` the values of the run.
om_status GearRun::use(const char *given, om_error *error) {
  const uint32_t found = table.find(wanted.data());
  if (found == OM_NO_GEAR)
    return table.refuse(given, wanted.data(), error);
  gear = found;
  std::memcpy(sizes.data(), wanted.data(), sizes.size() * sizeof(int64_t));
  return OM_OK;
}

om_status GearRun::set(const int64_t *values, uint32_t count, om_error *error) {
  if (count == 0) {
    isSet = false;
    return OM_OK;
  }
  if (!values || count != table.values())
    return fail(error, OM_ERROR_ARGUMENT, "a gear of this model has %u values, not %u.",
                table.values(), values ? count : 0);
  std::memcpy(wanted.data(), values, count * sizeof(int64_t));
  if (om_status status = use("the gear is set to", error); status != OM_OK)
    return status;
  isSet = true;
  return OM_OK;
}

static constexpr char nothingChooses[] = "nothing chooses the gear of the run: give the input "
                                         "'" OM_GEAR_INPUT_NAME "' or call om_session_set_gear";

om_status GearRun::choose(const void *const *inputs, om_error *error) {
  if (isSet)
    return OM_OK;
  const uint32_t shape = table.shapeInput();
  const void *given = inputs && shape != OM_NO_INPUT ? inputs[shape] : nullptr;
  if (!given)
    return table.refuse(table.pads() ? "the sizes of the inputs are not known: call "
                                       "om_session_set_gear, or use om_session_run_values"
                                     : nothingChooses,
                        error);
  const uint64_t bytes = sizes.size() * sizeof(int64_t);
  if (om_status status = checkPointer(given, bytes, "input", shape, OM_GEAR_INPUT_NAME, error);
      status != OM_OK)
    return status;
  std::memcpy(wanted.data(), given, bytes);
  return use("the input '" OM_GEAR_INPUT_NAME "' has", error);
}

/// Returns whether the inputs of a gear have the dims of values that have been compared with the
/// ports.
bool GearRun::hasDims(uint32_t number, const om_value *const *inputs) const {
  for (uint32_t i = 0; i < inputCount(); ++i) {
    const auto &dims = *table.end(number, /*output=*/false, i).dims;
    if (std::memcmp(dims.data(), inputs[i]->dims, dims.size() * sizeof(int64_t)) != 0)
      return false;
  }
  return true;
}

/// Finds the gear with the shapes of values that have been compared with the ports.
om_status GearRun::chooseByShapes(const om_value *const *inputs, om_error *error) {
  std::memset(wanted.data(), 0, wanted.size() * sizeof(int64_t));
  // A value that is no dim of an input is that of the only gear with these dims.
  uint32_t found = OM_NO_GEAR;
  for (uint32_t g = 0; !table.pads() && g < table.count(); ++g)
    if (hasDims(g, inputs)) {
      if (found != OM_NO_GEAR)
        return table.refuse(nothingChooses, error);
      found = g;
    }
  if (found != OM_NO_GEAR)
    std::memcpy(wanted.data(), table.gear(found).values()->data(), wanted.size() * 8);
  for (const fb::GearAxis *axis : table.axes()) {
    if (axis->output())
      continue;
    const int64_t dim = inputs[axis->index()]->dims[axis->dim()];
    int64_t &value = wanted[axis->value()];
    if (value == 0)
      value = dim;
    else if (value != dim)
      return fail(error, OM_ERROR_ARGUMENT,
                  "dim %u of input %u ('%s') is %lld, but another input has %lld in the dim that "
                  "must be equal to it.",
                  axis->dim(), axis->index(), table.inputs().Get(axis->index())->name()->c_str(),
                  static_cast<long long>(dim), static_cast<long long>(value));
  }
  for (int64_t value : wanted)
    if (value == 0)
      return table.refuse(nothingChooses, error);
  return use("the inputs have", error);
}

om_status GearRun::choose(const om_value *const *inputs, om_error *error) {
  om_status status = OM_OK;
  for (uint32_t i = 0; status == OM_OK && i < inputCount(); ++i)
    status = checkPort(portType(*table.inputs().Get(i)), "input", i, inputs ? inputs[i] : nullptr,
                       OM_ERROR_ARGUMENT, error);
  const uint32_t shape = table.shapeInput();
  const om_value *values = inputs && shape != OM_NO_INPUT ? inputs[shape] : nullptr;
  if (values && values->kind == host::Kind::None)
    values = nullptr;
  if (status == OM_OK && values && !isSet)
    status = checkPort(portType(*table.inputs().Get(shape)), "input", shape, values,
                       OM_ERROR_ARGUMENT, error);
  if (status == OM_OK && !isSet) {
    if (values) {
      std::memcpy(wanted.data(), values->data, sizes.size() * sizeof(int64_t));
      status = use("the input '" OM_GEAR_INPUT_NAME "' has", error);
    } else {
      status = chooseByShapes(inputs, error);
    }
  }
  for (uint32_t i = 0; status == OM_OK && i < inputCount(); ++i) {
    PortType port = portType(*table.inputs().Get(i));
    int64_t dims[OM_MAX_RANK];
    dimsOf(/*output=*/false, i, dims);
    port.dims = dims;
    status = checkPort(port, "input", i, inputs[i], OM_ERROR_ARGUMENT, error);
  }
  return status;
}

} // namespace atc::rt

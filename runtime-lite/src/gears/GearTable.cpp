//===-- GearTable.cpp - the gears of a model ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/gears/GearTable.h"

#include "runtime-lite/src/Support.h"
#include "runtime-lite/src/Value.h"

namespace fb = atc::om::fb;

namespace atc::rt {

uint64_t GearEnd::bytes() const {
  uint64_t elements, bytes;
  return tensorSize(dtype, dims->size(), dims->data(), elements, bytes) ? bytes : 0;
}

GearEnd GearTable::end(uint32_t index, bool output, uint32_t number) const {
  const fb::Gear &of = gear(index);
  if (const fb::HostProgram *host = of.host()) {
    const fb::HostPort &port = *(output ? host->outputs() : host->inputs())->Get(number);
    return {static_cast<uint8_t>(port.dtype()), port.dims()};
  }
  const fb::HostPart &part = *of.part();
  const fb::Tensor &tensor =
      *model.tensors()->Get(output ? model.outputs()->Get(part.first_output() + number)
                                   : model.inputs()->Get(part.first_input() + number));
  return {static_cast<uint8_t>(tensor.dtype()), tensor.dims()};
}

int64_t GearTable::minValue(uint32_t value) const {
  if (pads())
    return table.min()->Get(value);
  int64_t smallest = INT64_MAX;
  for (const fb::Gear *gear : *table.gears())
    smallest = gear->values()->Get(value) < smallest ? gear->values()->Get(value) : smallest;
  return smallest;
}

int64_t GearTable::maxValue(uint32_t value) const {
  int64_t largest = 0;
  for (const fb::Gear *gear : *table.gears())
    largest = gear->values()->Get(value) > largest ? gear->values()->Get(value) : largest;
  return largest;
}

uint32_t GearTable::find(const int64_t *given) const {
  const uint32_t valueCount = values();
  for (uint32_t i = 0; pads() && i < valueCount; ++i)
    if (given[i] < minValue(i))
      return OM_NO_GEAR;
  uint32_t best = OM_NO_GEAR;
  double fewest = 0; // a product of values may leave 64 bits
  for (uint32_t g = 0; g < count(); ++g) {
    bool holds = true;
    double elements = 1;
    for (uint32_t i = 0; i < valueCount; ++i) {
      const int64_t value = gear(g).values()->Get(i);
      holds = holds && (pads() ? value >= given[i] : value == given[i]);
      elements *= static_cast<double>(value);
    }
    if (holds && (best == OM_NO_GEAR || elements < fewest)) {
      best = g;
      fewest = elements;
    }
  }
  return best;
}

template <typename Get> static void addValues(BoundedText &text, uint32_t count, Get get) {
  for (uint32_t i = 0; i < count; ++i)
    text.add("%s%lld", i ? "," : "", static_cast<long long>(get(i)));
}

om_status GearTable::refuse(const char *given, const int64_t *values, om_error *error) const {
  BoundedText sentence;
  sentence.add("%s the values ", given);
  addValues(sentence, this->values(), [&](uint32_t i) { return values[i]; });
  sentence.add(pads() ? ", which are outside the bounds of the model" : ", which are no gear");
  return refuse(sentence.c_str(), error);
}

om_status GearTable::refuse(const char *sentence, om_error *error) const {
  BoundedText list;
  if (pads()) {
    addValues(list, values(), [&](uint32_t i) { return minValue(i); });
    list.add(" to ");
    addValues(list, values(), [&](uint32_t i) { return maxValue(i); });
    return fail(error, OM_ERROR_ARGUMENT, "%s; it takes %s.", sentence, list.c_str());
  }
  constexpr size_t longestNumber = 21;
  for (uint32_t g = 0; g < count(); ++g) {
    if (g && !list.hasRoom((values() + 1) * longestNumber)) {
      list.add("; ... (%u in all)", count());
      break;
    }
    list.add("%s", g ? "; " : "");
    addValues(list, values(), [&](uint32_t i) { return gear(g).values()->Get(i); });
  }
  return fail(error, OM_ERROR_ARGUMENT, "%s; the gears are %s.", sentence, list.c_str());
}

} // namespace atc::rt

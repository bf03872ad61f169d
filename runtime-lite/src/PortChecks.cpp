//===-- PortChecks.cpp - what inputs and outputs must be ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/PortChecks.h"

namespace fb = atc::om::fb;

namespace atc::rt {

using host::Kind;

const HostPorts *dynamicPorts(const fb::Model &header, bool input) {
  auto pick = [&](const auto &table) { return input ? table.inputs() : table.outputs(); };
  return header.host() ? pick(*header.host()) : header.gears() ? pick(*header.gears()) : nullptr;
}

PortType portType(const fb::HostPort &port) {
  return {port.name()->c_str(),
          static_cast<Kind>(port.kind()),
          static_cast<uint8_t>(port.dtype()),
          !port.unranked(),
          port.optional(),
          port.dims()->size(),
          port.dims()->data()};
}

PortType portType(const fb::Tensor &tensor) {
  return {tensor.name()->c_str(), Kind::Tensor,          static_cast<uint8_t>(tensor.dtype()),
          /*ranked=*/true,
          /*optional=*/false,     tensor.dims()->size(), tensor.dims()->data()};
}

/// Appends "a tensor of f32", or the corresponding text for another kind.
static void addType(BoundedText &text, Kind kind, uint8_t dtype) {
  const char *name = dtype ? om_dtype_name(static_cast<om_dtype>(dtype)) : "any type";
  switch (kind) {
  case Kind::None:
    return text.add("no value");
  case Kind::Tensor:
    return text.add("a tensor of %s", name);
  case Kind::Sequence:
    return text.add(dtype ? "a sequence of %s" : "a sequence", name);
  case Kind::Map:
    return text.add("a map");
  }
}

om_status checkPort(const PortType &port, const char *word, uint32_t index,
                    const host::Value *value, om_status code, om_error *error) {
  const Kind kind = value ? value->kind : Kind::None;
  bool fits = kind == port.kind || (port.optional && kind == Kind::None);
  if (fits && value && (kind == Kind::Tensor || kind == Kind::Sequence))
    fits = port.dtype == OM_UNDEFINED || port.dtype == value->dtype;
  if (fits && kind == Kind::Tensor && port.ranked) {
    fits = value->rank == port.rank;
    for (uint32_t i = 0; fits && i < port.rank; ++i)
      fits = port.dims[i] < 0 || port.dims[i] == value->dims[i];
  }
  if (fits)
    return OM_OK;
  BoundedText expected, given;
  addType(expected, port.kind, port.dtype);
  if (port.kind == Kind::Tensor && port.ranked) {
    expected.add(" with dims ");
    expected.addDims(port.rank, port.dims);
  }
  addType(given, kind, value ? value->dtype : uint8_t(OM_UNDEFINED));
  if (kind == Kind::Tensor) {
    given.add(" with dims ");
    given.addDims(value->rank, value->dims);
  }
  return fail(error, code, "%s %u ('%s') must be %s%s, but %s is %s.", word, index, port.name,
              expected.c_str(), port.optional ? " or none" : "",
              code == OM_ERROR_ARGUMENT ? "what was given" : "what was made", given.c_str());
}

om_status checkPointer(const void *pointer, uint64_t bytes, const char *word, uint32_t index,
                       const char *name, om_error *error) {
  // Nothing is read from or written to a tensor without elements.
  if (!bytes || (pointer && reinterpret_cast<uintptr_t>(pointer) % OM_ALIGNMENT == 0))
    return OM_OK;
  return fail(error, OM_ERROR_ARGUMENT, "the pointer for %s %u ('%s') is %s.", word, index, name,
              pointer ? "not 64-byte aligned (OM_ALIGNMENT)" : "null");
}

} // namespace atc::rt

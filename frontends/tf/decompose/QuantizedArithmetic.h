//===-- QuantizedArithmetic.h - arithmetic on integers with a range -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_DECOMPOSE_QUANTIZEDARITHMETIC_H
#define OPENATC_FRONTENDS_TF_DECOMPOSE_QUANTIZEDARITHMETIC_H

#include <optional>

#include "frontends/tf/decompose/Arithmetic.h"

namespace atc::tf_import {

/// The integers of a quantized type.
struct Integers {
  pb::DataType type;
  double lowest, highest;

  double steps() const { return highest - lowest + 1; }
  bool isSigned() const { return lowest < 0; }
};

/// Returns the integers of a type; nothing where it is no quantized one.
inline std::optional<Integers> integersOf(pb::DataType type) {
  switch (type) {
  case pb::DT_QINT8:
    return Integers{type, -0x1p7, 0x1p7 - 1};
  case pb::DT_QUINT8:
    return Integers{type, 0, 0x1p8 - 1};
  case pb::DT_QINT16:
    return Integers{type, -0x1p15, 0x1p15 - 1};
  case pb::DT_QUINT16:
    return Integers{type, 0, 0x1p16 - 1};
  case pb::DT_QINT32:
    return Integers{type, -0x1p31, 0x1p31 - 1};
  default:
    return std::nullopt;
  }
}

/// Reads the integers that an attribute names; nothing where it names no quantized type.
inline std::optional<Integers> integersOf(GraphRewriter &r, const char *attribute) {
  const pb::AttrValue *type = r.attribute(attribute);
  return type ? integersOf(type->type()) : std::nullopt;
}

inline Integers sums() { return *integersOf(pb::DT_QINT32); }

/// The numbers at the ends of a range: scalars of f32.
struct Range {
  Name min, max;
};

/// Returns a text attribute of the current node.
inline std::string textOf(GraphRewriter &r, const char *name, const char *otherwise) {
  const pb::AttrValue *value = r.attribute(name);
  return value ? value->s() : otherwise;
}

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_DECOMPOSE_QUANTIZEDARITHMETIC_H

//===-- QuantizedArithmetic.h - arithmetic on integers with a range -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_DECOMPOSE_QUANTIZEDARITHMETIC_H
#define OPENATC_FRONTENDS_TF_DECOMPOSE_QUANTIZEDARITHMETIC_H

#include <optional>

#include "frontends/tf/decompose/GraphRewriter.h"

namespace atc::tf_import {

using Name = std::string;

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

/// Adds nodes of arithmetic in one element type.
class Arithmetic {
public:
  Arithmetic(GraphRewriter &r, pb::DataType type) : r(r), type(type) {}

  //--- Constants and types.
  Name number(double value) { return r.number(value, type); }
  Name of(const Name &x) { return as(x, type); }
  Name as(const Name &x, pb::DataType to) {
    pb::AttrValue value;
    value.set_type(to);
    return r.add("Cast", {x}, {{"DstT", &value}});
  }

  //--- Arithmetic, with broadcasting.
  Name add(const Name &a, const Name &b) { return r.add("AddV2", {a, b}); }
  Name sub(const Name &a, const Name &b) { return r.add("Sub", {a, b}); }
  Name mul(const Name &a, const Name &b) { return r.add("Mul", {a, b}); }
  Name div(const Name &a, const Name &b) { return r.add("RealDiv", {a, b}); }
  Name min(const Name &a, const Name &b) { return r.add("Minimum", {a, b}); }
  Name max(const Name &a, const Name &b) { return r.add("Maximum", {a, b}); }
  Name clamp(const Name &x, const Name &low, const Name &high) { return min(max(x, low), high); }
  Name abs(const Name &x) { return r.add("Abs", {x}); }
  Name floor(const Name &x) { return r.add("Floor", {x}); }
  Name equal(const Name &a, const Name &b) { return r.add("Equal", {a, b}); }
  Name greater(const Name &a, const Name &b) { return r.add("Greater", {a, b}); }
  Name select(const Name &c, const Name &a, const Name &b) { return r.add("SelectV2", {c, a, b}); }
  Name shiftRight(const Name &x, int count) { return r.add("RightShift", {x, number(count)}); }

  /// Rounds halves away from 0. Adding 0.5 first would round what has no digits behind the point.
  Name round(const Name &x) {
    Name size = abs(x), whole = floor(size);
    Name isUp = r.add("GreaterEqual", {sub(size, whole), number(0.5)});
    return mul(r.add("Sign", {x}), add(whole, of(isUp)));
  }

  GraphRewriter &r;

private:
  pb::DataType type;
};

/// Returns a text attribute of the current node.
inline std::string textOf(GraphRewriter &r, const char *name, const char *otherwise) {
  const pb::AttrValue *value = r.attribute(name);
  return value ? value->s() : otherwise;
}

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_DECOMPOSE_QUANTIZEDARITHMETIC_H

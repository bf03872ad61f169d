//===-- Arithmetic.h - nodes of arithmetic in one element type ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_DECOMPOSE_ARITHMETIC_H
#define OPENATC_FRONTENDS_TF_DECOMPOSE_ARITHMETIC_H

#include "frontends/tf/decompose/GraphRewriter.h"

namespace atc::tf_import {

using Name = std::string;

/// Adds nodes of arithmetic in one element type.
class Arithmetic {
public:
  Arithmetic(GraphRewriter &r, pb::DataType type) : r(r), type(type) {}

  //--- Constants and types.
  Name number(double value) {
    const bool isStored = type == pb::DT_FLOAT || type == pb::DT_DOUBLE || type == pb::DT_INT64;
    return isStored ? r.number(value, type) : of(r.number(value, pb::DT_DOUBLE));
  }
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
  Name neg(const Name &x) { return r.add("Neg", {x}); }
  Name square(const Name &x) { return r.add("Square", {x}); }
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

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_DECOMPOSE_ARITHMETIC_H

//===-- Values.h - Python objects as values of any shape ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor is an array, or an openatc.Raw where numpy lacks its type; strings are an
// array of objects, bytes when they come out; a sequence is a list, a map an
// openatc.Map, and None no value.

#ifndef OPENATC_PYTHON_VALUES_H
#define OPENATC_PYTHON_VALUES_H

#include "openatc/om.hpp"

#include <pybind11/pybind11.h>

namespace atc::python {

/// Raises TypeError or ValueError for what is none. `expected` is the port's type:
/// that of a list without items, and of bits that an array holds.
om::Value toValue(const pybind11::handle &object, om_dtype expected);

/// Returns a value as an array, a list of items, a Map, or None. Arrays are copies, but for a large
/// tensor that nobody else refers to: that of `value` where it is moved here.
pybind11::object fromValue(om::Value value);

} // namespace atc::python

#endif // OPENATC_PYTHON_VALUES_H

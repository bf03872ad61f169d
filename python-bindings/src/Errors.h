//===-- Errors.h - coded errors become openatc.Error ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PYTHON_ERRORS_H
#define OPENATC_PYTHON_ERRORS_H

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

namespace atc::python {

/// Any bytes as a str: names in a file need not be UTF-8.
inline pybind11::str toStr(const std::string &text) {
  PyObject *decoded = PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace");
  if (!decoded)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::str>(decoded);
}

/// Raises openatc.Error of lines such as "E10001: ...". The GIL must be held.
[[noreturn]] inline void raise(const std::vector<std::string> &lines) {
  pybind11::list messages;
  for (const std::string &line : lines)
    messages.append(toStr(line));
  pybind11::object type = pybind11::module_::import("openatc._error").attr("Error");
  pybind11::object error = type(messages);
  // The code has chosen a class below openatc.Error.
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw pybind11::error_already_set();
}

} // namespace atc::python

#endif // OPENATC_PYTHON_ERRORS_H

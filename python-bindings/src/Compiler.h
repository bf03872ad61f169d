//===-- Compiler.h - what the parts of openatc._compiler share ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PYTHON_COMPILER_H
#define OPENATC_PYTHON_COMPILER_H

#include "python-bindings/src/CompilerModule.h"
#include "python-bindings/src/Errors.h"
#include "python-bindings/src/Initialized.h"

namespace atc::python {

/// Calls without the GIL; errors become openatc.Error.
template <typename Function> auto withoutGil(Function &&function) {
  std::vector<std::string> lines;
  try {
    pybind11::gil_scoped_release release;
    return function();
  } catch (const ErrorLines &errorLines) {
    lines = errorLines.lines;
  }
  raise(lines);
}

/// Returns a str, bytes or os.PathLike as a path; raises TypeError for other objects.
std::string pathOf(const pybind11::object &path);

/// Adds Quantized and quantize.
void addQuantizer(pybind11::module_ &m);

/// Adds training_module, write_onnx and read_onnx.
void addTraining(pybind11::module_ &m);

} // namespace atc::python

OPENATC_INITIALIZED(atc::python::ModelRequest)
OPENATC_INITIALIZED(atc::python::CompilerModule)

#endif // OPENATC_PYTHON_COMPILER_H

//===-- Arrays.h - numpy arrays as the runtime's memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays come in through Python's buffer protocol and are made by calling
// numpy, so one binary works with every numpy.

#ifndef OPENATC_PYTHON_ARRAYS_H
#define OPENATC_PYTHON_ARRAYS_H

#include "openatc/om.hpp"
#include "python-bindings/src/Initialized.h"

#include <pybind11/pybind11.h>

namespace atc::python {

/// A tensor of a model as an array: what its elements are in numpy. Types that
/// numpy lacks are their bits: bf16 is uint16, i4 and u4 are packed uint8. Dims that
/// are not known are -1.
struct Port {
  /// Copies what Python sees of a tensor: name, shape, element type.
  explicit Port(const om::Tensor &tensor);

  om::Tensor tensor;
  char kind;       ///< as in numpy: 'f', 'i', 'u', 'b', 'c', 'O'
  Py_ssize_t size; ///< bytes of an element
  std::vector<Py_ssize_t> dims;
  pybind11::tuple shape;
  pybind11::object dtype; ///< a numpy.dtype
};

/// Returns a shape for Python: None for any rank, else an openatc.Shape with the names of dynamic
/// dims, None for one without a name.
pybind11::object symbolicShape(const om::Tensor &tensor);

/// The name of the capsules in which the compiler hands an `.om` file in memory to the
/// runtime: each owns an om::Buffer that does not change any more.
inline constexpr const char *fileCapsule = "openatc.om_file";

/// An array that is not initialized, at a 64-byte boundary.
pybind11::object makeArray(const pybind11::object &shape, const pybind11::object &dtype,
                           Py_ssize_t bytes);

/// Makes an array of what has no buffer: of a tensor of another framework (__array__, DLPack) one
/// over its memory, of numbers in lists one of the port's type, which must hold them. Returns
/// everything else as it is; raises TypeError or ValueError where numbers do not fit the type.
pybind11::object asArray(const pybind11::object &object, const Port &port);

/// numpy.empty, but at a 64-byte boundary.
pybind11::object empty(const pybind11::object &shape, const pybind11::object &dtype);

/// Holds a Python object's memory.
class View {
public:
  View() = default;
  // A buffer may point into itself.
  View(const View &) = delete;
  View &operator=(const View &) = delete;
  ~View() {
    if (buffer.obj)
      PyBuffer_Release(&buffer);
  }

  /// Takes the memory of an array that must have the port's type and shape. False
  /// with a coded line in `errorText` when it does not fit, or raises TypeError when it
  /// is no array at all. `role` is "input" or "output".
  bool open(const pybind11::handle &array, const Port &port, const char *role, bool isWritable,
            std::string &errorText);

  const Py_buffer &get() const { return buffer; }
  void *data() const { return buffer.buf; }
  /// Returns whether the elements are row-major without gaps.
  bool isDense() const { return PyBuffer_IsContiguous(&buffer, 'C'); }
  /// Returns whether the runtime can use the memory without a copy.
  bool isAligned() const { return reinterpret_cast<uintptr_t>(buffer.buf) % OM_ALIGNMENT == 0; }

private:
  Py_buffer buffer = {};
};

} // namespace atc::python

OPENATC_INITIALIZED(atc::python::Port)
OPENATC_INITIALIZED(om::Launch)

#endif // OPENATC_PYTHON_ARRAYS_H

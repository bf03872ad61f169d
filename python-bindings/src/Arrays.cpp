//===-- Arrays.cpp - numpy arrays as the runtime's memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Arrays.h"

#include "python-bindings/src/Errors.h"
#include "support/ElementTypes.h"
#include "support/PrintableText.h"

namespace py = pybind11;

namespace atc::python {

namespace {

/// Returns the element type of the array that holds a tensor of `dtype`. What NumPy lacks is its
/// bits, in a byte where it is smaller.
const char *arrayType(om_dtype dtype) {
  if (const char *name = numpyName(dtype))
    return name;
  if (dtype == OM_STRING || dtype == OM_UNDEFINED)
    return "object";
  return dtype == OM_BF16 ? "uint16" : "uint8";
}

/// Several in a byte.
bool isPacked(om_dtype dtype) { return om_dtype_bits(dtype) == 4 || om_dtype_bits(dtype) == 2; }

/// The kind of a buffer's elements; 0 for one that no tensor has, such as a
/// structure or numbers in the other byte order.
char kindOf(const char *format) {
  if (!format)
    return 'u';
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  if (!std::strcmp(format, "Zf") || !std::strcmp(format, "Zd"))
    return 'c';
  if (!*format || format[1])
    return 0;
  if (std::strchr("efd", *format))
    return 'f';
  if (std::strchr("bhilqn", *format))
    return 'i';
  if (std::strchr("BHILQN", *format))
    return 'u';
  return *format == '?' ? 'b' : 0;
}

std::string describe(const py::handle &array) {
  py::object shape = py::getattr(array, "shape", py::none());
  py::object dtype = py::getattr(array, "dtype", py::none());
  return std::string(py::str(dtype)) + " " + std::string(py::str(shape));
}

const py::object &shapeType() {
  static py::object *type = new py::object(py::module_::import("openatc._values").attr("Shape"));
  return *type;
}

const py::object &numpyAttribute(const char *name) {
  // Never freed: the interpreter may be gone before the library is.
  static py::object *ndarray = new py::object(py::module_::import("numpy").attr("ndarray"));
  static py::object *dtype = new py::object(py::module_::import("numpy").attr("dtype"));
  return *(*name == 'n' ? ndarray : dtype);
}

} // namespace

py::object symbolicShape(const om::Tensor &tensor) {
  if (!tensor.ranked)
    return py::none();
  py::tuple dims(tensor.dims.size());
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    const bool isNamed = i < tensor.dimNames.size() && !tensor.dimNames[i].empty();
    dims[i] = tensor.dims[i] >= 0 ? py::object(py::int_(tensor.dims[i]))
              : isNamed           ? py::object(toStr(tensor.dimNames[i]))
                                  : py::object(py::none());
  }
  return shapeType()(dims);
}

Port::Port(const om::Tensor &tensor) : tensor(tensor) {
  if (isPacked(tensor.dtype) && tensor.fixed())
    dims = {Py_ssize_t(tensor.bytes)};
  else
    dims.assign(tensor.dims.begin(), tensor.dims.end());
  shape = py::tuple(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    shape[i] = dims[i];
  dtype = numpyAttribute("dtype")(arrayType(tensor.dtype));
  kind = std::string(py::str(dtype.attr("kind")))[0];
  size = dtype.attr("itemsize").cast<Py_ssize_t>();
}

py::object makeArray(const py::object &shape, const py::object &dtype, Py_ssize_t bytes) {
  // Grown from nothing: where there is no memory for one that is made at once, CPython 3.11 prints
  // an error of its own. At least a byte: numpy wants a buffer for an empty array too.
  auto memory = py::reinterpret_steal<py::object>(PyByteArray_FromStringAndSize(nullptr, 0));
  if (!memory || bytes > PY_SSIZE_T_MAX - 2 * OM_ALIGNMENT ||
      PyByteArray_Resize(memory.ptr(), bytes + OM_ALIGNMENT) != 0) {
    PyErr_Format(PyExc_MemoryError, "there is no memory for an array of %zd bytes", bytes);
    throw py::error_already_set();
  }
  const auto at = reinterpret_cast<uintptr_t>(PyByteArray_AS_STRING(memory.ptr()));
  py::int_ offset((OM_ALIGNMENT - at % OM_ALIGNMENT) % OM_ALIGNMENT);
  PyObject *array = PyObject_CallFunctionObjArgs(numpyAttribute("ndarray").ptr(), shape.ptr(),
                                                 dtype.ptr(), memory.ptr(), offset.ptr(), nullptr);
  if (!array)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(array);
}

py::object asArray(const py::object &object, const Port &port) {
  PyObject *given = object.ptr();
  const bool isPlain =
      PyList_Check(given) || PyTuple_Check(given) || PyLong_Check(given) || PyFloat_Check(given);
  if (PyObject_CheckBuffer(given) ||
      (!isPlain && !py::hasattr(object, "__array__") && !py::hasattr(object, "__dlpack__")))
    return object;
  if (!isPlain)
    return py::module_::import("openatc._values").attr("as_array")(object);
  py::module_ numpy = py::module_::import("numpy");
  py::object array = numpy.attr("asarray")(object);
  if (py::object(array.attr("dtype")).equal(port.dtype))
    return array;
  const std::string from = py::str(array.attr("dtype").attr("kind"));
  const bool integers = from == "i" || from == "u";
  const bool fits =
      integers ? port.kind == 'i' || port.kind == 'u' || port.kind == 'f'
               : from == std::string(1, port.kind) || array.attr("size").cast<int64_t>() == 0;
  if (!fits)
    throw py::type_error("the numbers for '" + atc::printable(port.tensor.name) + "' are " +
                         std::string(py::str(array.attr("dtype"))) + ", but the model has " +
                         std::string(py::str(port.dtype)));
  py::object converted = array.attr("astype")(port.dtype);
  if (integers && port.kind != 'f' && !numpy.attr("array_equal")(converted, array).cast<bool>())
    throw py::value_error("the numbers for '" + atc::printable(port.tensor.name) + "' do not fit " +
                          std::string(py::str(port.dtype)));
  return converted;
}

py::object empty(const py::object &shape, const py::object &dtype) {
  py::object type = numpyAttribute("dtype")(dtype);
  if (type.attr("hasobject").cast<bool>())
    throw py::type_error("an aligned array cannot hold Python objects");
  py::tuple dims = py::isinstance<py::int_>(shape) || PyIndex_Check(shape.ptr())
                       ? py::make_tuple(shape)
                       : py::tuple(shape);
  Py_ssize_t bytes = type.attr("itemsize").cast<Py_ssize_t>();
  for (py::handle item : dims) {
    Py_ssize_t dim = PyNumber_AsSsize_t(item.ptr(), PyExc_OverflowError);
    if (dim == -1 && PyErr_Occurred())
      throw py::error_already_set();
    if (dim < 0)
      throw py::value_error("a dim of an array cannot be negative");
    if (__builtin_mul_overflow(bytes, dim, &bytes))
      throw py::value_error("the array is too big");
  }
  return makeArray(dims, type, bytes);
}

bool View::open(const py::handle &array, const Port &port, const char *role, bool isWritable,
                std::string &errorText) {
  const std::string &name = port.tensor.name;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    buffer.obj = nullptr;
    PyErr_Clear();
    const std::string what = std::string(role) + " '" + atc::printable(name) + "' ";
    // Such as the bfloat16 of other packages.
    if (py::hasattr(array, "dtype")) {
      // A port of a type that NumPy lacks, as bfloat16, takes its bits.
      const bool areBits = !numpyName(port.tensor.dtype);
      throw py::type_error(what + "is an array of " + std::string(py::str(array.attr("dtype"))) +
                           ", which numpy does not pass on; give it as array." +
                           (areBits ? "view('" : "astype('") + std::string(py::str(port.dtype)) +
                           "')");
    }
    throw py::type_error(what + "must be a numpy array, not " + Py_TYPE(array.ptr())->tp_name);
  }
  auto refuse = [&](const std::string &reason) {
    errorText =
        std::string("E10014: the array for ") + role + " '" + atc::printable(name) + "' " + reason;
    return false;
  };
  if (buffer.itemsize != port.size || kindOf(buffer.format) != port.kind ||
      buffer.ndim != int(port.dims.size()) ||
      !std::equal(port.dims.begin(), port.dims.end(), buffer.shape))
    return refuse("is " + describe(array) + ", but the model has " +
                  std::string(py::str(port.dtype)) + " " + std::string(py::str(port.shape)) +
                  ": convert it with astype() or reshape()");
  if (isWritable && buffer.readonly)
    return refuse("is read-only");
  if (isWritable && !isDense())
    return refuse("is not C-contiguous: openatc.empty() makes one that is");
  return true;
}

} // namespace atc::python

//===-- Values.cpp - Python objects as values of any shape ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Values.h"

#include "python-bindings/src/Arrays.h"
#include "runtime-lite/src/Value.h"
#include "support/ElementTypes.h"

#include <pybind11/numpy.h>

namespace py = pybind11;

namespace atc::python {

namespace {
py::object classOf(const char *name) { return py::module_::import("openatc._values").attr(name); }
py::object numpy(const char *name) { return py::module_::import("numpy").attr(name); }

std::vector<int64_t> dimsOf(const py::object &shape) {
  std::vector<int64_t> dims;
  for (py::handle dim : shape)
    dims.push_back(dim.cast<int64_t>());
  return dims;
}

om::Value made(om::Value value, const om::Error &error) {
  if (!value)
    throw py::value_error(error.message());
  return value;
}

om::Value fromMemory(const py::object &array, om_dtype dtype, const std::vector<int64_t> &dims) {
  // Bits are not only those of arrays: any object that has memory will do.
  if (py::object type = py::getattr(array, "dtype", py::none());
      py::hasattr(type, "isnative") && !type.attr("isnative").cast<bool>())
    throw py::type_error("the elements of an array have the byte order of other machines: "
                         "give array.astype('" +
                         py::str(type.attr("name")).cast<std::string>() + "')");
  om::Error error;
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_C_CONTIGUOUS) != 0)
    throw py::error_already_set();
  uint64_t bits = om_dtype_bits(dtype);
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(bits, static_cast<uint64_t>(dim), &bits))
      bits = UINT64_MAX;
  const bool fits = static_cast<uint64_t>(buffer.len) == bits / 8 + (bits % 8 != 0);
  om::Value value;
  if (fits)
    value = om::Value::tensor(dtype, dims, buffer.buf, error);
  PyBuffer_Release(&buffer);
  if (!fits)
    throw py::value_error("the bits of an openatc.Raw are not as many as its shape says");
  return made(value, error);
}

om::Value fromStrings(const py::object &array) {
  std::vector<std::string> texts;
  for (py::handle item : array.attr("reshape")(-1).attr("tolist")()) {
    if (!PyBytes_Check(item.ptr()) && !PyUnicode_Check(item.ptr()))
      throw py::type_error("an array of objects must hold str or bytes");
    if (PyBytes_Check(item.ptr())) {
      texts.push_back(item.cast<std::string>());
      continue;
    }
    Py_ssize_t length = 0;
    const char *text = PyUnicode_AsUTF8AndSize(item.ptr(), &length);
    if (!text) // half of a pair of surrogates: UnicodeEncodeError says where
      throw py::error_already_set();
    texts.emplace_back(text, size_t(length));
  }
  om::Error error;
  return made(om::Value::strings(dimsOf(array.attr("shape")), texts, error), error);
}

om::Value fromRaw(const py::object &raw) {
  const std::string name = py::str(raw.attr("dtype"));
  om_dtype dtype = OM_UNDEFINED;
  for (int number = OM_F32; number <= int(OM_I2); ++number)
    if (name == om_dtype_name(static_cast<om_dtype>(number)))
      dtype = static_cast<om_dtype>(number);
  if (!om_dtype_bits(dtype))
    throw py::value_error("'" + name + "' is no element type of an openatc.Raw");
  return fromMemory(raw.attr("bits"), dtype, dimsOf(raw.attr("shape")));
}
} // namespace

/// Converts an object that is inside `depth` lists and maps, which may contain themselves.
static om::Value convert(const py::handle &object, om_dtype expected, unsigned depth) {
  // The runtime allows 8.
  constexpr unsigned max = 64;
  if (depth > max)
    throw py::value_error("the lists of a value are too deep in each other");
  om::Error error;
  if (object.is_none())
    return {};
  if (py::isinstance(object, classOf("Raw")))
    return fromRaw(py::reinterpret_borrow<py::object>(object));
  if (py::isinstance(object, classOf("Map")))
    return made(om::Value::map(convert(object.attr("keys"), OM_UNDEFINED, depth + 1),
                               convert(object.attr("values"), expected, depth + 1), error),
                error);
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    std::vector<om::Value> items;
    for (py::handle item : object)
      items.push_back(convert(item, expected, depth + 1));
    const om_dtype first =
        !items.empty() && items[0].kind() == OM_KIND_TENSOR ? items[0].dtype() : expected;
    return made(om::Value::sequence(first, items, error), error);
  }
  if (!py::hasattr(object, "dtype"))
    throw py::type_error(std::string("a value must be a numpy array, a list of values, an "
                                     "openatc.Raw or Map, or None, not ") +
                         Py_TYPE(object.ptr())->tp_name);
  py::object array = numpy("asarray")(object, py::arg("order") = "C");
  const std::string kind = py::str(array.attr("dtype").attr("kind"));
  if (kind == "O" || kind == "S" || kind == "U")
    return fromStrings(array);
  const std::string name = py::str(array.attr("dtype").attr("name"));
  const std::vector<int64_t> dims = dimsOf(array.attr("shape"));
  // As everywhere in this package, uint16 are the bits of bf16 where it is wanted.
  if (!numpyName(expected) && om_dtype_bits(expected) >= 8 &&
      name == (om_dtype_bits(expected) == 16 ? "uint16" : "uint8"))
    return fromMemory(array, expected, dims);
  const om_dtype dtype = dtypeNamed(name);
  if (!numpyName(dtype))
    throw py::type_error("the runtime has no element type for " + name);
  return fromMemory(array, dtype, dims);
}

/// Returns whether nobody else refers to the elements of a large tensor, so that an array may be
/// these: constants of a model and values that share a buffer would change with the array.
static bool ownsElements(const om::Value &value, Py_ssize_t bytes) {
  constexpr Py_ssize_t minBytes = 1 << 20; // below, a copy takes less than new pages
  const om_value *own = value.get();
  return bytes >= minBytes && own->refs == 1 && own->buffer && own->buffer->refs == 1;
}

/// Returns an array of the elements of a tensor, which lives as long as the array.
static py::object shareElements(om::Value value, const py::tuple &shape, const py::object &dtype) {
  auto *owner = new om::Value(std::move(value));
  void *elements = const_cast<void *>(owner->data());
  const py::capsule base(owner, [](void *kept) { delete static_cast<om::Value *>(kept); });
  // pybind11 before 2.12 reads an itemsize of 0 from the types of numpy 2, so that strides that it
  // computes are 0.
  std::vector<py::ssize_t> dims = shape.cast<std::vector<py::ssize_t>>(), strides(dims.size());
  auto stride = dtype.attr("itemsize").cast<py::ssize_t>();
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i])
    strides[i] = stride;
  return py::array(py::dtype::from_args(dtype), std::move(dims), std::move(strides), elements,
                   base);
}

om::Value toValue(const py::handle &object, om_dtype expected) {
  return convert(object, expected, 0);
}

py::object fromValue(om::Value value) {
  if (value.kind() == OM_KIND_NONE)
    return py::none();
  if (value.kind() == OM_KIND_MAP)
    return classOf("Map")(fromValue(value.item(0)), fromValue(value.item(1)));
  if (value.kind() == OM_KIND_SEQUENCE) {
    py::list list(value.size());
    for (uint64_t i = 0; i < value.size(); ++i)
      list[i] = fromValue(value.item(i));
    return std::move(list);
  }
  const std::vector<int64_t> dims = value.dims();
  py::tuple shape(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    shape[i] = dims[i];
  if (value.dtype() == OM_STRING) {
    py::object texts = numpy("empty")(value.size(), py::arg("dtype") = "object");
    for (uint64_t i = 0; i < value.size(); ++i)
      texts[py::int_(i)] = py::bytes(value.string(i));
    return texts.attr("reshape")(shape);
  }
  const uint64_t bits = om_dtype_bits(value.dtype());
  const auto bytes = static_cast<Py_ssize_t>((value.size() * bits + 7) / 8);
  const char *name = numpyName(value.dtype());
  py::object stored = numpy("dtype")(name ? name : bits == 16 ? "uint16" : "uint8");
  if (name && ownsElements(value, bytes))
    return shareElements(std::move(value), shape, stored);
  py::object array =
      makeArray(name || bits >= 8 ? py::object(shape) : py::make_tuple(bytes), stored, bytes);
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) != 0)
    throw py::error_already_set();
  if (bytes)
    std::memcpy(buffer.buf, value.data(), static_cast<size_t>(bytes));
  PyBuffer_Release(&buffer);
  return name ? array : classOf("Raw")(om_dtype_name(value.dtype()), array, shape);
}

} // namespace atc::python

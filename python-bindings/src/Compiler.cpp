//===-- Compiler.cpp - the module openatc._compiler -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Arrays.h"
#include "python-bindings/src/Compiler.h"

#include <pybind11/stl.h>

namespace py = pybind11;
using namespace atc::python;

std::string atc::python::pathOf(const py::object &path) {
  PyObject *encoded = nullptr;
  if (!PyUnicode_FSConverter(path.ptr(), &encoded))
    throw py::error_already_set();
  auto bytes = py::reinterpret_steal<py::bytes>(encoded);
  return std::string(bytes);
}

namespace {

/// (name, dtype, shape) with None for what is unknown.
py::list portsOf(const std::vector<om::Tensor> &tensors) {
  py::list list;
  for (const om::Tensor &tensor : tensors) {
    py::tuple shape(tensor.dims.size());
    for (size_t i = 0; i < tensor.dims.size(); ++i)
      shape[i] = tensor.dims[i] < 0 ? py::object(py::none()) : py::int_(tensor.dims[i]);
    list.append(py::make_tuple(toStr(tensor.name), om_dtype_name(tensor.dtype), shape));
  }
  return list;
}

/// The types that the interpreter takes, with the array's dims where the module
/// leaves them open.
om::Tensor fitTo(om::Tensor tensor, const py::handle &array) {
  py::object shape = py::getattr(array, "shape", py::none());
  const bool sameRank = py::isinstance<py::tuple>(shape) && py::len(shape) == tensor.dims.size();
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    if (tensor.dims[i] < 0)
      tensor.dims[i] = sameRank ? py::cast<int64_t>(py::tuple(shape)[i]) : 0;
  return tensor;
}

py::object arrayOf(const om::Tensor &tensor, const void *data) {
  const Port port(tensor);
  py::object array = makeArray(port.shape, port.dtype, tensor.bytes);
  View view;
  std::string fault;
  if (!view.open(array, port, "tensor", true, fault))
    raise({fault});
  std::memcpy(view.data(), data, tensor.bytes);
  return array;
}

/// The results in a list; every named tensor goes into `tensors` unless it is None.
py::list interpret(CompilerModule &module, const py::list &arrays, const py::object &tensors) {
  const std::vector<om::Tensor> inputs = withoutGil([&] { return module.inputs(); });
  std::vector<std::string> faults;
  std::vector<View> views(inputs.size());
  std::vector<Bytes> arguments;
  if (arrays.size() != inputs.size())
    raise({"E10014: " + std::to_string(arrays.size()) + " inputs are given, but the module has " +
           std::to_string(inputs.size())});
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype == OM_UNDEFINED)
      raise({"E10055: input '" + inputs[i].name + "' has a type that arrays cannot have"});
    py::object array = py::module_::import("numpy").attr("ascontiguousarray")(arrays[i]);
    // It makes a scalar of rank 0 one of rank 1.
    array = array.attr("reshape")(py::getattr(arrays[i], "shape", array.attr("shape")));
    const om::Tensor tensor = fitTo(inputs[i], array);
    std::string fault;
    if (!views[i].open(array, Port(tensor), "input", false, fault))
      faults.push_back(fault);
    arguments.push_back({views[i].data(), tensor.dims});
  }
  if (!faults.empty())
    raise(faults);

  py::list results;
  withoutGil([&] {
    CompilerModule::NamedTensor each;
    if (!tensors.is_none())
      each = [&](const std::string &name, const om::Tensor &tensor, const void *data) {
        if (tensor.dtype == OM_UNDEFINED)
          return;
        py::gil_scoped_acquire acquire;
        tensors[toStr(name)] = arrayOf(tensor, data);
      };
    module.interpret(
        arguments, each, [&](const std::string &name, const om::Tensor &tensor, const void *data) {
          if (tensor.dtype == OM_UNDEFINED)
            throw Faults{{"E10055: output '" + name + "' has a type that arrays cannot have"}};
          py::gil_scoped_acquire acquire;
          results.append(arrayOf(tensor, data));
        });
  });
  return results;
}

} // namespace

PYBIND11_MODULE(_compiler, m) {
  m.doc() = "Reads, rewrites and compiles models.";

  py::class_<CompilerModule, std::shared_ptr<CompilerModule>>(m, "Module")
      .def_static("load",
                  [](const py::object &path, const CompilerModule::Shapes &inputShapes,
                     const std::vector<std::string> &outputs) {
                    const std::string file = pathOf(path);
                    return withoutGil(
                        [&] { return CompilerModule::load(file, inputShapes, outputs); });
                  })
      .def_static("parse",
                  [](const std::string &text) {
                    return withoutGil([&] { return CompilerModule::parse(text); });
                  })
      .def("copy",
           [](CompilerModule &module) { return withoutGil([&] { return module.copy(); }); })
      .def("print",
           [](CompilerModule &module, bool weights, bool locations) {
             return toStr(withoutGil([&] { return module.print(weights, locations); }));
           })
      .def("inputs",
           [](CompilerModule &module) {
             return portsOf(withoutGil([&] { return module.inputs(); }));
           })
      .def("outputs",
           [](CompilerModule &module) {
             return portsOf(withoutGil([&] { return module.outputs(); }));
           })
      .def("run_passes",
           [](CompilerModule &module, const std::string &pipeline) {
             withoutGil([&] { module.runPasses(pipeline); });
           })
      .def("interpret", &interpret)
      .def("compile", [](CompilerModule &module, const py::object &output,
                         const std::vector<std::string> &targetFlags,
                         const std::vector<std::string> &disabled, const std::string &tempDir) {
        const CompileRequest request = {pathOf(output), targetFlags, disabled, tempDir};
        return withoutGil([&] { return module.compile(request); });
      });

  m.def("compile_file", [](const py::object &path, const CompilerModule::Shapes &inputShapes,
                           const std::vector<std::string> &outputs, const py::object &output,
                           const std::vector<std::string> &targetFlags,
                           const std::vector<std::string> &disabled, const std::string &tempDir) {
    const std::string file = pathOf(path);
    const CompileRequest request = {pathOf(output), targetFlags, disabled, tempDir};
    return withoutGil([&] { return compileFile(file, inputShapes, outputs, request); });
  });
  addQuantizer(m);
}

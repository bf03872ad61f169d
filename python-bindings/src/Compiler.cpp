//===-- Compiler.cpp - the module openatc._compiler -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Compiler.h"
#include "python-bindings/src/Arrays.h"
#include "python-bindings/src/Simulation.h"

#include <pybind11/stl.h>

#include <exception>

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

/// (name, dtype, shape) per tensor; see symbolicShape.
py::list portsOf(const std::vector<om::Tensor> &tensors) {
  py::list list;
  for (const om::Tensor &tensor : tensors) {
    list.append(
        py::make_tuple(toStr(tensor.name), om_dtype_name(tensor.dtype), symbolicShape(tensor)));
  }
  return list;
}

/// The types that the interpreter takes, with the array's dims where the module
/// leaves them open.
om::Tensor fitTo(om::Tensor tensor, const py::handle &array) {
  py::object shape = py::getattr(array, "shape", py::none());
  if (!tensor.ranked && py::isinstance<py::tuple>(shape))
    tensor.dims.assign(py::len(shape), -1);
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
  std::string errorText;
  if (!view.open(array, port, "tensor", true, errorText))
    raise({errorText});
  std::memcpy(view.data(), data, tensor.bytes);
  return array;
}

/// The results in a list; every named tensor goes into `tensors` unless it is None.
py::list interpret(CompilerModule &module, const py::list &arrays, const py::object &tensors) {
  const std::vector<om::Tensor> inputs = withoutGil([&] { return module.inputs(); });
  std::vector<std::string> errorLines;
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
    std::string errorText;
    if (!views[i].open(array, Port(tensor), "input", false, errorText))
      errorLines.push_back(errorText);
    arguments.push_back({views[i].data(), tensor.dims});
  }
  if (!errorLines.empty())
    raise(errorLines);

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
            throw ErrorLines{{"E10055: output '" + name + "' has a type that arrays cannot have"}};
          py::gil_scoped_acquire acquire;
          results.append(arrayOf(tensor, data));
        });
  });
  return results;
}

/// None is what is not given.
std::optional<std::string> pathOrNone(const py::object &path) {
  return path.is_none() ? std::nullopt : std::optional(pathOf(path));
}

/// Keeps the exception of a user's function until it can be raised by the call that led to it.
class UserFunctions {
public:
  /// Calls `function` with the GIL. Returns false after an exception.
  template <typename Function> bool call(Function &&function) {
    py::gil_scoped_acquire acquire;
    try {
      function();
      return true;
    } catch (py::error_already_set &) {
      if (!failure)
        failure = std::current_exception();
      return false;
    }
  }
  /// Raises the first exception, if there was one. The GIL must be held.
  void raise() {
    if (failure)
      std::rethrow_exception(std::exchange(failure, nullptr));
  }

private:
  std::exception_ptr failure;
};

/// A request with the functions of Python that it calls.
struct PyCompileRequest {
  CompileRequest request;
  std::shared_ptr<UserFunctions> functions = std::make_shared<UserFunctions>();

  /// Calls without the GIL; raises what a function of the user has raised.
  template <typename Function> auto run(Function &&function) const {
    try {
      auto result = withoutGil(function);
      functions->raise();
      return result;
    } catch (py::error_already_set &) {
      functions->raise();
      throw;
    }
  }
};

} // namespace

OPENATC_INITIALIZED(PyCompileRequest)

namespace {

/// The target's arguments of openatc.compile. `phases` are those behind which `hook` is called with
/// the phase and the module; it returns the module to go on with.
PyCompileRequest
makeRequest(const std::optional<std::string> &soc, const py::object &socFile,
            const std::optional<std::string> &precision, const std::string &targetCpu,
            const std::vector<std::string> &disabledPasses, const py::object &tempDir,
            const std::vector<std::tuple<std::string, std::string, std::string>> &passes,
            const std::vector<std::string> &phases, const py::object &hook,
            const py::object &progress) {
  PyCompileRequest made;
  CompileRequest &request = made.request;
  request.target.target = soc || !socFile.is_none() ? "npu" : "cpu";
  request.target.soc = soc;
  request.target.socFile = pathOrNone(socFile);
  request.target.precision = precision;
  request.target.cpuLevels = targetCpu;
  request.disabledPasses = disabledPasses;
  request.tempDir = pathOrNone(tempDir).value_or("");
  for (const auto &[where, pass, pipeline] : passes)
    request.hooks.passes.push_back({where, pass, pipeline});
  request.hooks.phases = phases;
  // The request lives as long as the call that has the arguments: no reference is needed.
  request.hooks.run = [functions = made.functions, call = hook.ptr()](
                          const std::string &phase, std::shared_ptr<CompilerModule> module) {
    std::shared_ptr<CompilerModule> result;
    const bool isDone = functions->call([&] {
      result = py::reinterpret_borrow<py::object>(call)(phase, module)
                   .cast<std::shared_ptr<CompilerModule>>();
    });
    if (!isDone)
      throw ErrorLines{{"E10041: a hook behind the phase " + phase + " has raised an exception"}};
    return result;
  };
  if (!progress.is_none())
    request.hooks.onStage = [functions = made.functions,
                             call = progress.ptr()](const std::string &stage) {
      functions->call([&] { py::reinterpret_borrow<py::object>(call)(toStr(stage)); });
    };
  return made;
}

/// `data` is an ONNX model in memory, for which `path` only is a name; or None.
ModelRequest makeModel(const py::object &path, const std::optional<py::bytes> &data,
                       const Shapes &inputShapes, const std::vector<std::string> &outputs,
                       const std::vector<std::vector<int64_t>> &gears,
                       const std::string &signature) {
  ModelRequest model = {pathOf(path), std::nullopt, inputShapes, outputs, gears, signature};
  if (data)
    model.bytes = std::string(*data);
  return model;
}

/// (warnings, file): the file as a capsule that openatc.Model takes, or None where it
/// was written to a path.
py::tuple asTuple(CompiledModel compiled) {
  py::object file = py::none();
  if (compiled.file)
    file =
        py::capsule(new om::Buffer(std::move(compiled.file)), fileCapsule, [](PyObject *capsule) {
          delete static_cast<om::Buffer *>(PyCapsule_GetPointer(capsule, fileCapsule));
        });
  py::list lines;
  for (const std::string &line : compiled.warnings)
    lines.append(toStr(line));
  return py::make_tuple(lines, file);
}

} // namespace

PYBIND11_MODULE(_compiler, m) {
  m.doc() = "Reads, rewrites and compiles models.";

  py::class_<ModelRequest>(m, "ModelRequest").def(py::init(&makeModel));
  // The functions of Python live as long as the request.
  py::class_<PyCompileRequest>(m, "CompileRequest")
      .def(py::init(&makeRequest), py::keep_alive<1, 10>(), py::keep_alive<1, 11>());
  py::class_<CompilerModule, std::shared_ptr<CompilerModule>>(m, "Module")
      .def_static("load",
                  [](const ModelRequest &model) {
                    return withoutGil([&] { return CompilerModule::load(model); });
                  })
      .def_static("parse",
                  [](const std::string &text) {
                    return withoutGil([&] { return CompilerModule::parse(text); });
                  })
      .def("copy", [](CompilerModule &module) { return withoutGil([&] { return module.copy(); }); })
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
      .def("operations",
           [](CompilerModule &module) {
             py::list list;
             for (const OperationText &op : withoutGil([&] { return module.operations(); })) {
               py::dict attributes;
               for (const auto &[name, value] : op.attributes)
                 attributes[toStr(name)] = toStr(value);
               list.append(py::make_tuple(toStr(op.name), toStr(op.location), op.depth,
                                          py::tuple(py::cast(op.operands)),
                                          py::tuple(py::cast(op.results)), attributes));
             }
             return list;
           })
      .def("run_passes",
           [](CompilerModule &module, const std::string &pipeline) {
             withoutGil([&] { module.runPasses(pipeline); });
           })
      .def("interpret", &interpret)
      .def("compile",
           [](CompilerModule &module, const PyCompileRequest &request, const py::object &output) {
             const std::string path = pathOrNone(output).value_or("");
             return asTuple(request.run([&] { return module.compile(request.request, path); }));
           })
      .def("lower", [](CompilerModule &module, const PyCompileRequest &request,
                       const std::string &stopAfter) {
        return request.run([&] { return module.lower(request.request, stopAfter); });
      });

  m.def("compile_model",
        [](const ModelRequest &model, const PyCompileRequest &request, const py::object &output) {
          const std::string path = pathOrNone(output).value_or("");
          return asTuple(request.run([&] { return compileModel(model, request.request, path); }));
        });
  m.def("single_op_model", [](const std::string &description) {
    return py::bytes(withoutGil([&] { return singleOpModel(description); }));
  });
  m.def("simulate_programs",
        [](const std::string &name, const std::string &text, const std::string &soc,
           const std::string &socFile, bool schedule, bool checkHazards, unsigned warmup) {
          SimulatedTexts texts = withoutGil([&] {
            return simulatePrograms(name, text, soc, socFile, schedule, checkHazards, warmup);
          });
          return py::make_tuple(texts.json, texts.html, texts.timeline, texts.hazards);
        });
  m.def("lower_model", [](const ModelRequest &model, const PyCompileRequest &request,
                          const std::string &stopAfter) {
    return request.run([&] { return lowerModel(model, request.request, stopAfter); });
  });
  addQuantizer(m);
  addTraining(m);
}

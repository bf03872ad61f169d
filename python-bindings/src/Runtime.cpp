//===-- Runtime.cpp - the module openatc._runtime -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Errors.h"
#include "python-bindings/src/Ranks.h"
#include "python-bindings/src/Session.h"
#include "support/ModelText.h"
#include "support/TensorValues.h"

#include <cmath>
#include <limits>

namespace py = pybind11;
using namespace atc::python;

namespace {

/// A list that knows its ports by name too.
py::object listOf(const std::vector<Port> &ports) {
  py::list list;
  for (const Port &port : ports)
    list.append(py::cast(port));
  return py::module_::import("openatc._values").attr("Ports")(list);
}

template <typename Number> py::tuple tupleOf(const std::vector<Number> &numbers) {
  py::tuple tuple(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i)
    tuple[i] = numbers[i];
  return tuple;
}

/// A property that is a string of om_model_info.
auto text(const char *om_model_info::*field) {
  return [field](const PyModel &model) {
    const char *value = model.get().info().*field;
    return toStr(value ? value : "");
  };
}

auto number(uint64_t om_model_info::*field) {
  return [field](const PyModel &model) { return model.get().info().*field; };
}

/// None for any rank; in it the name of a dynamic dim, None where it has none.
py::object shapeOf(const Port &port) { return symbolicShape(port.tensor); }

std::string reprOf(const Port &port) {
  return "<openatc.TensorInfo '" + atc::printable(port.tensor.name) + "' " +
         (port.tensor.ranked ? atc::typeText(om_dtype_name(port.tensor.dtype), port.tensor.dims,
                                             port.tensor.dimNames)
                             : om_dtype_name(port.tensor.dtype) + std::string("[...]")) +
         ">";
}

/// Both are aligned copies or the caller's arrays: any memory will do here.
py::tuple difference(const Port &port, const py::object &ours, const py::object &right) {
  View a, b;
  std::string errorText;
  for (auto [view, array] : {std::pair(&a, &ours), std::pair(&b, &right)})
    if (!view->open(*array, port, "tensor", false, errorText))
      raise({errorText});
  if (!a.isDense() || !b.isDense())
    throw py::value_error("both arrays must be C-contiguous");
  atc::Difference result;
  {
    py::gil_scoped_release release;
    result = atc::differenceOf(port.tensor, a.data(), b.data());
  }
  return py::make_tuple(result.maxAbs, result.ofRange, result.cosine);
}

/// Returns a model as it is, and opens what stands for one: a path or the bytes of a file.
std::shared_ptr<PyModel> modelOf(const py::object &source) {
  if (py::isinstance<PyModel>(source))
    return source.cast<std::shared_ptr<PyModel>>();
  return std::make_shared<PyModel>(source, /*verify=*/true, py::none());
}

std::unique_ptr<PySession> makeSession(const py::object &model, int64_t threads, uint32_t spinUs,
                                       uint64_t serialCost, uint64_t maxMemory,
                                       uint64_t maxIterations, double maxSeconds, bool checkHazards,
                                       bool functional, bool timed, bool prefetch,
                                       const py::object &socFile, uint64_t timelineSpans) {
  if (!(maxSeconds >= 0))
    throw py::value_error("max_seconds must be 0, for no limit, or more");
  if (threads < 0 || threads > std::numeric_limits<uint32_t>::max())
    throw py::value_error(
        "threads must be from 0, for as many as the process may use, to 4294967295");
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.threads = uint32_t(threads);
  options.spin_us = spinUs;
  options.serial_cost = serialCost;
  options.max_memory = maxMemory;
  options.max_iterations = maxIterations;
  // A time above that of the clock is none.
  options.max_run_us =
      maxSeconds < 1e12 ? static_cast<uint64_t>(std::ceil(maxSeconds * 1e6)) : OM_NO_LIMIT;
  const NpuRequest request = {functional,    timed,
                              checkHazards,  prefetch,
                              timelineSpans, socFile.is_none() ? "" : systemPath(socFile)};
  return std::make_unique<PySession>(modelOf(model), options, request);
}

void bindInfo(py::module_ &m) {
  py::class_<Port>(m, "TensorInfo", "A tensor of a model.")
      .def_property_readonly(
          "name", [](const Port &port) { return toStr(port.tensor.name); },
          "The name in the model.")
      .def_property_readonly(
          "dtype", [](const Port &port) { return om_dtype_name(port.tensor.dtype); },
          "The runtime's name: \"f32\", \"i64\", \"bool\" ...")
      .def_property_readonly(
          "shape", &shapeOf,
          "The dims: None for any rank. In it a dynamic dim is its name in the model,\n"
          "or None where it has none.")
      .def_property_readonly(
          "kind",
          [](const Port &port) {
            const char *names[] = {"none", "tensor", "sequence", "map"};
            return names[port.tensor.kind];
          },
          "\"tensor\", \"sequence\" or \"map\".")
      .def_property_readonly(
          "optional", [](const Port &port) { return port.tensor.optional; },
          "Whether the value may be None.")
      .def_property_readonly(
          "bytes", [](const Port &port) { return port.tensor.bytes; },
          "Bytes of the elements; 0 where the shape is not known.")
      .def_readonly("numpy_dtype", &Port::dtype,
                    "What an array for it has: bf16 is uint16, i4 and u4 are uint8, two in a byte.")
      .def_readonly("numpy_shape", &Port::shape,
                    "The dims of an array for it, with -1 for a dim of any size.")
      .def("__repr__", [](const Port &port) { return toStr(reprOf(port)); });

  py::class_<om::Launch>(m, "LaunchInfo", "One step of a model's schedule.")
      .def_property_readonly(
          "name", [](const om::Launch &launch) { return toStr(launch.name); },
          "The node that it computes.")
      .def_property_readonly(
          "kernel", [](const om::Launch &launch) { return toStr(launch.kernel); },
          "The kernel, program or host kernel.")
      .def_readonly("cost", &om::Launch::cost, "Estimated operations, or bytes moved.")
      .def_readonly("tasks", &om::Launch::tasks,
                    "How many independent pieces the kernel has; of an NPU launch, its cores.")
      .def_readonly("npu", &om::Launch::npu, "Whether `kernel` is a program of the NPU.")
      .def_readonly("host", &om::Launch::host,
                    "Whether it is a call of a host kernel, on values of any shape.")
      .def_readonly("macs", &om::Launch::macs, "Multiply-accumulates of an NPU launch, else 0.")
      .def_property_readonly(
          "reads", [](const om::Launch &launch) { return tupleOf(launch.reads); },
          "Indices into Model.tensors of what it reads.")
      .def_property_readonly(
          "writes", [](const om::Launch &launch) { return tupleOf(launch.writes); },
          "Indices into Model.tensors of what it writes.")
      .def("__repr__", [](const om::Launch &launch) {
        return toStr("<openatc.LaunchInfo '" + atc::printable(launch.name) + "' by " +
                     atc::printable(launch.kernel) + ">");
      });

  py::class_<LaunchTime>(m, "LaunchTime", "The mean time of one launch.")
      .def_readonly("launch", &LaunchTime::launch, "Index into Model.launches.")
      .def_property_readonly(
          "name", [](const LaunchTime &row) { return toStr(row.name); },
          "The node that the launch computes.")
      .def_property_readonly(
          "kernel", [](const LaunchTime &row) { return toStr(row.kernel); },
          "The kernel, program or host kernel.")
      .def_readonly("microseconds", &LaunchTime::microseconds, "The mean time.")
      .def_readonly("share", &LaunchTime::share, "Of the time in all launches, 0 to 1.")
      .def("__repr__", [](const LaunchTime &row) {
        char time[64];
        std::snprintf(time, sizeof(time), "%.1f us", row.microseconds);
        return toStr("<openatc.LaunchTime '" + atc::printable(row.name) + "' " + time + ">");
      });
}

using ModelClass = py::class_<PyModel, std::shared_ptr<PyModel>>;
using SessionClass = py::class_<PySession>;

/// Adds what a model reads, writes and runs.
void bindPorts(ModelClass &model) {
  model
      .def_property_readonly(
          "inputs", [](const PyModel &model) { return listOf(model.inputs()); },
          "The inputs, also by name: model.inputs[\"image\"].")
      .def_property_readonly(
          "outputs", [](const PyModel &model) { return listOf(model.outputs()); },
          "The outputs, also by name.")
      .def_property_readonly(
          "tensors", [](PyModel &model) { return listOf(model.tensors()); },
          "All tensors that launches read or write, also by name.")
      .def_property_readonly(
          "launches",
          [](const PyModel &model) {
            py::list list;
            for (const om::Launch &launch : model.launches())
              list.append(py::cast(launch));
            return list;
          },
          "The schedule.");
}

/// Adds where a model comes from, and what it is for.
void bindOrigin(ModelClass &model) {
  model.def_property_readonly("name", text(&om_model_info::name), "The name of the model.")
      .def_property_readonly("producer", text(&om_model_info::producer), "What compiled it.")
      .def_property_readonly("command_line", text(&om_model_info::command_line),
                             "The options it was compiled with.")
      .def_property_readonly("target", text(&om_model_info::target), "\"cpu\" or \"npu\".")
      .def_property_readonly("cpu_level", text(&om_model_info::cpu_level),
                             "The CPU level of the code that was chosen; empty without code.")
      .def_property_readonly("soc", text(&om_model_info::soc),
                             "The NPU that it is for; empty when it runs on the CPU alone.")
      .def_property_readonly(
          "metadata",
          [](const PyModel &model) {
            py::dict facts;
            for (const auto &[key, value] : model.get().metadata())
              facts[toStr(key)] = toStr(value);
            return facts;
          },
          "What the author of the model has stated about it: {key: value}.")
      .def_property_readonly(
          "schema_version",
          [](const PyModel &model) {
            const om_model_info info = model.get().info();
            return py::make_tuple(info.schema_major, info.schema_minor);
          },
          "Major and minor version of the file's format.");
}

/// Adds the sizes of the parts of a model.
void bindSizes(ModelClass &model) {
  model
      .def_property_readonly("npu_bytes", number(&om_model_info::npu_bytes),
                             "Bytes of the NPU's programs.")
      .def_property_readonly("file_bytes", number(&om_model_info::file_bytes), "Bytes of the file.")
      .def_property_readonly("weights_bytes", number(&om_model_info::weights_bytes),
                             "Bytes of the weights.")
      .def_property_readonly("code_bytes", number(&om_model_info::code_bytes),
                             "Bytes of the code that was chosen.")
      .def_property_readonly("arena_bytes", number(&om_model_info::arena_bytes),
                             "Bytes that a session needs for what lies between launches.");
}

/// Adds what runs of a model choose or keep: gears and states.
void bindChoices(ModelClass &model) {
  model
      .def_property_readonly(
          "gears",
          [](const PyModel &model) {
            py::list list;
            for (const om::Gear &gear : model.get().gears().all)
              list.append(tupleOf(gear.values));
            return list;
          },
          "The values of the dynamic dims that the model was compiled for, a tuple per gear.")
      .def_property_readonly(
          "gear_kind",
          [](const PyModel &model) {
            const char *names[] = {"none", "batch", "image", "dims", "range"};
            return names[model.get().gears().kind];
          },
          "What the values of a gear are: \"none\", \"batch\", \"image\", \"dims\" or \"range\".")
      .def_property_readonly(
          "states",
          [](const PyModel &model) {
            py::dict named;
            for (const om_state_info &state : model.get().states())
              named[toStr(model.inputs()[state.input].tensor.name)] =
                  toStr(model.outputs()[state.output].tensor.name);
            return named;
          },
          "The outputs that can be the next run's values of inputs: {input: output}.");
}

/// Adds the use of a model as a file and as an object that is copied and shown.
void bindFile(ModelClass &model) {
  model
      .def("verify_weights", &PyModel::verifyWeights,
           "Reads all weights and compares their hash with the file's.")
      .def("save", &PyModel::save, py::arg("path"), "Writes the .om file to a path.")
      // A model does not change, so a copy is the model itself.
      .def("__copy__", [](const py::object &model) { return model; })
      .def("__deepcopy__", [](const py::object &model, const py::object &) { return model; })
      .def("__reduce__",
           [](const py::object &model) {
             const auto &own = model.cast<const PyModel &>();
             py::object make = py::type::of(model);
             if (!own.requestedLevel().is_none()) // pickles have no arguments by name
               make = py::module_::import("functools")
                          .attr("partial")(make, py::arg("cpu_level") = own.requestedLevel());
             return py::make_tuple(make, py::make_tuple(own.content()));
           })
      .def("__repr__",
           [](const PyModel &model) {
             const char *name = model.get().info().name;
             return toStr("<openatc.Model '" + atc::printable(name ? name : "") + "', " +
                          std::to_string(model.get().info().launches) + " launches>");
           })
      .def("_repr_html_", [](const py::object &model) {
        return py::module_::import("openatc._display").attr("model_html")(model);
      });
}

void bindModel(py::module_ &m) {
  ModelClass model(m, "Model", "A verified .om file.");
  model.def(py::init<py::object, bool, py::object>(), py::arg("source"), py::kw_only(),
            py::arg("verify") = true, py::arg("cpu_level") = py::none());
  bindPorts(model);
  bindOrigin(model);
  bindSizes(model);
  bindChoices(model);
  bindFile(model);
}

/// Adds the forms of a run.
void bindRuns(SessionClass &session) {
  session
      .def("run", &PySession::run, py::arg("inputs"), py::arg("outputs") = py::none(),
           "Runs the model without the GIL: a list for a list of inputs, a dict for a dict. One "
           "array\nmay stand for a list of one. run(names, feeds), as in ONNX Runtime, returns a "
           "list of the\noutputs of these names, or of all of them for None.")
      .def(
          "run_async",
          [](const py::object &session, const py::object &inputs, const py::object &outputs) {
            return py::module_::import("openatc._pool").attr("run_async")(session, inputs, outputs);
          },
          py::arg("inputs"), py::arg("outputs") = py::none(),
          "Runs the model in another thread: results = await session.run_async(inputs).")
      .def("__call__", &PySession::call,
           "Runs the model on an array per input, in its order or by name, and returns the\n"
           "output, or a tuple of several; a dict of inputs gives a dict.")
      .def("cancel", &PySession::cancel,
           "Ends the run in progress, which another thread has begun, or else the next one.")
      .def("connect", &PySession::connect, py::arg("ranks").none(false),
           "Connects the runs to those of the other ranks.");
}

/// Adds the end of a session, and what it shows and refuses as an object.
void bindLifetime(SessionClass &session) {
  session.def("close", &PySession::close, "Gives the memory and the threads back.")
      .def("__enter__", [](py::object session) { return session; })
      .def("__exit__", [](PySession &session, const py::args &) { session.close(); })
      .def("__reduce__",
           [](const PySession &) -> py::object {
             throw py::type_error("a session has threads and memory of its process and cannot be "
                                  "copied or pickled: make one of its model, which can");
           })
      .def("__repr__", [](const PySession &session) {
        const char *name = session.model()->get().info().name;
        return toStr("<openatc.Session of '" + atc::printable(name ? name : "") +
                     (session.isClosed() ? "', closed>" : "'>"));
      });
}

/// Adds what lasts from run to run: the gear and the state.
void bindKeptState(SessionClass &session) {
  session
      .def(
          "set_gear",
          [](PySession &session, const py::object &values) {
            std::vector<int64_t> numbers;
            if (!values.is_none())
              for (py::handle value : values)
                try {
                  numbers.push_back(value.cast<int64_t>());
                } catch (const py::cast_error &) {
                  throw py::type_error("the values of a gear must be integers of 64 bits, not " +
                                       std::string(py::repr(value)));
                }
            session.setGear(numbers);
          },
          py::arg("values"),
          "Chooses the gear of all runs from now on by its values; with None each run finds the\n"
          "gear with the shapes of its inputs.")
      .def_property_readonly(
          "gear",
          [](PySession &session) -> py::object {
            const std::vector<int64_t> values = session.gear();
            return values.empty() ? py::none() : py::object(tupleOf(values));
          },
          "The gear that was set or used last; None before the first run and without gears.")
      .def_property("keep_state", &PySession::keepsState, &PySession::keepState,
                    "Whether runs keep the model's state, whose tensors are no inputs and outputs\n"
                    "then; switching it on or off forgets the state.")
      .def("reset_state", &PySession::resetState,
           "Forgets the state: the next run starts from the beginning.")
      .def("read_state", &PySession::readStates,
           "Returns a copy of the state, by the names of its inputs; None before the first run.")
      .def("write_state", &PySession::writeStates, py::arg("state"),
           "Sets the states that a dict names to arrays; None resets one.");
}

/// Adds what can be seen of a session: its model, results of launches and times.
void bindObservation(SessionClass &session) {
  session.def_property_readonly("model", &PySession::model, "The model that it runs.")
      .def_property_readonly(
          "inputs", [](const PySession &session) { return listOf(session.model()->inputs()); },
          "The inputs of the model: a list that knows their names too.")
      .def_property_readonly(
          "outputs", [](const PySession &session) { return listOf(session.model()->outputs()); },
          "The outputs of the model: a list that knows their names too.")
      .def_property_readonly("threads", &PySession::threads, "How many threads it uses.")
      .def("tensors", &PySession::tensors, py::arg("inputs"), py::arg("names") = py::none(),
           "Runs the model once and returns what its launches wrote, all of it or `names`.")
      .def("_layers", &PySession::layers, py::arg("inputs"), py::arg("shapes"))
      .def_property("profiling", &PySession::isProfiling, &PySession::setProfiling,
                    "Whether `run` measures each launch; switching it on clears the sums.")
      .def(
          "profile",
          [](PySession &session) {
            py::list list;
            for (const LaunchTime &row : session.profile())
              list.append(py::cast(row));
            return py::module_::import("openatc._display").attr("Profile")(list);
          },
          "The mean time of each launch since profiling was switched on: an openatc.Profile.");
}

/// Adds what the simulated NPU reports.
void bindNpu(SessionClass &session) {
  session
      .def_property_readonly(
          "npu", &PySession::npuStatistics,
          "What the simulated NPU says of the last run, as `om-run --json`; None without one.")
      .def(
          "hazards",
          [](PySession &session) {
            py::list list;
            for (const std::string &line : session.hazards())
              list.append(toStr(line));
            return list;
          },
          "A line for each pair of accesses that nothing orders; needs `check_hazards`.")
      .def(
          "timeline",
          [](PySession &session, const py::object &path) {
            session.writeNpuText(path, OM_NPU_TIMELINE);
          },
          py::arg("path"),
          "Writes when each instruction of all runs ran, for chrome://tracing or Perfetto.")
      .def(
          "report",
          [](PySession &session, const py::object &path) {
            session.writeNpuText(path, OM_NPU_REPORT);
          },
          py::arg("path"), "Writes an HTML page on where the time of the last run went.");
}

void bindSession(py::module_ &m) {
  SessionClass session(m, "Session", "Runs one inference of a model at a time.");
  session.def(py::init(&makeSession), py::arg("model"), py::kw_only(), py::arg("threads") = 0,
              py::arg("spin_us") = OM_DEFAULT_SPIN_US,
              py::arg("serial_cost") = OM_DEFAULT_SERIAL_COST, py::arg("max_memory") = 0,
              py::arg("max_iterations") = 0, py::arg("max_seconds") = 0.0,
              py::arg("check_hazards") = false, py::arg("functional") = true,
              py::arg("timed") = true, py::arg("prefetch") = true, py::arg("soc_file") = py::none(),
              py::arg("timeline_spans") = 1000000);
  bindRuns(session);
  bindLifetime(session);
  bindKeptState(session);
  bindObservation(session);
  bindNpu(session);
}

} // namespace

PYBIND11_MODULE(_runtime, m) {
  m.doc() = "Runs .om files.";
  bindInfo(m);
  bindModel(m);
  bindSession(m);
  addRanks(m);
  m.def("empty", &empty, py::arg("shape"), py::arg("dtype") = "float32",
        "An array at a 64-byte boundary, which `Session.run` uses without a copy.");
  m.def("difference", &difference, py::arg("tensor"), py::arg("ours"), py::arg("reference"));
  m.def("runtime_version", &om_version);
  m.attr("NO_LIMIT") = uint64_t(OM_NO_LIMIT);
}

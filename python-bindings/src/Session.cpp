//===-- Session.cpp - sessions of the runtime module ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Session.h"

#include "python-bindings/src/Errors.h"
#include "python-bindings/src/Values.h"
#include "support/LayerTrace.h"
#include "support/PrintableText.h"
#include "support/RunErrors.h"

#include <map>
#include <optional>

namespace py = pybind11;

namespace atc::python {

namespace {

std::string namesOf(const std::vector<Port> &ports) {
  std::string names;
  for (const Port &port : ports)
    names += (names.empty() ? "'" : ", '") + atc::printable(port.tensor.name) + "'";
  return names.empty() ? "none" : names;
}

bool isMapping(const py::handle &object) {
  return PyDict_Check(object.ptr()) ||
         (!PySequence_Check(object.ptr()) && py::hasattr(object, "keys"));
}

bool isArray(const py::handle &object) {
  return py::hasattr(object, "dtype") || py::hasattr(object, "__array__");
}

/// The arrays of a sequence or mapping in the model's order. Null handles stand
/// for what a mapping does not name.
std::vector<py::object> inOrder(const py::object &given, const std::vector<Port> &ports,
                                const char *role, std::vector<std::string> &errorLines) {
  std::vector<py::object> arrays(ports.size());
  if (!isMapping(given)) {
    // A model of one input accepts a single array.
    if (isArray(given) && ports.size() == 1) {
      arrays[0] = given;
      return arrays;
    }
    if (!PySequence_Check(given.ptr()) || isArray(given) || PyUnicode_Check(given.ptr()))
      throw py::type_error(std::string(role) +
                           "s must be a list of arrays, or a dict of them by name");
    const auto count = py::len(given);
    if (count != ports.size()) {
      errorLines.push_back("E10014: " + std::to_string(count) + " " + role +
                           "s are given, but the model has " + std::to_string(ports.size()) + ": " +
                           namesOf(ports));
      return arrays;
    }
    for (size_t i = 0; i < count; ++i)
      arrays[i] = given[py::int_(i)];
    return arrays;
  }
  for (py::handle key : py::list(given.attr("keys")())) {
    const std::string name = py::str(key);
    auto port = std::find_if(ports.begin(), ports.end(),
                             [&](const Port &each) { return each.tensor.name == name; });
    if (port == ports.end())
      errorLines.push_back("E10017: '" + atc::printable(name) + "' is not an " + role +
                           " of the model; its " + role + "s are: " + namesOf(ports));
    else
      arrays[port - ports.begin()] = given[key];
  }
  return arrays;
}

py::object asStr(const std::string &text) { return toStr(text); }

} // namespace

std::string runErrorOf(const om::Error &error, bool isConnected) {
  const bool argument = error.code() == OM_ERROR_ARGUMENT;
  const ErrorCode otherwise = argument      ? ErrorCode("E10014")
                              : isConnected ? ErrorCode("E10062")
                                            : ErrorCode("E19999");
  return codedLine(
      codeOf(error.code(), otherwise, isConnected ? ErrorCode("E10062") : ErrorCode("E10014")),
      error.message());
}

PySession::PySession(std::shared_ptr<PyModel> model, om_session_options options,
                     const NpuRequest &request)
    : owner(std::move(model)) {
  makeNpu(request);
  if (npu)
    options.device = om_npu_device(npu.get());
  om::Error error;
  {
    py::gil_scoped_release release;
    session = om::Session(owner->get(), error, options);
  }
  if (session)
    return;
  // The device knows every error of a program that it refuses.
  std::vector<std::string> errorLines =
      npu ? linesOf(om_npu_text(npu.get(), OM_NPU_FAULTS)) : std::vector<std::string>();
  if (errorLines.empty())
    errorLines.push_back(error.message());
  for (std::string &errorText : errorLines)
    errorText = codedLine(codeOf(error.code(), "E10041"), "the model cannot be run: " + errorText);
  raise(errorLines);
}

/// The arrays of one run, and the pointers that the runtime gets. What cannot be
/// used in place is copied.
class PySession::Call {
public:
  Call(const PySession &session, const py::object &givenInputs, const py::object &givenOutputs)
      : inputs(session.owner->inputs()), outputs(session.owner->outputs()),
        views(inputs.size() + outputs.size()), copies(views.size()), sources(inputs.size()),
        targets(outputs.size()) {
    std::vector<std::string> errorLines;
    arrays = inOrder(givenInputs, inputs, "input", errorLines);
    if (givenOutputs.is_none())
      results.resize(outputs.size());
    else
      results = inOrder(givenOutputs, outputs, "output", errorLines);
    // A wrong number has been said; with names every error can be told.
    if (errorLines.empty() || isMapping(givenInputs))
      for (size_t i = 0; i < inputs.size(); ++i)
        takeInput(i, errorLines);
    for (size_t i = 0; i < outputs.size() && errorLines.empty(); ++i)
      takeOutput(i, errorLines);
    if (errorLines.empty())
      checkOverlap(errorLines);
    if (!errorLines.empty())
      raise(errorLines);
  }

  const void *const *in() const { return sources.data(); }
  void *const *out() const { return targets.data(); }

  py::object finish(bool asDict) {
    for (size_t i = 0; i < outputs.size(); ++i)
      if (copies[inputs.size() + i])
        std::memcpy(views[inputs.size() + i].data(), targets[i], outputs[i].tensor.bytes);
    if (asDict) {
      py::dict named;
      for (size_t i = 0; i < outputs.size(); ++i)
        named[asStr(outputs[i].tensor.name)] = results[i];
      return std::move(named);
    }
    py::list list(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i)
      list[i] = results[i];
    return std::move(list);
  }

private:
  void *copyFor(size_t view, uint64_t bytes) {
    copies[view].emplace(bytes);
    if (!*copies[view])
      throw std::bad_alloc();
    return copies[view]->data();
  }

  void takeInput(size_t i, std::vector<std::string> &errorLines) {
    std::string errorText;
    if (!arrays[i]) {
      errorLines.push_back("E10014: there is no array for input '" +
                           atc::printable(inputs[i].tensor.name) + "'");
    } else if (arrays[i] = asArray(arrays[i], inputs[i]);
               !views[i].open(arrays[i], inputs[i], "input", false, errorText)) {
      errorLines.push_back(errorText);
    } else if (views[i].isDense() && views[i].isAligned()) {
      sources[i] = views[i].data();
    } else {
      void *copy = copyFor(i, inputs[i].tensor.bytes);
      Py_buffer buffer = views[i].get();
      if (PyBuffer_ToContiguous(copy, &buffer, buffer.len, 'C') != 0)
        throw py::error_already_set();
      sources[i] = copy;
    }
  }

  void takeOutput(size_t i, std::vector<std::string> &errorLines) {
    const size_t view = inputs.size() + i;
    std::string errorText;
    if (!results[i])
      results[i] = makeArray(outputs[i].shape, outputs[i].dtype, outputs[i].tensor.bytes);
    if (!views[view].open(asOutput(results[i]), outputs[i], "output", true, errorText))
      errorLines.push_back(errorText);
    else
      targets[i] =
          views[view].isAligned() ? views[view].data() : copyFor(view, outputs[i].tensor.bytes);
  }

  /// Returns the memory of a tensor of another framework as an array; everything else as it is.
  static py::object asOutput(const py::object &given) {
    if (PyObject_CheckBuffer(given.ptr()))
      return given;
    return py::module_::import("openatc._values").attr("as_output")(given);
  }

  /// The runtime leaves this to its caller.
  void checkOverlap(std::vector<std::string> &errorLines) {
    auto overlaps = [](const void *a, uint64_t aBytes, const void *b, uint64_t bBytes) {
      auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
      return aBytes && bBytes && x < y + bBytes && y < x + aBytes;
    };
    for (size_t i = 0; i < outputs.size(); ++i) {
      auto refuse = [&](const om::Tensor &other) {
        errorLines.push_back("E10014: the array for output '" +
                             atc::printable(outputs[i].tensor.name) + "' overlaps that for '" +
                             atc::printable(other.name) + "'");
      };
      const uint64_t bytes = outputs[i].tensor.bytes;
      for (size_t j = 0; j < inputs.size(); ++j)
        if (overlaps(targets[i], bytes, sources[j], inputs[j].tensor.bytes))
          refuse(inputs[j].tensor);
      for (size_t j = 0; j < i; ++j)
        if (overlaps(targets[i], bytes, targets[j], outputs[j].tensor.bytes))
          refuse(outputs[j].tensor);
    }
  }

  const std::vector<Port> &inputs, &outputs;
  std::vector<py::object> arrays, results;
  std::vector<View> views;
  std::vector<std::optional<om::Buffer>> copies;
  std::vector<const void *> sources;
  std::vector<void *> targets;
};

/// Returns the values of inputs that are given in the order or by the names of `ports`; an input
/// without one has an empty value.
static std::vector<om::Value> valuesOf(const py::object &inputs, const std::vector<Port> &ports) {
  std::vector<std::string> errorLines;
  const std::vector<py::object> given = inOrder(inputs, ports, "input", errorLines);
  if (!errorLines.empty())
    raise(errorLines);
  std::vector<om::Value> values(ports.size());
  for (size_t i = 0; i < ports.size(); ++i)
    if (given[i])
      values[i] =
          toValue(ports[i].tensor.kind == OM_KIND_TENSOR ? asArray(given[i], ports[i]) : given[i],
                  ports[i].tensor.dtype);
  return values;
}

py::list PySession::layers(const py::object &inputs, const py::dict &shapes) {
  needProcess();
  std::map<std::string, std::vector<int64_t>> wanted;
  for (auto [name, shape] : shapes)
    wanted[name.cast<std::string>()] = shape.cast<std::vector<int64_t>>();
  const std::vector<om::Value> values = valuesOf(inputs, owner->inputs());
  auto dimsOf = [&](const std::string &name) {
    auto found = wanted.find(asUtf8(name));
    return found == wanted.end() ? std::nullopt : std::optional(found->second);
  };
  om::Error error;
  bool isOpen = true;
  LayerTrace trace(owner->get(), session, dimsOf);
  {
    py::gil_scoped_release release;
    std::lock_guard<std::mutex> turn(busy);
    isOpen = bool(session);
    if (isOpen)
      trace.run(values, error);
  }
  if (!isOpen)
    needOpen();
  if (error)
    raise({runErrorOf(error, connection != nullptr)});
  py::list list;
  for (const LayerResult &layer : trace.results) {
    const om::Tensor &tensor = layer.tensor;
    om::Value value = om::Value::tensor(tensor.dtype, tensor.dims, layer.data.data(), error);
    list.append(py::make_tuple(toStr(tensor.name), toStr(layer.kernel), layer.launch, layer.npu,
                               om_dtype_name(tensor.dtype), fromValue(std::move(value))));
  }
  return list;
}

bool PySession::isKeptState(size_t output) const {
  if (!stateKept)
    return false;
  const std::vector<om_state_info> states = owner->get().states();
  return std::any_of(states.begin(), states.end(),
                     [&](const om_state_info &state) { return state.output == output; });
}

py::object PySession::runValues(const py::object &inputs, const py::object &outputs) {
  if (!outputs.is_none() && stateKept)
    raise({"E10014: outputs cannot be given to a session that keeps its state"});
  if (!outputs.is_none())
    raise({"E10014: outputs can only be given to a model whose inputs and outputs have shapes "
           "that are known"});
  std::vector<Port> ports = owner->inputs();
  // The last input only chooses the gear, which the shapes of the others do as well.
  if (owner->get().gears().shapeInput != OM_NO_INPUT && !isMapping(inputs) &&
      PySequence_Check(inputs.ptr()) && py::len(inputs) + 1 == ports.size())
    ports.pop_back();
  // A state that is kept is no input or output of the runs.
  std::vector<size_t> places;
  if (stateKept) {
    const std::vector<om_state_info> states = owner->get().states();
    for (size_t i = 0; i < ports.size(); ++i)
      if (std::none_of(states.begin(), states.end(),
                       [&](const om_state_info &state) { return state.input == i; }))
        places.push_back(i);
    std::vector<Port> others;
    for (size_t i : places)
      others.push_back(ports[i]);
    ports = std::move(others);
  }
  const std::vector<om::Value> given = valuesOf(inputs, ports);
  std::vector<om::Value> values(owner->inputs().size()), made;
  bool isOpen = true;
  for (size_t i = 0; i < ports.size(); ++i)
    values[stateKept ? places[i] : i] = given[i];
  om::Error error;
  {
    py::gil_scoped_release release;
    std::lock_guard<std::mutex> turn(busy);
    isOpen = bool(session);
    if (isOpen)
      made = session.run(values, error);
  }
  if (!isOpen)
    needOpen();
  if (error)
    raise({runErrorOf(error, connection != nullptr)});
  if (!isMapping(inputs)) {
    py::list list;
    for (size_t i = 0; i < made.size(); ++i)
      if (!isKeptState(i))
        list.append(fromValue(std::move(made[i])));
    return std::move(list);
  }
  py::dict named;
  for (size_t i = 0; i < made.size(); ++i)
    if (!isKeptState(i))
      named[asStr(owner->outputs()[i].tensor.name)] = fromValue(std::move(made[i]));
  return std::move(named);
}

/// Returns whether the arguments of `run` are those of ONNX Runtime's: names of outputs, or None,
/// and a mapping of inputs. Nothing else has strings in front of a mapping: arrays to write into
/// are for models without strings.
static bool namesOutputs(const py::object &inputs, const py::object &outputs) {
  if (!isMapping(outputs))
    return false;
  if (inputs.is_none())
    return true;
  return (py::isinstance<py::list>(inputs) || py::isinstance<py::tuple>(inputs)) &&
         py::len(inputs) != 0 && std::all_of(inputs.begin(), inputs.end(), [](py::handle name) {
           return py::isinstance<py::str>(name);
         });
}

py::list PySession::runNamed(const py::object &names, const py::object &feeds) {
  // Wrong names are found before the run, which may change the state.
  std::vector<std::string> errorLines;
  std::vector<Port> made;
  for (size_t i = 0; i < owner->outputs().size(); ++i)
    if (!isKeptState(i))
      made.push_back(owner->outputs()[i]);
  if (!names.is_none())
    for (py::handle item : names)
      if (const std::string name = py::str(item); std::none_of(
              made.begin(), made.end(), [&](const Port &port) { return port.tensor.name == name; }))
        errorLines.push_back("E10017: '" + atc::printable(name) +
                             "' is not an output of the run; its outputs are: " + namesOf(made));
  if (!errorLines.empty())
    raise(errorLines);
  const py::dict results = run(feeds, py::none());
  if (names.is_none())
    return py::list(results.attr("values")());
  py::list list;
  for (py::handle name : names)
    list.append(results[name]);
  return list;
}

py::object PySession::run(const py::object &inputs, const py::object &outputs) {
  if (namesOutputs(inputs, outputs))
    return runNamed(inputs, outputs);
  needProcess();
  if (!owner->isFixed() || stateKept)
    return runValues(inputs, outputs);
  Call call(*this, inputs, outputs);
  bool isOpen = true;
  om::Error error;
  {
    py::gil_scoped_release release;
    std::lock_guard<std::mutex> turn(busy);
    isOpen = bool(session);
    if (isOpen)
      session.run(call.in(), call.out(), error);
  }
  if (!isOpen)
    needOpen();
  if (error)
    raise({runErrorOf(error, connection != nullptr)});
  return call.finish(isMapping(inputs));
}

py::dict PySession::tensors(const py::object &inputs, const py::object &names) {
  needProcess();
  if (!owner->isFixed())
    raise({"E10016: tensors() is only for models whose inputs and outputs have shapes that are "
           "known"});
  const std::vector<Port> &ports = owner->tensors();
  const std::vector<om::Launch> launches = owner->launches();
  std::vector<bool> isWritten(ports.size());
  for (const om::Launch &launch : launches)
    for (uint32_t tensor : launch.writes)
      isWritten[tensor] = true;

  std::vector<py::object> arrays(ports.size());
  std::vector<View> views(ports.size());
  std::vector<std::string> errorLines;
  auto want = [&](size_t i) {
    arrays[i] = makeArray(ports[i].shape, ports[i].dtype, ports[i].tensor.bytes);
    std::string errorText;
    if (!views[i].open(arrays[i], ports[i], "tensor", true, errorText))
      errorLines.push_back(errorText);
  };
  if (names.is_none()) {
    for (size_t i = 0; i < ports.size(); ++i)
      if (isWritten[i])
        want(i);
  } else {
    for (py::handle item : names) {
      const std::string name = py::str(item);
      bool isFound = false;
      for (size_t i = 0; i < ports.size(); ++i)
        if (isWritten[i] && ports[i].tensor.name == name) {
          if (!arrays[i]) // a name may be given twice
            want(i);
          isFound = true;
        }
      if (!isFound)
        errorLines.push_back("E10016: no launch of the model writes a tensor '" +
                             atc::printable(name) + "'");
    }
  }
  if (!errorLines.empty())
    raise(errorLines);

  Call call(*this, inputs, py::none());
  bool isOpen = true;
  om::Error error, readError;
  {
    py::gil_scoped_release release;
    std::lock_guard<std::mutex> turn(busy);
    auto read = [&](uint32_t launch) {
      for (uint32_t i : launches[launch].writes)
        if (views[i].data() && !readError)
          om_session_read_tensor(session.get(), i, views[i].data(), ports[i].tensor.bytes,
                                 &readError.c);
    };
    isOpen = bool(session);
    if (isOpen)
      session.run(call.in(), call.out(), read, error);
  }
  if (!isOpen)
    needOpen();
  if (error || readError)
    raise({runErrorOf(error ? error : readError)});
  py::dict named;
  for (size_t i = 0; i < ports.size(); ++i)
    if (arrays[i])
      named[asStr(ports[i].tensor.name)] = arrays[i];
  return named;
}

/// Returns whether an argument in the place of one array is a list of such arrays, as `run` takes
/// it, and no array in the form of lists, whose items have a dim less.
static bool isListOfArrays(const py::object &argument, const Port &port) {
  if ((!PyList_Check(argument.ptr()) && !PyTuple_Check(argument.ptr())) || !py::len(argument) ||
      port.tensor.kind != OM_KIND_TENSOR || !port.tensor.ranked)
    return false;
  const py::object first = argument[py::int_(0)];
  return isArray(first) && py::hasattr(first, "shape") &&
         py::len(first.attr("shape")) >= port.dims.size();
}

py::object PySession::call(const py::args &inputs, const py::kwargs &named) {
  if (inputs.size() && named.size())
    throw py::type_error("inputs are given in their order or by name, not both");
  if (inputs.size() == 1 && isMapping(inputs[0]))
    return run(inputs[0], py::none());
  if (inputs.size() == 1 && !stateKept && !owner->inputs().empty() &&
      isListOfArrays(inputs[0], owner->inputs()[0]))
    throw py::type_error("a session that is called takes an array per input, not a list of them: "
                         "session(*arrays), or session.run(arrays)");
  py::object given = named.size() ? py::object(named) : py::object(py::list(inputs));
  py::object results = run(given, py::none());
  if (stateKept) {
    const py::tuple kept(named.size() ? py::list(results.attr("values")()) : py::list(results));
    return kept.size() == 1 ? py::object(kept[0]) : py::object(kept);
  }
  py::tuple ordered(owner->outputs().size());
  for (size_t i = 0; i < ordered.size(); ++i)
    ordered[i] =
        named.size() ? results[asStr(owner->outputs()[i].tensor.name)] : results[py::int_(i)];
  return ordered.size() == 1 ? py::object(ordered[0]) : py::object(ordered);
}

void PySession::close() {
  if (process != getpid())
    return abandon();
  auto turn = takeTurn(busy);
  session = om::Session();
}

void PySession::needOpen() const {
  needProcess();
  if (!session)
    throw py::value_error("the session is closed");
}

void PySession::setGear(const std::vector<int64_t> &values) {
  om::Error error;
  {
    auto turn = takeTurn(busy);
    needOpen();
    session.setGear(values, error);
  }
  if (error)
    raise({runErrorOf(error)});
}

std::vector<int64_t> PySession::gear() {
  auto turn = takeTurn(busy);
  needOpen();
  const uint32_t gear = session.gear();
  return gear == OM_NO_GEAR ? std::vector<int64_t>() : owner->get().gears().all[gear].values;
}

void PySession::setProfiling(bool on) {
  auto turn = takeTurn(busy);
  needOpen();
  om_session_set_profile(session.get(), on);
  profiling = on;
}

std::vector<LaunchTime> PySession::profile() {
  auto turn = takeTurn(busy);
  needOpen();
  std::vector<LaunchTime> rows;
  double total = 0;
  const std::vector<om::Launch> launches = owner->launches();
  for (uint32_t i = 0; i < launches.size(); ++i) {
    uint64_t nanoseconds = 0, runs = 0;
    om_session_get_profile(session.get(), i, &nanoseconds, &runs);
    const double mean = runs ? double(nanoseconds) / double(runs) / 1e3 : 0;
    rows.push_back({i, launches[i].name, launches[i].kernel, mean, 0});
    total += mean;
  }
  for (LaunchTime &row : rows)
    row.share = total > 0 ? row.microseconds / total : 0;
  return rows;
}

} // namespace atc::python

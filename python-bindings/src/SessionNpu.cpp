//===-- SessionNpu.cpp - the simulated NPU of a session -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Errors.h"
#include "python-bindings/src/Session.h"
#include "support/OutputFile.h"

#include <sstream>

namespace py = pybind11;

namespace atc::python {

std::vector<std::string> linesOf(const char *text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::unique_lock<std::mutex> takeTurn(std::mutex &mutex) {
  std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (!lock.owns_lock()) {
    py::gil_scoped_release release;
    lock.lock();
  }
  return lock;
}

std::string systemPath(const py::object &path) {
  PyObject *encoded = nullptr;
  if (!PyUnicode_FSConverter(path.ptr(), &encoded))
    throw py::error_already_set();
  return std::string(py::reinterpret_steal<py::bytes>(encoded));
}

void PySession::makeNpu(const NpuRequest &request) {
  checksHazards = request.checkHazards;
  if (!owner->get().info().npu_launches) {
    // Options that would have no effect are errors.
    if (request.checkHazards || !request.functional || !request.timed || !request.prefetch ||
        !request.socFile.empty())
      needNpu("options of the simulated NPU");
    return;
  }
  om_npu_options options = OM_NPU_OPTIONS_INIT;
  options.functional = request.functional;
  options.timed = request.timed;
  options.check_hazards = request.checkHazards;
  options.prefetch = request.prefetch;
  options.max_spans = request.timelineSpans;
  options.soc_file = request.socFile.empty() ? nullptr : request.socFile.c_str();
  om_npu *made = nullptr;
  om::Error error;
  if (om_npu_simulator(&options, &made, &error.c) != OM_OK)
    raise({std::string("E10001: the NPU cannot be simulated: ") + error.message()});
  npu.reset(made);
}

void PySession::needNpu(const char *what) const {
  if (!npu)
    raise({std::string("E10057: a model without launches of an NPU has no ") + what +
           ": compile it with soc=\"Ascend310P3\" or another"});
}

py::object PySession::npuStatistics() {
  if (!npu)
    return py::none();
  auto turn = takeTurn(busy);
  return py::module_::import("json").attr("loads")(om_npu_text(npu.get(), OM_NPU_STATISTICS));
}

std::vector<std::string> PySession::hazards() {
  needNpu("hazards");
  if (!checksHazards)
    raise({"E10057: nothing looked for hazards: make the session with check_hazards=True"});
  auto turn = takeTurn(busy);
  return linesOf(om_npu_text(npu.get(), OM_NPU_HAZARDS));
}

void PySession::writeNpuText(const py::object &path, om_npu_text_kind kind) {
  needNpu(kind == OM_NPU_TIMELINE ? "timeline" : "report");
  const std::string name = systemPath(path);
  std::string errorText;
  {
    py::gil_scoped_release release;
    std::lock_guard<std::mutex> turn(busy);
    writeWholeFile(name, om_npu_text(npu.get(), kind), errorText);
  }
  if (!errorText.empty())
    raise({errorText});
}

} // namespace atc::python

//===-- SessionStates.cpp - what a session keeps between runs ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/Errors.h"
#include "python-bindings/src/Session.h"
#include "python-bindings/src/Values.h"
#include "support/PrintableText.h"

namespace py = pybind11;

namespace atc::python {

void PySession::keepState(bool on) {
  om::Error error;
  {
    auto turn = takeTurn(busy);
    needOpen();
    if (session.keepState(on, error))
      stateKept = on;
  }
  if (error)
    raise({runErrorOf(error)});
}

void PySession::resetState() {
  auto turn = takeTurn(busy);
  needOpen();
  session.resetState();
}

py::dict PySession::readStates() {
  const std::vector<om_state_info> states = owner->get().states();
  std::vector<om::Value> values;
  om::Error error;
  {
    auto turn = takeTurn(busy);
    needOpen();
    for (uint32_t i = 0; i < states.size() && !error; ++i)
      values.push_back(session.readState(i, error));
  }
  if (error)
    raise({runErrorOf(error)});
  py::dict named;
  for (size_t i = 0; i < values.size(); ++i)
    named[toStr(states[i].name)] = values[i].kind() == OM_KIND_TENSOR
                                       ? fromValue(std::move(values[i]))
                                       : py::object(py::none());
  return named;
}

void PySession::writeStates(const py::dict &given) {
  const std::vector<om_state_info> states = owner->get().states();
  std::vector<std::pair<uint32_t, om::Value>> values;
  std::vector<std::string> errorLines;
  for (auto [key, array] : given) {
    const std::string name = py::str(key);
    const auto state = std::find_if(states.begin(), states.end(),
                                    [&](const om_state_info &one) { return name == one.name; });
    if (state == states.end()) {
      errorLines.push_back("E10017: '" + atc::printable(name) + "' is not a state of the model");
      continue;
    }
    const Port &port = owner->inputs()[state->input];
    values.emplace_back(
        state - states.begin(),
        array.is_none()
            ? om::Value()
            : toValue(asArray(py::reinterpret_borrow<py::object>(array), port), port.tensor.dtype));
  }
  om::Error error;
  if (errorLines.empty()) {
    auto turn = takeTurn(busy);
    needOpen();
    for (const auto &[index, value] : values)
      if (!session.writeState(index, value, error))
        break;
  }
  if (error)
    errorLines.push_back(runErrorOf(error));
  if (!errorLines.empty())
    raise(errorLines);
}

} // namespace atc::python

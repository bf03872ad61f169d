//===-- FindStates.cpp - outputs that are the next values of inputs -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/FindStates.h"

#include "support/ErrorCodes.h"
#include "support/NearestName.h"

#include <algorithm>
#include <unordered_map>

namespace atc::om {

namespace {

/// An input or output of a model of any kind.
struct Port {
  std::string name;
  om_dtype dtype = OM_UNDEFINED;
  std::vector<int64_t> dims;
  bool isTensor = true, isRanked = true;
};

std::vector<Port> portsOf(const OmModel &model, bool input) {
  std::vector<Port> ports;
  if (const auto *host = model.host ? &*model.host : nullptr)
    for (const OmHostPort &port : input ? host->inputs : host->outputs)
      ports.push_back({port.name, port.dtype, port.dims,
                       port.kind == OM_KIND_TENSOR && !port.optional &&
                           port.dtype != OM_UNDEFINED && port.dtype != OM_STRING,
                       !port.unranked});
  else
    for (uint32_t index : input ? model.inputs : model.outputs)
      ports.push_back(
          {model.tensors[index].name, model.tensors[index].dtype, model.tensors[index].dims});
  return ports;
}

std::vector<std::string> namesOf(const std::vector<Port> &ports) {
  std::vector<std::string> names;
  for (const Port &port : ports)
    names.push_back(port.name);
  return names;
}

/// Names with at most one `*`.
struct Pair {
  std::string input, output;
};

/// Returns what exporters call a cache: transformers and Optimum, PyTorch, ONNX Runtime.
std::vector<Pair> exporterPairs() {
  return {{"past_key_values.*", "present.*"},
          {"past_key_values.*", "present_key_values.*"},
          {"past_key_values_*", "present_key_values_*"},
          {"past.*", "present.*"},
          {"past_*", "present_*"}};
}

/// Matches a name against a pattern; `star` receives the text of the `*`.
bool matches(const std::string &pattern, const std::string &name, std::string &star) {
  const size_t at = pattern.find('*');
  if (at == std::string::npos)
    return pattern == name;
  const size_t tail = pattern.size() - at - 1;
  if (name.size() < at + tail || name.compare(0, at, pattern, 0, at) != 0 ||
      name.compare(name.size() - tail, tail, pattern, at + 1, tail) != 0)
    return false;
  star = name.substr(at, name.size() - at - tail);
  return true;
}

std::string filled(const std::string &pattern, const std::string &star) {
  const size_t at = pattern.find('*');
  return at == std::string::npos ? pattern : pattern.substr(0, at) + star + pattern.substr(at + 1);
}

/// Returns whether an output may become an input. Where its rank is only known at run time, the
/// session checks it.
bool fits(const Port &from, const Port &to) {
  if (!from.isTensor || !to.isTensor || !to.isRanked || from.dtype != to.dtype)
    return false;
  bool same = !from.isRanked || from.dims.size() == to.dims.size();
  for (size_t d = 0; same && from.isRanked && d < to.dims.size(); ++d)
    same = from.dims[d] < 0 || to.dims[d] < 0 || from.dims[d] == to.dims[d];
  return same;
}

class Finder {
public:
  Finder(OmModel &model, std::string &error)
      : model(model), inputs(portsOf(model, true)), outputs(portsOf(model, false)), error(error) {}

  bool run(const std::string &rule) {
    std::vector<OmState> given;
    if (rule.empty() || rule == "auto") {
      for (const Pair &pair : exporterPairs())
        link(pair, /*strict=*/false, /*without=*/".encoder.");
    } else if (rule == "none") {
      model.states.clear();
    } else {
      given.swap(model.states);
      for (size_t begin = 0; begin <= rule.size();) {
        const size_t end = std::min(rule.find(';', begin), rule.size());
        if (!linkText(rule, rule.substr(begin, end - begin)))
          return false;
        begin = end + 1;
      }
    }
    // States that the model came with stay where no pair names their input or output.
    for (const OmState &state : given)
      if (!isTaken(state.input, state.output))
        model.states.push_back(state);
    addDims();
    return true;
  }

private:
  bool fail(const std::string &rule, const std::string &reason) {
    error = codedLine("E10001", "the value \"" + rule + "\" of --state is invalid: " + reason);
    return false;
  }

  bool linkText(const std::string &rule, const std::string &text) {
    const size_t sign = text.find('=');
    const Pair pair = {text.substr(0, sign),
                       sign == std::string::npos ? "" : text.substr(sign + 1)};
    auto stars = [](const std::string &name) { return std::count(name.begin(), name.end(), '*'); };
    if (pair.input.empty() || pair.output.empty() || stars(pair.input) > 1 ||
        stars(pair.input) != stars(pair.output))
      return fail(rule, "'" + text + "' is not input=output, with one '*' in both names or none");
    const size_t before = model.states.size();
    if (!link(pair, /*strict=*/true))
      return fail(rule, error);
    if (model.states.size() == before)
      return fail(rule, "no input of the model is named '" + pair.input + "'" +
                            didYouMean(pair.input, namesOf(inputs)));
    return true;
  }

  bool isTaken(uint32_t input, uint32_t output) const {
    return std::any_of(model.states.begin(), model.states.end(), [&](const OmState &state) {
      return state.input == input || state.output == output;
    });
  }

  /// Adds the states of a pair, but for inputs that have `without` in their name. A strict pair
  /// must fit wherever its input does; `error` receives the reason.
  bool link(const Pair &pair, bool strict, const char *without = nullptr) {
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      std::string star;
      if (!matches(pair.input, inputs[i].name, star) ||
          (without && inputs[i].name.find(without) != std::string::npos))
        continue;
      const std::string name = filled(pair.output, star);
      const auto found = std::find_if(outputs.begin(), outputs.end(),
                                      [&](const Port &port) { return port.name == name; });
      const auto output = static_cast<uint32_t>(found - outputs.begin());
      if (found == outputs.end())
        error =
            "no output of the model is named '" + name + "'" + didYouMean(name, namesOf(outputs));
      else if (isTaken(i, output))
        error = "'" + inputs[i].name + "' or '" + name + "' belongs to another state, too";
      else if (!fits(*found, inputs[i]))
        error = "output '" + name + "' and input '" + inputs[i].name +
                "' are not tensors of one element type and shape";
      else {
        model.states.push_back({i, output, {}});
        continue;
      }
      if (strict)
        return false;
    }
    return true;
  }

  /// The outermost dim of a cache is the batch of the other inputs.
  void addDims() {
    auto isDynamic = [](const Port &port) {
      return port.isTensor && port.isRanked && !port.dims.empty() && port.dims[0] < 0;
    };
    for (uint32_t other = 0; other < inputs.size(); ++other) {
      if (!isDynamic(inputs[other]) ||
          std::any_of(model.states.begin(), model.states.end(),
                      [&](const OmState &state) { return state.input == other; }))
        continue;
      for (OmState &state : model.states)
        if (isDynamic(inputs[state.input]))
          state.dims.push_back({0, other, 0});
      return;
    }
  }

  OmModel &model;
  const std::vector<Port> inputs, outputs;
  std::string &error;
};
} // namespace

bool addStates(OmModel &model, const std::vector<std::pair<std::string, std::string>> &pairs,
               std::string &error) {
  const std::vector<Port> inputs = portsOf(model, true), outputs = portsOf(model, false);
  std::unordered_map<std::string, uint32_t> inputIndex, outputIndex;
  for (uint32_t i = 0; i < inputs.size(); ++i)
    inputIndex[inputs[i].name] = i;
  for (uint32_t i = 0; i < outputs.size(); ++i)
    outputIndex[outputs[i].name] = i;
  for (const auto &[input, output] : pairs) {
    auto to = inputIndex.find(input);
    auto from = outputIndex.find(output);
    if (to == inputIndex.end() || from == outputIndex.end() ||
        !fits(outputs[from->second], inputs[to->second])) {
      error = codedLine("E10001", "'" + input + "' and '" + output +
                                      "' are not an input and an output of one type, which a "
                                      "state needs");
      return false;
    }
    model.states.push_back({to->second, from->second, {}});
  }
  return true;
}

bool findStates(OmModel &model, const std::string &rule, std::string &error) {
  return Finder(model, error).run(rule);
}

InitialState InitialState::ofFloats(std::string input, const std::vector<float> &elements) {
  const char *first = reinterpret_cast<const char *>(elements.data());
  return {std::move(input),
          OM_F32,
          static_cast<int64_t>(elements.size()),
          {first, first + elements.size() * sizeof(float)}};
}

bool setInitialStates(OmModel &model, const std::vector<InitialState> &values, std::string &error) {
  constexpr uint64_t alignment = 64; // of weights
  const std::vector<Port> inputs = portsOf(model, true);
  uint64_t end = 0;
  for (const OmWeights &weights : model.weights)
    end = std::max(end, weights.offset + weights.size);
  for (const InitialState &value : values) {
    auto state = std::find_if(model.states.begin(), model.states.end(), [&](const OmState &state) {
      return inputs[state.input].name == value.input;
    });
    const Port *port = state == model.states.end() ? nullptr : &inputs[state->input];
    int64_t elements = port && port->dtype == value.dtype ? 1 : -1;
    for (int64_t dim : port ? port->dims : std::vector<int64_t>())
      elements = dim < 0 ? -1 : elements * dim;
    if (elements != value.elements) {
      error = codedLine("E19999", "'" + value.input + "' is no state of " +
                                      std::to_string(value.elements) +
                                      " elements of the type of its first value");
      return false;
    }
    const uint64_t offset = (end + alignment - 1) / alignment * alignment,
                   bytes = value.bytes.size();
    end = offset + bytes;
    model.weights.push_back({value.bytes.data(), bytes, offset});
    model.tensors.push_back({value.input + ".initial",
                             value.dtype,
                             port->dims,
                             0,
                             {},
                             OmBufferRef{OM_WEIGHTS, 0, offset, bytes}});
    state->initial = static_cast<uint32_t>(model.tensors.size());
  }
  return true;
}

} // namespace atc::om

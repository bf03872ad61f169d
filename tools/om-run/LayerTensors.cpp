//===-- LayerTensors.cpp - tensors between the layers of a run ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/LayerTensors.h"

#include "support/JsonText.h"
#include "support/RunErrors.h"
#include "support/TensorValues.h"
#include "tools/common/Print.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace atc::tools {

bool visitTensors(const om::Model &model, om::Session &session,
                  const std::vector<const void *> &inputs, const std::vector<void *> &outputs,
                  const std::function<void(const WrittenTensor &)> &visit,
                  std::vector<std::string> &errorLines) {
  const size_t before = errorLines.size();
  auto finished = [&](uint32_t launch) {
    for (uint32_t index : model.launch(launch).writes) {
      const om::Tensor tensor = model.tensor(index);
      om::Buffer copy(tensor.bytes);
      om::Error problem;
      if (!copy || om_session_read_tensor(session.get(), index, copy.data(), tensor.bytes,
                                          &problem.c) != OM_OK)
        errorLines.push_back(codedLine("E19999", problem.message()));
      else
        visit({index, launch, tensor, copy.data()});
    }
  };
  om::Error error;
  if (!session.run(inputs.data(), outputs.data(), finished, error))
    errorLines.push_back(codedLine(codeOf(error.code(), "E19999"), error.message()));
  return errorLines.size() == before;
}

/// Returns the number of elements that are infinite or NaN.
static uint64_t countNotFinite(const om::Tensor &tensor, const void *data) {
  const bool isFloat = tensor.dtype == OM_F16 || tensor.dtype == OM_F32 || tensor.dtype == OM_F64 ||
                       tensor.dtype == OM_BF16;
  uint64_t count = 0;
  for (uint64_t i = 0; isFloat && i < tensor.elements; ++i)
    count += !std::isfinite(valueAt(tensor.dtype, data, i));
  return count;
}

bool findOverflows(const om::Model &model, om::Session &session,
                   const std::vector<const void *> &inputs, const std::vector<void *> &outputs,
                   std::vector<Overflow> &found, std::vector<std::string> &errorLines) {
  std::set<uint32_t> bad; // tensors that are not finite everywhere
  const std::vector<om::Tensor> ports = model.inputs();
  for (uint32_t index = 0; index < model.info().tensors; ++index)
    for (size_t port = 0; port < ports.size(); ++port)
      if (model.tensor(index).name == ports[port].name && inputs[port] &&
          countNotFinite(ports[port], inputs[port]))
        bad.insert(index);
  auto visit = [&](const WrittenTensor &written) {
    const uint64_t count = countNotFinite(written.tensor, written.data);
    if (!count)
      return;
    bad.insert(written.index);
    const om::Launch launch = model.launch(written.launch);
    // Where several layers became one launch, errors of the later ones may follow from the first
    // one's.
    const bool isFirst = (found.empty() || found.back().launch != written.launch) &&
                         std::none_of(launch.reads.begin(), launch.reads.end(),
                                      [&](uint32_t read) { return bad.count(read); });
    if (isFirst && launch.npu)
      found.push_back({written.tensor.name, launch.name, written.launch, count,
                       written.tensor.elements, launch.writes.size() > 1});
  };
  return visitTensors(model, session, inputs, outputs, visit, errorLines);
}

bool printOverflows(const std::vector<Overflow> &found, bool asJson) {
  if (asJson) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Overflow &each : found)
      list.push_back({{"tensor", each.tensor},
                      {"layer", each.layer},
                      {"launch", each.launch},
                      {"not_finite", each.elements},
                      {"elements", each.of}});
    const nlohmann::ordered_json report = {{"beyond_f16", list}};
    printLines(stdout, jsonText(report));
    return found.empty();
  }
  for (const Overflow &each : found)
    print(
        stdout,
        "%s (launch %u): %llu of %llu elements of '%s' are infinite or NaN, its operands are not\n",
        printable(each.layer).c_str(), each.launch, (unsigned long long)each.elements,
        (unsigned long long)each.of, printable(each.tensor).c_str());
  if (std::any_of(found.begin(), found.end(), [](const Overflow &each) { return each.isJoined; }))
    print(stdout, "layers that became one launch are known only as far as their tensors are left: "
                  "--disable_passes=npu-join-launches keeps them apart\n");
  print(stdout,
        found.empty()
            ? "no tensor leaves the range of f16 with these inputs\n"
            : "f16 ends at 65504: compile with --precision_mode=allow_mix_precision, or name "
              "these layers in a file of --keep_dtype\n");
  return found.empty();
}

} // namespace atc::tools

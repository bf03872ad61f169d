//===-- Compare.cpp - finds the first layer that is wrong -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/Compare.h"

#include "support/JsonText.h"
#include "support/RunErrors.h"
#include "support/TensorValues.h"
#include "tools/common/Print.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace atc::tools {

namespace {
nlohmann::ordered_json jsonOf(const TensorError &error) {
  // JSON has no infinity.
  auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json("inf");
  };
  return {{"tensor", error.tensor},
          {"launch", error.launch},
          {"kernel", error.kernel},
          {"max_error", number(error.maxAbs)},
          {"of_range", number(error.ofRange)},
          {"tolerance", error.tolerance},
          {"cosine", error.cosine}};
}

} // namespace

double toleranceOf(om_dtype dtype) {
  switch (dtype) {
  case OM_F16:
    return 0.01;
  case OM_BF16:
    return 0.05;
  case OM_I8:
  case OM_U8:
    return 0.03;
  default:
    return 1e-4;
  }
}

void compareTensor(Comparison &comparison, const Reference &reference, const om::Tensor &tensor,
                   const void *ours, TensorError error) {
  std::string errorText;
  om::Tensor compared = tensor;
  const om::Buffer right = reference.read(compared, errorText);
  if (!errorText.empty())
    comparison.errorLines.push_back(errorText);
  if (!right) {
    comparison.unknown += errorText.empty();
    return;
  }
  // The reference computes in f32 what a target computes in f16.
  om::Buffer floats(compared.dtype == tensor.dtype ? 0 : compared.bytes);
  if (compared.dtype != tensor.dtype) {
    for (uint64_t i = 0; floats && i < tensor.elements; ++i)
      floats.data<float>()[i] = static_cast<float>(valueAt(tensor.dtype, ours, i));
    ours = floats.data();
  }
  const Difference difference = differenceOf(compared, ours, right.data());
  error.maxAbs = difference.maxAbs;
  error.ofRange = difference.ofRange;
  error.cosine = difference.cosine;
  comparison.errors.push_back(std::move(error));
}

const TensorError *Comparison::firstBad() const {
  auto bad = std::find_if(errors.begin(), errors.end(), [&](auto &error) { return isBad(error); });
  return bad == errors.end() ? nullptr : &*bad;
}

void Comparison::checkAnyFound() {
  if (errors.empty() && errorLines.empty())
    errorLines.push_back("E10014: the reference has none of the model's tensors: it is of "
                         "another model, or its files are not named <tensor>.npy.");
}
Comparison compareWith(const Reference &reference, std::optional<double> tolerance,
                       const om::Model &model, om::Session &session,
                       const std::vector<const void *> &inputs,
                       const std::vector<void *> &outputs) {
  Comparison comparison;
  comparison.tolerance = tolerance;
  double allowed = 1e-4;
  uint32_t last = 0;
  std::set<std::string> whole;
  auto compareWritten = [&](uint32_t index) {
    const om::Launch launch = model.launch(index);
    last = index;
    // A tensor has the errors of those before it, too.
    allowed = std::max(allowed, launch.npu ? reference.toleranceOnNpu() : 0.0);
    for (uint32_t written : launch.writes) {
      const om::Tensor tensor = model.tensor(written);
      whole.insert(tensor.name);
      allowed = std::max(allowed, toleranceOf(tensor.dtype));
      om::Buffer ours(tensor.bytes);
      om::Error problem;
      if (!ours || om_session_read_tensor(session.get(), written, ours.data(), tensor.bytes,
                                          &problem.c) != OM_OK) {
        comparison.errorLines.push_back(std::string("E19999: ") + problem.message());
        continue;
      }
      compareTensor(comparison, reference, tensor, ours.data(),
                    {tensor.name, launch.kernel, index, 0, 0, 1, allowed});
    }
  };
  om::Error problem;
  if (!session.run(inputs.data(), outputs.data(), compareWritten, problem)) {
    comparison.errorLines.push_back(codedLine(codeOf(problem.code(), "E19999"), problem.message()));
    return comparison;
  }
  // Launches that write parts of an output write no tensor of its name.
  const std::vector<om::Tensor> ports = model.outputs();
  for (size_t i = 0; i < ports.size(); ++i)
    if (!whole.count(ports[i].name))
      compareTensor(comparison, reference, ports[i], outputs[i],
                    {ports[i].name, "in parts", last, 0, 0, 1,
                     std::max(allowed, toleranceOf(ports[i].dtype))});
  comparison.checkAnyFound();
  return comparison;
}

void printComparison(const Comparison &comparison) {
  size_t width = 6, kernelWidth = 6;
  for (const TensorError &error : comparison.errors) {
    width = std::max(width, columnsOf(printable(error.tensor)));
    kernelWidth = std::max(kernelWidth, columnsOf(printable(error.kernel)));
  }
  const TensorError *first = comparison.firstBad();
  print(stdout, "%s  %6s  %s  %10s  %10s  %10s\n", padded("tensor", width).c_str(), "launch",
        padded("kernel", kernelWidth).c_str(), "max error", "of range", "cosine");
  for (const TensorError &error : comparison.errors)
    print(stdout, "%s  %6u  %s  %10.3g  %10.3g  %10.7f%s\n",
          padded(printable(error.tensor), width).c_str(), error.launch,
          padded(printable(error.kernel), kernelWidth).c_str(), error.maxAbs, error.ofRange,
          error.cosine,
          &error == first           ? "  <- first bad"
          : comparison.isBad(error) ? "  bad"
                                    : "");
  if (comparison.unknown)
    print(stdout, "%zu tensors have no counterpart in the reference\n", comparison.unknown);
  if (first)
    print(stdout,
          "first bad layer: %s (launch %u, kernel %s): max error %.3g, %.3g of the "
          "reference's range, tolerance %g\n",
          first->tensor.c_str(), first->launch, first->kernel.c_str(), first->maxAbs,
          first->ofRange, comparison.tolerance.value_or(first->tolerance));
  else
    print(stdout, "all %zu tensors agree\n", comparison.errors.size());
}

void printComparisonJson(const Comparison &comparison, const om::Model &model,
                         const std::string &reference) {
  const TensorError *first = comparison.firstBad();
  nlohmann::ordered_json json = {{"model", model.info().name},
                                 {"reference", reference},
                                 {"cpu_level", model.info().cpu_level},
                                 {"tolerance", comparison.tolerance
                                                   ? nlohmann::ordered_json(*comparison.tolerance)
                                                   : nlohmann::ordered_json(nullptr)},
                                 {"agree", first == nullptr},
                                 {"first_bad", nullptr},
                                 {"without_counterpart", comparison.unknown},
                                 {"tensors", nlohmann::ordered_json::array()}};
  if (first)
    json["first_bad"] = jsonOf(*first);
  for (const TensorError &error : comparison.errors)
    json["tensors"].push_back(jsonOf(error));
  printLines(stdout, jsonText(json));
}

} // namespace atc::tools

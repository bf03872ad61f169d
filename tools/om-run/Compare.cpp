//===-- Compare.cpp - finds the first layer that is wrong -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/Compare.h"

#include "tools/common/ModelText.h"
#include "tools/om-run/Values.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

namespace atc::tools {

namespace {
void measure(const om::Tensor &tensor, const void *ours, const void *right, TensorError &error) {
  double product = 0, ourSquare = 0, rightSquare = 0;
  for (uint64_t i = 0; i < tensor.elements; ++i) {
    const double x = valueAt(tensor.dtype, ours, i), y = valueAt(tensor.dtype, right, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) {
      if (!std::isfinite(x))
        continue;
    } else if (!std::isfinite(x) || !std::isfinite(y)) {
      error.maxAbs = std::numeric_limits<double>::infinity();
      continue;
    }
    error.maxAbs = std::max(error.maxAbs, std::fabs(x - y));
    product += x * y;
    ourSquare += x * x;
    rightSquare += y * y;
  }
  // Below the smallest normal number the format itself has but a few bits.
  if (error.maxAbs < std::numeric_limits<float>::min())
    error.maxAbs = 0;
  // A constant tensor has no range: its size serves, else the error itself.
  const Range range = rangeOf(tensor, right);
  double extent = range.max - range.min;
  if (extent == 0)
    extent = std::fabs(range.max);
  error.ofRange = error.maxAbs == 0 || extent == 0 ? error.maxAbs : error.maxAbs / extent;
  const double lengths = std::sqrt(ourSquare) * std::sqrt(rightSquare);
  error.cosine = lengths > 0 ? product / lengths : ourSquare == rightSquare ? 1 : 0;
}

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
          {"cosine", error.cosine}};
}
} // namespace

const TensorError *Comparison::firstBad() const {
  auto bad = std::find_if(errors.begin(), errors.end(), [&](auto &error) { return isBad(error); });
  return bad == errors.end() ? nullptr : &*bad;
}

Comparison compareWith(const Reference &reference, double tolerance, const om::Model &model,
                       om::Session &session, const std::vector<const void *> &inputs,
                       const std::vector<void *> &outputs) {
  Comparison comparison;
  comparison.tolerance = tolerance;
  auto compareWritten = [&](uint32_t index) {
    const om::Launch launch = model.launch(index);
    for (uint32_t written : launch.writes) {
      const om::Tensor tensor = model.tensor(written);
      std::string fault;
      const om::Buffer right = reference.read(tensor, fault);
      if (!fault.empty())
        comparison.faults.push_back(fault);
      if (!right) {
        comparison.unknown += fault.empty();
        continue;
      }
      om::Buffer ours(tensor.bytes);
      om::Error problem;
      if (!ours || om_session_read_tensor(session.get(), written, ours.data(), tensor.bytes,
                                          &problem.c) != OM_OK) {
        comparison.faults.push_back(std::string("E19999: ") + problem.message());
        continue;
      }
      TensorError error{tensor.name, launch.kernel, index};
      measure(tensor, ours.data(), right.data(), error);
      comparison.errors.push_back(std::move(error));
    }
  };
  om::Error problem;
  if (!session.run(inputs.data(), outputs.data(), compareWritten, problem))
    comparison.faults.push_back(std::string("E19999: ") + problem.message());
  else if (comparison.errors.empty() && comparison.faults.empty())
    comparison.faults.push_back("E10014: the reference has none of the model's tensors: it is of "
                                "another model, or its files are not named <tensor>.npy.");
  return comparison;
}

void printComparison(const Comparison &comparison) {
  size_t width = 6, kernelWidth = 6;
  for (const TensorError &error : comparison.errors) {
    width = std::max(width, error.tensor.size());
    kernelWidth = std::max(kernelWidth, error.kernel.size());
  }
  const TensorError *first = comparison.firstBad();
  std::printf("%-*s  %6s  %-*s  %10s  %10s  %10s\n", int(width), "tensor", "launch",
              int(kernelWidth), "kernel", "max error", "of range", "cosine");
  for (const TensorError &error : comparison.errors)
    std::printf("%-*s  %6u  %-*s  %10.3g  %10.3g  %10.7f%s\n", int(width),
                printable(error.tensor).c_str(), error.launch, int(kernelWidth),
                printable(error.kernel).c_str(), error.maxAbs, error.ofRange, error.cosine,
                &error == first           ? "  <- first bad"
                : comparison.isBad(error) ? "  bad"
                                          : "");
  if (comparison.unknown)
    std::printf("%zu tensors have no counterpart in the reference\n", comparison.unknown);
  if (first)
    std::printf("first bad layer: %s (launch %u, kernel %s): max error %.3g, %.3g of the "
                "reference's range, tolerance %g\n",
                printable(first->tensor).c_str(), first->launch, printable(first->kernel).c_str(),
                first->maxAbs, first->ofRange, comparison.tolerance);
  else
    std::printf("all %zu tensors agree\n", comparison.errors.size());
}

void printComparisonJson(const Comparison &comparison, const om::Model &model,
                         const std::string &reference) {
  const TensorError *first = comparison.firstBad();
  nlohmann::ordered_json json = {{"model", model.info().name},
                                 {"reference", reference},
                                 {"cpu_level", model.info().cpu_level},
                                 {"tolerance", comparison.tolerance},
                                 {"agree", first == nullptr},
                                 {"first_bad", nullptr},
                                 {"without_counterpart", comparison.unknown},
                                 {"tensors", nlohmann::ordered_json::array()}};
  if (first)
    json["first_bad"] = jsonOf(*first);
  for (const TensorError &error : comparison.errors)
    json["tensors"].push_back(jsonOf(error));
  std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

} // namespace atc::tools

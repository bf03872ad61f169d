//===-- Remarks.cpp - what the passes of a compilation decided ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Remarks.h"

#include "driver/ContextMessages.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::driver {

namespace {

/// Returns the word with which the line of a remark begins.
StringRef wordOf(const remark::detail::Remark &remark) {
  switch (remark.getRemarkType()) {
  case llvm::remarks::Type::Passed:
    return "passed";
  case llvm::remarks::Type::Missed:
    return "missed";
  default:
    return "analysis";
  }
}

/// Turns remarks into lines. A pattern that is tried again repeats its remark, which is passed on
/// once.
class LineStreamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit LineStreamer(std::function<void(const std::string &)> sink) : sink(std::move(sink)) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string text, figures;
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      if (arg.key == "Remark")
        text += arg.val;
      else
        figures += (figures.empty() ? "" : ", ") + arg.val + " " + arg.key;
    }
    std::string line = wordOf(remark).str() + ": " + remark.getCategoryName().str() + ": " +
                       nodeOf(remark.getLocation()) + text;
    if (!figures.empty())
      line += " (" + figures + ")";
    if (known.insert(line).second)
      sink(line);
  }

private:
  std::function<void(const std::string &)> sink;
  llvm::StringSet<> known;
};

} // namespace

std::optional<RemarkOptions> parseRemarks(StringRef list) {
  RemarkOptions options;
  SmallVector<StringRef> words;
  list.split(words, ',');
  for (StringRef word : words) {
    bool all = word == "all";
    if (!all && word != "passed" && word != "missed" && word != "analysis")
      return std::nullopt;
    options.passed |= all || word == "passed";
    options.missed |= all || word == "missed";
    options.analysis |= all || word == "analysis";
  }
  return options;
}

void enableRemarks(MLIRContext &context, const RemarkOptions &options) {
  if (!options.any() || context.getRemarkEngine())
    return;
  context.disableMultithreading();
  auto pattern = [](bool enabled) -> std::optional<std::string> {
    return enabled ? std::optional<std::string>(".*") : std::nullopt;
  };
  remark::RemarkCategories categories;
  categories.passed = pattern(options.passed);
  categories.missed = pattern(options.missed);
  categories.analysis = pattern(options.analysis);
  [[maybe_unused]] LogicalResult enabled = remark::enableOptimizationRemarks(
      context, std::make_unique<LineStreamer>(options.sink),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
  assert(succeeded(enabled) && "only a streamer that writes a file can fail");
}

} // namespace atc::driver

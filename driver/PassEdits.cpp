//===-- PassEdits.cpp - a user's changes of the pipelines -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/PassEdits.h"

#include "driver/Registration.h"
#include "support/NearestName.h"

#include "mlir/Pass/PassRegistry.h"

#include <mutex>
#include <utility>

using namespace mlir;

namespace atc::driver {

/// Returns the end of the item at the beginning of a list "a{x=1,2},b(c,d)": its length.
static size_t itemLength(StringRef list) {
  int depth = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '{' || c == '(' || c == '[')
      ++depth;
    else if (c == '}' || c == ')' || c == ']')
      --depth;
    else if (c == ',' && depth == 0)
      return i;
  }
  return list.size();
}

/// Returns the text of a pipeline with all edits; its passes on functions are lists in parentheses.
std::string PassEditor::edited(StringRef text) {
  std::string result;
  while (!text.empty()) {
    const StringRef item = text.take_front(itemLength(text));
    text = text.drop_front(item.size()).ltrim(',');
    const StringRef name = item.take_until([](char c) { return c == '{' || c == '('; });
    std::string before, self = item.str(), after;
    if (item.drop_front(name.size()).starts_with("("))
      self = (name + "(" + edited(item.drop_front(name.size() + 1).drop_back()) + ")").str();
    else
      known.insert(name.str());
    for (const PassEdit &edit : edits) {
      if (name != edit.pass)
        continue;
      found.insert(edit.pass);
      if (edit.where == PassEdit::Where::Before)
        before += edit.pipeline + ",";
      else if (edit.where == PassEdit::Where::After)
        after += "," + edit.pipeline;
      else
        self = edit.pipeline;
    }
    result += (result.empty() ? "" : ",") + before + self + after;
  }
  return result;
}

bool PassEditor::apply(OpPassManager &pm, Diagnostics &diagnostics) {
  if (edits.empty())
    return true;
  static std::once_flag registered;
  std::call_once(registered, registerAllPasses);
  const std::set<std::string> foundBefore = std::exchange(found, {});
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  // "builtin.module(a,b)"
  const StringRef inner = StringRef(text).drop_front(text.find('(') + 1).drop_back();
  const std::string wanted = edited(inner);
  const bool isEdited = !found.empty();
  found.insert(foundBefore.begin(), foundBefore.end());
  if (!isEdited)
    return true;
  std::string error;
  llvm::raw_string_ostream errors(error);
  pm.clear();
  if (succeeded(parsePassPipeline(wanted, pm, errors)))
    return true;
  diagnostics.error("E10001", "the pipeline with the passes of the hooks is invalid: " +
                                  StringRef(error).split('\n').first);
  return false;
}

bool PassEditor::checkAllFound(Diagnostics &diagnostics) const {
  bool good = true;
  for (const PassEdit &edit : edits) {
    if (found.contains(edit.pass))
      continue;
    diagnostics.error("E10001", "the pass \"" + edit.pass +
                                    "\" of the hooks is in no pipeline of this model" +
                                    didYouMean(edit.pass, {known.begin(), known.end()}));
    good = false;
  }
  return good;
}

} // namespace atc::driver

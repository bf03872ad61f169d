//===-- FlagOptions.cpp - the flags of atc for man pages ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/soc/Soc.h"
#include "tools/atc/Flags.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atc::tools {

/// Returns the values that a flag takes, where it takes only these.
static std::vector<std::string> choicesOf(const Flag &flag) {
  const StringRef name = flag.name;
  std::vector<std::string> choices;
  if (name == "framework")
    return {"0", "1", "3", "5", "6"};
  if (name == "log")
    return {"null", "debug", "info", "warning", "error"};
  if (name == "soc_version") {
    for (const npu::SocTable &soc : npu::allSocs())
      choices.push_back(soc.name);
    return choices;
  }
  if (flag.isBool())
    return {"true", "false"};
  for (StringRef value : split(flag.values, ','))
    if (!value.empty())
      choices.push_back(value.str());
  return choices;
}

ListedCommand listFlags() {
  ListedCommand command;
  command.name = "atc";
  command.text = "Compiles an ONNX, TensorFlow, TensorFlow Lite or Caffe model into one .om file, "
                 "for the CPU or for "
                 "a simulated NPU.";
  command.footer = "Flags are written --flag=value, --flag value or -flag=value, with - or _, and "
                   "may be shortened while they stay unique.\n"
                   "Exit code: 0 when the model was compiled, 1 otherwise, with one line with an "
                   "error code per error.";
  for (const Flag &flag : allFlags()) {
    ListedOption option;
    option.names = {std::string("--") + flag.name};
    option.group = flag.group;
    option.help = flag.help;
    option.choices = choicesOf(flag);
    option.value = flag.isBool() ? "BOOL" : "VALUE";
    // Flags that are recorded by file name, and those that say where results go.
    const bool isPath = StringRef(flag.help).contains("file") ||
                        StringRef(flag.help).contains("folder") ||
                        StringRef(flag.help).contains("path of the result");
    option.isFile = flag.record == FlagRecord::FileName || (option.choices.empty() && isPath);
    if (flag.effect == FlagEffect::None && !option.help.empty())
      option.help = "has no effect: " + option.help;
    else if (flag.effect == FlagEffect::Unsupported)
      option.help = "is not supported: " + option.help;
    command.options.push_back(std::move(option));
  }
  for (const char *name : {"--help", "--version"}) {
    ListedOption option;
    option.names = {name};
    option.group = "Help";
    option.help = StringRef(name) == "--help" ? "list the flags" : "print the version";
    command.options.push_back(std::move(option));
  }
  return command;
}

} // namespace atc::tools

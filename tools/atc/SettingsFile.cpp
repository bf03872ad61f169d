//===-- SettingsFile.cpp - text files that flags name ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/SettingsFile.h"

#include "support/InputJson.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace atc::tools {

std::optional<SettingsFile> SettingsFile::read(StringRef flag, const std::string &path,
                                               Diagnostics &diagnostics) {
  constexpr uint64_t maxBytes = uint64_t(16) << 20;
  const std::string shown = ("the file \"" + path + "\" of --" + flag).str();
  if (!sys::fs::exists(path)) {
    diagnostics.error("E10410", shown + " does not exist");
    return std::nullopt;
  }
  uint64_t bytes = 0;
  // Devices and pipes may have no end.
  if (!sys::fs::is_regular_file(path) || sys::fs::file_size(path, bytes) || bytes > maxBytes) {
    diagnostics.error("E13003", shown + " is not a regular file of at most 16 MB");
    return std::nullopt;
  }
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer) {
    diagnostics.error("E13001", shown + " cannot be opened: " + buffer.getError().message());
    return std::nullopt;
  }
  SettingsFile file;
  file.flag = flag.str();
  file.path = path;
  StringRef text = (*buffer)->getBuffer();
  text.consume_front("\xEF\xBB\xBF");
  file.text = text.str();
  return file;
}

std::string SettingsFile::origin(size_t line) const {
  const std::string name = sys::path::filename(path).str();
  return "--" + flag + " (" + name + (line ? ":" + std::to_string(line) : "") + ")";
}

std::vector<SettingsLine> SettingsFile::lines() const {
  std::vector<SettingsLine> lines;
  size_t number = 0;
  for (StringRef line : split(text, '\n')) {
    ++number;
    if (StringRef trimmed = line.trim();
        !trimmed.empty() && !trimmed.starts_with("#") && !trimmed.starts_with(";"))
      lines.push_back({trimmed.str(), origin(number)});
  }
  return lines;
}

bool SettingsFile::looksLikeJson() const {
  const StringRef front = StringRef(text).ltrim();
  return front.starts_with("{") || (front.starts_with("[") && !front.starts_with("[By"));
}

std::optional<nlohmann::ordered_json> SettingsFile::json(Diagnostics &diagnostics,
                                                         ErrorCode code) const {
  nlohmann::ordered_json value;
  size_t at = 0;
  const std::string reason = parseInputJson(text, value, /*withComments=*/false, &at);
  if (reason.empty())
    return value;
  const size_t line = at == std::string::npos ? 0 : 1 + StringRef(text).take_front(at).count('\n');
  diagnostics.error(code, origin(line) + " " + reason);
  return std::nullopt;
}

void forEachRule(const SettingsFile &file, Diagnostics &diagnostics,
                 function_ref<void(const SettingsRule &)> use) {
  bool isType = true;
  for (const SettingsLine &line : file.lines()) {
    const StringRef text = line.text;
    if (text.starts_with("[")) {
      if (text != "[ByOpType]" && text != "[ByNodeName]")
        diagnostics.error("E10001",
                          line.origin + ": \"" + text + "\" is not [ByOpType] or [ByNodeName]");
      isType = text != "[ByNodeName]";
      continue;
    }
    // Names of nodes may have equals signs of their own.
    auto [name, value] = text.rsplit('=');
    use({name.trim().str(), value.trim().str(), isType, line});
  }
}

} // namespace atc::tools

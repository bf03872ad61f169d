//===-- fuzz-settings.cpp - no settings file crashes its reader -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first byte of an input chooses the reader of the others: 0 the lines and the JSON of
// a file that a flag of atc names, 1 a message in text form (atc --mode=1), 2 a
// configuration of amct, 3 its record of scales.

#include "frontends/TextMessage.h"
#include "quantize/Config.h"
#include "test/fuzz/MemoryFile.h"
#include "tools/atc/GraphJson.h"
#include "tools/atc/SettingsFile.h"

using namespace atc;

static bool readSettings(const std::string &path, Diagnostics &diagnostics) {
  auto file = tools::SettingsFile::read("keep_dtype", path, diagnostics);
  if (!file)
    return false;
  for (const tools::SettingsLine &line : file->lines())
    if (line.text.empty())
      std::abort();
  return !file->looksLikeJson() || file->json(diagnostics);
}

/// Returns 0 for files without an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size)
    return -1;
  const fuzz::MemoryFile file(data + 1, size - 1);
  const std::string text(reinterpret_cast<const char *>(data) + 1, size - 1);
  Diagnostics diagnostics;
  bool read = false;
  switch (data[0] % 4) {
  case 0:
    read = readSettings(file.path(), diagnostics);
    break;
  case 1:
    read = !tools::describeTextMessage(file.path(), diagnostics).is_null();
    break;
  case 2: {
    quantize::QuantConfig config;
    read = quantize::parseConfig(text, "fuzz.cfg", config, diagnostics);
    break;
  }
  case 3: {
    std::string errorText;
    return parseTextMessage(text, errorText) ? 0 : -1;
  }
  }
  if (read == diagnostics.hasErrors())
    std::abort();
  return read ? 0 : -1;
}

//===-- BankFiles.cpp - banks in files and folders ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/BankFiles.h"

#include "support/ErrorCodes.h"
#include "support/InputText.h"
#include "support/OutputFile.h"

#include <filesystem>

namespace atc::tuning {

namespace fs = std::filesystem;

std::string bankFile(const std::string &path, const std::string &target) {
  const fs::path given = path;
  std::error_code ignored;
  if (given.extension() == ".jsonl" && !fs::is_directory(given, ignored))
    return path;
  return (given / (target + ".jsonl")).string();
}

bool readBank(const std::string &path, const std::string &target, Bank &bank, std::string &error) {
  // A file under another name than .jsonl is meant as it is.
  std::error_code ignored;
  const std::string file = fs::is_regular_file(path, ignored) ? path : bankFile(path, target);
  if (!fs::exists(file, ignored))
    return true;
  auto fail = [&](const std::string &why) {
    error = codedLine("E13005", "the bank \"" + file + "\" cannot be read: " + why);
    return false;
  };
  std::string text;
  if (const std::string reason = readInputText(file, text); !reason.empty())
    return fail(reason);
  return bank.read(text, file, error);
}

bool writeBank(const std::string &path, const std::string &target, const Bank &bank,
               std::string &error) {
  const std::string file = bankFile(path, target);
  std::error_code code;
  if (const fs::path folder = fs::path(file).parent_path(); !folder.empty())
    fs::create_directories(folder, code);
  if (code) {
    error = codedLine("E13004", "the folder of the bank \"" + file +
                                    "\" cannot be created: " + code.message());
    return false;
  }
  return writeWholeFile(file, bank.text(), error);
}

} // namespace atc::tuning

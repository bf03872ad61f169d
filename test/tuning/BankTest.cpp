//===-- BankTest.cpp - banks of tuned choices -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/Bank.h"
#include "openatc/om.h"
#include "tuning/ShippedBanks.h"

#include <catch2/catch.hpp>

using namespace atc::tuning;

namespace {

const std::string kKey = "npu-select-tiles|Ascend310P3|npu.conv2d|1x4x8x8x16xf16,4x4xf16|00ff";

BankEntry entry(const std::string &choice, double before, double after) {
  return {choice, om_version(), "model", before, after};
}

std::string line(const std::string &choice = "64,64") {
  Bank bank;
  bank.add(kKey, entry(choice, 200, 100));
  return bank.text();
}

/// Returns the error for a text; empty where it is a bank.
std::string errorOf(const std::string &text) {
  Bank bank;
  std::string error;
  const bool done = bank.read(text, "bank.jsonl", error);
  CHECK(done == error.empty());
  CHECK((done || bank.empty()));
  return error;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("a bank survives its text") {
  Bank bank, again;
  bank.add(kKey, entry("64,64", 200, 100));
  bank.add("npu-split-batch|Ascend310P3|main|4x3x8x8xf32|0a", entry("3/4 2/1", 90, 80));
  std::string error;
  REQUIRE(again.read(bank.text(), "bank", error));
  CHECK(again.text() == bank.text());
  CHECK(again.all().at(kKey).choice == "64,64");
  CHECK(again.all().at(kKey).beforeCycles == 200);
  CHECK(bank.text().find("\"operands\":[\"1x4x8x8x16xf16\",\"4x4xf16\"]") != std::string::npos);
}

TEST_CASE("blank lines and carriage returns are no entries") {
  CHECK(errorOf("\n  \n" + replaced(line(), "\n", "\r\n") + "\n").empty());
}

TEST_CASE("merging does not depend on the order") {
  Bank slow, fast, old;
  slow.add(kKey, entry("slow", 100, 90));
  fast.add(kKey, entry("fast", 100, 50));
  BankEntry foreign = entry("old", 100, 10);
  foreign.compiler = "0.0.0-other";
  old.add(kKey, foreign);
  const Bank *banks[] = {&slow, &fast, &old};
  std::sort(std::begin(banks), std::end(banks));
  do {
    Bank merged;
    for (const Bank *bank : banks)
      merged.merge(*bank);
    CHECK(merged.all().at(kKey).choice == "fast");
  } while (std::next_permutation(std::begin(banks), std::end(banks)));
}

TEST_CASE("choices are those of a target, a part and this compiler") {
  Bank bank;
  bank.add(kKey, entry("tile", 2, 1));
  bank.add("npu-split-batch|Ascend310P3|main|4xf32|0a", entry("3/4", 2, 1));
  bank.add("npu-split-batch|Ascend910B1|main|4xf32|0a", entry("3/2", 2, 1));
  BankEntry foreign = entry("x", 2, 1);
  foreign.compiler = "0.0.0-other";
  bank.add("npu-select-buffers|Ascend310P3|npu.matmul|4xf16|0b", foreign);
  size_t others = 0;
  CHECK(bank.choicesFor("Ascend310P3", BankPart::Model, others).size() == 1);
  CHECK(others == 0);
  const Choices all = bank.choicesFor("Ascend310P3", BankPart::All, others);
  CHECK(all.size() == 2);
  CHECK(all.at(kKey) == "tile");
  CHECK(others == 1);
  CHECK(bank.only("Ascend910B1").all().size() == 1);
}

TEST_CASE("a damaged bank is one error that names the line, and adds nothing") {
  const std::string good = line();
  CHECK(errorOf(good + good.substr(0, good.size() / 2)).find("line 2 is not valid JSON") !=
        std::string::npos);
  CHECK(errorOf("[]").find("is not a JSON object") != std::string::npos);
  CHECK(errorOf("{}").find("\"format\":1") != std::string::npos);
  CHECK(errorOf(replaced(good, "\"format\":1", "\"format\":2")).find("\"format\":1") !=
        std::string::npos);
  CHECK(errorOf(replaced(good, "\"choice\":\"64,64\"", "\"choice\":7")).find("\"choice\"") !=
        std::string::npos);
  CHECK(errorOf(replaced(good, "\"64,64\"", "\"a|b\"")).find("\"choice\"") != std::string::npos);
  CHECK(errorOf(replaced(good, "\"64,64\"", "\"a\\u0001\"")).find("\"choice\"") !=
        std::string::npos);
  CHECK(errorOf(replaced(good, "200.0", "-1")).find("\"before_cycles\"") != std::string::npos);
  CHECK(errorOf(replaced(good, "200.0", "1e999")).find("E13005") == 0);
  // What is written must be read again: operands stand between commas in a key.
  for (const char *operand : {"1x4x8x8x16xf16,", ",1x4", "1x4,,2", ",", ""})
    CHECK(errorOf(replaced(good, "1x4x8x8x16xf16", operand)).find("\"operands\"") !=
          std::string::npos);
  CHECK(errorOf(replaced(good, "[\"1x4x8x8x16xf16\"", "[1")).find("\"operands\"") !=
        std::string::npos);
  CHECK(errorOf(std::string(100000, '[')).find("nested") != std::string::npos);
  // An object that keeps the order of its names searches them for each one.
  std::string names = "{";
  for (int i = 0; i < 80000; ++i)
    names += "\"n" + std::to_string(i) + "\":0,";
  CHECK(errorOf(names + "\"\":0}").find("more than 10000 names") != std::string::npos);
  CHECK(errorOf("{\"a\":\"" + std::string(2 << 20, 'a') + "\"}").find("longer than 1 MB") !=
        std::string::npos);
  CHECK(errorOf(std::string("\0\xff\xfe", 3)).find("E13005") == 0);
}

TEST_CASE("the parts of a key") {
  CHECK(partOfKey(kKey, 0) == "npu-select-tiles");
  CHECK(partOfKey(kKey, 2) == "npu.conv2d");
  CHECK(partOfKey(kKey, 4) == "00ff");
  CHECK(partOfKey("a|b", 4).empty());
}

TEST_CASE("banks that come with the compiler are whole, and of their target") {
  for (const std::string target : {"Ascend310P3", "Ascend910B1"}) {
    const Bank bank = shippedBank(target);
    CHECK_FALSE(bank.empty());
    for (const auto &[key, entry] : bank.all()) {
      CHECK(partOfKey(key, 1) == target);
      CHECK(entry.ratio() < 1);
      CHECK(entry.compiler == om_version());
    }
    size_t others = 0;
    CHECK(bank.choicesFor(target, BankPart::All, others).size() == bank.all().size());
    CHECK(others == 0);
  }
  CHECK(shippedBank("Ascend0").empty());
  CHECK(shippedBank("").empty());
}

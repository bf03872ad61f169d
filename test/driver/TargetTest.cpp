//===-- TargetTest.cpp - targets as users ask for them --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/driver/Compilations.h"

#include <catch2/catch.hpp>

using namespace atc;
using namespace atc::driver;
using namespace atc::driver::test;
using Catch::Contains;

namespace {

/// Returns the messages of a request that makes no target.
std::string refusal(const TargetRequest &request) {
  Diagnostics diagnostics;
  CHECK_FALSE(makeTarget(request, diagnostics));
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.print(os);
  return text;
}

bool isNpu(const std::shared_ptr<const Target> &target) { return target.get() != &target->cpu(); }

} // namespace

TEST_CASE("the target that a request names") {
  Diagnostics diagnostics;
  auto cpu = makeTarget({.target = "cpu"}, diagnostics);
  REQUIRE(cpu);
  CHECK_FALSE(isNpu(cpu));
  auto npu = makeTarget({.soc = "Ascend910B1"}, diagnostics);
  REQUIRE(npu);
  CHECK(isNpu(npu));
  CHECK(diagnostics.all().empty());
  // Options for NPUs have no effect on a CPU target.
  auto warned =
      makeTarget({.target = "cpu", .soc = "x", .precision = "must_keep_origin_dtype"}, diagnostics);
  REQUIRE(warned);
  CHECK_FALSE(isNpu(warned));
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].line() == "W10055: --soc_version has no effect with --target=cpu");
}

TEST_CASE("precision is honored or refused") {
  Diagnostics diagnostics;
  for (const char *mode : {"must_keep_origin_dtype", "force_fp32", "allow_fp32_to_fp16"}) {
    auto cpu = makeTarget({.target = "cpu", .precision = mode}, diagnostics);
    REQUIRE(cpu);
    CHECK(cpu->precisionBase() == PrecisionBase::Float32);
    CHECK_FALSE(cpu->hasHalf());
  }
  auto baseOf = [&](const char *mode) {
    auto npu = makeTarget({.soc = "Ascend310P3", .precision = mode}, diagnostics);
    REQUIRE(npu);
    return npu->precisionBase();
  };
  CHECK(baseOf("force_fp16") == PrecisionBase::Float16);
  CHECK(baseOf("force_fp32") == PrecisionBase::Contractions);
  CHECK(baseOf("allow_mix_precision") == PrecisionBase::Mixed);
  CHECK(baseOf("must_keep_origin_dtype") == PrecisionBase::Float32);
  CHECK(diagnostics.all().empty());
}

TEST_CASE("modes of precision say how a CPU stores weights") {
  auto storageOf = [](const char *mode, size_t warnings) {
    Diagnostics diagnostics;
    auto target = makeTarget({.target = "cpu", .precision = mode}, diagnostics);
    REQUIRE(target);
    CHECK(diagnostics.all().size() == warnings);
    return target->cpu().weightStorage();
  };
  for (const char *mode : {"must_keep_origin_dtype", "force_fp32", "allow_fp32_to_fp16"})
    CHECK(storageOf(mode, 0) == "exact");
  for (const char *mode : {"force_fp16", "allow_mix_precision", "cube_fp16in_fp32out"})
    CHECK(storageOf(mode, 1) == "f16");
  CHECK(storageOf("allow_mix_precision_bf16", 1) == "bf16");
}

TEST_CASE("products are in f16 where that is asked for and all levels can") {
  auto computesHalves = [](const char *mode, const std::string &levels) {
    Diagnostics diagnostics;
    auto target =
        makeTarget({.target = "cpu", .precision = mode, .cpuLevels = levels}, diagnostics);
    REQUIRE(target);
    return target->cpu().computesHalves();
  };
  auto host = atc::cpu::hostCpuLevel();
  REQUIRE(bool(host));
  CHECK(computesHalves("force_fp16", "host") == llvm::is_contained(host->required, "avx512fp16"));
  CHECK_FALSE(computesHalves("force_fp16", "host,x86-64-v4"));
  for (const char *mode :
       {"must_keep_origin_dtype", "force_fp32", "allow_mix_precision", "allow_mix_precision_bf16"})
    CHECK_FALSE(computesHalves(mode, "host"));
}

TEST_CASE("chips without a table are simulated as their relatives") {
  Diagnostics diagnostics;
  auto target = makeTarget({.soc = "Ascend310B4"}, diagnostics);
  REQUIRE(target);
  CHECK(isNpu(target));
  CHECK(diagnostics.all().empty());
  CHECK_THAT(refusal({.soc = "SD3403"}), Contains("E10055: "));
  CHECK_THAT(refusal({.soc = "310P3"}), Contains("did you mean \"Ascend310P3\"?"));
}

TEST_CASE("a file changes the table of an NPU") {
  const std::string path = scratchPath("own.soc");
  std::ofstream(path) << "base = Ascend310P3\nname = Mine\ncubeCores = 2\n";
  Diagnostics diagnostics;
  auto target = makeTarget({.socFile = path}, diagnostics);
  REQUIRE(target);
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  target->annotate(*module);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  CHECK_THAT(text, Contains("npu.soc = \"Mine\"") && Contains("npu.soc_table"));
  std::ofstream(path) << "base = Ascend310P3\nwheels = 4\n";
  CHECK_THAT(refusal({.socFile = path}), Contains("E10001: ") && Contains("own.soc:2"));
  // Compiled programs had buffers at negative offsets.
  std::ofstream(path) << "base = Ascend310P3\nubBytes = 16383\n";
  CHECK_THAT(refusal({.socFile = path}),
             Contains("E10001: ") && Contains("`ubBytes` is 16383") && Contains("16384"));
  std::ofstream(path) << "base = Ascend310P3\nubBytes = 16384\n";
  CHECK(makeTarget({.socFile = path}, diagnostics));
}

TEST_CASE("requests that are not valid") {
  CHECK_THAT(refusal({}), Contains("E10007: --soc_version is required") &&
                              Contains("Ascend310P3") &&
                              Contains("--target=cpu compiles for the CPU of this machine"));
  CHECK_THAT(refusal({.target = "npu"}), Contains("E10007: --soc_version is required"));
  CHECK_THAT(refusal({.soc = "Zork"}), Contains("E10001: the value \"Zork\" of --soc_version"));
  CHECK_THAT(refusal({.socFile = "/none.soc"}), Contains("E10410: "));
  CHECK_THAT(refusal({.soc = "Ascend310P3", .precision = "allow_fp32_to_bf16"}),
             Contains("E10055: "));
  CHECK_THAT(refusal({.soc = "Ascend310P3", .precision = "f17"}), Contains("E10001: "));
  // All of a kind are reported together.
  const std::string all = refusal({.target = "cpu", .precision = "f17", .cpuLevels = "z80"});
  CHECK_THAT(all, Contains("\"f17\" of --precision_mode") && Contains("\"z80\" of --target_cpu"));
}

TEST_CASE("targets have passes of their own") {
  auto has = [](const Target &target, llvm::StringRef name) {
    return llvm::is_contained(target.optionalPasses(), name);
  };
  Diagnostics diagnostics;
  auto npu = makeTarget({.soc = "Ascend310P3"}, diagnostics);
  REQUIRE(npu);
  CHECK(has(npu->cpu(), "om-remove-dead"));
  CHECK_FALSE(has(npu->cpu(), "npu-reorder"));
  CHECK(has(*npu, "npu-reorder"));
}

//===-- PrebuiltKernelsTest.cpp - code of common host kernels -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/PrebuiltKernels.h"
#include "backends/cpu/CommonKernels.h"
#include "backends/cpu/HostKernels.h"
#include "backends/cpu/KernelBitcode.h"
#include "kernels/core/Support.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

using namespace atc;
using namespace atc::cpu;
namespace fs = std::filesystem;

namespace {

constexpr uint64_t bit(kernels::DType type) { return uint64_t(1) << type; }

CpuLevel level(llvm::StringRef name) {
  auto levels = parseCpuLevels(name);
  if (levels)
    return levels->front();
  FAIL(llvm::toString(levels.takeError()));
  return {};
}

std::vector<CpuLevel> prebuiltLevels() {
  if (llvm::StringRef(OPENATC_PREBUILT_LEVELS) == "none")
    return {};
  auto levels = parseCpuLevels(OPENATC_PREBUILT_LEVELS);
  REQUIRE(bool(levels));
  for (CpuLevel &level : *levels)
    level = CpuLevel(level.plain());
  return *levels;
}

/// A folder for objects and intermediate files.
struct Scratch {
  Scratch() {
    std::string name = (fs::temp_directory_path() / "openatc-prebuilt-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    root = name;
    fs::create_directories(root / "temp");
  }
  ~Scratch() { fs::remove_all(root); }
  size_t cached() const {
    return fs::exists(root / "cache") ? std::distance(fs::directory_iterator(root / "cache"), {})
                                      : 0;
  }
  std::vector<Object> emit(const std::vector<HostKernel> &kernels, const CpuLevel &level,
                           bool keep = false) const {
    EmitOptions options;
    if (keep)
      options.tempDir = (root / "temp").string();
    auto objects = emitHostKernels(kernels, level, options,
                                   ObjectCache({.folder = (root / "cache").string()}));
    if (objects)
      return *objects;
    FAIL(llvm::toString(objects.takeError()));
    return {};
  }
  fs::path root;
};

} // namespace

TEST_CASE("no function stands between a kernel and its element types and registers") {
  // Else the optimizer works on the code of all types first, which takes three times as long.
  llvm::LLVMContext context;
  for (llvm::StringRef arch : {"x86-64", "aarch64", "riscv64", "armv7"}) {
    auto module =
        llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(kernelBitcode(arch), "kernels"), context);
    REQUIRE(bool(module));
    CHECK((*module)->getFunction("atc_kernel_Conv"));
    for (const llvm::Function &function : **module)
      for (llvm::StringRef name : {"6occurs", "7callFor", "7typeBit", "16hasWideRegisters"})
        if (function.getName().starts_with("_ZN3atc7kernels" + name.str()))
          FAIL_CHECK(arch.str() + " has " + function.getName().str());
  }
}

TEST_CASE("the plain level is the best one whose code runs on a level") {
  CHECK(level("x86-64-v2").plain().name == "x86-64-v2");
  CHECK(level("x86-64-v3").plain().name == "x86-64-v3");
  CHECK(level("x86-64-v4-vnni").plain().name == "x86-64-v4");
  CHECK(level("armv8-a").plain().name == "armv8-a");
  CHECK(level("armv8.2-a").plain().name == "armv8-a");
  CpuLevel host = level("x86-64-v3");
  host.name += "+avxvnni";
  host.required.push_back("avxvnni");
  CHECK(host.plain().name == "x86-64-v3");
}

TEST_CASE("calls of common kernels share code unless they have other types") {
  const CpuLevel vnni = level("x86-64-v4-vnni");
  const HostKernelCode shared = codeOf("atc_kernel_LSTM", bit(kernels::F32), vnni);
  CHECK(shared.level.name == "x86-64-v4");
  CHECK((shared.types & bit(kernels::I32)) != 0);
  // Bytes are what the features of a level are for.
  const uint64_t bytes = bit(kernels::F32) | bit(kernels::U8);
  const HostKernelCode own = codeOf("atc_kernel_LSTM", bytes, vnni);
  CHECK(own.level.name == "x86-64-v4-vnni");
  CHECK(own.types == bytes);
  // The code of a reshape does not depend on types; a quantized product is no common kernel.
  CHECK(codeOf("atc_kernel_Reshape", bytes, vnni).level.name == "x86-64-v4");
  CHECK(codeOf("atc_kernel_QLinearMatMul", bit(kernels::F32), vnni).level.name == vnni.name);
}

TEST_CASE("rows of common kernels have types without features of their own") {
  std::set<std::string> symbols;
  for (const CommonKernel &row : commonKernels()) {
    CHECK(symbols.insert(row.symbol.str()).second);
    if (row.types == ~uint64_t(0))
      continue;
    for (uint8_t type = 1; type < 64; ++type)
      if (row.types >> type & 1)
        CHECK((kernels::bitsOf(type) >= 32 || type == kernels::Bool));
  }
}

TEST_CASE("the compiler has every common kernel for the levels of its build") {
  for (const CpuLevel &built : prebuiltLevels())
    for (const CommonKernel &row : commonKernels()) {
      INFO(row.symbol.str() << " " << built.name);
      CHECK(prebuiltKernel(row.symbol, row.types, built).starts_with("\177ELF"));
      CHECK(prebuiltKernel(row.symbol, row.types ^ bit(kernels::F64), built).empty());
    }
  CHECK(prebuiltKernel("atc_kernel_Shape", ~uint64_t(0), level("x86-64-v4-vnni")).empty());
}

TEST_CASE("objects of the compiler are what it would generate") {
  for (const CpuLevel &built : prebuiltLevels()) {
    Scratch scratch;
    const std::vector<HostKernel> kernels = {{"Shape", bit(kernels::F32)},
                                             {"Squeeze", bit(kernels::U8)}};
    const std::vector<Object> prebuilt = scratch.emit(kernels, built);
    CHECK(scratch.cached() == 0); // nothing was generated
    CHECK(prebuilt == scratch.emit(kernels, built, /*keep=*/true));
    CHECK(scratch.cached() == 4); // and what all kernels share
    CHECK(fs::exists(scratch.root / "temp" / (built.name + ".host.atc_kernel_Squeeze.ll")));
  }
}

TEST_CASE("what the compiler does not have is generated and kept") {
  Scratch scratch;
  const std::vector<HostKernel> kernels = {{"Tanh", bit(kernels::F32) | bit(kernels::F64)}};
  const CpuLevel x86 = level("x86-64-v4-vnni");
  const std::vector<Object> first = scratch.emit(kernels, x86);
  const size_t kept = scratch.cached();
  CHECK(kept >= 1); // and the functions that code generation calls, where the build has none
  CHECK(first == scratch.emit(kernels, x86));
  CHECK(scratch.cached() == kept);
}

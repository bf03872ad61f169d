//===-- CompilerTest.cpp - compilations, whole and up to a phase ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/driver/Compilations.h"

#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>
#include <thread>

using namespace atc;
using namespace atc::driver;
using namespace atc::driver::test;
using Catch::Contains;

namespace {

/// Returns the module of examples/digits behind a phase.
std::string lowered(Phase last, const std::string &soc = "") {
  Compilation compilation(digitsOptions(soc));
  INFO(compilation.messages());
  REQUIRE(compilation.compiler.lower(last));
  REQUIRE(mlir::succeeded(mlir::verify(compilation.compiler.module())));
  return compilation.text();
}

/// Returns the digit that a compiled model sees in a picture of a 3.
size_t digitOf(const ::om::Buffer &file) {
  const std::string npy = contentsOf(OPENATC_SOURCE_DIR "/examples/digits/pictures/digit_3.npy");
  ::om::Error error;
  ::om::Model model = ::om::Model::loadMemory(file.data(), file.size(), error);
  INFO(error.message());
  REQUIRE(model);
  ::om::Session session(model, error);
  REQUIRE(session);
  ::om::Buffer input(model.input(0).bytes), output(model.output(0).bytes);
  REQUIRE(npy.size() > input.size());
  std::memcpy(input.data(), npy.data() + npy.size() - input.size(), input.size());
  const void *from = input.data();
  void *to = output.data();
  REQUIRE(session.run(&from, &to, error));
  const float *scores = output.data<float>();
  return std::max_element(scores, scores + model.output(0).elements) - scores;
}

} // namespace

TEST_CASE("phases have names") {
  for (Phase phase : {Phase::Import, Phase::Quantize, Phase::Graph, Phase::Kernels, Phase::Schedule,
                      Phase::Programs, Phase::Emit})
    CHECK(findPhase(phaseName(phase)) == phase);
  CHECK_FALSE(findPhase("linking"));
  CHECK(phaseNames(Phase::Graph) == "import, quantize, graph");
}

TEST_CASE("a compilation for the CPU stops after each phase") {
  const std::string imported = lowered(Phase::Import);
  CHECK_THAT(imported, Contains("graph.conv") && Contains("graph.relu"));
  CHECK(lowered(Phase::Quantize) == imported);
  const std::string graph = lowered(Phase::Graph);
  CHECK_THAT(graph, Contains("graph.conv") && !Contains("graph.relu"));
  const std::string kernels = lowered(Phase::Kernels);
  CHECK_THAT(kernels, Contains("cpu.conv") && Contains("memref") && !Contains("om.launch"));
  const std::string schedule = lowered(Phase::Schedule);
  CHECK_THAT(schedule, Contains("om.launch") && Contains("om.arena_size"));
  // A CPU has no programs.
  CHECK(lowered(Phase::Programs) == schedule);
}

TEST_CASE("a compilation for an NPU stops after each phase") {
  CHECK_THAT(lowered(Phase::Graph, "Ascend310P3"), Contains("graph.conv"));
  const std::string kernels = lowered(Phase::Kernels, "Ascend310P3");
  CHECK_THAT(kernels, Contains("npu.conv2d") && !Contains("om.launch"));
  const std::string schedule = lowered(Phase::Schedule, "Ascend310P3");
  CHECK_THAT(schedule, Contains("om.launch") && !Contains("npu.program"));
  CHECK_THAT(lowered(Phase::Programs, "Ascend310P3"), Contains("npu.program"));
}

TEST_CASE("static regions of a dynamic model come back after each phase") {
  CompilerOptions options = digitsOptions();
  options.source.path = scratchPath("sort.mlir");
  options.source.format = ModelFormat::Mlir;
  // The number of nonzero elements is known when the model runs; the product is static.
  std::ofstream(options.source.path) << R"(
func.func @main(%x: tensor<4x8xf32> {om.name = "x"}, %y: tensor<8x4xf32> {om.name = "y"})
    -> (tensor<2x?xi64> {om.name = "z"}) {
  %0 = graph.matmul %x, %y : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = graph.host_call "NonZero"(%0) {} : (tensor<4x4xf32>) -> tensor<2x?xi64>
  return %1 : tensor<2x?xi64>
})";
  for (Phase last : {Phase::Graph, Phase::Kernels, Phase::Schedule}) {
    Compilation compilation(options);
    INFO(compilation.messages());
    REQUIRE(compilation.compiler.lower(last));
    CHECK_THAT(compilation.text(), Contains("NonZero") && Contains("host.part"));
    CHECK_THAT(compilation.text(), last == Phase::Graph     ? Contains("graph.matmul")
                                   : last == Phase::Kernels ? Contains("memref")
                                                            : Contains("om.launch"));
  }
}

TEST_CASE("a file in memory is the file on disk, and runs") {
  Compilation inMemory(digitsOptions());
  std::optional<::om::Buffer> bytes = inMemory.compiler.emitBytes();
  REQUIRE(bytes);
  CHECK(digitOf(*bytes) == 3);
  CHECK(reinterpret_cast<uintptr_t>(bytes->data()) % OM_ALIGNMENT == 0);

  const std::string path = scratchPath("digits.om");
  Compilation onDisk(digitsOptions());
  REQUIRE(onDisk.compiler.lower(Phase::Programs));
  REQUIRE(onDisk.compiler.emitFile(path));
  CHECK(contentsOf(path) == std::string(bytes->data<char>(), bytes->size()));

  const CompileSummary &summary = onDisk.compiler.summary();
  CHECK(summary.fileBytes == bytes->size());
  CHECK(summary.launches > 0);
  CHECK(summary.kernels > 0);
  CHECK(summary.arenaBytes >= summary.arenaLowerBound);
  CHECK(summary.images.size() == 1);
  std::vector<std::string> stages;
  for (const StageTimer::Stage &stage : summary.timer.stages())
    stages.push_back(stage.name);
  CHECK(std::vector<std::string>(stages.begin(), stages.begin() + 4) ==
        std::vector<std::string>{"import", "graph passes", "layout, buffers", "schedule"});
}

TEST_CASE("compilations in one process do not know of each other") {
  auto compile = [](const std::string &soc) {
    Compilation compilation(digitsOptions(soc));
    std::optional<::om::Buffer> bytes = compilation.compiler.emitBytes();
    return bytes ? std::string(bytes->data<char>(), bytes->size()) : "";
  };
  const std::string cpu = compile(""), npu = compile("Ascend310P3");
  REQUIRE_FALSE(cpu.empty());
  REQUIRE_FALSE(npu.empty());
  CHECK(cpu != npu);
  CHECK(compile("") == cpu);
  SECTION("at the same time") {
    std::string first, second;
    std::thread other([&] { first = compile("Ascend310P3"); });
    second = compile("");
    other.join();
    CHECK(first == npu);
    CHECK(second == cpu);
  }
  SECTION("in one context, one behind the other") {
    Diagnostics diagnostics;
    auto context = makeCompilerContext();
    for (int i = 0; i < 2; ++i) {
      Compiler compiler(*context, digitsOptions(), diagnostics);
      std::optional<::om::Buffer> bytes = compiler.emitBytes();
      REQUIRE(bytes);
      CHECK(std::string(bytes->data<char>(), bytes->size()) == cpu);
    }
  }
}

TEST_CASE("a module takes the place of the model file") {
  Compilation imported(digitsOptions());
  REQUIRE(imported.compiler.lower(Phase::Import));
  Compilation fromFile(digitsOptions()), fromModule(digitsOptions());
  fromModule.compiler.setModule(copyModule(imported.compiler.module(), *fromModule.context));
  std::optional<::om::Buffer> left = fromFile.compiler.emitBytes(),
                              right = fromModule.compiler.emitBytes();
  REQUIRE(left);
  REQUIRE(right);
  CHECK(std::string(left->data<char>(), left->size()) ==
        std::string(right->data<char>(), right->size()));
  // The module that was copied still has its constants.
  CHECK(mlir::succeeded(mlir::verify(imported.compiler.module())));
  CHECK_THAT(imported.text(), Contains("graph.conv"));
}

TEST_CASE("clones of a prepared model compile to the same file, one after the other") {
  CompilerOptions options = digitsOptions("Ascend310P3");
  Compilation direct(options);
  std::optional<::om::Buffer> expected = direct.compiler.emitBytes();
  REQUIRE(expected);
  auto context = makeCompilerContext();
  mlir::OwningOpRef<mlir::ModuleOp> prepared;
  {
    Diagnostics diagnostics;
    Compiler compiler(*context, options, diagnostics);
    REQUIRE(compiler.prepare());
    prepared = compiler.releaseModule();
  }
  for (const bool withChoices : {false, true, false}) {
    Diagnostics diagnostics;
    CompilerOptions other = options;
    if (withChoices) {
      other.choices["a key that nothing has"] = "1";
      other.proposals = 2;
    }
    Compiler compiler(*context, other, diagnostics);
    compiler.setPrepared(prepared->clone());
    std::optional<::om::Buffer> file = compiler.emitBytes();
    REQUIRE(file);
    CHECK(file->size() == expected->size());
    CHECK(std::memcmp(file->data(), expected->data(), file->size()) == 0);
  }
}

TEST_CASE("what cannot be prepared") {
  for (int which = 0; which < 3; ++which) {
    CompilerOptions options = digitsOptions(which ? "Ascend310P3" : "");
    if (which == 1)
      options.passEdits.push_back({PassEdit::Where::Before, "npu-select-tiles", "canonicalize"});
    if (which == 2)
      options.source.path = "nowhere.onnx";
    Compilation compilation(options);
    CHECK_FALSE(compilation.compiler.prepare());
    CHECK(compilation.messages().empty() == (which != 2));
  }
}

TEST_CASE("the quantizer is the phase behind Import") {
  CompilerOptions options = digitsOptions();
  unsigned calls = 0;
  options.quantizer = [&](mlir::ModuleOp module, Diagnostics &) {
    ++calls;
    module->setAttr("test.seen", mlir::UnitAttr::get(module.getContext()));
    return true;
  };
  Compilation notReached(options);
  REQUIRE(notReached.compiler.lower(Phase::Import));
  CHECK(calls == 0);
  Compilation reached(options);
  REQUIRE(reached.compiler.lower(Phase::Graph));
  CHECK(calls == 1);
  CHECK_THAT(reached.text(), Contains("test.seen"));
}

TEST_CASE("--save_temps keeps the module of each phase") {
  CompilerOptions options = digitsOptions();
  options.tempDir = scratchPath("temps");
  Compilation compilation(options);
  REQUIRE(compilation.compiler.lower(Phase::Kernels));
  for (const char *name : {"/1-import.mlir", "/2-graph.mlir", "/3-buffers.mlir"})
    CHECK(std::filesystem::exists(options.tempDir + name));
  CHECK_FALSE(std::filesystem::exists(options.tempDir + "/4-schedule.mlir"));
}

//===-- ModelLimitsTest.cpp - hostile files with NPU programs -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are well formed and have right hashes, but ask for memory that they
// must not write, or for much more memory and time than they have bytes.

#include "openatc/npu.h"
#include "openatc/om.hpp"
#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/Hash.h"
#include "test/npu/device/NpuTestModel.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>

namespace {

namespace fb = atc::om::fb;
using Builder = flatbuffers::FlatBufferBuilder;

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Makes a session of the model on a simulated NPU, runs it twice if it can be made,
/// and returns the first error.
om::Error runError(const atc::om::OmModel &model, const char *name,
                   om_npu_options options = OM_NPU_OPTIONS_INIT) {
  om::Error error;
  om::Model loaded = om::Model::loadFile(writeModel(model, name), error);
  INFO(error.message());
  REQUIRE(loaded);
  om_npu *npu = nullptr;
  REQUIRE(om_npu_simulator(&options, &npu, &error.c) == OM_OK);
  {
    om_session_options running = OM_SESSION_OPTIONS_INIT;
    running.device = om_npu_device(npu);
    om::Session session(loaded, error, running);
    om::Buffer x(64 * 48 * 4), sums(64 * 4), picks(60 * 4), quadrupled(64 * 4);
    const void *in[] = {x.data()};
    void *out[] = {sums.data(), picks.data(), quadrupled.data()};
    om::Error second;
    if (session && !session.run(in, out, error))
      CHECK_FALSE(session.run(in, out, second)); // still usable: it fails in the same way
    CHECK(std::string(second.message()) == (session ? error.message() : ""));
  }
  om_npu_free(npu);
  return error;
}

using Steps = std::vector<flatbuffers::Offset<fb::Step>>;
using Programs = std::vector<flatbuffers::Offset<fb::NpuProgram>>;

/// A file whose lists the callback makes, with `npuBytes` bytes of programs.
std::vector<char> handMade(size_t npuBytes,
                           const std::function<void(Builder &, Steps &, Programs &)> &write) {
  std::vector<char> file;
  // Its own size is only known when it has been made once.
  for (uint64_t fileBytes = 0; file.empty() || fileBytes != file.size();) {
    fileBytes = file.size();
    Builder builder;
    builder.ForceDefaults(true);
    Steps steps;
    Programs programs;
    write(builder, steps, programs);
    const fb::Digest none;
    const std::vector<char> code(npuBytes, 0);
    std::vector<flatbuffers::Offset<fb::Segment>> segments;
    const uint64_t headerEnd = fileBytes ? fileBytes - npuBytes : 0;
    if (npuBytes)
      segments.push_back(fb::CreateSegment(builder, fb::SegmentKind::npu, headerEnd, npuBytes,
                                           atc::rt::hash64(code.data(), npuBytes), &none));
    auto text = builder.CreateString("x");
    auto numbers = builder.CreateVector(std::vector<uint32_t>());
    auto model = fb::CreateModel(
        builder, OM_SCHEMA_MAJOR, 2, text, text, text, text, builder.CreateVector(segments),
        builder.CreateVector(std::vector<flatbuffers::Offset<fb::Tensor>>()), numbers, numbers,
        builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>()),
        builder.CreateVector(std::vector<flatbuffers::Offset<fb::CodeImage>>()),
        builder.CreateVector(steps), 4096, fileBytes, text, text, builder.CreateVector(programs));
    fb::FinishSizePrefixedModelBuffer(builder, model);
    const char *bytes = reinterpret_cast<const char *>(builder.GetBufferPointer());
    file.assign(bytes, bytes + builder.GetSize());
    const uint64_t hash = atc::rt::hash64(file.data(), file.size());
    file.resize(file.size() + 8 + 128);
    std::memcpy(file.data() + builder.GetSize(), &hash, 8);
    if (npuBytes) {
      file.resize((file.size() + 4095) / 4096 * 4096);
      file.insert(file.end(), code.begin(), code.end());
    }
  }
  return file;
}

om::Error loadError(const std::vector<char> &file) {
  AlignedBytes memory(file);
  om::Error error;
  CHECK_FALSE(om::Model::loadMemory(memory.data, memory.size, error));
  return error;
}

} // namespace

TEST_CASE("programs that write to weights or inputs are refused") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  constexpr uint64_t bytes = NpuTestModel::rows * sizeof(float);
  const atc::om::OmBufferRef weights{OM_WEIGHTS, 0, 0, bytes}, input{OM_INPUT, 0, 0, bytes};
  for (const atc::om::OmBufferRef &position : {weights, input}) {
    NpuTestModel test(image);
    test.model.schedule[5].args[1] = position; // of the second launch of the program only
    om::Error error = runError(test.model, "npu-read-only.om");
    CHECK(error.code() == OM_ERROR_DEVICE);
    CHECK(contains(error.message(),
                   "program 'times_two': instruction 6 (move): writes to argument 1, for which a "
                   "launch gives weights or an input of the model"));
    // To read them is what they are for.
    test.model.schedule[5].args = {position, test.model.schedule[4].args[1]};
    CHECK(std::string(runError(test.model, "npu-read.om").message()).empty());
  }
}

TEST_CASE("a run of too many instructions is ended") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  NpuTestModel test(image);
  om_npu_options options = OM_NPU_OPTIONS_INIT;
  options.max_instructions = 2 * NpuTestModel::program().code.size();
  CHECK(std::string(runError(test.model, "npu-steps.om", options).message()).empty());
  --options.max_instructions;
  om::Error error = runError(test.model, "npu-steps.om", options);
  CHECK(error.code() == OM_ERROR_DEVICE);
  CHECK(std::string(error.message()) ==
        "launch 5 ('quadruple') failed: launch `quadruple` was ended: no more instructions are "
        "allowed to run");
}

TEST_CASE("tables with huge and tiny values are refused by name") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  NpuTestModel test(image, "Ascend9000");
  for (const char *value : {"l2Ways = 4294967296", "l1Bytes = 999999999999999999", "cubeCores = 0",
                            "ddrPeak = 1e-300", "l2Line = 1", "queueDepth = 18446744073709551615",
                            "shortRunFloor = 1e-18", "l0cAlign = 1"}) {
    test.model.socTable = std::string("base = Ascend310P3\nname = Ascend9000\n") + value + "\n";
    om::Error error = runError(test.model, "npu-huge.om");
    INFO(error.message());
    CHECK(error.code() == OM_ERROR_CORRUPT);
    const std::string line = value, key = line.substr(0, line.find(' '));
    CHECK(contains(error.message(), "soc_table:3: `" + line.substr(line.find("= ") + 2) +
                                        "` is no value for `" + key + "`: expected "));
  }
}

TEST_CASE("all programs of a model together are limited") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  NpuTestModel test(image);
  atc::npu::ProgramBuilder builder;
  for (int i = 0; i < 60000; ++i)
    builder.pipeBarrier(atc::npu::Queue::V);
  atc::om::OmNpuProgram large = test.model.npuPrograms[0];
  large.name = "large";
  large.code = atc::npu::encode(builder.get());
  large.arguments.clear();
  for (int i = 0; i < 4; ++i)
    test.model.npuPrograms.push_back(large);
  CHECK(std::string(runError(test.model, "npu-large.om").message()).empty());
  test.model.npuPrograms.push_back(large);
  om::Error error = runError(test.model, "npu-large.om");
  CHECK(error.code() == OM_ERROR_DEVICE);
  CHECK(contains(error.message(), "program 'large': all programs of a model together have more "
                                  "than 262144 instructions"));
  // Decoding all of what many bytes could be would take gigabytes.
  large.code = atc::npu::encode(atc::npu::Program());
  large.code.pop_back();
  for (uint32_t count = 3000000; count; count >>= 7)
    large.code.push_back(uint8_t(count >> 7 ? count | 128 : count));
  large.code.resize(large.code.size() + 3000000, 15); // end_loop
  test.model.npuPrograms[1] = large;
  error = runError(test.model, "npu-large.om");
  CHECK(contains(error.message(), "program 'large': has 3000000 instructions, more than 65536"));
}

TEST_CASE("lists that many launches share are refused before they are walked") {
  auto launches = [](size_t count, size_t arguments, size_t prefetches) {
    return handMade(0, [=](Builder &builder, Steps &steps, Programs &) {
      auto numbers = builder.CreateVector(std::vector<uint32_t>());
      std::vector<fb::BufferRef> refs(arguments, fb::BufferRef(fb::Space::arena, 0, 0, 64));
      auto args = builder.CreateVectorOfStructs(refs);
      refs.resize(prefetches);
      auto prefetch = builder.CreateVectorOfStructs(refs);
      auto name = builder.CreateString("shared");
      for (size_t i = 0; i < count; ++i) {
        auto launch =
            fb::CreateNpuLaunch(builder, 0, args, name, 0, numbers, numbers, false, prefetch);
        steps.push_back(fb::CreateStep(builder, fb::StepKind::NpuLaunch, launch.Union()));
      }
    });
  };
  auto start = std::chrono::steady_clock::now();
  // 2 MB for 8 x 10^8 arguments.
  om::Error error = loadError(launches(20000, 40000, 0));
  CHECK(error.code() == OM_ERROR_CORRUPT);
  INFO(error.message());
  CHECK(contains(error.message(), "the lists up to those of launch 2 have more than the "));
  CHECK(contains(error.message(), "some are used more than once"));
  CHECK(contains(loadError(launches(20000, 0, 40000)).message(), "some are used more than once"));
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(seconds.count() < 5);
  // Lists of their own are not what is wrong with a file.
  CHECK(contains(loadError(launches(1, 40000, 0)).message(), "runs NPU program 0 of only 0"));
}

TEST_CASE("programs that share their code are refused") {
  auto programs = [](size_t count, uint64_t bytes, size_t arguments) {
    return handMade(4096, [=](Builder &builder, Steps &, Programs &programs) {
      auto name = builder.CreateString("shared");
      for (size_t i = 0; i < count; ++i) {
        auto grid = builder.CreateVector(std::vector<uint32_t>{1});
        auto sizes = builder.CreateVector(std::vector<uint64_t>(arguments, 64));
        programs.push_back(fb::CreateNpuProgram(builder, name, 0, 0, bytes, false, grid, sizes));
      }
    });
  };
  om::Error error = loadError(programs(3, 2048, 1));
  CHECK(error.code() == OM_ERROR_CORRUPT);
  CHECK(std::string(error.message()) ==
        "the file is damaged: NPU program 2 ('shared') cannot be used: it shares its code with "
        "other programs.");
  CHECK(contains(loadError(programs(1, 4096, 257)).message(), "it has more than 256 arguments"));
}

TEST_CASE("inputs and outputs of more bytes than there are addresses are refused") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  NpuTestModel test(image);
  for (uint32_t i = 1; i <= 3; ++i) {
    const uint64_t bytes = uint64_t(1) << 45;
    test.model.inputs.push_back(static_cast<uint32_t>(test.model.tensors.size()));
    test.model.tensors.push_back(
        {"huge", OM_F32, {int64_t(bytes / 4)}, 0, {}, {OM_INPUT, i, 0, bytes}});
  }
  std::string error;
  CHECK_FALSE(atc::om::writeOm(test.model, scratchPath("npu-ends.om"), error));
  CHECK(contains(
      error, "E19001: the model needs more than 70368744177664 bytes for its inputs and outputs"));
}

//===-- TestModel.cpp - a small model with real kernels -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/TestModel.h"

#include <cstdlib>
#include <stdexcept>
#include <sys/stat.h>

using namespace atc::om;

static void addKernels(OmModel &model, const KernelImage &image,
                       std::initializer_list<std::pair<const char *, uint64_t>> kernels) {
  OmImage code;
  code.level = "x86-64";
  code.features = {"sse2"};
  code.code = image.bytes.data();
  code.codeSize = image.bytes.size();
  code.scratchBytes = TestModel::columns * sizeof(float);
  for (auto [name, tasks] : kernels) {
    model.kernels.push_back(name);
    code.entries.push_back(image.functions.at(name));
    code.tasks.push_back(tasks);
  }
  model.images.push_back(code);
  model.producer = "OpenATC test";
  model.commandLine = "atc --model=test.onnx --framework=5 --output=test --target=cpu";
}

TestModel::TestModel(const KernelImage &image) : scale(columns), bias(columns) {
  for (int c = 0; c < columns; ++c) {
    scale[c] = 0.5f + c;
    bias[c] = -0.25f * c;
  }
  addKernels(model, image,
             {{"scale_rows", rows}, {"sum_rows", rows}, {"pack_blocks", 1}, {"unpack_relu", 1}});
  model.name = "test";

  const uint64_t yBytes = rows * columns * sizeof(float);
  const uint64_t packedBytes = 2 * 5 * 6 * 4 * sizeof(float);
  const uint64_t firstInside =
      (1 * 6 + 1) * 4 * sizeof(float); // past one row and column of padding
  const OmBufferRef x{OM_INPUT, 0, 0, yBytes}, y{OM_ARENA, 0, 0, yBytes};
  const OmBufferRef scaleRef{OM_WEIGHTS, 0, 0, columns * sizeof(float)};
  const OmBufferRef biasRef{OM_WEIGHTS, 0, 192 + 64, columns * sizeof(float)};
  const OmBufferRef packed{OM_ARENA, 0, yBytes + firstInside, packedBytes - firstInside};
  const OmBufferRef sums{OM_OUTPUT, 0, 0, rows * sizeof(float)};
  const OmBufferRef picks{OM_OUTPUT, 1, 0, picked * sizeof(float)};
  model.arenaSize = yBytes + packedBytes;
  model.weights = {{bias.data(), columns * sizeof(float), 256},
                   {scale.data(), columns * sizeof(float), 0}};
  model.tensors = {{"x", OM_F32, {rows, columns}, 0, {}, x},
                   {"sums", OM_F32, {rows}, 0, {}, sums},
                   {"picked/relu", OM_F32, {1, 5, 3, 4}, 0, {}, picks},
                   {"y", OM_F32, {rows, columns}, 0, {}, y},
                   {"packed", OM_F32, {1, 5, 3, 4}, 4, {240, 120, 24, 4, 1}, packed},
                   {"scale", OM_F32, {columns}, 0, {}, scaleRef}};
  model.inputs = {X};
  model.outputs = {Sums, Picked};
  model.schedule = {{0, "scale", {x, scaleRef, biasRef, y}, 100000, {X, Scale}, {Y}},
                    {1, "sum", {y, sums}, 100000, {Y}, {Sums}},
                    {2, "pack", {y, packed}, 60, {Y}, {Packed}},
                    {3, "relu", {packed, picks}, 60, {Packed}, {Picked}}};
}

void TestModel::expect(const float *x, std::vector<float> &sums, std::vector<float> &picks) const {
  std::vector<float> y(rows * columns);
  sums.assign(rows, 0);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      y[r * columns + c] = x[r * columns + c] * scale[c] + bias[c];
      sums[r] += y[r * columns + c];
    }
  picks.resize(picked);
  for (int i = 0; i < picked; ++i)
    picks[i] = y[i] > 0 ? y[i] : 0;
}

OmModel countingModel(const KernelImage &image, uint64_t tasks, unsigned launches, uint64_t cost) {
  OmModel model;
  addKernels(model, image, {{"count_tasks", tasks}});
  model.name = "counting";
  const OmBufferRef counts{OM_OUTPUT, 0, 0, tasks * sizeof(uint32_t)};
  model.tensors = {{"counts", OM_U32, {static_cast<int64_t>(tasks)}, 0, {}, counts}};
  model.outputs = {0};
  for (unsigned i = 0; i < launches; ++i)
    model.schedule.push_back({0, "count" + std::to_string(i), {counts}, cost, {}, {0}});
  return model;
}

std::string scratchPath(const std::string &name) {
  const std::string folder = OPENATC_TEST_SCRATCH;
  mkdir(folder.c_str(), 0777);
  return folder + "/" + name;
}

std::string writeModel(const OmModel &model, const std::string &name) {
  const std::string path = scratchPath(name);
  std::string error;
  if (!writeOm(model, path, error))
    throw std::runtime_error(error);
  return path;
}

AlignedBytes::AlignedBytes(const char *from, size_t size)
    : data(static_cast<char *>(std::aligned_alloc(64, (size + 64) / 64 * 64))), size(size) {
  if (size)
    std::memcpy(data, from, size);
}

AlignedBytes::~AlignedBytes() { std::free(data); }

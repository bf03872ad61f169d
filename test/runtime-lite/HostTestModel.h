//===-- HostTestModel.h - host programs, put together by hand -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_RUNTIME_HOSTTESTMODEL_H
#define OPENATC_TEST_RUNTIME_HOSTTESTMODEL_H

#include "test/runtime-lite/TestModel.h"

#include <deque>

/// Makes models with a host program step by step. Steps go to the block that is
/// `current`.
struct HostTestModel {
  using Step = atc::om::OmHostStep;
  using Kind = Step::Kind;

  explicit HostTestModel(const KernelImage &image) : image(image) {
    model.producer = "OpenATC test";
    model.commandLine = "atc --model=test.onnx --framework=5 --output=test --target=cpu";
    model.name = "host";
    atc::om::OmImage code;
    code.level = "x86-64";
    code.features = {"sse2"};
    code.code = image.bytes.data();
    code.codeSize = image.bytes.size();
    model.images.push_back(code);
    model.host.emplace();
    model.host->blocks.emplace_back();
  }

  atc::om::OmHostProgram &host() { return *model.host; }
  int32_t slot() { return static_cast<int32_t>(host().slots++); }
  int32_t block() {
    host().blocks.emplace_back();
    return static_cast<int32_t>(host().blocks.size()) - 1;
  }
  uint32_t kernel(const char *name) {
    for (uint32_t i = 0; i < model.kernels.size(); ++i)
      if (model.kernels[i] == name)
        return i;
    model.kernels.push_back(name);
    model.images[0].entries.push_back(image.functions.at(name));
    model.images[0].tasks.push_back(0);
    return static_cast<uint32_t>(model.kernels.size()) - 1;
  }

  int32_t input(const char *name, om_dtype dtype, std::vector<int64_t> dims,
                om_kind kind = OM_KIND_TENSOR) {
    const int32_t at = slot();
    host().inputs.push_back({name, kind, dtype, dims, false, false, static_cast<uint32_t>(at)});
    return at;
  }
  void output(const char *name, int32_t at, om_dtype dtype = OM_UNDEFINED,
              om_kind kind = OM_KIND_TENSOR, bool optional = false) {
    host().outputs.push_back({name, kind, dtype, {}, true, optional, static_cast<uint32_t>(at)});
  }
  /// The index of a constant in the weights, which is in `at`.
  template <typename T>
  uint32_t constant(int32_t at, om_dtype dtype, std::vector<int64_t> dims, std::vector<T> data) {
    const uint64_t bytes = data.size() * sizeof(T);
    kept.emplace_back(reinterpret_cast<const char *>(data.data()),
                      reinterpret_cast<const char *>(data.data()) + bytes);
    model.weights.push_back({kept.back().data(), bytes, weightsEnd});
    host().constants.push_back({at, dtype, dims, {OM_WEIGHTS, 0, weightsEnd, bytes}});
    weightsEnd += (bytes + 63) / 64 * 64;
    return static_cast<uint32_t>(host().constants.size()) - 1;
  }
  int32_t number(int64_t value) {
    const int32_t at = slot();
    constant<int64_t>(at, OM_I64, {}, {value});
    return at;
  }

  Step &add(Kind kind) {
    host().blocks[current].emplace_back();
    host().blocks[current].back().kind = kind;
    return host().blocks[current].back();
  }
  Step &call(const char *name, std::vector<int32_t> inputs, std::vector<int32_t> outputs) {
    const uint32_t index = kernel(name);
    Step &step = add(Kind::Call);
    step.name = std::string("node_") + name;
    step.kernel = index;
    step.inputs = inputs;
    step.outputs = outputs;
    return step;
  }
  /// A call with one new output.
  int32_t make(const char *name, std::vector<int32_t> inputs) {
    const int32_t at = slot();
    call(name, inputs, {at});
    return at;
  }
  void move(std::vector<int32_t> from, std::vector<int32_t> to) {
    Step &step = add(Kind::Move);
    step.inputs = from;
    step.outputs = to;
  }
  void release(std::vector<int32_t> slots) { add(Kind::Release).inputs = slots; }
  void branch(int32_t condition, int32_t then, int32_t otherwise) {
    Step &step = add(Kind::If);
    step.condition = static_cast<uint32_t>(condition);
    step.block = then;
    step.otherwise = otherwise;
  }
  void loop(int32_t condition, int32_t body) {
    Step &step = add(Kind::Loop);
    step.condition = static_cast<uint32_t>(condition);
    step.block = body;
  }

  /// Makes all that a static test model does a part; returns its index.
  uint32_t part(const atc::om::OmModel &whole) {
    using namespace atc::om;
    OmHostPart part;
    part.firstLaunch = static_cast<uint32_t>(model.schedule.size());
    part.launches = static_cast<uint32_t>(whole.schedule.size());
    part.firstInput = static_cast<uint32_t>(model.inputs.size());
    part.inputs = static_cast<uint32_t>(whole.inputs.size());
    part.firstOutput = static_cast<uint32_t>(model.outputs.size());
    part.outputs = static_cast<uint32_t>(whole.outputs.size());
    const uint32_t firstTensor = static_cast<uint32_t>(model.tensors.size()),
                   firstKernel = static_cast<uint32_t>(model.kernels.size()),
                   firstProgram = static_cast<uint32_t>(model.npuPrograms.size());
    const uint64_t firstWeight = weightsEnd;
    auto moved = [&](OmBufferRef ref) {
      ref.index += ref.space == OM_INPUT    ? part.firstInput
                   : ref.space == OM_OUTPUT ? part.firstOutput
                                            : 0;
      ref.offset += ref.space == OM_WEIGHTS ? firstWeight : 0;
      return ref;
    };
    for (OmTensor tensor : whole.tensors) {
      tensor.place = moved(tensor.place);
      model.tensors.push_back(tensor);
    }
    for (uint32_t tensor : whole.inputs)
      model.inputs.push_back(firstTensor + tensor);
    for (uint32_t tensor : whole.outputs)
      model.outputs.push_back(firstTensor + tensor);
    for (OmWeights weights : whole.weights) {
      weights.offset += firstWeight;
      weightsEnd = std::max(weightsEnd, (weights.offset + weights.size + 63) / 64 * 64);
      model.weights.push_back(weights);
    }
    for (size_t i = 0; i < whole.kernels.size(); ++i) {
      model.kernels.push_back(whole.kernels[i]);
      model.images[0].entries.push_back(whole.images[0].entries[i]);
      model.images[0].tasks.push_back(whole.images[0].tasks[i]);
      model.images[0].scratchBytes =
          std::max(model.images[0].scratchBytes, whole.images[0].scratchBytes);
    }
    for (OmLaunch launch : whole.schedule) {
      launch.kernel += launch.npu ? firstProgram : firstKernel;
      for (auto *refs : {&launch.args, &launch.prefetch})
        for (OmBufferRef &ref : *refs)
          ref = moved(ref);
      for (auto *list : {&launch.reads, &launch.writes})
        for (uint32_t &tensor : *list)
          tensor += firstTensor;
      model.schedule.push_back(launch);
    }
    model.npuPrograms.insert(model.npuPrograms.end(), whole.npuPrograms.begin(),
                             whole.npuPrograms.end());
    model.soc = whole.soc;
    model.target = whole.target;
    model.arenaSize = std::max(model.arenaSize, whole.arenaSize);
    host().parts.push_back(part);
    return static_cast<uint32_t>(host().parts.size()) - 1;
  }
  void run(uint32_t part, std::vector<int32_t> inputs, std::vector<int32_t> outputs) {
    Step &step = add(Kind::Run);
    step.part = part;
    step.inputs = inputs;
    step.outputs = outputs;
  }

  const KernelImage &image;
  atc::om::OmModel model;
  size_t current = 0;
  uint64_t weightsEnd = 0;
  std::deque<std::vector<char>> kept;
};

#endif

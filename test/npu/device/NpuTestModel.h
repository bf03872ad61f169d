//===-- NpuTestModel.h - the test model with launches of the NPU ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_NPU_DEVICE_NPUTESTMODEL_H
#define OPENATC_TEST_NPU_DEVICE_NPUTESTMODEL_H

#include "npu/isa/Codec.h"
#include "npu/isa/ProgramBuilder.h"
#include "test/runtime-lite/TestModel.h"

/// The test model, then two launches of an NPU program: "doubled"[64] = 2 * sums
/// through the arena, and "quadrupled"[64] = 2 * doubled in the same task.
struct NpuTestModel : TestModel {
  explicit NpuTestModel(const KernelImage &image, const char *soc = "Ascend310P3")
      : TestModel(image) {
    constexpr uint64_t bytes = rows * sizeof(float);
    model.target = "npu";
    model.soc = soc;
    setProgram(program());
    model.arenaSize = (model.arenaSize + 63) / 64 * 64;
    const atc::om::OmBufferRef sums{OM_OUTPUT, 0, 0, bytes},
        doubled{OM_ARENA, 0, model.arenaSize, bytes}, quadrupled{OM_OUTPUT, 2, 0, bytes};
    model.arenaSize += bytes;
    model.tensors.push_back({"doubled", OM_F32, {rows}, 0, {}, doubled});
    model.tensors.push_back({"quadrupled", OM_F32, {rows}, 0, {}, quadrupled});
    const uint32_t last = static_cast<uint32_t>(model.tensors.size()) - 1;
    model.outputs.push_back(last);
    atc::om::OmLaunch first{0, "double", {sums, doubled}, 2000, {Sums}, {last - 1}};
    first.npu = true;
    first.prefetch = {{OM_WEIGHTS, 0, 0, columns * sizeof(float)}};
    atc::om::OmLaunch second{0, "quadruple", {doubled, quadrupled}, 2000, {last - 1}, {last}};
    second.npu = second.chained = true;
    model.schedule.push_back(first);
    model.schedule.push_back(second);
  }

  static atc::npu::Program program() {
    using namespace atc::npu;
    constexpr int64_t bytes = rows * sizeof(float);
    ProgramBuilder builder;
    unsigned in = builder.argument(bytes), out = builder.argument(bytes);
    builder.move(at(Memory::UB, 0), gm(in), bytes);
    builder.setFlag(Queue::MTE2, Queue::V, 0);
    builder.waitFlag(Queue::MTE2, Queue::V, 0);
    builder.vector(VectorOp::MulScalar, DataType::F32, at(Memory::UB, bytes), at(Memory::UB, 0),
                   at(Memory::UB, 0), rows, 2.0);
    builder.setFlag(Queue::V, Queue::MTE3, 0);
    builder.waitFlag(Queue::V, Queue::MTE3, 0);
    builder.move(gm(out), at(Memory::UB, bytes), bytes);
    return builder.take();
  }

  void setProgram(const atc::npu::Program &program) {
    model.npuPrograms = {{"times_two",
                          atc::npu::encode(program),
                          program.vectorCore,
                          {program.grid[0], program.grid[1], program.grid[2]},
                          program.arguments}};
  }
};

#endif

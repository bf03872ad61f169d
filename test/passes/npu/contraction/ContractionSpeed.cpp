//===-- ContractionSpeed.cpp - simulated cycles of networks' layers --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints for each layer: cycles, the cube's share of its peak, the busiest queue,
// what npu-select-tiles expected, and the tile. Inputs and weights are in L2
// when the layer begins, as they are in a network whose weights are prefetched.

#include "test/passes/npu/contraction/ContractionRunner.h"

#include <catch2/catch.hpp>

#include <cstdio>

using namespace atc::npu;
using namespace atc::npu::test;

namespace {

struct Layer {
  const char *name;
  std::string text;
  std::vector<std::string> types;
};

Layer conv(const char *name, int64_t images, int64_t channels, int64_t size, int64_t outputs,
           int64_t kernel, int64_t stride = 1, bool residual = false, bool depthwise = false,
           const char *activation = "relu") {
  int64_t c1 = (channels + 15) / 16, n1 = (outputs + 15) / 16, pad = kernel / 2;
  int64_t out = (size + 2 * pad - kernel) / stride + 1, groups = depthwise ? c1 : 1;
  auto memref = [](std::initializer_list<int64_t> shape, const char *element) {
    std::string text = "memref<";
    for (int64_t extent : shape)
      text += std::to_string(extent) + "x";
    return text + element + ">";
  };
  auto pair = [](int64_t n) {
    return "array<i64: " + std::to_string(n) + ", " + std::to_string(n) + ">";
  };
  bool image = channels == 3;
  int64_t k1 = image ? (kernel * kernel * 4 + 15) / 16 : c1 / groups * kernel * kernel;
  Layer layer{name, "npu.conv2d %0, %1 bias %2", {}};
  layer.types = {image ? memref({images, 3, size, size}, "f16")
                       : memref({images, c1, size, size, 16}, "f16"),
                 memref({groups, k1, n1 / groups, 16, 16}, "f16"), memref({n1 * 16}, "f32")};
  std::string result = memref({images, n1, out, out, 16}, "f16"), types = "$0, $1, $2, $3";
  if (residual) {
    layer.text += " residual %3";
    layer.types.push_back(result);
    types += ", $4";
  }
  layer.types.push_back(result);
  std::string p = std::to_string(pad);
  layer.text += std::string(residual ? " outs %4" : " outs %3") + " {kernel = " + pair(kernel) +
                ", strides = " + pair(stride) + ", dilations = " + pair(1) +
                ", pads = array<i64: " + p + ", " + p + ", " + p + ", " + p +
                ">, block_groups = " + std::to_string(groups) +
                ", activation = #graph.activation<" + activation + ">, macs = 1" +
                (image ? ", image" : "") + "} : " + types;
  return layer;
}

Layer matmul(const char *name, int64_t batch, int64_t m, int64_t k, int64_t n,
             const char *activation = "", bool residual = false, const char *form = "packed") {
  bool packed = form == std::string("packed"), transposed = form == std::string("transpose_rhs");
  auto memref = [](int64_t a, int64_t b, int64_t c, int64_t d) {
    return "memref<" + std::to_string(a) + "x" + std::to_string(b) + "x" + std::to_string(c) + "x" +
           std::to_string(d) + "xf16>";
  };
  Layer layer{name, "npu.matmul %0, %1", {}};
  layer.types = {memref(batch, 1, m, k), packed       ? memref((k + 15) / 16, (n + 15) / 16, 16, 16)
                                         : transposed ? memref(batch, 1, n, k)
                                                      : memref(batch, 1, k, n)};
  std::string types = "$0, $1";
  auto add = [&](const std::string &what, const std::string &type) {
    layer.text += " " + what + " %" + std::to_string(layer.types.size());
    types += ", $" + std::to_string(layer.types.size());
    layer.types.push_back(type);
  };
  if (packed)
    add("bias", "memref<" + std::to_string((n + 15) / 16 * 16) + "xf32>");
  if (residual)
    add("residual", memref(batch, 1, m, n));
  add("outs", memref(batch, 1, m, n));
  layer.text +=
      std::string(" {") + (*form ? form : "scale = 1.0 : f64") +
      (*activation ? std::string(", activation = #graph.activation<") + activation + ">" : "") +
      "} : " + types;
  return layer;
}

void print(const char *network, const std::vector<Layer> &layers,
           const std::string &name = "Ascend310P3") {
  const SocTable &soc = *findSoc(name);
  std::printf("%s\n", network);
  for (const Layer &layer : layers) {
    ContractionOptions options;
    options.soc = name;
    options.pipeline = true;
    if (const char *fixed = std::getenv("NPU_FIXED_TILE"))
      options.fixed = fixed;
    Contracted compiled = compileContraction(layer.text, layer.types, options);
    Simulator simulator(soc);
    Launch launch;
    launch.program = &compiled.program;
    uint64_t address = 0;
    for (uint64_t bytes : compiled.program.arguments) {
      launch.addresses.push_back(address);
      launch.prefetch.push_back({address, bytes});
      address += (bytes + 511) / 512 * 512;
    }
    launch.prefetch.pop_back();
    // The DMA has time to bring everything before the launch that counts.
    Program idle;
    idle.arguments = compiled.program.arguments;
    Instruction loop;
    loop.opcode = Opcode::LoopBegin;
    loop.fields[LoopBegin::trips] = 1 << 20;
    idle.code.push_back(loop);
    loop.opcode = Opcode::LoopEnd;
    idle.code.push_back(loop);
    Launch before = launch;
    before.program = &idle;
    launch.prefetch.clear();
    launch.chained = true;
    std::string error;
    simulator.run(before, error);
    bool ran = simulator.run(launch, error);
    INFO(layer.name << " " << compiled.tile << " " << error);
    REQUIRE(ran);
    const Statistics &s = simulator.launches().back();
    double cycles = s.cycles, cores = double(soc.cubeCores);
    unsigned busiest = 1;
    for (unsigned q = 1; q < kQueues; ++q)
      if (s.busy[q] > s.busy[busiest])
        busiest = q;
    std::printf(
        "%-22s %9.0f cycles, cube %5.1f%%, busiest %s %.0f%%, estimate %9.0f (%+.0f%%)\n"
        "    %s\n    m %.0f v %.0f mte1 %.0f mte2 %.0f mte3 %.0f of a core; misses %.1f MB\n",
        layer.name, cycles, 100 * s.cubeCycles / cores / cycles, nameOf(Queue(busiest)),
        100 * s.busy[busiest] /
            double(compiled.program.grid[0] * compiled.program.grid[1] * compiled.program.grid[2]) /
            cycles,
        compiled.estimate, 100 * (compiled.estimate / cycles - 1), compiled.tile.c_str(),
        s.busy[1] / cores, s.busy[2] / cores, s.busy[3] / cores, s.busy[4] / cores,
        s.busy[5] / cores, double(s.l2Missed) / 1e6);
    if (std::getenv("NPU_STALLS"))
      for (unsigned to = 1; to < kQueues; ++to)
        for (unsigned from = 0; from < kQueues; ++from)
          if (s.flagStall[from][to] > 0.02 * cycles * cores)
            std::printf("    %s waits for %s: %.0f\n", nameOf(Queue(to)), nameOf(Queue(from)),
                        s.flagStall[from][to] / cores);
    std::fflush(stdout);
  }
}

std::vector<Layer> resnet50(int64_t n) {
  return {conv("7x7/2 3-64 224", n, 3, 224, 64, 7, 2),
          conv("1x1 64-64 56", n, 64, 56, 64, 1),
          conv("3x3 64-64 56", n, 64, 56, 64, 3),
          conv("1x1 64-256 56 +", n, 64, 56, 256, 1, 1, true),
          conv("1x1 256-64 56", n, 256, 56, 64, 1),
          conv("1x1 256-128 56", n, 256, 56, 128, 1),
          conv("3x3/2 128-128 56", n, 128, 56, 128, 3, 2),
          conv("1x1/2 256-512 56", n, 256, 56, 512, 1, 2),
          conv("1x1 128-512 28 +", n, 128, 28, 512, 1, 1, true),
          conv("1x1 512-128 28", n, 512, 28, 128, 1),
          conv("3x3 128-128 28", n, 128, 28, 128, 3),
          conv("3x3/2 256-256 28", n, 256, 28, 256, 3, 2),
          conv("1x1/2 512-1024 28", n, 512, 28, 1024, 1, 2),
          conv("1x1 256-1024 14 +", n, 256, 14, 1024, 1, 1, true),
          conv("1x1 1024-256 14", n, 1024, 14, 256, 1),
          conv("3x3 256-256 14", n, 256, 14, 256, 3),
          conv("3x3/2 512-512 14", n, 512, 14, 512, 3, 2),
          conv("1x1 512-2048 7 +", n, 512, 7, 2048, 1, 1, true),
          conv("1x1 2048-512 7", n, 2048, 7, 512, 1),
          conv("3x3 512-512 7", n, 512, 7, 512, 3),
          matmul("fc 2048-1000", 1, n, 2048, 1000)};
}

} // namespace

TEST_CASE("resnet50, batch 8", "[.speed]") { print("resnet50, batch 8", resnet50(8)); }
TEST_CASE("resnet50, batch 4", "[.speed]") { print("resnet50, batch 4", resnet50(4)); }
TEST_CASE("resnet50, batch 1", "[.speed]") { print("resnet50, batch 1", resnet50(1)); }

TEST_CASE("vgg16, batch 4", "[.speed]") {
  print("vgg16, batch 4",
        {conv("3x3 64-64 224", 4, 64, 224, 64, 3), conv("3x3 64-128 112", 4, 64, 112, 128, 3),
         conv("3x3 128-128 112", 4, 128, 112, 128, 3), conv("3x3 128-256 56", 4, 128, 56, 256, 3),
         conv("3x3 256-256 56", 4, 256, 56, 256, 3), conv("3x3 256-512 28", 4, 256, 28, 512, 3),
         conv("3x3 512-512 28", 4, 512, 28, 512, 3), conv("3x3 512-512 14", 4, 512, 14, 512, 3),
         matmul("fc 25088-4096", 1, 4, 25088, 4096, "relu")});
}

TEST_CASE("mobilenetv2, batch 4", "[.speed]") {
  const char *relu6 = "clip, 0.0, 6.0";
  print("mobilenetv2, batch 4", {conv("3x3/2 3-32 224", 4, 3, 224, 32, 3, 2, false, false, relu6),
                                 conv("dw3x3 32 112", 4, 32, 112, 32, 3, 1, false, true, relu6),
                                 conv("1x1 32-16 112", 4, 32, 112, 16, 1, 1, false, false, relu6),
                                 conv("1x1 16-96 112", 4, 16, 112, 96, 1, 1, false, false, relu6),
                                 conv("dw3x3/2 96 112", 4, 96, 112, 96, 3, 2, false, true, relu6),
                                 conv("dw3x3 144 56", 4, 144, 56, 144, 3, 1, false, true, relu6),
                                 conv("dw3x3 384 14", 4, 384, 14, 384, 3, 1, false, true, relu6),
                                 conv("1x1 64-384 14", 4, 64, 14, 384, 1, 1, false, false, relu6),
                                 conv("1x1 960-320 7", 4, 960, 7, 320, 1, 1, false, false, relu6)});
}

TEST_CASE("vit, batch 16", "[.speed]") {
  int64_t rows = 197 * 16;
  print("vit, batch 16", {matmul("qkv 768-2304", 1, rows, 768, 2304),
                          matmul("proj 768-768 +", 1, rows, 768, 768, "", true),
                          matmul("mlp 768-3072 gelu", 1, rows, 768, 3072, "gelu"),
                          matmul("mlp 3072-768 +", 1, rows, 3072, 768, "", true),
                          matmul("q x k", 192, 197, 64, 197, "", false, "transpose_rhs"),
                          matmul("p x v", 192, 197, 197, 64, "", false, "")});
}

TEST_CASE("matmul 8192", "[.speed]") {
  print("8192^3, 910B1", {matmul("8192^3", 1, 8192, 8192, 8192, "", false, "")}, "Ascend910B1");
}

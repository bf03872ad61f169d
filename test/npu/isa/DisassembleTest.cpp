//===-- DisassembleTest.cpp - programs as text ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include "npu/isa/Disassemble.h"
#include "npu/isa/ProgramBuilder.h"
#include "test/npu/AcceptedProgram.h"

#include <random>

using namespace atc::npu;
using namespace atc::npu::test;

TEST_CASE("vector programs") {
  CHECK(disassemble(goodPrograms()[0], "add") ==
        R"(program `add`: 8 cores (8 x 1 x 1), gm0 6400, gm1 6400
    0        loop i0 of 4
    1  MTE2    move dst=ub[0 turns 2 x 4096 by i0] src=gm0[-64 + 192 c0 + 1920 i0] inner=32 from -1 + 3 c0 + 30 i0 below 100 bytes=64 dstInner=64 srcInner=64
    2  MTE2    set_flag MTE2 -> V id 0
    3  V       wait_flag MTE2 -> V id 0
    4  V       vector.add dst=ub[8192] a=ub[0 turns 2 x 4096 by i0] b=ub[0 turns 2 x 4096 by i0] inner=32 from -1 + 3 c0 + 30 i0 below 100 lanes=32 type=f16 dstInner=64 aInner=64 bInner=64 if not last i0
    5  V       vector.reduce_sum dst=ub[16384] a=ub[0 turns 2 x 4096 by i0] lanes=8 type=f32
    6  V       vector.broadcast dst=ub[20480] a=ub[0 turns 2 x 4096 by i0] type=f32
    7  V       vector.select dst=ub[24576] a=ub[0 turns 2 x 4096 by i0] b=ub[0] mask=ub[4096] inner=2 lanes=16 type=f16 dstInner=64 aInner=64 bInner=64 dstBlock=0
    8  V       transpose dst=ub[32768] src=ub[0] inner=2 dstInner=512 dstRow=32 srcInner=32 srcRow=64
    9  V       vector.cast dst=ub[40960] a=ub[0 turns 2 x 4096 by i0] lanes=32 type=f16 dstType=s8
   10  V       set_flag V -> MTE3 id 0
   11  MTE3    wait_flag V -> MTE3 id 0
   12  MTE3    move dst=gm1[-64 + 192 c0 + 1920 i0] src=ub[8192] inner=32 from -1 + 3 c0 + 30 i0 below 100 bytes=64 dstInner=64 srcInner=64
   13  MTE3    set_flag MTE3 -> S id 0
   14  S       wait_flag MTE3 -> S id 0
   15        end_loop
   16  MTE3  signal MTE3 event 1
   17  MTE2  await MTE2 event 1 until 8
   18  S     pipe_barrier S
)");
}

TEST_CASE("cube programs") {
  CHECK(disassemble(goodPrograms()[2]) ==
        R"(program: 2 cores (2 x 1 x 1), gm0 3456, gm1 25600, gm2 131072
    0        loop i0 of 2
    1  MTE2    load_image dst=l1[0] src=gm0[-64 + 512 i0] rows=10 from -1 + 8 i0 below 16 type=f32 channels=3 width=16 c0=4 srcPlane=1152 srcRow=64 dstRow=128
    2  MTE2    move_nd2nz dst=l1[65536] src=gm1[0] rows=64 cols=100 type=f16 srcRow=400 dstCol=2048
    3  MTE2    move dst=l1[262144] src=gm1[0] bytes=256
    4  MTE2    load_image dst=l1[327680] src=gm1[3] rows=4 type=u8 channels=3 width=16 c0=4 srcPlane=1 srcRow=60 dstRow=128 srcPixel=3 mean0=123 factor0=0.5
    5  MTE2    load_yuv dst=l1[393216] src=gm1[-16 + 128 i0] chroma=gm1[512] rows=10 from -1 + 8 i0 below 16 channels=3 width=16 c0=4 srcRow=16 chromaRows=8 dstRow=128 y0=256 v0=359 y1=256 u1=-88 v1=-183 y2=256 u2=454 bias0=-45952 bias1=34688 bias2=-58112 factor0=0.5
    6  MTE2    set_flag MTE2 -> MTE1 id 0
    7  MTE1    wait_flag MTE2 -> MTE1 id 0
    8  MTE1    move dst=bt[0] src=l1[262144] bytes=256
    9  MTE1    img2col dst=l0a[0] src=l1[0] m=128 from 128 i0 below 256 k=3 row0=1 from -1 + 8 i0 c0=4 elementBytes=2 channels1=1 height=16 width=16 outHeight=16 outWidth=16 kernelH=3 kernelW=3 strideH=1 strideW=1 dilationH=1 dilationW=1 padTop=1 padLeft=1 srcImage=2048 srcChannel=2048 dstRow=1536
   10  MTE1    load2d dst=l0b[0] src=l1[65536] outer=3 inner=4 dstOuter=2048 dstInner=512 srcOuter=2048 srcInner=512 transpose
   11  MTE1    set_flag MTE1 -> M id 0
   12  M       wait_flag MTE1 -> M id 0
   13  M       mmad dst=l0c[0] a=l0a[0] b=l0b[0] bias=bt[0] m=128 from 128 i0 below 250 n=64 k=36 type=f16 useBias dstCol=8192 aRow=1536 bRow=2048
   14  M       set_flag M -> FIX id 0
   15  FIX     wait_flag M -> FIX id 0
   16  FIX     move_l0c dst=gm2[32768 c0 + 16384 i0] src=l0c[0] m=128 from 128 i0 below 250 n=64 type=f32 dstType=f16 relu scale=1 srcCol=8192 dstRow=128 dstCol=32
   17  FIX     requantize dst=gm2[32768 c0 + 16384 i0] src=l0c[0] scales=l1[65536] m=128 from 128 i0 below 250 n=64 type=f32 dstType=u8 stored=u8 srcCol=8192 dstRow=32 dstCol=4096
   18  FIX     set_flag FIX -> S id 0
   19  S       wait_flag FIX -> S id 0
   20        end_loop
)");
}

TEST_CASE("any instruction has a text") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 5000; ++round) {
    Instruction in;
    in.opcode = Opcode(random() % kOpcodes);
    in.guard = {Guard::Kind(random() % 5), uint8_t(random() % kMaxIvs)};
    for (int64_t &field : in.fields)
      field = random() % 2 ? int64_t(random()) : int64_t(random() % 20);
    for (Address &address : in.addresses) {
      address.memory = Memory(random() % kMemories);
      address.depth = uint8_t(random());
      address.slots = uint8_t(random());
      address.offset.base = INT64_MIN;
    }
    REQUIRE(disassemble(in).find(infoOf(in.opcode).mnemonic) == 0);
  }
}

TEST_CASE("mixed programs have two sections") {
  ProgramBuilder b({24, 1, 1});
  b.argument(64);
  b.pipeBarrier(Queue::S);
  b.onVectorCores({24, 2, 1});
  b.pipeBarrier(Queue::V);
  CHECK(disassemble(b.get(), "m") == "program `m`: 24 cores (24 x 1 x 1), gm0 64\n"
                                     "    0  S     pipe_barrier S\n"
                                     "at the same time on 48 vector cores (24 x 2 x 1)\n"
                                     "    1  V     pipe_barrier V\n");
}

//===-- ProgramEncoderTest.cpp - npu.program to instructions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include "backends/npu/ProgramEncoder.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace atc::npu;

namespace {

struct Encoded {
  FailureOr<Program> program = failure();
  std::string errors;
};

Encoded encodeText(const std::string &body) {
  DialectRegistry registry;
  ir::registerNpuDialect(registry);
  MLIRContext context(registry);
  Encoded result;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    result.errors += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(
      "npu.program @p(%g: !npu.buffer<gm, 65536>, %h: !npu.buffer<gm, 4096>) "
      "grid(%x = 2, %y = 4) soc \"Ascend310P3\" {\n" +
          body + "}\n",
      &context);
  INFO(result.errors);
  REQUIRE(module);
  result.program = encodeProgram(*module->getOps<ir::ProgramOp>().begin());
  return result;
}

} // namespace

TEST_CASE("loops, ivs and arguments get their numbers") {
  Encoded encoded = encodeText(R"(
    %u = npu.alloc {offset = 1024} : !npu.buffer<ub, 4096>
    npu.loop %i = 3 {
      npu.loop %j = 5 {
        npu.move %u, %h at %j, %y {
          offsets = [#npu.affine<64, [32, 96]>, #npu.affine<0, [128, 0]>], outer = #npu.range<2>,
          inner = #npu.range<1>, bytes = #npu.range<64 from <-32, [0, 32]> below 4096>,
          dst_outer = 256, src_outer = -128, guard = #npu.guard<not_first, 0>
        } : !npu.buffer<ub, 4096>, !npu.buffer<gm, 4096>
      }
    })");
  REQUIRE(succeeded(encoded.program));
  const Program &program = *encoded.program;
  CHECK(program.grid[0] == 2);
  CHECK(program.grid[1] == 4);
  CHECK(program.grid[2] == 1);
  CHECK(program.arguments == std::vector<uint64_t>{65536, 4096});
  REQUIRE(program.code.size() == 5);
  CHECK(program.code[0].opcode == Opcode::LoopBegin);
  CHECK(program.code[0].fields[LoopBegin::trips] == 3);
  CHECK(program.code[1].fields[LoopBegin::trips] == 5);
  CHECK(program.code[4].opcode == Opcode::LoopEnd);

  const Instruction &move = program.code[2];
  REQUIRE(move.opcode == Opcode::Move);
  CHECK(move.line == 2);
  CHECK(queueOf(move) == Queue::MTE2);
  const Address &dst = move.addresses[Move::dst], &src = move.addresses[Move::src];
  CHECK(dst.memory == Memory::UB);
  CHECK(dst.offset.base == 1024 + 64);
  CHECK(dst.offset.strides[1] == 96);             // %y
  CHECK(dst.offset.strides[kGridDims + 1] == 32); // %j
  CHECK(dst.offset.strides[kGridDims] == 0);      // %i
  CHECK(src.memory == Memory::GM);
  CHECK(src.argument == 1);
  CHECK(move.ranges[Move::outer].length == 2);
  CHECK(move.ranges[Move::outer].limit == INT64_MAX);
  CHECK(move.ranges[Move::bytes].start.base == -32);
  CHECK(move.ranges[Move::bytes].start.strides[1] == 32);
  CHECK(move.ranges[Move::bytes].limit == 4096);
  CHECK(move.fields[Move::dstOuter] == 256);
  CHECK(move.fields[Move::srcOuter] == -128);
  CHECK(move.fields[Move::srcInner] == 0);
  CHECK(move.guard.kind == Guard::NotFirst);
  CHECK(move.guard.iv == kGridDims + 1);
}

TEST_CASE("buffers that are used in turn follow the loop they are made in") {
  Encoded encoded = encodeText(R"(
    npu.loop %i = 3 {
      %u = npu.alloc {buffers = 2, offset = 512} : !npu.buffer<ub, 100>
      npu.loop %j = 5 {
        npu.vector "mul_scalar" %u, %u at %j {
          offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>,
          lanes = #npu.range<16>, type = f16, dst_type = f16, scalar = 2.5
        } : !npu.buffer<ub, 100>, !npu.buffer<ub, 100>
      }
    })");
  REQUIRE(succeeded(encoded.program));
  const Instruction &vector = encoded.program->code[2];
  const Address &dst = vector.addresses[Vector::dst];
  CHECK(dst.slots == 2);
  CHECK(dst.depth == 1);
  CHECK(dst.slotBytes == 512);
  CHECK(dst.offset.base == 512);
  CHECK(vector.fields[Vector::op] == int64_t(VectorOp::MulScalar));
  CHECK(vector.fields[Vector::type] == int64_t(DataType::F16));
  CHECK(floatOf(vector.fields[Vector::scalar]) == 2.5);
  CHECK(vector.fields[Vector::dstBlock] == 32); // the default
}

TEST_CASE("optional buffers and sets of ivs") {
  const std::string buffers = R"(
    %a = npu.alloc {offset = 0} : !npu.buffer<l0a, 4096>
    %b = npu.alloc {offset = 512} : !npu.buffer<l0b, 4096>
    %c = npu.alloc {offset = 64} : !npu.buffer<l0c, 4096>
    %t = npu.alloc {offset = 32} : !npu.buffer<bt, 256>
    npu.loop %k = 2 {)";
  const std::string numbers =
      "m = #npu.range<16>, n = #npu.range<16>, k = #npu.range<16>, type = bf16, "
      "dst_col = 1024, a_row = 512, b_row = 512, first = array<i64: 1>} "
      ": !npu.buffer<l0c, 4096>, !npu.buffer<l0a, 4096>, !npu.buffer<l0b, 4096>\n}\n";
  Encoded with =
      encodeText(buffers +
                 "npu.mmad %c, %a, %b bias %t : !npu.buffer<bt, 256> at %x, %k {offsets = "
                 "[#npu.affine<0>, #npu.affine<0>, #npu.affine<0>, #npu.affine<64>], " +
                 numbers);
  REQUIRE(succeeded(with.program));
  const Instruction &mmad = with.program->code[1];
  CHECK(mmad.addresses[Mmad::b].offset.base == 512);
  CHECK(mmad.addresses[Mmad::bias].memory == Memory::BT);
  CHECK(mmad.addresses[Mmad::bias].offset.base == 32 + 64);
  CHECK(mmad.fields[Mmad::useBias] == 1);
  CHECK(mmad.fields[Mmad::accumulate] == 0);
  CHECK(mmad.fields[Mmad::first] == int64_t(1) << kGridDims);
  CHECK(mmad.fields[Mmad::type] == int64_t(DataType::BF16));

  Encoded without = encodeText(buffers +
                               "npu.mmad %c, %a, %b at %x, %k {offsets = [#npu.affine<0>, "
                               "#npu.affine<0>, #npu.affine<0>], " +
                               numbers);
  REQUIRE(succeeded(without.program));
  CHECK(without.program->code[1].fields[Mmad::useBias] == 0);
}

TEST_CASE("every instruction is an op, with the same parts") {
  DialectRegistry registry;
  ir::registerNpuDialect(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  for (unsigned i = 0; i < kOpcodes; ++i) {
    const OpcodeInfo &info = infoOf(Opcode(i));
    // Loops are ops with a region.
    if (Opcode(i) == Opcode::LoopBegin || Opcode(i) == Opcode::LoopEnd)
      continue;
    INFO(info.mnemonic);
    auto name = RegisteredOperationName::lookup("npu." + std::string(info.mnemonic), &context);
    REQUIRE(name);
    CHECK(name->hasInterface<ir::InstructionOpInterface>());
    // An attribute per range and field, offsets and a guard; a presence is none.
    unsigned attributes = info.rangeCount + info.fieldCount + (info.addressCount ? 2 : 0);
    if (Opcode(i) == Opcode::Mmad)
      --attributes;
    bool hasSegments =
        llvm::is_contained(name->getAttributeNames(), StringRef("operandSegmentSizes"));
    CHECK(name->getAttributeNames().size() - hasSegments == attributes);
  }
}

TEST_CASE("parts have the order of the instruction, attributes that are left out their default") {
  Encoded encoded = encodeText(R"(
    %a = npu.alloc {offset = 0} : !npu.buffer<l0a, 4096>
    %l = npu.alloc {offset = 0} : !npu.buffer<l1, 4096>
    npu.img2col %a, %l {
      offsets = [#npu.affine<0>, #npu.affine<0>], m = #npu.range<16>, k = #npu.range<1>,
      row0 = #npu.range<1>, c0 = 16, channels1 = 1, height = 2, width = 3, out_height = 4,
      out_width = 5, kernel_h = 6, kernel_w = 7, stride_h = 8, stride_w = 9, src_channel = 1024,
      dst_row = 2048
    } : !npu.buffer<l0a, 4096>, !npu.buffer<l1, 4096>)");
  REQUIRE(succeeded(encoded.program));
  const int64_t *fields = encoded.program->code[0].fields;
  CHECK(fields[Img2Col::elementBytes] == 2);
  CHECK(fields[Img2Col::dilationW] == 1);
  CHECK(fields[Img2Col::padTop] == 0);
  for (unsigned i = 0; i < 8; ++i)
    CHECK(fields[Img2Col::height + i] == 2 + i);
  CHECK(fields[Img2Col::srcChannel] == 1024);
  CHECK(fields[Img2Col::dstRow] == 2048);
}

TEST_CASE("sync keeps queues, ids and counters") {
  Encoded encoded = encodeText(R"(
    npu.loop %i = 4 {
      npu.set_flag mte2 to v id 3 {slots = 2, depth = 1}
      npu.await mte1 event 5 at %i {value = #npu.range<1 from <8, [8]>>}
    })");
  REQUIRE(succeeded(encoded.program));
  const Instruction &flag = encoded.program->code[1], &await = encoded.program->code[2];
  CHECK(flag.fields[SetFlag::from] == int64_t(Queue::MTE2));
  CHECK(flag.fields[SetFlag::to] == int64_t(Queue::V));
  CHECK(flag.fields[SetFlag::id] == 3);
  CHECK(flag.fields[SetFlag::slots] == 2);
  CHECK(flag.fields[SetFlag::depth] == 1);
  CHECK(queueOf(await) == Queue::MTE1);
  CHECK(await.fields[Await::event] == 5);
  CHECK(await.ranges[Await::value].start.strides[kGridDims] == 8);
}

TEST_CASE("a buffer without a position is an error") {
  Encoded encoded = encodeText(R"(
    %u = npu.alloc : !npu.buffer<ub, 4096>
    npu.vector "fill" %u {offsets = [#npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>,
      lanes = #npu.range<16>, type = f16, dst_type = f16} : !npu.buffer<ub, 4096>)"
                               "\n");
  CHECK(failed(encoded.program));
  CHECK_THAT(encoded.errors,
             Catch::Contains("has no place: npu-allocate-local-memory has not run"));
}

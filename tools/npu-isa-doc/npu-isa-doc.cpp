//===-- npu-isa-doc.cpp - the page about the NPU's instructions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   npu-isa-doc > docs/npu-isa.md
//   npu-isa-doc --check docs/npu-isa.md

#include "npu/isa/Isa.h"
#include "npu/soc/Soc.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

using namespace atc::npu;

namespace {

const char *const kIntroduction = R"(# The NPU's instruction set

This page is printed by `npu-isa-doc` from `npu/isa/Isa.def`, `npu/isa/VectorOps.def`,
`npu/soc/Limits.def` and `npu/soc/Soc.def`; `npu-isa-doc --check docs/npu-isa.md` is one of the tests.
[rationale-npu.md](rationale-npu.md) says why it is so, [npu-simulator.md](npu-simulator.md)
where the times come from. `om-dump --disassemble` prints the programs of a file.

## Cores, memories, queues

A launch runs one program on all cores of its grid. A core has the memories
`l1`, `l0a`, `l0b`, `l0c`, `ub` and `bt`; all cores share `gm`, where an address
names one of the launch's arguments. Sizes and alignments are those of the SoC's
table (`Soc.def`).

| queue | does |
|---|---|
| S | walks the program: loops, and what is put into its own queue |
| MTE2 | gm to l1, ub |
| MTE1 | l1 to l0a, l0b, ub, bt |
| M | the cube: l0a x l0b to l0c |
| V | ub; in coupled cores also l0c to ub |
| MTE3 | ub to gm, l1 |
| FIX | in split cores: l0c to gm, l1 |

The scalar unit puts instructions into the queues in the order of the program and
waits when one is full. Each queue runs in order, all beside each other; nothing
but flags, barriers, signals and the scalar unit orders two queues.

- A flag belongs to an ordered pair of queues and an id 0 .. 7. `set_flag` raises
  it when all that was put into `from` before is done; `wait_flag` holds up `to`
  until then and takes it down. A flag that is up must not be raised again.
- `pipe_barrier S` holds up the scalar unit until all queues are done.
- `signal` and `await` count across cores, 16 counters a launch, from 0.
- At its end a launch has finished everything and all flags are down.

`HazardChecker` (npu/simulator/Hazards.h) finds accesses that nothing orders.

## Numbers that depend on loops

Induction variables (ivs) 0 .. 2 are the core's place in the grid, 3 .. 8 the loops
around an instruction (at most 6), outermost first. The disassembler calls them
c0 .. c2 and i0 .. i5.

- An *affine* number is a base plus a stride for each iv.
- An *address* is a memory, in gm an argument, and an affine offset in bytes. With
  `slots` > 1 it moves on by `slotBytes` with each iteration of the outermost
  `depth` loops, taken as one loop, and comes back after `slots`.
- A *range* is `length` positions from an affine `start`, cut to [0, `limit`).
  Position i lies at address + (i - start) x stride. An instruction with a range
  that is cut to nothing does nothing.
- A *guard* runs an instruction only in the first, not the first, the last or not
  the last iteration of one iv.

## Encoding

A program is the bytes `NPU`, the version 1, whether it runs on vector cores, the
three sizes of the grid, the number of arguments and their sizes, the number of
instructions and these. All numbers are variable-length (7 bits a byte, the last
one below 128); signed ones are zigzag, floats the bytes of a double from its high
end.

| part | form |
|---|---|
| instruction | guard x 16 + opcode (from 16 on: + 112), the guard's iv if there is a guard, addresses, ranges, fields |
| address | argument x 16 + turns x 8 + memory; if it turns slots, depth, slotBytes; offset |
| affine | a mask of what is not 0 (bit 0 the base, bit i + 1 the stride of iv i), those numbers |
| range | 1 if a start follows, + 2 if a limit does, + 4 if the length is 1; length, start, limit |
| fields | a mask of what is not 0, those numbers |

Guards are 0 always, 1 first, 2 not first, 3 last, 4 not last; memories 0 gm, 1 l1,
2 l0a, 3 l0b, 4 l0c, 5 ub, 6 bt; queues 0 S, 1 M, 2 V, 3 MTE1, 4 MTE2, 5 MTE3, 6 FIX;
types 1 f32, 2 u8, 3 s8, 6 s32, 10 f16, 16 bf16.

Before a program runs the verifier proves that no iteration of any instruction
leaves its memory, that blocks in local memories are aligned, that each core
raises as many flags as it waits for, that it ends, and that it stays within the
limits below. `load_image` has at least one channel.

)";

const char *const kLimits = R"(## Limits

A file chooses the numbers of its programs and of its SoC's table. What they may ask
for is stated in `Limits.def`; a program or table that asks for more is refused with
the value and the limit. `atc` refuses to write what would be refused.

| limit | value | of | why |
|---|---|---|---|
)";

const char *const kSocLimits = R"(
### Values of a SoC's table

Each property (`Soc.def`) has a kind, and each kind a range.

| kind | expected | unit | properties |
|---|---|---|---|
)";

/// Returns the cost of an opcode in the terms of Soc.def.
const char *costOf(Opcode opcode) {
  switch (opcode) {
  case Opcode::Move:
    return "with gm: `gmStart` + bytes / port (`gmToL1`, `gmToUb`, `ubToGm`), slower for runs "
           "shorter than `shortRun` and as far as L2 and DDR allow, done after `readLatency` or "
           "`writeLatency`; else `mte1Start` + bytes / `l1ToUb` or `ubToL1`, done after "
           "`mte1Latency`";
  case Opcode::MoveNdToNz:
    return "`gmStart` + bytes in gm / `gmToL1`, slower for runs shorter than `shortRun` and as far "
           "as L2 and DDR allow, done after `readLatency`";
  case Opcode::LoadImage:
    return "`gmStart` + bytes in gm / `gmToL1`, slower for runs shorter than `shortRun` and as far "
           "as L2 and DDR allow, quantizing at least elements x 8 / `vectorBytes` (that of `div` "
           "of "
           "f32), done after `readLatency`";
  case Opcode::Load2D:
    return "`mte1Start` + bytes / `l1ToL0a` or `l1ToL0b`, done after `mte1Latency`";
  case Opcode::Img2Col:
    return "`mte1Start` + bytes of l0a / `img2col` (divided by strideW, but at least 32), done "
           "after `mte1Latency`";
  case Opcode::Mmad:
    return "`mmadStart` + ceil(m / 16) x ceil(n / 16) x ceil(k / depth of the type) / "
           "`cubeFractals`, done after `mmadLatency`";
  case Opcode::MoveL0C:
    return "on V: `vectorStart` + m x n padded to 16 x 4 / `l0cToUb`, done after `vectorLatency`; "
           "on FIX: `gmStart` + m x n padded to 16 / `fixElements`, in gm as a move at `l0cToGm`";
  case Opcode::Requantize:
    return "`vectorStart` + m x n padded to 16 x 4 / `l0cToUb`, done after `vectorLatency`";
  case Opcode::RequantizeAdd:
    return "`vectorStart` + m x n padded to 16 x 4 / `l0cToUb` + m x n padded to 16 x 4 / "
           "`vectorBytes` (that of adding f32), done after `vectorLatency`";
  case Opcode::Vector:
    return "`vectorStart` + runs x bytes of a run rounded up to 256 / `vectorBytes`, twice that "
           "for exp, ln, sqrt and div, `bankConflict` times that for operands in the same banks; "
           "reductions by `reduceElements`, broadcast by what it writes; done after "
           "`vectorLatency`";
  case Opcode::Transpose:
    return "`vectorStart` + bytes / `vectorBytes`, done after `vectorLatency`";
  case Opcode::SetFlag:
    return "nothing; the flag is up `flagLatency` after all before it is done";
  case Opcode::WaitFlag:
  case Opcode::PipeBarrier:
    return "what it waits";
  case Opcode::Signal:
    return "until all before it is done; the signal arrives after `signalLatency`";
  case Opcode::Await:
    return "what it waits";
  case Opcode::LoopBegin:
  case Opcode::LoopEnd:
    return "`scalarLoop` on the scalar unit; every other instruction takes it `scalarIssue`";
  }
  return "";
}

const char *kindName(FieldKind kind) {
  switch (kind) {
  case FieldKind::Bytes:
    return "bytes, signed";
  case FieldKind::Count:
    return "count";
  case FieldKind::Flag:
    return "0 or 1";
  case FieldKind::Float:
    return "double";
  case FieldKind::Type:
    return "type";
  case FieldKind::Op:
    return "vector operation";
  case FieldKind::Unit:
    return "queue";
  case FieldKind::Mask:
    return "set of ivs";
  }
  return "";
}

std::string limits() {
  std::string out = kLimits;
  auto row = [&](const char *name, int64_t value, const char *unit, const char *reason) {
    out += std::string("| ") + name + " | " + std::to_string(value) + " | " + unit + " | " +
           reason + " |\n";
  };
#define NPU_LIMIT(Name, value, unit, reason) row(#Name, value, unit, reason);
#include "npu/soc/Limits.def"
  out += kSocLimits;
  for (unsigned kind = 0; kind < kSocKinds; ++kind) {
    const SocKindInfo &info = infoOf(SocKind(kind));
    std::string properties;
#define SOC_PROPERTY(property, key, ...)                                                           \
  if (SocKind::property == SocKind(kind))                                                          \
    properties += (properties.empty() ? "`" : ", `") + std::string(#key) + "`";
#include "npu/soc/Soc.def"
    out += std::string("| ") + info.name + " | " + info.expected() + " | " + info.unit + " | " +
           properties + " |\n";
  }
  return out + "\n";
}

std::string page() {
  static const char *const accesses[] = {"read", "written", "read or written"};
  std::string out = kIntroduction + limits() + "## Instructions\n\n";
  for (unsigned i = 0; i < kOpcodes; ++i) {
    const OpcodeInfo &info = infoOf(Opcode(i));
    out += std::string("### ") + info.mnemonic + "\n\n" + info.description + "\n\nOpcode " +
           std::to_string(i) + ". Time: " + costOf(Opcode(i)) + ".\n\n";
    if (!info.addressCount && !info.rangeCount && !info.fieldCount)
      continue;
    out += "| part | name | is |\n|---|---|---|\n";
    for (unsigned a = 0; a < info.addressCount; ++a)
      out += std::string("| address | ") + info.addresses[a].name + " | " +
             accesses[unsigned(info.addresses[a].access)] + " |\n";
    for (unsigned r = 0; r < info.rangeCount; ++r)
      out += std::string("| range | ") + info.ranges[r] + " | |\n";
    for (unsigned f = 0; f < info.fieldCount; ++f)
      out += std::string("| field | ") + info.fields[f].name + " | " +
             kindName(info.fields[f].kind) + " |\n";
    out += "\n";
  }
  out += "## Vector operations\n\nOf `vector`, on f32, f16, bf16 and s32; bytes can be copied, "
         "filled and cast.\nCompare operations give 1 or 0.\n\n"
         "| number | name | operands | dst = |\n|---|---|---|---|\n";
  static const char *const meanings[] = {
#define NPU_VECTOR_OP(Name, mnemonic, a, b, mask, meaning) meaning,
#include "npu/isa/VectorOps.def"
  };
  for (unsigned i = 0; i < kVectorOps; ++i) {
    VectorOperands has = operandsOf(VectorOp(i));
    std::string operands = std::string(has.a ? "a" : "") + (has.b ? ", b" : "") +
                           (has.mask ? ", mask" : ""),
                meaning = meanings[i];
    for (size_t at = 0; (at = meaning.find('|', at)) != std::string::npos; at += 2)
      meaning.insert(at, "\\");
    out += "| " + std::to_string(i) + " | " + nameOf(VectorOp(i)) + " | " + operands + " | " +
           meaning + " |\n";
  }
  return out;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 1) {
    std::cout << page();
    return 0;
  }
  if (argc != 3 || std::string(argv[1]) != "--check") {
    std::cerr << "usage: npu-isa-doc [--check FILE]\n";
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  std::string there{std::istreambuf_iterator<char>(file), {}};
  if (there == page())
    return 0;
  std::cerr << argv[2] << " is not what npu-isa-doc prints: npu-isa-doc > " << argv[2] << "\n";
  return 1;
}

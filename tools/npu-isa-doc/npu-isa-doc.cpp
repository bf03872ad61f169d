//===-- npu-isa-doc.cpp - the page about the NPU's instructions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   npu-isa-doc > docs/npu-isa.md
//   npu-isa-doc --check docs/npu-isa.md

#include "npu/isa/Isa.h"
#include "npu/isa/SetText.h"
#include "npu/soc/Soc.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using namespace atc::npu;

namespace {

const char *const kIntroduction = R"(# The NPU's instruction set

This page is printed by `npu-isa-doc` from `npu/isa/Isa.def`, `npu/isa/VectorOps.def`,
`npu/soc/Hardware.def`, `npu/soc/Limits.def` and `npu/soc/Soc.def`; `npu-isa-doc --check docs/npu-isa.md` is one of the tests.
[rationale/npu.md](rationale/npu.md) says why it is so, [npu-simulator.md](npu-simulator.md)
where the times come from. `om-dump --disassemble` prints the programs of a file.

## Cores, memories, queues

A launch runs one program on all cores of its grid. A core has the memories
`l1`, `l0a`, `l0b`, `l0c`, `ub` and `bt`; all cores share `gm`, where an address
names one of the launch's arguments. Sizes and alignments are those of the SoC's
table (`Soc.def`).

)";

const char *const kAfterQueues = R"(
The scalar unit puts instructions into the queues in the order of the program and
waits when one is full. Each queue runs in order, all beside each other; nothing
but flags, barriers, signals and the scalar unit orders two queues.

- A flag belongs to an ordered pair of queues and an id 0 .. 7. `set_flag` raises
  it when all that was put into `from` before is done; `wait_flag` holds up `to`
  until then and takes it down. A flag that is up must not be raised again.
- `pipe_barrier S` holds up the scalar unit until all queues are done.
- `signal` and `await` count across cores, 16 counters per launch, from 0.
- A mixed program has a second grid, of vector cores, which run the instructions
  from `vectorBegin` on while cube cores run those before it. Cores of both
  kinds share the counters. Only SoCs with a `crossLatency` run such programs.
- At its end a launch has finished everything and all flags are down.
- A program that several launches became names its layers: the instruction at
  which each begins, the launch and the program that it was, and its
  multiply-accumulates. They change nothing but reports, which have a row for each.

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

A program is the bytes `NPU`, the version 1 (2: a mixed program, whose second
grid and the number of its instructions for cube cores follow the first grid; 3: one with layers, which
has those as well, zeros where it is not mixed), whether it runs on vector cores, the
three sizes of the grid, the number of arguments and their sizes, the number of
instructions and these, and in version 3 the number of layers and these: first instruction, name and program as
their lengths and bytes (at most 1024), multiply-accumulates. All numbers are variable-length (7 bits per byte, the last
one below 128); signed ones are zigzag, floats the bytes of a double from its high
end.

| part | form |
|---|---|
| instruction | guard x 16 + opcode (from 16 on: + 112), the guard's iv if there is a guard, addresses, ranges, fields |
| address | argument x 16 + turns x 8 + memory; if it turns slots, depth, slotBytes; offset |
| affine | a mask of what is not 0 (bit 0 the base, bit i + 1 the stride of iv i), those numbers |
| range | 1 if a start follows, + 2 if a limit does, + 4 if the length is 1; length, start, limit |
| fields | a mask of what is not 0, those numbers |

)";

const char *const kAfterEncoding =
    R"(Before a program runs the verifier proves that no iteration of any instruction
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

/// Returns the table of queues.
std::string queues() {
  std::string out = "| queue | does |\n|---|---|\n";
#define NPU_QUEUE(Name, name, meaning) out += std::string("| ") + name + " | " + meaning + " |\n";
#include "npu/soc/Hardware.def"
  return out;
}

/// Appends "kind 0 name, 1 name, ..." and `end`.
void appendNumbers(std::string &out, const char *kind,
                   const std::vector<std::pair<unsigned, std::string>> &names, const char *end) {
  const char *separator = " ";
  out += kind;
  for (const auto &[number, name] : names) {
    out += separator + std::to_string(number) + " " + name;
    separator = ", ";
  }
  out += end;
}

/// Returns the numbers that stand for guards, memories, queues and types.
std::string numbers() {
  std::string out;
  appendNumbers(out, "Guards are",
                {
#define NPU_GUARD(Name, name) {Guard::Name, name},
#include "npu/isa/Isa.def"
                },
                ";\n");
  appendNumbers(out, "memories",
                {
#define NPU_MEMORY(Name, name) {unsigned(Memory::Name), name},
#include "npu/soc/Hardware.def"
                },
                ";\n");
  appendNumbers(out, "queues",
                {
#define NPU_QUEUE(Name, name, meaning) {unsigned(Queue::Name), name},
#include "npu/soc/Hardware.def"
                },
                ";\n");
  appendNumbers(out, "types",
                {
#define NPU_TYPE(Name, number, name, bytes) {number, name},
#include "npu/soc/Hardware.def"
                },
                ".\n\n");
  return out;
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

/// Returns the rows of the table of an instruction's parts.
std::string parts(Opcode opcode) {
  static const char *const accesses[] = {"read", "written", "read or written"};
  const OpcodeInfo &info = infoOf(opcode);
  std::string out;
  for (unsigned i = 0; i < info.addressCount; ++i) {
    const AddressInfo &address = info.addresses[i];
    out += std::string("| address | ") + address.name + " | " + accesses[unsigned(address.access)] +
           ", in " + textOf<Memory>(address.memories) + (address.optional ? "; not always" : "") +
           " |\n";
  }
  for (unsigned i = 0; i < info.rangeCount; ++i)
    out += std::string("| range | ") + info.ranges[i] + " | |\n";
  for (unsigned i = 0; i < info.fieldCount; ++i) {
    const FieldInfo &field = info.fields[i];
    out += std::string("| field | ") + field.name + " | " + kindName(field.kind);
    if (field.kind == FieldKind::Type)
      out += ": " + textOf<DataType>(field.types);
    if (field.mayLack && field.initial != 0)
      out += "; " + std::to_string(int64_t(field.initial)) + " in an op that leaves it out";
    out += " |\n";
  }
  return out;
}

std::string page() {
  std::string out = kIntroduction + queues() + kAfterQueues + numbers() + kAfterEncoding +
                    limits() + "## Instructions\n\n";
  for (unsigned i = 0; i < kOpcodes; ++i) {
    const OpcodeInfo &info = infoOf(Opcode(i));
    out += std::string("### ") + info.mnemonic + "\n\n" + info.description + "\n\nOpcode " +
           std::to_string(i) + ". Time: " + info.time + ".\n\n";
    if (std::string rows = parts(Opcode(i)); !rows.empty())
      out += "| part | name | is |\n|---|---|---|\n" + rows + "\n";
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

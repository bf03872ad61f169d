//===-- PrintOds.cpp - ops of the npu dialect from the instruction set ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   npu-print-ods NpuEnumCases.td NpuInstructions.td
//
// Runs while the project is built. TableGen cannot read Isa.def and the simulator must build
// without LLVM, so the instruction set stays in C++ macros, which this program turns into ODS.

#include <cctype>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

/// A part of an instruction, as text.
struct Address {
  std::string name;
  bool optional = false;
};
struct Range {
  std::string name;
};
struct Field {
  std::string name, kind;
  std::string initial;    ///< the value of an op that leaves it out; empty if it must not
  std::string presenceOf; ///< the optional address whose presence it is; it is no attribute then
};
struct Instruction {
  std::string name, mnemonic, summary, description;
  std::vector<Address> addresses;
  std::vector<Range> ranges;
  std::vector<Field> fields;
  std::string assembly;
};

const std::vector<Instruction> &instructions() {
  static const std::vector<Instruction> all = {
#define NPU_INSTRUCTION(Name, mnemonic, queue, summary, doc, time, addresses, ranges, fields,      \
                        assembly)                                                                  \
  {#Name, mnemonic, summary, doc, {addresses}, {ranges}, {fields}, assembly},
#define R(name, memories) Address{#name},
#define W(name, memories) Address{#name},
#define U(name, memories) Address{#name},
#define O(name, memories) Address{#name, true},
#define N(name) Range{#name},
#define F(name, kind) Field{#name, #kind, "", ""},
#define D(name, kind, value) Field{#name, #kind, #value, ""},
#define T(name, types) Field{#name, "Type", "", ""},
#define P(name, address) Field{#name, "Flag", "", #address},
#include "npu/isa/Isa.def"
  };
  return all;
}

/// Returns the name of an attribute, dst_col, for that of a part, dstCol.
std::string snakeCase(const std::string &part) {
  std::string result;
  for (char c : part) {
    if (std::isupper(static_cast<unsigned char>(c)))
      result += '_';
    result += char(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

/// Returns the name of the accessor that ODS makes for a part: getDstCol.
std::string getter(const std::string &part) {
  return "get" + std::string(1, char(std::toupper(static_cast<unsigned char>(part[0])))) +
         part.substr(1);
}

/// Returns the constraint of a field's attribute.
std::string attributeOf(const Field &field) {
  static const struct {
    const char *kind, *attribute;
  } kinds[] = {{"Bytes", "I64Attr"},      {"Count", "I64Attr"},         {"Flag", "UnitAttr"},
               {"Float", "F64Attr"},      {"Type", "TypeAttr"},         {"Op", "StrAttr"},
               {"Unit", "Npu_QueueAttr"}, {"Mask", "DenseI64ArrayAttr"}};
  std::string attribute = "no attribute for a field of the kind " + field.kind;
  for (const auto &row : kinds)
    if (field.kind == row.kind)
      attribute = row.attribute;
  if (field.initial.empty())
    return attribute;
  return "DefaultValuedAttr<" + attribute + ", \"" + field.initial + "\">";
}

/// Joins items, with `separator` between them.
class Joined {
public:
  explicit Joined(std::string separator) : separator(std::move(separator)) {}
  void add(const std::string &item) { text += (text.empty() ? "" : separator) + item; }
  std::string text;

private:
  std::string separator;
};

/// Returns the assembly format of an instruction that has no format of its own.
std::string assemblyOf(const Instruction &in) {
  if (!in.assembly.empty())
    return in.assembly;
  Joined operands(" `,` "), types(" `,` ");
  for (const Address &address : in.addresses) {
    operands.add("$" + address.name);
    types.add("type($" + address.name + ")");
  }
  return operands.text + " (`at` $ivs^)? attr-dict `:` " + types.text;
}

/// Returns the definition of an op, whose method getParts() has the buffers and attributes in the
/// order of the instruction's parts. It calls the accessor of each, so an op without the attribute
/// does not compile.
std::string opOf(const Instruction &in) {
  Joined arguments(",\n         "), buffers(", "), ranges(", "), fields(",\n               ");
  bool hasAddresses = !in.addresses.empty(), hasOptional = false;
  bool hasIvs = hasAddresses || !in.ranges.empty();
  for (const Address &address : in.addresses) {
    hasOptional |= address.optional;
    arguments.add((address.optional ? "Optional<Npu_BufferType>:$" : "Npu_BufferType:$") +
                  address.name);
    buffers.add(getter(address.name) + "()");
  }
  if (hasIvs)
    arguments.add("Variadic<Index>:$ivs");
  if (hasAddresses)
    arguments.add("TypedArrayAttrBase<Npu_AffineAttr, \"addresses\">:$offsets");
  for (const Range &range : in.ranges) {
    arguments.add("Npu_RangeAttr:$" + snakeCase(range.name));
    ranges.add(getter(range.name) + "Attr()");
  }
  for (const Field &field : in.fields) {
    std::string name = snakeCase(field.name), value = getter(field.name) + "Attr()";
    if (field.presenceOf.empty())
      arguments.add(attributeOf(field) + ":$" + name);
    else
      value = getter(field.presenceOf) +
              "() ? ::mlir::UnitAttr::get(getContext()) : ::mlir::UnitAttr()";
    fields.add("{\"" + name + "\", " + value + "}");
  }
  if (hasAddresses)
    arguments.add("OptionalAttr<Npu_GuardAttr>:$guard");
  std::string traits = hasOptional ? "AttrSizedOperandSegments, " : "";
  return "def Npu_" + in.name + "Op : Npu_Op<\"" + in.mnemonic + "\",\n    [" + traits +
         "MemoryEffects<[MemRead, MemWrite]>, Npu_InstructionOpInterface]> {\n"
         "  let summary = \"" +
         in.summary +
         "\";\n"
         "  let description = [{\n    " +
         in.description +
         "\n  }];\n"
         "  let arguments = (ins " +
         arguments.text +
         ");\n"
         "  let assemblyFormat = [{\n    " +
         assemblyOf(in) +
         "\n  }];\n"
         "  let extraClassDeclaration = [{\n"
         "    using Instruction = ::atc::npu::" +
         in.name +
         ";\n"
         "    static constexpr ::atc::npu::Opcode kOpcode = ::atc::npu::Opcode::" +
         in.name +
         ";\n"
         "    ::atc::npu::Opcode getOpcode() { return kOpcode; }\n"
         "    ::atc::npu::ir::InstructionParts getParts() {\n"
         "      return {{" +
         buffers.text +
         "},\n"
         "              " +
         (hasIvs ? "getIvs()" : "{}") +
         ",\n"
         "              " +
         (hasAddresses ? "getOffsetsAttr()" : "{}") +
         ",\n"
         "              {" +
         ranges.text +
         "},\n"
         "              {" +
         fields.text +
         "},\n"
         "              " +
         (hasAddresses ? "getGuardAttr()" : "{}") +
         "};\n"
         "    }\n"
         "  }];\n"
         "}\n\n";
}

std::string opsText() {
  std::string text = "// Printed by npu-print-ods from npu/isa/Isa.def.\n\n";
  for (const Instruction &in : instructions())
    if (in.assembly != "none")
      text += opOf(in);
  return text;
}

/// Returns the definition of an enum whose cases are numbered from 0.
std::string enumOf(const char *definition, const char *name,
                   const std::vector<std::pair<std::string, std::string>> &cases) {
  Joined rows(",\n  ");
  for (size_t i = 0; i < cases.size(); ++i) {
    std::string spelling;
    for (char c : cases[i].second)
      spelling += c == ' ' ? '_' : char(std::tolower(static_cast<unsigned char>(c)));
    rows.add("I32EnumAttrCase<\"" + cases[i].first + "\", " + std::to_string(i) + ", \"" +
             spelling + "\">");
  }
  return std::string("def ") + definition + " : Npu_Enum<\"" + name + "\", [\n  " + rows.text +
         "\n]>;\n\n";
}

std::string enumsText() {
  return "// Printed by npu-print-ods from npu/soc/Hardware.def and npu/isa/Isa.def.\n\n" +
         enumOf("Npu_Memory", "MemoryKind",
                {
#define NPU_MEMORY(Name, name) {#Name, name},
#include "npu/soc/Hardware.def"
                }) +
         enumOf("Npu_Queue", "QueueKind",
                {
#define NPU_QUEUE(Name, name, meaning) {#Name, name},
#include "npu/soc/Hardware.def"
                }) +
         enumOf("Npu_GuardKind", "GuardKind",
                {
#define NPU_GUARD(Name, name) {#Name, name},
#include "npu/isa/Isa.def"
                });
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: npu-print-ods ENUMS OPS\n";
    return 2;
  }
  const std::string texts[] = {enumsText(), opsText()};
  for (int i = 0; i < 2; ++i) {
    std::ofstream file(argv[i + 1], std::ios::binary);
    file << texts[i];
    file.close();
    if (!file) {
      std::cerr << "npu-print-ods: cannot write " << argv[i + 1] << "\n";
      return 1;
    }
  }
  return 0;
}

//===-- SupportPage.cpp - prints docs/onnx-support.md ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <map>

#include "frontends/onnx/HostForms.h"
#include "frontends/onnx/HostSignatures.h"
#include "frontends/onnx/OnnxImport.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/ops/KnownFunctions.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atc::onnx_import {
namespace {

/// Returns "7+": the first opset of the operator, as far back as the table goes.
std::string printSince(int since) {
  return std::to_string(std::max<int64_t>(since, firstTableOpset)) + "+";
}

void printRow(raw_ostream &os, ArrayRef<std::string> cells) {
  for (const std::string &cell : cells)
    os << "| " << cell << (cell.empty() ? "" : " ");
  os << "|\n";
}

/// Returns whether the operator of a row, whose domain may stand before its name, has a host
/// kernel.
bool hasHostKernel(StringRef op) {
  auto [domain, name] = op.rsplit('.');
  return !(name.empty() ? hostKernelOf("", op) : hostKernelOf(domain, name)).empty();
}

void printFamily(raw_ostream &os, StringRef title, ArrayRef<OpRow> rows) {
  os << "\n## " << title << "\n\n| operator | opsets | runs as | limits of generated code |\n"
     << "|---|---|---|---|\n";
  std::map<std::string, StringRef> limits;
  for (const OpRow &row : rows)
    if (StringRef &text = limits[row.op.str()]; !row.limits.empty())
      text = row.limits;
  for (const auto &[op, text] : limits)
    printRow(
        os, {op, printOpsets(findRows(op)), hasHostKernel(op) ? "code, host" : "code", text.str()});
}

/// The operators of a domain that only a host kernel runs.
void printHostOnly(raw_ostream &os, StringRef domain) {
  os << "\n| operator | " << (domain.empty() ? "opsets" : "since version") << " | limits |\n"
     << "|---|---|---|\n";
  std::map<std::string, const HostSignature *> sorted;
  for (const HostSignature &row : hostSignatures()) {
    StringRef name = row.kernel;
    // A prefix distinguishes them from operators of the same name in the standard domain.
    if (domain == "com.microsoft" && name.size() > 2 && isUpper(name[2]))
      name.consume_front("Ms");
    if (row.domain == domain &&
        findRows(domain.empty() ? name.str() : (domain + "." + name).str()).empty())
      sorted[name.str()] = &row;
  }
  for (const auto &[name, row] : sorted) {
    std::string limits;
    if (domain == "com.microsoft" && !row->unread.empty())
      limits = "no " + join(split(row->unread, ' '), ", ");
    printRow(os,
             {name, domain.empty() ? printSince(row->since) : std::to_string(row->since), limits});
  }
}

} // namespace
} // namespace atc::onnx_import

void atc::printOnnxSupport(raw_ostream &os) {
  using namespace atc::onnx_import;
  os << "# ONNX operators\n\n"
     << "The operators that the importer accepts: the standard domain (`ai.onnx`, opset "
     << oldestOpset << " to " << latestOpset << "),\n`ai.onnx.ml` and those of `com.microsoft` "
     << "that exporters write. This page is printed by\n`atc-translate --onnx-support`.\n\n"
     << "A node runs in one of two ways. *Generated code* (`code`) has its shapes built in and is\n"
     << "the fast one. A *host kernel* (`host`) takes values of any shape. An operator with both "
        "is\n"
     << "generated code where the shapes of its inputs are fixed, their element types are among\n"
     << "those below and the limits in its row hold; else it is a host kernel. Nothing has to be\n"
     << "chosen, and one model can mix both.\n\n"
     << "- Element types of generated code: float, float16, bfloat16, double, int8 to int64, "
        "uint8\n"
     << "  to uint64, bool. Host kernels also take, where ONNX allows them for the operator, the\n"
     << "  float8 types, float4e2m1, int4, uint4, int2, uint2, complex64, complex128 and strings.\n"
     << "- Dims may stay dynamic: one compiled model then serves all sizes, with host kernels and\n"
     << "  generated code whose sizes are known at run time. `--input_shape` fixes them, which is\n"
     << "  faster. Arithmetic on shapes that are known is resolved while importing.\n"
     << "- Inputs and outputs can be tensors, sequences, optionals and maps.\n"
     << "- \"7+\" holds for opsets 1 to 6 too where the operator had the same form. An operator "
        "in\n"
     << "  a model of an older opset than its first one is taken by its first form.\n"
     << "- What decides a shape and is not known at compile time is taken from the shapes that\n"
     << "  the model declares for its tensors, where these leave no choice (Reshape, Expand,\n"
     << "  Squeeze, Unsqueeze, Tile, ConstantOfShape, Split, ReduceSum, OneHot, Range, Slice,\n"
     << "  Resize by sizes), with a warning; else a host kernel finds the shape at run time.\n"
     << "- A model with other operators is refused with one list of them all. Only the nodes\n"
     << "  that the outputs need count: `--out_nodes` can cut off what is not supported.\n"
     << "- A model of a newer opset is read by the rules of opset " << latestOpset
     << ", with a warning.\n";
  for (const OpFamily &family : opFamilies())
    printFamily(os, family.title, family.rows);

  os << "\n## Control flow\n\n| operator | opsets | limits |\n|---|---|---|\n"
     << "| If | 7+ | |\n"
     << "| Loop | 7+ | |\n"
     << "| Scan | 8+ | opset 8 without sequence_lens |\n"
     << "| SequenceMap | 17+ | |\n"
     << "| FlexAttention (`ai.onnx.preview`) | all | |\n"
     << "| functions of the model | all | at most 64 inside each other |\n"
     << "| GreedySearch, Sampling (`com.microsoft`) | 13+ | a decoder of the form of GPT-2, in the "
        "main graph; no output `filtered_logits` |\n"
     << "| BeamSearch, WhisperBeamSearch (`com.microsoft`) | 13+ | GPT-2, T5 or Whisper, in the "
        "main graph; no logits_processor, cross_qk and extra_decoding_ids |\n\n"
     << "An If whose condition is known while importing becomes the branch that it takes. "
        "Branches\n"
     << "and bodies read the tensors of the graphs around them, and what has fixed shapes inside\n"
     << "them is generated code.\n"
     << "\n## Host kernels only\n\n"
     << "Scatter of opsets 9 and 10 is taken for ScatterElements.\n";
  printHostOnly(os, "");
  os << "\n## ai.onnx.ml\n\nHost kernels.\n";
  printHostOnly(os, "ai.onnx.ml");
  os << "\n## com.microsoft\n\nHost kernels. An attribute that a row excludes is refused where a "
        "model has it.\n";
  printHostOnly(os, "com.microsoft");
  auto print = [&](StringRef domain) {
    StringRef separator = " ";
    for (const KnownFunction &function : knownFunctions())
      if (function.domain == domain) {
        os << separator << '`' << function.op << '`';
        separator = ", ";
      }
    os << ".\n";
  };
  os << "\nThese are imported as the standard operators that they consist of (the integers of "
        "DynamicQuantizeLSTM\nand QMoE in f32; every expert of a mixture computes all tokens):";
  print("com.microsoft");
  os << "\nThe same holds for these, which were once tried in the standard domain\nor "
        "(BatchMultiClassNMS, also of mmdeploy) are added to it for the Ascend toolchain:";
  print("");
}

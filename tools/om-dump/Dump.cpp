//===-- Dump.cpp - lists what is inside an .om file -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-dump/Dump.h"

#include "npu/isa/Codec.h"
#include "npu/isa/Disassemble.h"
#include "openatc/om.h"
#include "support/ModelText.h"
#include "tools/common/Print.h"
#include "tools/om-dump/Fields.h"
#include "tools/om-dump/GearListing.h"
#include "tools/om-dump/HostListing.h"

#include <cstdio>

using namespace atc;
using namespace atc::tools;
namespace fb = atc::om::fb;
using Json = nlohmann::ordered_json;

namespace {

template <typename Bytes> std::string hexText(const Bytes &bytes) {
  std::string hex;
  char digits[3];
  for (const uint8_t byte : bytes) {
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    hex += digits;
  }
  return hex;
}

std::string typeOf(const fb::Tensor &tensor) {
  return typeText(static_cast<om_dtype>(tensor.dtype()), *tensor.dims());
}

const char *spaceName(fb::Space space) { return fb::EnumNameSpace(space); }

/// "arena+4096 (512)"; inputs and outputs with their position, "input0+0 (512)".
std::string refText(const fb::BufferRef &ref) {
  std::string name = spaceName(ref.space());
  if (ref.space() == fb::Space::input || ref.space() == fb::Space::output)
    name += std::to_string(ref.index());
  return name + "+" + std::to_string(ref.offset()) + " (" + std::to_string(ref.size()) + ")";
}

Json refJson(const fb::BufferRef &ref) {
  return {{"space", spaceName(ref.space())},
          {"index", ref.index()},
          {"offset", ref.offset()},
          {"size", ref.size()}};
}

} // namespace

void Dump::printTensor(const char *indent, const fb::Tensor &tensor) const {
  print(stdout, "%s%s  %s", indent, text(tensor.name()).c_str(), typeOf(tensor).c_str());
  if (tensor.block())
    print(stdout, "  blocked by %u", tensor.block());
  print(stdout, "  strides %s  %s\n", dimsText(*tensor.strides()).c_str(),
        refText(*tensor.place()).c_str());
}

void Dump::printEnds(const char *title, const flatbuffers::Vector<uint32_t> &list) const {
  print(stdout, "\n%s\n", title);
  for (uint32_t index : list) {
    const fb::Tensor &tensor = *model.tensors()->Get(index);
    print(stdout, "  %s  %s  %s\n", text(tensor.name()).c_str(), typeOf(tensor).c_str(),
          bytesText(tensor.place()->size()).c_str());
  }
}

std::string Dump::disassembly(const char *file) const {
  std::string lines;
  if (!model.npu_programs())
    return lines;
  for (const fb::NpuProgram *program : *model.npu_programs()) {
    const char *code =
        file + model.segments()->Get(program->segment())->offset() + program->offset();
    atc::npu::Program decoded;
    std::string errorText;
    if (atc::npu::decode(reinterpret_cast<const uint8_t *>(code), program->size(), decoded,
                         errorText))
      lines += "\n" + atc::npu::disassemble(decoded, text(program->name()));
    else
      lines += "\nprogram `" + text(program->name()) + "` cannot be decoded: " + errorText + "\n";
  }
  return lines;
}

void Dump::printPrograms() const {
  if (!model.npu_programs() || model.npu_programs()->size() == 0)
    return;
  print(stdout, "\nNPU programs for %s%s\n", text(model.soc()).c_str(),
        model.soc_table() && model.soc_table()->size() ? " (with its table)" : "");
  for (uint32_t i = 0; i < model.npu_programs()->size(); ++i) {
    const fb::NpuProgram &program = *model.npu_programs()->Get(i);
    print(stdout, "  %u  %s  segment %u+%llu (%s)  %s cores %s  buffers %s\n", i,
          text(program.name()).c_str(), program.segment(),
          static_cast<unsigned long long>(program.offset()), bytesText(program.size()).c_str(),
          program.vector_core() ? "vector" : "cube", dimsText(*program.grid()).c_str(),
          dimsText(*program.arguments()).c_str());
  }
}

/// "image f32[1,3,8,8], other f32[4]"
std::string Dump::tensorTexts(const flatbuffers::Vector<uint32_t> &list) const {
  std::string texts;
  for (uint32_t index : list) {
    const fb::Tensor &tensor = *model.tensors()->Get(index);
    texts += (texts.empty() ? "" : ", ") + text(tensor.name()) + " " + typeOf(tensor);
  }
  return texts.empty() ? "-" : texts;
}

template <typename Launch>
void Dump::printLaunch(uint32_t index, const Launch &launch, const char *unit,
                       const std::string &code) const {
  print(stdout, "  %u  %s  %s  %s  %s -> %s", index, unit, text(launch.name()).c_str(),
        code.c_str(), tensorTexts(*launch.reads()).c_str(), tensorTexts(*launch.writes()).c_str());
  if (showPlaces)
    for (const fb::BufferRef *ref : *launch.args())
      print(stdout, " %s", refText(*ref).c_str());
}

void Dump::printNpuLaunch(uint32_t index, const fb::NpuLaunch &launch) const {
  char work[64];
  std::snprintf(work, sizeof(work), "  %.3f MMAC%s", static_cast<double>(launch.macs()) * 1e-6,
                launch.chained() ? "  chained" : "");
  printLaunch(index, launch, "npu",
              "program " + text(model.npu_programs()->Get(launch.program())->name()) + work);
  if (showPlaces && launch.prefetch()->size()) {
    print(stdout, "  prefetch");
    for (const fb::BufferRef *ref : *launch.prefetch())
      print(stdout, " %s", refText(*ref).c_str());
  }
  print(stdout, "\n");
}

void Dump::printSchedule() const {
  uint64_t cost = 0;
  for (const fb::Step *step : *model.schedule())
    cost += step->what_as_Launch() ? step->what_as_Launch()->cost()
                                   : 2 * step->what_as_NpuLaunch()->macs();
  print(stdout, "\nschedule: %u launches of %u kernels", model.schedule()->size(),
        model.kernels()->size());
  if (model.npu_programs())
    print(stdout, " and %u NPU programs", model.npu_programs()->size());
  print(stdout, ", %.3f GFLOP\n", static_cast<double>(cost) * 1e-9);
  for (uint32_t i = 0; i < model.schedule()->size(); ++i) {
    if (const fb::NpuLaunch *npu = model.schedule()->Get(i)->what_as_NpuLaunch()) {
      printNpuLaunch(i, *npu);
      continue;
    }
    const fb::Launch &launch = *model.schedule()->Get(i)->what_as_Launch();
    char work[64];
    std::snprintf(work, sizeof(work), "  %.3f MFLOP", static_cast<double>(launch.cost()) * 1e-6);
    printLaunch(i, launch, "cpu", "kernel " + text(model.kernels()->Get(launch.kernel())) + work);
    print(stdout, "\n");
  }
}

void Dump::show() const {
  print(stdout, "%-14s%s\n", "file", path.c_str());
  print(stdout, "%-14s%s\n", "model", text(model.name()).c_str());
  print(stdout, "%-14s%u.%u\n", "schema", unsigned(model.schema_major()),
        unsigned(model.schema_minor()));
  print(stdout, "%-14s%s\n", "producer", text(model.producer()).c_str());
  print(stdout, "%-14s%s\n", "command line", text(model.command_line()).c_str());
  print(stdout, "%-14s%s\n", "target", text(model.target()).c_str());
  print(stdout, "%-14s%s\n", "file size", bytesText(model.file_size()).c_str());
  print(stdout, "%-14s%s\n", "arena", bytesText(model.arena_size()).c_str());
  if (model.metadata())
    for (const fb::Metadata *fact : *model.metadata())
      print(stdout, "%-14s%s: %s\n", "metadata", text(fact->key()).c_str(),
            text(fact->value()).c_str());

  if (signature)
    print(stdout,
          "%-14sEd25519, not checked here: om-sign verify does\n  key         %s\n"
          "  signature   %s\n",
          "signed", hexText(signature->key.bytes).c_str(), hexText(signature->signature).c_str());
  else
    print(stdout, "%-14sno\n", "signed");

  print(stdout, "\nsegments (hashes verified)\n");
  for (uint32_t i = 0; i < model.segments()->size(); ++i) {
    const fb::Segment &segment = *model.segments()->Get(i);
    print(stdout, "  %u  %-7s  offset %llu  size %llu (%s)  hash %016llx\n", i,
          fb::EnumNameSegmentKind(segment.kind()),
          static_cast<unsigned long long>(segment.offset()),
          static_cast<unsigned long long>(segment.size()), bytesText(segment.size()).c_str(),
          static_cast<unsigned long long>(segment.hash()));
    if (signature && segment.digest())
      print(stdout, "     BLAKE2b-256 %s\n", hexText(*segment.digest()->bytes()).c_str());
  }
  if (model.gears()) {
    printLines(stdout, atc::tools::gearText(model));
  } else {
    printEnds(model.host() ? "inputs of static parts" : "inputs", *model.inputs());
    printEnds(model.host() ? "outputs of static parts" : "outputs", *model.outputs());
  }
  print(stdout, "\ncode images\n");
  for (const fb::CodeImage *image : *model.images()) {
    print(stdout, "  %s (%s)  segment %u  scratch %s per thread\n    features:",
          text(image->level()).c_str(), text(image->arch()).c_str(), image->segment(),
          bytesText(image->scratch_bytes()).c_str());
    for (const flatbuffers::String *feature : *image->features())
      print(stdout, " %s", text(feature).c_str());
    print(stdout, "\n");
  }
  if (showPlaces) {
    print(stdout, "\ntensors\n");
    for (const fb::Tensor *tensor : *model.tensors())
      printTensor("  ", *tensor);
  }
  printPrograms();
  printSchedule();
  printLines(stdout, hostText(model));
}

Json Dump::segmentsJson() const {
  Json list = Json::array();
  for (const fb::Segment *segment : *model.segments()) {
    list.push_back({{"kind", fb::EnumNameSegmentKind(segment->kind())},
                    {"offset", segment->offset()},
                    {"size", segment->size()},
                    {"hash", segment->hash()},
                    {"in_parts", segment->in_parts()},
                    {"digest", nullptr}});
    if (signature && segment->digest())
      list.back()["digest"] = hexText(*segment->digest()->bytes());
  }
  return list;
}

Json Dump::tensorsJson() const {
  Json list = Json::array();
  for (const fb::Tensor *tensor : *model.tensors())
    list.push_back({{"name", tensor->name()->str()},
                    {"dtype", om_dtype_name(static_cast<om_dtype>(tensor->dtype()))},
                    {"dims", listOf(*tensor->dims())},
                    {"block", tensor->block()},
                    {"strides", listOf(*tensor->strides())},
                    {"place", refJson(*tensor->place())}});
  return list;
}

Json Dump::imagesJson() const {
  Json list = Json::array();
  for (const fb::CodeImage *image : *model.images()) {
    Json features = Json::array();
    for (const flatbuffers::String *feature : *image->features())
      features.push_back(feature->str());
    list.push_back({{"arch", image->arch()->str()},
                    {"level", image->level()->str()},
                    {"features", features},
                    {"segment", image->segment()},
                    {"entries", listOf(*image->entries())},
                    {"tasks", listOf(*image->tasks())},
                    {"scratch_bytes", image->scratch_bytes()}});
  }
  return list;
}

Json Dump::programsJson() const {
  Json list = Json::array();
  for (const fb::NpuProgram *program : *model.npu_programs())
    list.push_back({{"name", program->name()->str()},
                    {"segment", program->segment()},
                    {"offset", program->offset()},
                    {"size", program->size()},
                    {"vector_core", program->vector_core()},
                    {"grid", listOf(*program->grid())},
                    {"arguments", listOf(*program->arguments())}});
  return list;
}

static Json refsJson(const flatbuffers::Vector<const fb::BufferRef *> &refs) {
  Json list = Json::array();
  for (const fb::BufferRef *ref : refs)
    list.push_back(refJson(*ref));
  return list;
}

Json Dump::scheduleJson() const {
  Json list = Json::array();
  for (const fb::Step *step : *model.schedule()) {
    if (const fb::NpuLaunch *npu = step->what_as_NpuLaunch()) {
      list.push_back({{"kind", "npu_launch"},
                      {"name", npu->name()->str()},
                      {"program", npu->program()},
                      {"macs", npu->macs()},
                      {"chained", npu->chained()},
                      {"args", refsJson(*npu->args())},
                      {"prefetch", refsJson(*npu->prefetch())},
                      {"reads", listOf(*npu->reads())},
                      {"writes", listOf(*npu->writes())}});
      continue;
    }
    const fb::Launch &launch = *step->what_as_Launch();
    Json args = refsJson(*launch.args());
    list.push_back({{"kind", "launch"},
                    {"name", launch.name()->str()},
                    {"kernel", launch.kernel()},
                    {"cost", launch.cost()},
                    {"args", args},
                    {"reads", listOf(*launch.reads())},
                    {"writes", listOf(*launch.writes())}});
  }
  return list;
}

Json Dump::json() const {
  Json out = {{"file", path},
              {"model", model.name()->str()},
              {"schema", {{"major", model.schema_major()}, {"minor", model.schema_minor()}}},
              {"producer", model.producer()->str()},
              {"command_line", model.command_line()->str()},
              {"target", model.target()->str()},
              {"file_bytes", model.file_size()},
              {"arena_bytes", model.arena_size()},
              {"inputs", listOf(*model.inputs())},
              {"outputs", listOf(*model.outputs())},
              {"signature", nullptr}};
  if (signature)
    out["signature"] = {{"algorithm", "Ed25519"},
                        {"key", hexText(signature->key.bytes)},
                        {"signature", hexText(signature->signature)}};
  out["segments"] = segmentsJson();
  out["tensors"] = tensorsJson();
  out["kernels"] = Json::array();
  for (const flatbuffers::String *kernel : *model.kernels())
    out["kernels"].push_back(kernel->str());
  out["images"] = imagesJson();
  out["schedule"] = scheduleJson();
  if (model.npu_programs()) {
    out["soc"] = model.soc() ? model.soc()->str() : "";
    out["soc_table"] = model.soc_table() ? model.soc_table()->str() : "";
    out["npu_programs"] = programsJson();
  }
  if (model.metadata())
    for (const fb::Metadata *fact : *model.metadata())
      out["metadata"][fact->key()->str()] = fact->value()->str();
  if (model.host())
    out["host"] = atc::tools::hostJson(model);
  if (model.gears())
    out["gears"] = atc::tools::gearJson(model);
  return out;
}

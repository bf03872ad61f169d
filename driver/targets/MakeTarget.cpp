//===-- MakeTarget.cpp - finds the target that a user asks for ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/targets/MakeTarget.h"

#include "driver/targets/NpuTarget.h"
#include "support/NearestName.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace atc::driver {

namespace {

struct Soc {
  npu::SocTable table;
  bool isOwn = false; ///< not a built-in table
};

/// Returns the names of all chips that models can be compiled for.
std::vector<std::string> listSocs() {
  std::vector<std::string> names;
  for (const npu::SocTable &table : npu::allSocs())
    names.push_back(table.name);
  for (const npu::RelatedSoc &soc : npu::relatedSocs())
    if (soc.base)
      names.push_back(soc.name);
  return names;
}

std::string socNames() { return join(listSocs(), ", "); }

void reportUnknownSoc(const std::string &name, Diagnostics &diagnostics) {
  for (const npu::RelatedSoc &soc : npu::relatedSocs())
    if (name == soc.name) {
      diagnostics.error("E10055", "--soc_version=" + name +
                                      " is not supported: there is no table of this chip; "
                                      "compile for one of " +
                                      socNames() + ", or describe it with --soc_file");
      return;
    }
  diagnostics.error("E10001", "the value \"" + name +
                                  "\" of --soc_version is invalid: it must be one of " +
                                  socNames() + didYouMean(name, listSocs()));
}

/// Returns why no programs can be compiled for an NPU that the simulator can model.
std::vector<std::string> listObstacles(const npu::SocTable &table) {
  std::vector<std::string> obstacles;
  // Programs of the vector queue keep 4096 bytes for masks and partial results.
  constexpr uint64_t minUbBytes = 16384;
  if (table.ubBytes < minUbBytes)
    obstacles.push_back("`ubBytes` is " + std::to_string(table.ubBytes) +
                        ", but compiled programs need at least " + std::to_string(minUbBytes));
  if (table.split && !table.vectorCores)
    obstacles.push_back("`vectorCores` is 0, but with `split = 1` compiled programs need at least "
                        "one vector core");
  // Tiles lie at multiples of a block of 32 bytes, or of a fractal of 16 rows of one block.
  const struct {
    const char *key;
    uint64_t given, max;
  } alignments[] = {{"l1Align", table.l1Align, 32},
                    {"l0Align", table.l0Align, 512},
                    {"l0cAlign", table.l0cAlign, 512},
                    {"ubAlign", table.ubAlign, 32}};
  for (const auto &[key, given, max] : alignments)
    if (given > max)
      obstacles.push_back("`" + std::string(key) + "` is " + std::to_string(given) +
                          ", but compiled programs place tiles at multiples of " +
                          std::to_string(max) + " bytes");
  return obstacles;
}

/// Returns the built-in table that the request names, with the changes of its file; nothing
/// after an error.
std::optional<Soc> findSoc(const TargetRequest &request, Diagnostics &diagnostics) {
  Soc soc;
  if (request.soc) {
    const npu::SocTable *known = npu::findSoc(*request.soc);
    if (!known) {
      reportUnknownSoc(*request.soc, diagnostics);
      return std::nullopt;
    }
    soc.table = *known;
  }
  if (request.socFile) {
    if (!sys::fs::exists(*request.socFile)) {
      diagnostics.error("E10410",
                        "the file \"" + *request.socFile + "\" of --soc_file does not exist");
      return std::nullopt;
    }
    std::vector<std::string> errors = npu::readSocFile(*request.socFile, soc.table);
    if (errors.empty())
      errors = listObstacles(soc.table);
    for (const std::string &error : errors)
      diagnostics.error("E10001", "the file of --soc_file is invalid: " + error);
    if (!errors.empty())
      return std::nullopt;
    soc.isOwn = true;
  }
  return soc;
}

/// Reports whether the request names an NPU, and why where it must not or has to.
bool namesNpu(const TargetRequest &request, Diagnostics &diagnostics) {
  const bool names = request.soc || request.socFile;
  if (request.target == "npu" && !names)
    diagnostics.error("E10007",
                      "--soc_version is required with --target=npu; allowed are " + socNames());
  else if (request.target == "cpu" && names)
    diagnostics.warning("W10055", std::string(request.soc ? "--soc_version" : "--soc_file") +
                                      " has no effect with --target=cpu");
  else if (request.target.empty() && !names)
    diagnostics.error("E10007", "--soc_version is required: it names the NPU to compile for; "
                                "--target=cpu compiles for the CPU of this machine instead; NPUs "
                                "are " +
                                    socNames());
  return names && request.target != "cpu";
}

/// Returns the precision of a mode in bf16, which only some chips have. The range of an f32 and a
/// mantissa at least as long are kept everywhere but in the operands of contractions.
Precision findBf16Precision(StringRef mode, StringRef soc, Diagnostics &diagnostics) {
  if (!soc.starts_with("Ascend910B") && !soc.starts_with("Ascend910_9"))
    diagnostics.error("E10055", "--precision_mode=" + mode + " is not supported by " + soc +
                                    ": only Ascend910B1 to B4 and Ascend910_93 compute in bf16; "
                                    "allow_fp32_to_fp16 and allow_mix_precision_fp16 do the same "
                                    "with f16");
  else
    diagnostics.warning("W10055",
                        "--precision_mode=" + mode +
                            " has the effect of cube_fp16in_fp32out: convolutions and "
                            "matrix products read f16, which is more precise than bf16 but "
                            "ends at 65504, and everything else computes in f32");
  return Precision::CubeFp16InFp32Out;
}

/// Returns the target for CPUs of these levels. It computes in the types of the model, but in f32
/// instead of f16 and bf16; a mode says how it stores weights, and whether products may be in f16.
std::shared_ptr<const Target> makeCpuTarget(const TargetRequest &request,
                                            std::vector<cpu::CpuLevel> levels,
                                            Diagnostics &diagnostics) {
  const std::string mode = request.precision.value_or("");
  const bool isExact = is_contained(
      {"", "must_keep_origin_dtype", "force_fp32", "allow_fp32_to_fp16", "allow_fp32_to_bf16"},
      mode);
  if (!request.clipsWeights)
    diagnostics.warning("W10055", "--is_weight_clip=0 has no effect on a CPU, where weights beyond "
                                  "the range of f16 stay f32");
  if (isExact)
    return std::make_shared<CpuTarget>(std::move(levels), "exact", /*halfProducts=*/false,
                                       /*byteProducts=*/mode != "force_fp32" &&
                                           mode != "must_keep_origin_dtype");
  const std::string storage = StringRef(mode).ends_with("bf16") ? "bf16" : "f16";
  auto target = std::make_shared<CpuTarget>(std::move(levels), storage,
                                            /*halfProducts=*/mode == "force_fp16");
  diagnostics.warning("W10055", "--precision_mode=" + mode +
                                    " stores weights of products and convolutions in " + storage +
                                    (target->computesHalves()
                                         ? " and multiplies in f16 with sums of f32"
                                         : " on a CPU, which computes with them in f32"));
  return target;
}

/// Returns the precision for the NPU `soc`, or the default for a CPU, where that is empty, and
/// after an error.
Precision findPrecision(const TargetRequest &request, StringRef soc, Diagnostics &diagnostics) {
  const std::string mode = request.precision.value_or("force_fp16");
  SmallVector<StringRef> known;
  StringRef(precisionModes).split(known, ',');
  if (!is_contained(known, mode)) {
    diagnostics.error("E10001", "the value \"" + mode +
                                    "\" of --precision_mode is invalid: it must be one of " +
                                    join(known, ", "));
    return Precision::ForceFp16;
  }
  if (soc.empty())
    return Precision::ForceFp16;
  if (StringRef(mode).ends_with("bf16"))
    return findBf16Precision(mode, soc, diagnostics);
  return StringSwitch<Precision>(mode)
      .Case("allow_fp32_to_fp16", Precision::AllowFp32ToFp16)
      .Case("must_keep_origin_dtype", Precision::KeepOrigin)
      .Cases({"cube_fp16in_fp32out", "force_fp32"}, Precision::CubeFp16InFp32Out)
      .Cases({"allow_mix_precision", "allow_mix_precision_fp16"}, Precision::Mixed)
      .Default(Precision::ForceFp16);
}

} // namespace

std::shared_ptr<const Target> makeTarget(const TargetRequest &request, Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  std::optional<Soc> soc;
  if (namesNpu(request, diagnostics))
    soc = findSoc(request, diagnostics);
  const Precision precision = findPrecision(request, soc ? soc->table.name : "", diagnostics);
  auto levels = cpu::parseCpuLevels(request.cpuLevels);
  if (!levels)
    diagnostics.error("E10001",
                      "the value \"" + request.cpuLevels +
                          "\" of --target_cpu is invalid: " + toString(levels.takeError()));
  if (diagnostics.numErrors() != before)
    return nullptr;
  if (!soc)
    return makeCpuTarget(request, std::move(*levels), diagnostics);
  return std::make_shared<NpuTarget>(std::move(soc->table), soc->isOwn, precision,
                                     request.clipsWeights, CpuTarget(std::move(*levels)));
}

} // namespace atc::driver

//===-- Dump.h - lists what is inside an .om file ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMDUMP_DUMP_H
#define OPENATC_TOOLS_OMDUMP_DUMP_H

#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/Signature.h"

#include <nlohmann/json.hpp>
#include <string>

namespace atc::tools {

/// A file whose header and segments have been verified.
class Dump {
public:
  Dump(const om::fb::Model &model, const rt::SignatureBlock *signature, std::string path,
       bool showPlaces)
      : model(model), signature(signature), path(std::move(path)), showPlaces(showPlaces) {}
  /// Prints the file; with `showPlaces` every tensor and the memory of every argument too.
  void show() const;
  /// The instructions of all NPU programs; `file` is where the file begins.
  std::string disassembly(const char *file) const;
  /// Returns all of the file but its data, as `--json` prints it.
  nlohmann::ordered_json json() const;

private:
  nlohmann::ordered_json segmentsJson() const;
  nlohmann::ordered_json tensorsJson() const;
  nlohmann::ordered_json imagesJson() const;
  nlohmann::ordered_json programsJson() const;
  nlohmann::ordered_json scheduleJson() const;
  void printEnds(const char *title, const flatbuffers::Vector<uint32_t> &list) const;
  void printTensor(const char *indent, const om::fb::Tensor &tensor) const;
  void printPrograms() const;
  void printSchedule() const;
  void printNpuLaunch(uint32_t index, const om::fb::NpuLaunch &launch) const;
  std::string tensorTexts(const flatbuffers::Vector<uint32_t> &list) const;
  template <typename Launch>
  void printLaunch(uint32_t index, const Launch &launch, const char *unit,
                   const std::string &code) const;

  const om::fb::Model &model;
  const rt::SignatureBlock *signature; ///< null: not signed
  std::string path;
  bool showPlaces;
};

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMDUMP_DUMP_H

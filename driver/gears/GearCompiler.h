//===-- GearCompiler.h - one file of a static compilation per gear --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each gear goes through a Compiler of its own, with the shapes of the gear as
// --input_shape: it is, launch by launch, what a static compilation makes. The descriptions
// are merged (backends/om/GearMerger.h), and a gear's module is freed before the next one
// is compiled, so that memory does not grow with their number.

#ifndef OPENATC_DRIVER_GEARS_GEARCOMPILER_H
#define OPENATC_DRIVER_GEARS_GEARCOMPILER_H

#include "backends/om/GearMerger.h"
#include "driver/Compiler.h"
#include "driver/gears/GearAxes.h"

namespace atc::driver {

/// Compiles one model with gears. Whatever fails leaves at least one error.
class GearCompiler {
public:
  /// `options.source.inputShapes` is ignored: the request has them. `diagnostics` outlives
  /// the compiler.
  GearCompiler(CompilerOptions options, GearRequest request, Diagnostics &diagnostics)
      : options(std::move(options)), request(std::move(request)), diagnostics(diagnostics) {}
  ~GearCompiler();

  /// Writes the file. After an error it returns false, and there is no file. To be called
  /// once.
  bool emit(om::OmSink &sink);
  bool emitFile(const std::string &path);
  /// Returns the bytes of the file; see Compiler::emitBytes.
  std::optional<::om::Buffer> emitBytes();

  /// Returns sizes of the file and the time of each gear as a stage. `launches`,
  /// `intermediateBytes` and `arenaLowerBound` are those of all gears together, or of the
  /// largest. `placement` is that of the gear with the most work.
  const CompileSummary &summary() const { return compileSummary; }

private:
  bool planPadding();
  bool emitOpen(om::OmSink &sink);
  bool compileGear(size_t gear);
  void report(const Diagnostics &messages, size_t gear);
  bool acceptsGear(const om::OmModel &model, size_t gear);
  std::optional<om::OmGears> describeGears();
  void addToSummary(const CompileSummary &own, size_t gear);

  const CompilerOptions options;
  GearRequest request;
  Diagnostics &diagnostics;
  om::GearMerger merger;
  CompileSummary compileSummary;
  std::vector<std::vector<GearInput>> inputs;            ///< of each gear
  std::optional<std::vector<om::OmGearAxis>> provedAxes; ///< of OM_GEARS_RANGE
  std::string announcement; ///< of OM_GEARS_RANGE: what a warning says once the gears are made
  std::string whyOpen;      ///< of OM_GEARS_RANGE: why there are no gears; empty while there may be
  /// The first gear, whose constants the file's description borrows.
  std::unique_ptr<mlir::MLIRContext> firstContext;
  std::unique_ptr<Compiler> firstCompiler;
  std::optional<EmittedModel> firstEmitted;
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_GEARS_GEARCOMPILER_H

//===-- Compression.h - quantizes while compiling -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_COMPRESSION_H
#define OPENATC_QUANTIZE_COMPRESSION_H

#include "driver/Compiler.h"
#include "quantize/Calibrate.h"

namespace atc::quantize {

/// Returns the Quantize phase of `--compression_optimize_conf=configPath`: it runs the samples that
/// the file names through the imported module and writes scales into its layers. `source` is the
/// model that is compiled; `progress` may be empty.
driver::Quantizer makeQuantizer(std::string configPath, const driver::ModelSource &source,
                                Progress progress);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_COMPRESSION_H

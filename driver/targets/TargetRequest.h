//===-- TargetRequest.h - what a user asks to compile for -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Needs the C++ library alone: the Python package includes it beside Python's headers.

#ifndef OPENATC_DRIVER_TARGETS_TARGETREQUEST_H
#define OPENATC_DRIVER_TARGETS_TARGETREQUEST_H

#include <optional>
#include <string>

namespace atc::driver {

/// A target as the flags of atc describe it. What the user does not set is empty.
struct TargetRequest {
  /// --target: "cpu" or "npu". Empty: an NPU where `soc` or `socFile` names it.
  std::string target = {};
  std::optional<std::string> soc = {};       ///< --soc_version
  std::optional<std::string> socFile = {};   ///< --soc_file
  std::optional<std::string> precision = {}; ///< --precision_mode
  std::string cpuLevels = "host";            ///< --target_cpu
  bool clipsWeights = true; ///< --is_weight_clip: 65504 for weights beyond f16, not infinity
};

/// Every value that --precision_mode_v2 knows, comma-separated; TargetRequest has the name of
/// --precision_mode that means the same. No chip that is simulated has hifloat8.
inline constexpr const char *precisionModesV2 =
    "fp16,origin,cube_fp16in_fp32out,mixed_float16,mixed_bfloat16,cube_hif8,mixed_hif8";

/// Every value that --precision_mode knows, comma-separated; those in bf16 are of some chips only.
inline constexpr const char *precisionModes =
    "force_fp16,force_fp32,cube_fp16in_fp32out,allow_fp32_to_fp16,allow_fp32_to_bf16,"
    "allow_mix_precision,allow_mix_precision_fp16,allow_mix_precision_bf16,must_keep_origin_dtype";

} // namespace atc::driver

#endif // OPENATC_DRIVER_TARGETS_TARGETREQUEST_H

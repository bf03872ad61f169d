//===-- GraphOptions.cpp - the names of options in graph programs ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/GraphOptions.h"

#include <algorithm>
#include <iterator>

namespace atc {

namespace {

struct Named {
  const char *option, *flag;
};

/// Options whose names are not those of flags.
constexpr Named flags[] = {{"ge.socVersion", "soc_version"},
                           {"ge.inputHintShape", "input_hint_shape"},
                           {"ge.dynamicBatchSize", "dynamic_batch_size"},
                           {"ge.dynamicImageSize", "dynamic_image_size"},
                           {"ge.dynamicDims", "dynamic_dims"},
                           {"ge.insertOpFile", "insert_op_conf"},
                           {"ge.exec.precision_mode", "precision_mode"},
                           {"ge.exec.precision_mode_v2", "precision_mode_v2"},
                           {"ge.exec.disableReuseMemory", "disable_reuse_memory"},
                           {"ge.autoTuneMode", "auto_tune_mode"},
                           {"ge.engineType", "core_type"},
                           {"ge.enableSingleStream", "enable_single_stream"},
                           {"ge.aicoreNum", "aicore_num"},
                           {"ge.fusionSwitchFile", "fusion_switch_file"},
                           {"ge.enableSmallChannel", "enable_small_channel"},
                           {"ge.opSelectImplmode", "op_select_implmode"},
                           {"ge.outputDatatype", "output_type"},
                           {"ge.bufferOptimize", "buffer_optimize"},
                           {"ge.enableCompressWeight", "enable_compress_weight"},
                           {"ge.optypelistForImplmode", "optypelist_for_implmode"},
                           {"ge.debugDir", "debug_dir"},
                           {"ge.op_compiler_cache_dir", "op_compiler_cache_dir"},
                           {"ge.op_compiler_cache_mode", "op_compiler_cache_mode"},
                           {"ge.mdl_bank_path", "mdl_bank_path"},
                           {"ge.op_bank_path", "op_bank_path"},
                           {"ge.opDebugLevel", "op_debug_level"},
                           {"ge.exec.modify_mixlist", "modify_mixlist"},
                           {"ge.exec.op_precision_mode", "op_precision_mode"},
                           {"ge.customizeDtypes", "customize_dtypes"},
                           {"ge.shape_generalized_build_mode", "shape_generalized_build_mode"},
                           {"ge.deterministic", "deterministic"},
                           {"ge.oo.level", "oo_level"},
                           {"ge.oo.constantFolding", "oo_constant_folding"},
                           {"ge.oo.deadCodeElimination", "oo_dead_code_elimination"},
                           {"ge.optimizationSwitch", "optimization_switch"},
                           {"ge.externalWeight", "external_weight"},
                           {"ge.enableSparseMatrixWeight", "sparsity"},
                           {"ge.host_env_os", "host_env_os"},
                           {"ge.host_env_cpu", "host_env_cpu"},
                           {"ge.outputNodeName", "out_nodes"},
                           {"ge.virtual_type", "virtual_type"},
                           {"ge.status_check", "status_check"},
                           {"ge.topoSortingMode", "topo_sorting_mode"},
                           {"ge.jit_compile", "jit_compile"},
                           {"ge.exec.allow_hf32", "allow_hf32"},
                           {"ge.exec.atomicCleanPolicy", "atomic_clean_policy"},
                           {"ge.exec.static_model_ops_lower_limit", "static_model_ops_lower_limit"},
                           {"ge.deterministicLevel", "deterministic_level"},
                           {"ge.quant_dumpable", "quant_dumpable"},
                           {"ge.tiling_schedule_optimize", "tiling_schedule_optimize"},
                           {"ge.display_model_info", "display_model_info"},
                           {"ge.is_weight_clip", "is_weight_clip"}};
constexpr const char *sameNames[] = {"input_format",
                                     "input_shape",
                                     "input_shape_range",
                                     "out_nodes",
                                     "input_fp16_nodes",
                                     "log",
                                     "op_name_map",
                                     "is_input_adjust_hw_layout",
                                     "is_output_adjust_hw_layout",
                                     "compress_weight_conf",
                                     "keep_dtype",
                                     "ac_parallel_enable",
                                     "enable_scope_fusion_passes",
                                     "op_debug_config"};
/// Options that say how a graph runs, or on which card; nothing here depends on them.
constexpr const char *withoutMeaning[] = {"ge.exec.deviceId",
                                          "ge.graphRunMode",
                                          "ge.exec.tuneDeviceIds",
                                          "is_dynamic_input",
                                          "output",
                                          "ge.exec.rankId",
                                          "ge.session_device_id",
                                          "ge.exec.jobId",
                                          "ge.exec.isUseHcom",
                                          "ge.exec.enableDump",
                                          "ge.exec.profilingMode",
                                          "ge.variableMemoryMaxSize",
                                          "ge.graphMemoryMaxSize"};

template <size_t count> bool isOneOf(const char *const (&names)[count], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

} // namespace

std::optional<std::string> flagOfGraphOption(std::string_view option) {
  for (const Named &row : flags)
    if (option == row.option || option == row.flag)
      return row.flag;
  if (isOneOf(sameNames, option))
    return std::string(option);
  if (isOneOf(withoutMeaning, option))
    return "";
  return std::nullopt;
}

} // namespace atc

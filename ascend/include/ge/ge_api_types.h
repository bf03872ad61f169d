/*===-- ge/ge_api_types.h - names of options ------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GE_GE_API_TYPES_H
#define OPENATC_GE_GE_API_TYPES_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/tensor.h"

namespace ge {

using Status = uint32_t;

static const char *const PRECISION_MODE = "ge.exec.precision_mode";
static const char *const PRECISION_MODE_V2 = "ge.exec.precision_mode_v2";
static const char *const SOC_VERSION = "ge.socVersion";
static const char *const OPTION_EXEC_DEVICE_ID = "ge.exec.deviceId";
static const char *const OPTION_GRAPH_RUN_MODE = "ge.graphRunMode";

/** Options of aclgrphBuildInitialize and aclgrphBuildModel, each a flag of atc. */
namespace ir_option {
#define OPENATC_IR_OPTION(name, text) static const char *const name = text;
OPENATC_IR_OPTION(INPUT_FORMAT, "input_format")
OPENATC_IR_OPTION(INPUT_SHAPE, "input_shape")
OPENATC_IR_OPTION(INPUT_SHAPE_RANGE, "input_shape_range")
OPENATC_IR_OPTION(INPUT_HINT_SHAPE, "ge.inputHintShape")
OPENATC_IR_OPTION(OP_NAME_MAP, "op_name_map")
OPENATC_IR_OPTION(IS_DYNAMIC_INPUT, "is_dynamic_input")
OPENATC_IR_OPTION(IS_INPUT_ADJUST_HW_LAYOUT, "is_input_adjust_hw_layout")
OPENATC_IR_OPTION(IS_OUTPUT_ADJUST_HW_LAYOUT, "is_output_adjust_hw_layout")
OPENATC_IR_OPTION(OUTPUT, "output")
OPENATC_IR_OPTION(DYNAMIC_BATCH_SIZE, "ge.dynamicBatchSize")
OPENATC_IR_OPTION(DYNAMIC_IMAGE_SIZE, "ge.dynamicImageSize")
OPENATC_IR_OPTION(DYNAMIC_DIMS, "ge.dynamicDims")
OPENATC_IR_OPTION(INSERT_OP_FILE, "ge.insertOpFile")
OPENATC_IR_OPTION(PRECISION_MODE, "ge.exec.precision_mode")
OPENATC_IR_OPTION(PRECISION_MODE_V2, "ge.exec.precision_mode_v2")
OPENATC_IR_OPTION(TUNE_DEVICE_IDS, "ge.exec.tuneDeviceIds")
OPENATC_IR_OPTION(EXEC_DISABLE_REUSED_MEMORY, "ge.exec.disableReuseMemory")
OPENATC_IR_OPTION(AUTO_TUNE_MODE, "ge.autoTuneMode")
OPENATC_IR_OPTION(CORE_TYPE, "ge.engineType")
OPENATC_IR_OPTION(SOC_VERSION, "ge.socVersion")
OPENATC_IR_OPTION(ENABLE_SINGLE_STREAM, "ge.enableSingleStream")
OPENATC_IR_OPTION(AICORE_NUM, "ge.aicoreNum")
OPENATC_IR_OPTION(FUSION_SWITCH_FILE, "ge.fusionSwitchFile")
OPENATC_IR_OPTION(ENABLE_SMALL_CHANNEL, "ge.enableSmallChannel")
OPENATC_IR_OPTION(OP_SELECT_IMPL_MODE, "ge.opSelectImplmode")
OPENATC_IR_OPTION(OUTPUT_TYPE, "ge.outputDatatype")
OPENATC_IR_OPTION(BUFFER_OPTIMIZE, "ge.bufferOptimize")
OPENATC_IR_OPTION(ENABLE_COMPRESS_WEIGHT, "ge.enableCompressWeight")
OPENATC_IR_OPTION(COMPRESS_WEIGHT_CONF, "compress_weight_conf")
OPENATC_IR_OPTION(OUT_NODES, "out_nodes")
OPENATC_IR_OPTION(INPUT_FP16_NODES, "input_fp16_nodes")
OPENATC_IR_OPTION(LOG_LEVEL, "log")
OPENATC_IR_OPTION(OPTYPELIST_FOR_IMPLMODE, "ge.optypelistForImplmode")
OPENATC_IR_OPTION(DEBUG_DIR, "ge.debugDir")
OPENATC_IR_OPTION(OP_COMPILER_CACHE_DIR, "ge.op_compiler_cache_dir")
OPENATC_IR_OPTION(OP_COMPILER_CACHE_MODE, "ge.op_compiler_cache_mode")
OPENATC_IR_OPTION(MDL_BANK_PATH_FLAG, "ge.mdl_bank_path")
OPENATC_IR_OPTION(OP_BANK_PATH_FLAG, "ge.op_bank_path")
OPENATC_IR_OPTION(OP_DEBUG_LEVEL, "ge.opDebugLevel")
OPENATC_IR_OPTION(MODIFY_MIXLIST, "ge.exec.modify_mixlist")
OPENATC_IR_OPTION(OP_PRECISION_MODE, "ge.exec.op_precision_mode")
OPENATC_IR_OPTION(CUSTOMIZE_DTYPES, "ge.customizeDtypes")
OPENATC_IR_OPTION(SHAPE_GENERALIZED_BUILD_MODE, "ge.shape_generalized_build_mode")
OPENATC_IR_OPTION(DETERMINISTIC, "ge.deterministic")
OPENATC_IR_OPTION(OO_LEVEL, "ge.oo.level")
OPENATC_IR_OPTION(OO_CONSTANT_FOLDING, "ge.oo.constantFolding")
OPENATC_IR_OPTION(OO_DEAD_CODE_ELIMINATION, "ge.oo.deadCodeElimination")
OPENATC_IR_OPTION(OPTIMIZATION_SWITCH, "ge.optimizationSwitch")
OPENATC_IR_OPTION(EXTERNAL_WEIGHT, "ge.externalWeight")
OPENATC_IR_OPTION(SPARSITY, "ge.enableSparseMatrixWeight")
OPENATC_IR_OPTION(OPTION_HOST_ENV_OS, "ge.host_env_os")
OPENATC_IR_OPTION(OPTION_HOST_ENV_CPU, "ge.host_env_cpu")
#undef OPENATC_IR_OPTION
} // namespace ir_option

} // namespace ge

#endif

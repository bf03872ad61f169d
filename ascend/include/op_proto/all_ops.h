/*===-- op_proto/all_ops.h ----------------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_ALL_OPS_H
#define OPENATC_OP_PROTO_ALL_OPS_H

#include "array_ops.h"
#include "elewise_calculation_ops.h"
#include "functional_ops.h"
#include "image_ops.h"
#include "matrix_calculation_ops.h"
#include "nn_batch_norm_ops.h"
#include "nn_calculation_ops.h"
#include "nn_detect_ops.h"
#include "nn_norm_ops.h"
#include "nn_other.h"
#include "nn_pooling_ops.h"
#include "nonlinear_fuc_ops.h"
#include "pad_ops.h"
#include "quantize_ops.h"
#include "reduce_ops.h"
#include "rnn.h"
#include "selection_ops.h"
#include "split_combination_ops.h"
#include "transformation_ops.h"

#endif

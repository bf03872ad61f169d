/*===-- op_proto/nn_detect_ops.h ---------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_NN_DETECT_OPS_H
#define OPENATC_OP_PROTO_NN_DETECT_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(ROIAlign)
    .INPUT(features, TensorType::ALL())
    .INPUT(rois, TensorType::ALL())
    .OPTIONAL_INPUT(rois_n, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(spatial_scale, Float)
    .REQUIRED_ATTR(pooled_height, Int)
    .REQUIRED_ATTR(pooled_width, Int)
    .ATTR(sample_num, Int, 2)
    .ATTR(roi_end_mode, Int, 1)
    .OP_END_FACTORY_REG(ROIAlign);
REG_OP(BatchMultiClassNonMaxSuppression)
    .INPUT(boxes, TensorType::ALL())
    .INPUT(scores, TensorType::ALL())
    .OPTIONAL_INPUT(clip_window, TensorType::ALL())
    .OPTIONAL_INPUT(num_valid_boxes, TensorType::ALL())
    .OUTPUT(nmsed_boxes, TensorType::ALL())
    .OUTPUT(nmsed_scores, TensorType::ALL())
    .OUTPUT(nmsed_classes, TensorType::ALL())
    .OUTPUT(nmsed_num, TensorType::ALL())
    .REQUIRED_ATTR(score_threshold, Float)
    .REQUIRED_ATTR(iou_threshold, Float)
    .REQUIRED_ATTR(max_size_per_class, Int)
    .REQUIRED_ATTR(max_total_size, Int)
    .ATTR(change_coordinate_frame, Bool, false)
    .ATTR(transpose_box, Bool, false)
    .ATTR(image_size, ListInt, {})
    .OP_END_FACTORY_REG(BatchMultiClassNonMaxSuppression);
REG_OP(ShuffleChannel)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(group, Int, 1)
    .OP_END_FACTORY_REG(ShuffleChannel);
REG_OP(PixelShuffle)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(upscale_factor, Int, 1)
    .OP_END_FACTORY_REG(PixelShuffle);
REG_OP(Roll)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(shifts, ListInt)
    .ATTR(dims, ListInt, {})
    .OP_END_FACTORY_REG(Roll);

} // namespace ge

#endif

/*===-- op_proto/image_ops.h -------------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_OP_PROTO_IMAGE_OPS_H
#define OPENATC_OP_PROTO_IMAGE_OPS_H

#include "graph/operator_reg.h"

namespace ge {

REG_OP(Crop)
    .INPUT(x, TensorType::ALL())
    .INPUT(size, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axis, Int, 2)
    .REQUIRED_ATTR(offsets, ListInt)
    .OP_END_FACTORY_REG(Crop);
REG_OP(ResizeArea)
    .INPUT(images, TensorType::ALL())
    .INPUT(size, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(align_corners, Bool, false)
    .OP_END_FACTORY_REG(ResizeArea);
REG_OP(ResizeBicubic)
    .INPUT(images, TensorType::ALL())
    .INPUT(size, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(align_corners, Bool, false)
    .ATTR(half_pixel_centers, Bool, false)
    .OP_END_FACTORY_REG(ResizeBicubic);
REG_OP(ResizeBilinear)
    .INPUT(images, TensorType::ALL())
    .INPUT(size, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(align_corners, Bool, false)
    .OP_END_FACTORY_REG(ResizeBilinear);
REG_OP(ResizeBilinearV2)
    .INPUT(x, TensorType::ALL())
    .INPUT(size, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(align_corners, Bool, false)
    .ATTR(half_pixel_centers, Bool, false)
    .OP_END_FACTORY_REG(ResizeBilinearV2);
REG_OP(ResizeBilinearV2D)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(size, ListInt)
    .ATTR(align_corners, Bool, false)
    .ATTR(half_pixel_centers, Bool, false)
    .OP_END_FACTORY_REG(ResizeBilinearV2D);
REG_OP(ResizeNearestNeighborV2)
    .INPUT(x, TensorType::ALL())
    .INPUT(size, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(align_corners, Bool, false)
    .ATTR(half_pixel_centers, Bool, false)
    .OP_END_FACTORY_REG(ResizeNearestNeighborV2);
REG_OP(ResizeNearestNeighborV2D)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(size, ListInt)
    .ATTR(align_corners, Bool, false)
    .ATTR(half_pixel_centers, Bool, false)
    .OP_END_FACTORY_REG(ResizeNearestNeighborV2D);

} // namespace ge

#endif

//===-- ImageOps.td - pixels of cameras --------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_OPS_IMAGEOPS_TD
#define OPENATC_GRAPH_OPS_IMAGEOPS_TD

include "dialects/graph/GraphAttrs.td"
include "dialects/graph/GraphInterfaces.td"

def Graph_PreprocessOp : Graph_Op<"preprocess"> {
  let summary = "Converts pixels of cameras to the values of a model";
  let description = [{
    `image` is ui8: pixels [N][H][W][planes], or with `semi_planar` [N][H * 3/2][W][1],
    H rows of luma before H/2 rows of interleaved chroma, each pair for 2 x 2
    pixels. Plane i of the conversion is plane `planes[i]` of the image. The
    result [N][C][h][w] is the window `crop` = [top, left, h, w] of the first C
    planes, C <= size of `planes`, in f32, rounded once to the result's type:

    - with `matrix` (rows of 3 by 3), plane i < 3 first becomes
      clamp(floor(sum over j of matrix[i][j] * (plane j - before[j]) / 256) +
      after[i], 0, 255), computed exactly;
    - then each becomes ((x - means[i]) - mins[i]) * factors[i], every operation
      rounded to f32.

    Made for AIPP files. `graph-expand-preprocessing` turns it into slices, maps
    and a concat, except where a convolution of the NPU reads pixels itself.
  }];
  let arguments = (ins AnyRankedTensor:$image, UnitAttr:$semi_planar, DenseI64ArrayAttr:$crop,
                       DenseI64ArrayAttr:$planes, OptionalAttr<DenseI64ArrayAttr>:$matrix,
                       OptionalAttr<DenseI64ArrayAttr>:$before,
                       OptionalAttr<DenseI64ArrayAttr>:$after, DenseF32ArrayAttr:$means,
                       DenseF32ArrayAttr:$mins, DenseF32ArrayAttr:$factors);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

#endif // OPENATC_GRAPH_OPS_IMAGEOPS_TD

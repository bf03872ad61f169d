// RUN: atc-opt %s --npu-expand-conv2d --split-input-file --verify-diagnostics | FileCheck %s

// A window: weights stay in l1, rows of the image come with their edge, results leave through ub.
// CHECK-LABEL: npu.program @conv
// CHECK-SAME: grid(%{{.*}} = 1, %{{.*}} = 4, %{{.*}} = 1) soc "Ascend310P3"
// CHECK: %[[B:.*]] = npu.alloc : <l1, 73728>
// CHECK: npu.move %[[B]]
// CHECK: npu.loop %{{.*}} = 2 {
// CHECK: %[[A:.*]] = npu.alloc : <l1, 64512>
// CHECK: npu.move %[[A]], {{.*}} outer = #npu.range<4 below 4>
// CHECK: %[[C:.*]] = npu.alloc : <l0c, 102400>
// CHECK: npu.loop %{{.*}} = 18 {
// CHECK: npu.img2col {{.*}} pad_left = 1 : i64, pad_top = 1
// CHECK: npu.load2d
// CHECK: npu.mmad %[[C]], {{.*}} first = array<i64:
// CHECK: }
// CHECK: npu.move_l0c {{.*}} relu
// CHECK: npu.move %{{.*}} <gm, 401408>, <ub
func.func private @conv(%in: memref<1x4x56x56x16xf16>, %w: memref<1x36x4x16x16xf16>, %out: memref<1x4x56x56x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w outs %out {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, activation = #graph.activation<relu>,
    tile = #npu.tile<m = 392, n = 64, k = 32, l1_m = 392, l1_n = 64, l1_k = 576, cores_m = 4, cores_n = 1, order = "rhs">}
    : memref<1x4x56x56x16xf16>, memref<1x36x4x16x16xf16>, memref<1x4x56x56x16xf16>
  return
}

// -----

// 1x1: no img2col; a residual is moved to ub and added there.
// CHECK-LABEL: npu.program @pointwise
// CHECK-NOT: npu.img2col
// CHECK: npu.load2d
// CHECK: %[[R:.*]] = npu.alloc : <ub,
// CHECK: npu.move %[[R]]
// CHECK: npu.move_l0c
// CHECK-NOT: relu
// CHECK: npu.vector "add"
// CHECK: npu.vector "{{relu|max_scalar}}"
func.func private @pointwise(%in: memref<2x4x14x14x16xf16>, %w: memref<1x4x4x16x16xf16>,
    %res: memref<2x4x14x14x16xf16>, %out: memref<2x4x14x14x16xf16>) attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w residual %res outs %out {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, macs = 1, activation = #graph.activation<relu>,
    tile = #npu.tile<m = 208, n = 64, k = 64, l1_m = 208, l1_n = 64, l1_k = 64, cores_m = 2, cores_n = 1, order = "rhs">}
    : memref<2x4x14x14x16xf16>, memref<1x4x4x16x16xf16>, memref<2x4x14x14x16xf16>, memref<2x4x14x14x16xf16>
  return
}

// -----

// Split cores: fix writes to gm.
// CHECK-LABEL: npu.program @split
// CHECK: npu.move_l0c %{{.*}}, %{{.*}} relu
// CHECK-NOT: <ub,
func.func private @split(%in: memref<2x4x14x14x16xf16>, %w: memref<1x4x4x16x16xf16>, %out: memref<2x4x14x14x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend910B1"} {
  npu.conv2d %in, %w outs %out {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, macs = 1, activation = #graph.activation<relu>,
    tile = #npu.tile<m = 208, n = 64, k = 64, l1_m = 208, l1_n = 64, l1_k = 64, cores_m = 2, cores_n = 1, order = "rhs">}
    : memref<2x4x14x14x16xf16>, memref<1x4x4x16x16xf16>, memref<2x4x14x14x16xf16>
  return
}

// -----

// Split cores: FIX multiplies by the scales that are in l1 and stores bytes.
// CHECK-LABEL: npu.program @split_bytes
// CHECK: npu.move %[[S:.*]], %arg3 {{.*}} <l1, 256>, <gm, 256>
// CHECK: npu.requantize %arg4, %{{.*}}, %[[S]] {{.*}} dst_type = ui8
// CHECK-SAME: offset = 3.000000e+00 : f64
// CHECK-NOT: <ub,
func.func private @split_bytes(%in: memref<2x2x14x14x32xi8>, %w: memref<1x2x4x16x32xi8>, %b: memref<64xi32>, %s: memref<64xf32>, %out: memref<2x2x14x14x32xi8>)
    attributes {npu.kernel, npu.soc = "Ascend910B1"} {
  npu.conv2d %in, %w bias %b scales %s outs %out {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, macs = 1, stored = ui8, offset = 3, unsigned_input,
    tile = #npu.tile<m = 208, n = 64, k = 32, l1_m = 208, l1_n = 64, l1_k = 32, cores_m = 2, cores_n = 1, order = "rhs">}
    : memref<2x2x14x14x32xi8>, memref<1x2x4x16x32xi8>, memref<64xi32>, memref<64xf32>, memref<2x2x14x14x32xi8>
  return
}

// -----

func.func private @no_tile(%in: memref<2x4x14x14x16xf16>, %w: memref<1x4x4x16x16xf16>, %out: memref<2x4x14x14x16xf16>)
    attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  // expected-error @below {{cannot become a program for Ascend310P3: it has no tile: npu-select-tiles has not run}}
  npu.conv2d %in, %w outs %out {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 0, 0, 0, 0>, macs = 1} : memref<2x4x14x14x16xf16>, memref<1x4x4x16x16xf16>, memref<2x4x14x14x16xf16>
  return
}

// -----

// Bytes with a residual that is only added: while l0c is left, without numbers of f32 in ub.
// CHECK-LABEL: npu.program @added
// CHECK: npu.move %[[R:.*]], %arg3 {{.*}} <ub, 12544>, <gm, 25088>
// CHECK-NOT: npu.vector
// CHECK: npu.requantize_add %[[Y:.*]], %{{.*}}, %{{.*}}, %[[R]]
// CHECK-SAME: add_relu, addend_factor = 5.000000e-01 : f64, addend_offset = 7.000000e+00 : f64, addend_type = ui8
// CHECK-SAME: dst_type = ui8, factor = 2.500000e-01 : f64
// CHECK-SAME: offset = 1.400000e+02 : f64
// CHECK-SAME: result_factor = 2.000000e+00 : f64, result_offset = 3.000000e+00 : f64
// CHECK-NOT: npu.vector
// CHECK: npu.move %{{.*}}, %[[Y]]
func.func private @added(%in: memref<2x2x14x14x32xi8>, %w: memref<1x2x4x16x32xi8>, %b: memref<64xi32>, %res: memref<2x2x14x14x32xi8>,
    %s: memref<64xf32>, %out: memref<2x2x14x14x32xi8>) attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w bias %b residual %res scales %s outs %out {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, macs = 1, stored = ui8, offset = 140 : i64, factor = 0.25 : f64, unsigned_input,
    tile = #npu.tile<m = 196, n = 64, k = 32, l1_m = 196, l1_n = 64, l1_k = 32, cores_m = 2, cores_n = 1, order = "rhs">}
    : memref<2x2x14x14x32xi8>, memref<1x2x4x16x32xi8>, memref<64xi32>, memref<2x2x14x14x32xi8>, memref<64xf32>, memref<2x2x14x14x32xi8> {
  ^bb0(%x: f32, %r: i8):
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %seven = arith.constant 7.0 : f32
    %half = arith.constant 0.5 : f32
    %two = arith.constant 2.0 : f32
    %three = arith.constant 3.0 : f32
    %0 = arith.uitofp %r : i8 to f32
    %1 = arith.subf %0, %seven : f32
    %2 = arith.mulf %1, %half : f32
    %3 = arith.addf %2, %x : f32
    %4 = arith.maximumf %3, %zero : f32
    %5 = arith.mulf %4, %two : f32
    %6 = math.roundeven %5 : f32
    %7 = arith.addf %6, %three : f32
    %8 = arith.maximumf %7, %zero : f32
    %9 = arith.minimumf %8, %most : f32
    %10 = arith.fptoui %9 : f32 to i8
    npu.yield %10 : i8
  }
  return
}

// -----

// More than an addition is vector code on f32.
// CHECK-LABEL: npu.program @scaled_sum
// CHECK: npu.requantize {{.*}} dst_type = f32
// CHECK: npu.vector "min_scalar"
func.func private @scaled_sum(%in: memref<2x2x14x14x32xi8>, %w: memref<1x2x4x16x32xi8>, %b: memref<64xi32>, %res: memref<2x2x14x14x32xi8>,
    %s: memref<64xf32>, %out: memref<2x2x14x14x32xi8>) attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w bias %b residual %res scales %s outs %out {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, macs = 1, stored = ui8, factor = 0.25 : f64, unsigned_input,
    tile = #npu.tile<m = 196, n = 64, k = 32, l1_m = 196, l1_n = 64, l1_k = 32, cores_m = 2, cores_n = 1, order = "rhs">}
    : memref<2x2x14x14x32xi8>, memref<1x2x4x16x32xi8>, memref<64xi32>, memref<2x2x14x14x32xi8>, memref<64xf32>, memref<2x2x14x14x32xi8> {
  ^bb0(%x: f32, %r: i8):
    %zero = arith.constant 0.0 : f32
    %six = arith.constant 6.0 : f32
    %most = arith.constant 255.0 : f32
    %0 = arith.uitofp %r : i8 to f32
    %1 = arith.addf %0, %x : f32
    %2 = arith.minimumf %1, %six : f32
    %3 = math.roundeven %2 : f32
    %4 = arith.maximumf %3, %zero : f32
    %5 = arith.minimumf %4, %most : f32
    %6 = arith.fptoui %5 : f32 to i8
    npu.yield %6 : i8
  }
  return
}

// -----

// Numbers of f32 become bytes on their way into l1.
// CHECK-LABEL: npu.program @quantized_image
// CHECK: npu.load_image %{{.*}}, %arg0 {{.*}} offset = 1.280000e+02 : f64, {{.*}} scale = 1.250000e-01 : f64, {{.*}} type = f32
// CHECK: npu.img2col {{.*}} pad = 22528
// CHECK: npu.requantize
func.func private @quantized_image(%in: memref<1x3x8x8xf32>, %w: memref<1x3x2x16x16xf16>, %b: memref<32xf32>, %s: memref<32xf32>,
    %out: memref<1x1x8x8x32xi8>) attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w bias %b scales %s outs %out {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, macs = 1, image, stored = ui8, unsigned_input, pad_value = 128 : i64,
    image_scale = 0.125 : f64, tile = #npu.tile<m = 64, n = 32, k = 48, l1_m = 64, l1_n = 32, l1_k = 48, cores_m = 1, cores_n = 1, order = "rhs">}
    : memref<1x3x8x8xf32>, memref<1x3x2x16x16xf16>, memref<32xf32>, memref<32xf32>, memref<1x1x8x8x32xi8>
  return
}

// -----

// Zero points of bytes with a sign may be negative: -3 as f16 around the image, too.
// CHECK-LABEL: npu.program @signed_image
// CHECK: npu.load_image %{{.*}}, %arg0 {{.*}} offset = -3.000000e+00 : f64, {{.*}} scale = 1.250000e-01 : f64, {{.*}} type = f32
// CHECK: npu.img2col {{.*}} pad = 49664
// CHECK: npu.requantize {{.*}} offset = -2.000000e+00 : f64, {{.*}} stored = i8
func.func private @signed_image(%in: memref<1x3x8x8xf32>, %w: memref<1x3x2x16x16xf16>, %b: memref<32xf32>, %s: memref<32xf32>,
    %out: memref<1x1x8x8x32xi8>) attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w bias %b scales %s outs %out {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, macs = 1, image, stored = i8, offset = -2 : i64, pad_value = -3 : i64,
    image_scale = 0.125 : f64, tile = #npu.tile<m = 64, n = 32, k = 48, l1_m = 64, l1_n = 32, l1_k = 48, cores_m = 1, cores_n = 1, order = "rhs">}
    : memref<1x3x8x8xf32>, memref<1x3x2x16x16xf16>, memref<32xf32>, memref<32xf32>, memref<1x1x8x8x32xi8>
  return
}

// -----

// Interleaved pixels are normalized on their way into l1: channels 1 byte apart, pixels 3, rows 24.
// CHECK-LABEL: npu.program @pixels
// CHECK: npu.load_image %{{.*}}, %arg0{{.*}}channels = 3 : i64{{.*}}factor0 = 2.500000e-01 : f64, factor1 = 1.000000e+00 : f64, factor2 = -2.000000e+00 : f64, mean0 = 1.230000e+02 : f64, mean2 = 5.000000e-01 : f64{{.*}}src_pixel = 3 : i64, src_plane = 1 : i64, src_row = 24 : i64, type = ui8
func.func private @pixels(%in: memref<1x3x8x8xui8, strided<[192, 1, 24, 3]>>, %w: memref<1x3x1x16x16xf16>,
    %out: memref<1x1x8x8x16xf16>) attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w outs %out {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, macs = 1, image,
    pixels = #npu.pixels<means = [123.0, 0.0, 0.5], factors = [0.25, 1.0, -2.0]>,
    tile = #npu.tile<m = 64, n = 16, k = 48, l1_m = 64, l1_n = 16, l1_k = 48, cores_m = 1, cores_n = 1, order = "rhs">}
    : memref<1x3x8x8xui8, strided<[192, 1, 24, 3]>>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  return
}

// -----

// A window of luma and chroma becomes colours on its way into l1: 12 rows of 10 bytes, then 6 rows of pairs.
// CHECK-LABEL: npu.program @colours
// CHECK: npu.load_yuv %{{.*}}, %arg0, %arg0{{.*}}bias0 = 1.000000e+00 : f64{{.*}}chroma_rows = 4 : i64{{.*}}mean2 = 5.000000e-01 : f64, offsets = [#npu.affine<0>, #npu.affine<22>, #npu.affine<132>], rows = #npu.range<8 below 8>, src_row = 10 : i64{{.*}}u1 = -8.800000e+01 : f64
func.func private @colours(%in: memref<1x1x18x10xui8>, %w: memref<1x3x1x16x16xf16>,
    %out: memref<1x1x8x8x16xf16>) attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w outs %out {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, macs = 1, image,
    pixels = #npu.pixels<means = [123.0, 0.0, 0.5], factors = [0.25, 1.0, -2.0],
      yuv = <crop = [2, 2, 8, 8], matrix = [256, 0, 359, 256, -88, -183, 256, 454, 0], bias = [1, 2, 3]>>,
    tile = #npu.tile<m = 64, n = 16, k = 48, l1_m = 64, l1_n = 16, l1_k = 48, cores_m = 1, cores_n = 1, order = "rhs">}
    : memref<1x1x18x10xui8>, memref<1x3x1x16x16xf16>, memref<1x1x8x8x16xf16>
  return
}

// -----

// The lower bound of a clip from 0 on is a relu while l0c is left; the upper one is vector code.
// CHECK-LABEL: npu.program @clip
// CHECK: npu.move_l0c %{{.*}}, %{{.*}} relu
// CHECK-NOT: npu.vector
// CHECK: npu.vector "min_scalar" {{.*}}scalar = 6.0
// CHECK-NOT: npu.vector
// CHECK: npu.move

func.func private @clip(%in: memref<2x4x14x14x16xf16>, %w: memref<1x4x4x16x16xf16>,
    %out: memref<2x4x14x14x16xf16>) attributes {npu.kernel, npu.soc = "Ascend310P3"} {
  npu.conv2d %in, %w outs %out {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, macs = 1, activation = #graph.activation<clip, 0.0, 6.0>,
    tile = #npu.tile<m = 208, n = 64, k = 64, l1_m = 208, l1_n = 64, l1_k = 64, cores_m = 2, cores_n = 1, order = "rhs">}
    : memref<2x4x14x14x16xf16>, memref<1x4x4x16x16xf16>, memref<2x4x14x14x16xf16>
  return
}

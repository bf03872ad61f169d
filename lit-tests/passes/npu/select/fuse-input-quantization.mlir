// RUN: atc-opt %s --split-input-file --npu-fuse-input-quantization | FileCheck %s
// RUN: atc-opt %s --split-input-file --npu-fuse-input-quantization --remarks-filter=npu-fuse-input-quantization --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:npu-fuse-input-quantization{{.*}}the input is quantized while the convolution loads it

// The quantize is part of the load.
// CHECK-LABEL: func.func @main
// CHECK-NOT: kernel.map
// CHECK: npu.conv2d %arg0, {{.*}} image_scale = 1.250000e-01 : f64
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x3x8x8xf32>, %y: memref<1x1x8x8x32xi8> {om.output}) {
  %w = om.weight dense<1.0> : tensor<1x3x2x16x16xf16> : memref<1x3x2x16x16xf16>
  %b = om.weight dense<0.0> : tensor<32xf32> : memref<32xf32>
  %s = om.weight dense<1.0> : tensor<32xf32> : memref<32xf32>
  %t = om.alloc : memref<1x3x8x8xi8>
  kernel.map %x outs %t : memref<1x3x8x8xf32>, memref<1x3x8x8xi8> {
  ^bb0(%v: f32):
    %scale = arith.constant 0.125 : f32
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %point = arith.constant 128.0 : f32
    %0 = arith.divf %v, %scale : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %point : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.minimumf %3, %most : f32
    %5 = arith.fptoui %4 : f32 to i8
    kernel.yield %5 : i8
  }
  npu.conv2d %t, %w bias %b scales %s outs %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image, stored = ui8, unsigned_input, pad_value = 128 : i64}
    : memref<1x3x8x8xi8>, memref<1x3x2x16x16xf16>, memref<32xf32>, memref<32xf32>, memref<1x1x8x8x32xi8>
  return
}
}

// -----

// What stands around the image would be another number.
// CHECK-LABEL: func.func @main
// CHECK: kernel.map
// CHECK-NOT: image_scale
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x3x8x8xf32>, %y: memref<1x1x8x8x32xi8> {om.output}) {
  %w = om.weight dense<1.0> : tensor<1x3x2x16x16xf16> : memref<1x3x2x16x16xf16>
  %b = om.weight dense<0.0> : tensor<32xf32> : memref<32xf32>
  %s = om.weight dense<1.0> : tensor<32xf32> : memref<32xf32>
  %t = om.alloc : memref<1x3x8x8xi8>
  kernel.map %x outs %t : memref<1x3x8x8xf32>, memref<1x3x8x8xi8> {
  ^bb0(%v: f32):
    %scale = arith.constant 0.125 : f32
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %point = arith.constant 127.0 : f32
    %0 = arith.divf %v, %scale : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %point : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.minimumf %3, %most : f32
    %5 = arith.fptoui %4 : f32 to i8
    kernel.yield %5 : i8
  }
  npu.conv2d %t, %w bias %b scales %s outs %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image, stored = ui8, unsigned_input, pad_value = 128 : i64}
    : memref<1x3x8x8xi8>, memref<1x3x2x16x16xf16>, memref<32xf32>, memref<32xf32>, memref<1x1x8x8x32xi8>
  return
}
}

// -----

// The bytes are read by something else, too.
// CHECK-LABEL: func.func @main
// CHECK: kernel.map
// CHECK-NOT: image_scale
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x3x8x8xf32>, %y: memref<1x1x8x8x32xi8> {om.output}, %z: memref<1x3x8x8xi8> {om.output}) {
  %w = om.weight dense<1.0> : tensor<1x3x2x16x16xf16> : memref<1x3x2x16x16xf16>
  %b = om.weight dense<0.0> : tensor<32xf32> : memref<32xf32>
  %s = om.weight dense<1.0> : tensor<32xf32> : memref<32xf32>
  %t = om.alloc : memref<1x3x8x8xi8>
  kernel.map %x outs %t : memref<1x3x8x8xf32>, memref<1x3x8x8xi8> {
  ^bb0(%v: f32):
    %scale = arith.constant 0.125 : f32
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %point = arith.constant 128.0 : f32
    %0 = arith.divf %v, %scale : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %point : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.minimumf %3, %most : f32
    %5 = arith.fptoui %4 : f32 to i8
    kernel.yield %5 : i8
  }
  kernel.copy %t, %z : memref<1x3x8x8xi8>, memref<1x3x8x8xi8>
  npu.conv2d %t, %w bias %b scales %s outs %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image, stored = ui8, unsigned_input, pad_value = 128 : i64}
    : memref<1x3x8x8xi8>, memref<1x3x2x16x16xf16>, memref<32xf32>, memref<32xf32>, memref<1x1x8x8x32xi8>
  return
}
}

// -----

// The image is overwritten before the convolution runs.
// CHECK-LABEL: func.func @main
// CHECK: kernel.map
// CHECK-NOT: image_scale
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x3x8x8xf32>, %y: memref<1x1x8x8x32xi8> {om.output}) {
  %w = om.weight dense<1.0> : tensor<1x3x2x16x16xf16> : memref<1x3x2x16x16xf16>
  %b = om.weight dense<0.0> : tensor<32xf32> : memref<32xf32>
  %s = om.weight dense<1.0> : tensor<32xf32> : memref<32xf32>
  %t = om.alloc : memref<1x3x8x8xi8>
  kernel.map %x outs %t : memref<1x3x8x8xf32>, memref<1x3x8x8xi8> {
  ^bb0(%v: f32):
    %scale = arith.constant 0.125 : f32
    %zero = arith.constant 0.0 : f32
    %most = arith.constant 255.0 : f32
    %point = arith.constant 128.0 : f32
    %0 = arith.divf %v, %scale : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %point : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.minimumf %3, %most : f32
    %5 = arith.fptoui %4 : f32 to i8
    kernel.yield %5 : i8
  }
  kernel.fill %x {value = 0.0} : memref<1x3x8x8xf32>
  npu.conv2d %t, %w bias %b scales %s outs %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pads = array<i64: 1, 1, 1, 1>, macs = 1, image, stored = ui8, unsigned_input, pad_value = 128 : i64}
    : memref<1x3x8x8xi8>, memref<1x3x2x16x16xf16>, memref<32xf32>, memref<32xf32>, memref<1x1x8x8x32xi8>
  return
}
}

// RUN: atc-opt %s --npu-align-rows --split-input-file | FileCheck %s
// RUN: atc-opt %s --npu-align-rows --split-input-file --remarks-filter=npu-align-rows --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:npu-align-rows{{.*}}rows of 197 elements begin at blocks of 32 bytes

// Probabilities that a product reads, and the scores that they are computed from.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = om.alloc : memref<1x12x197x208xf16>
// CHECK: %[[S:.*]] = om.view %[[A]][0] : memref<1x12x197x208xf16> to memref<1x12x197x197xf16, strided<[491712, 40976, 208, 1]>>
// CHECK: npu.matmul %arg0, %arg1 outs %[[S]]
// CHECK: %[[B:.*]] = om.alloc : memref<1x12x197x208xf16>
// CHECK: kernel.softmax %{{.*}}, %{{.*}} {axis = 3 : i64} : memref<1x12x197x197xf16, strided<[491712, 40976, 208, 1]>>, memref<1x12x197x197xf16, strided<[491712, 40976, 208, 1]>>
// CHECK: %[[P:.*]] = om.view %[[B]][0]
// CHECK: npu.matmul %[[P]], %arg2
// CHECK-NOT: memref<1x12x197x197xf16>
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%q: memref<1x12x197x64xf16>, %k: memref<1x12x197x64xf16>, %v: memref<1x12x197x64xf16>, %y: memref<1x12x197x64xf16> {om.output}) {
  %s = om.alloc : memref<1x12x197x197xf16>
  npu.matmul %q, %k outs %s {transpose_rhs} : memref<1x12x197x64xf16>, memref<1x12x197x64xf16>, memref<1x12x197x197xf16>
  %p = om.alloc : memref<1x12x197x197xf16>
  kernel.softmax %s, %p {axis = 3 : i64} : memref<1x12x197x197xf16>, memref<1x12x197x197xf16>
  npu.matmul %p, %v outs %y : memref<1x12x197x197xf16>, memref<1x12x197x64xf16>, memref<1x12x197x64xf16>
  return
}
}

// -----

// Separate cores store products faster without gaps: only what the second product reads has them.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = om.alloc : memref<1x12x197x197xf16>
// CHECK: npu.matmul %arg0, %arg1 outs %[[S]]
// CHECK: kernel.softmax %[[S]], %{{.*}} {axis = 3 : i64} : memref<1x12x197x197xf16>, memref<1x12x197x197xf16, strided<[491712, 40976, 208, 1]>>
module attributes {npu.soc = "Ascend910B1"} {
func.func @main(%q: memref<1x12x197x64xf16>, %k: memref<1x12x197x64xf16>, %v: memref<1x12x197x64xf16>, %y: memref<1x12x197x64xf16> {om.output}) {
  %s = om.alloc : memref<1x12x197x197xf16>
  npu.matmul %q, %k outs %s {transpose_rhs} : memref<1x12x197x64xf16>, memref<1x12x197x64xf16>, memref<1x12x197x197xf16>
  %p = om.alloc : memref<1x12x197x197xf16>
  kernel.softmax %s, %p {axis = 3 : i64} : memref<1x12x197x197xf16>, memref<1x12x197x197xf16>
  npu.matmul %p, %v outs %y : memref<1x12x197x197xf16>, memref<1x12x197x64xf16>, memref<1x12x197x64xf16>
  return
}
}

// -----

// Rows that begin at blocks, temporaries of which a kernel reads a part, inputs, and short rows, whose
// moves one by one would cost vector kernels more than the product gains, stay.
// CHECK-LABEL: func.func @main
// CHECK-NOT: 208
// CHECK-NOT: strided<[{{[0-9, ]*}}32, 1]>
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x12x64x192xf16>, %v: memref<1x12x192x64xf16>, %y: memref<1x12x64x64xf16> {om.output},
                %u: memref<1x12x197x64xf16>, %z: memref<1x12x64x64xf16> {om.output},
                %in: memref<1x12x64x197xf16>, %t: memref<1x12x64x64xf16> {om.output},
                %w: memref<1x12x17x64xf16>, %o: memref<1x12x64x64xf16> {om.output}) {
  %a = om.alloc : memref<1x12x64x192xf16>
  kernel.softmax %x, %a {axis = 3 : i64} : memref<1x12x64x192xf16>, memref<1x12x64x192xf16>
  npu.matmul %a, %v outs %y : memref<1x12x64x192xf16>, memref<1x12x192x64xf16>, memref<1x12x64x64xf16>
  %b = om.alloc : memref<1x12x65x197xf16>
  kernel.fill %b {value = 0.0} : memref<1x12x65x197xf16>
  %part = om.view %b[0] : memref<1x12x65x197xf16> to memref<1x12x64x197xf16, strided<[153660, 12805, 197, 1]>>
  npu.matmul %part, %u outs %z : memref<1x12x64x197xf16, strided<[153660, 12805, 197, 1]>>, memref<1x12x197x64xf16>, memref<1x12x64x64xf16>
  npu.matmul %in, %u outs %t : memref<1x12x64x197xf16>, memref<1x12x197x64xf16>, memref<1x12x64x64xf16>
  %c = om.alloc : memref<1x12x64x17xf16>
  kernel.fill %c {value = 0.0} : memref<1x12x64x17xf16>
  kernel.softmax %c, %c {axis = 3 : i64} : memref<1x12x64x17xf16>, memref<1x12x64x17xf16>
  npu.matmul %c, %w outs %o : memref<1x12x64x17xf16>, memref<1x12x17x64xf16>, memref<1x12x64x64xf16>
  return
}
}

// -----

// Products and a map work on several views of one temporary.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = om.alloc : memref<2x13x112xf16>
// CHECK: om.view %[[A]][0] : memref<2x13x112xf16> to memref<2x13x100xf16, strided<[1456, 112, 1]>>
// CHECK: om.view %[[A]][0] : memref<2x13x112xf16> to memref<1x1x26x100xf16, strided<[2912, 2912, 112, 1]>>
// CHECK: npu.matmul
// CHECK: om.view %[[A]][0]
// CHECK: npu.matmul
// CHECK-NOT: memref<2x13x100xf16>{{$}}
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<2x13x100xf32>, %v: memref<1x1x100x64xf16>, %y: memref<1x1x26x64xf16> {om.output}, %z: memref<1x1x26x64xf16> {om.output}) {
  %a = om.alloc : memref<2x13x100xf16>
  kernel.map %x outs %a : memref<2x13x100xf32>, memref<2x13x100xf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to f16
    kernel.yield %h : f16
  }
  %b = om.view %a[0] : memref<2x13x100xf16> to memref<1x1x26x100xf16>
  npu.matmul %b, %v outs %y : memref<1x1x26x100xf16>, memref<1x1x100x64xf16>, memref<1x1x26x64xf16>
  %c = om.view %a[0] : memref<2x13x100xf16> to memref<1x26x100xf16>
  %d = om.view %c[0] : memref<1x26x100xf16> to memref<1x1x26x100xf16>
  npu.matmul %d, %v outs %z : memref<1x1x26x100xf16>, memref<1x1x100x64xf16>, memref<1x1x26x64xf16>
  return
}
}

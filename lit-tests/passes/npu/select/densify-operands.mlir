// RUN: atc-opt %s --npu-densify-operands --split-input-file | FileCheck %s
// RUN: atc-opt %s --npu-densify-operands --split-input-file --remarks-filter=npu-densify-operands --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:npu-densify-operands{{.*}}runs on the NPU, on copies of operands that are not dense

// A column of a matrix is copied; the operand beside it is read as it is, as is that of another kernel.
// CHECK-LABEL: func.func @main
// CHECK: %[[COLUMN:.*]] = om.view %arg0[4]
// CHECK: %[[DENSE:.*]] = om.alloc : memref<100xf16>
// CHECK-NEXT: kernel.copy %[[COLUMN]], %[[DENSE]]
// CHECK-NEXT: kernel.map %[[DENSE]], %arg1 outs %arg2
// CHECK: kernel.map %arg1 outs %arg3
// CHECK-NOT: kernel.copy
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%m: memref<100x85xf16>, %v: memref<100xf16>, %y: memref<100xf16> {om.output}, %z: memref<100xf16> {om.output}) {
  %column = om.view %m[4] : memref<100x85xf16> to memref<100xf16, strided<[85], offset: 4>>
  kernel.map %column, %v outs %y : memref<100xf16, strided<[85], offset: 4>>, memref<100xf16>, memref<100xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.mulf %a, %b : f16
    kernel.yield %s : f16
  }
  kernel.map %v outs %z : memref<100xf16>, memref<100xf16> {
  ^bb0(%a: f16):
    %s = arith.mulf %a, %a : f16
    kernel.yield %s : f16
  }
  return
}
}

// -----

// A kernel that works in place reads the column from one copy and writes another one back.
// CHECK-LABEL: func.func @main
// CHECK: %[[COLUMN:.*]] = om.view %arg0[2]
// CHECK: %[[IN:.*]] = om.alloc : memref<100xf16>
// CHECK-NEXT: kernel.copy %[[COLUMN]], %[[IN]]
// CHECK-NEXT: %[[OUT:.*]] = om.alloc : memref<100xf16>
// CHECK-NEXT: kernel.map %[[IN]] outs %[[OUT]]
// CHECK: kernel.copy %[[OUT]], %[[COLUMN]]
// CHECK-NOT: kernel.copy
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%m: memref<100x2xf16> {om.output}) {
  %column = om.view %m[2] : memref<100x2xf16> to memref<100xf16, strided<[2], offset: 1>>
  kernel.map %column outs %column : memref<100xf16, strided<[2], offset: 1>>, memref<100xf16, strided<[2], offset: 1>> {
  ^bb0(%a: f16):
    %s = arith.mulf %a, %a : f16
    kernel.yield %s : f16
  }
  return
}
}

// -----

// A softmax along channels works where they are the last dim.
// CHECK-LABEL: func.func @main
// CHECK: %[[IN:.*]] = om.alloc : memref<1x6x7x5xf16>
// CHECK: %[[X:.*]] = om.view %[[IN]][0] : memref<1x6x7x5xf16> to memref<1x5x6x7xf16
// CHECK: kernel.copy %arg0, %[[X]]
// CHECK: %[[OUT:.*]] = om.alloc : memref<1x6x7x5xf16>
// CHECK: %[[Y:.*]] = om.view %[[OUT]][0]
// CHECK: kernel.softmax %[[X]], %[[Y]]
// CHECK: kernel.copy %[[Y]], %arg1
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x5x6x7xf16>, %y: memref<1x5x6x7xf16> {om.output}) {
  kernel.softmax %x, %y {axis = 1 : i64} : memref<1x5x6x7xf16>, memref<1x5x6x7xf16>
  return
}
}

// -----

// Dims that are reduced come behind the others; the result is small and stays where it is.
// CHECK-LABEL: func.func @main
// CHECK: om.alloc : memref<5x4x6xf16>
// CHECK: kernel.copy %arg0
// CHECK: kernel.reduce %{{.*}}, %arg1 {axes = array<i64: 0, 2>
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<4x5x6xf16>, %y: memref<1x5x1xf16> {om.output}) {
  kernel.reduce %x, %y {axes = array<i64: 0, 2>, kind = #graph<reduce_kind mean>} : memref<4x5x6xf16>, memref<1x5x1xf16>
  return
}
}

// -----

// What the vector unit cannot compute at all stays, without copies.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: om.view
// CHECK-NEXT: kernel.map
// CHECK-NOT: kernel.copy
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%m: memref<100x85xi64>, %y: memref<100xi64> {om.output}) {
  %column = om.view %m[4] : memref<100x85xi64> to memref<100xi64, strided<[85], offset: 4>>
  kernel.map %column outs %y : memref<100xi64, strided<[85], offset: 4>>, memref<100xi64> {
  ^bb0(%a: i64):
    %s = arith.addi %a, %a : i64
    kernel.yield %s : i64
  }
  return
}
}

// -----

// Runs of two elements waste most of the vector unit: copies make one long run. A small map is not
// worth a copy, and neither are runs that fill the unit.
// CHECK-LABEL: func.func @main
// CHECK: %[[PAIRS:.*]] = om.view %arg0[2]
// CHECK: %[[DENSE:.*]] = om.alloc : memref<16x4420x2xf16>
// CHECK-NEXT: kernel.copy %[[PAIRS]], %[[DENSE]]
// CHECK-NEXT: kernel.map %[[DENSE]], %arg1 outs %arg1
// CHECK-NOT: kernel.copy
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<16x4420x4xf16>, %y: memref<16x4420x2xf16>, %s: memref<4x10x4xf16>, %t: memref<4x10x2xf16>,
                %u: memref<16x600x512xf16>, %v: memref<16x600x256xf16>) {
  %pairs = om.view %x[2] : memref<16x4420x4xf16> to memref<16x4420x2xf16, strided<[17680, 4, 1], offset: 2>>
  kernel.map %pairs, %y outs %y : memref<16x4420x2xf16, strided<[17680, 4, 1], offset: 2>>, memref<16x4420x2xf16>, memref<16x4420x2xf16> {
  ^bb0(%a: f16, %b: f16):
    %e = math.exp %a : f16
    %p = arith.mulf %e, %b : f16
    %q = arith.addf %p, %a : f16
    %r = arith.mulf %q, %q : f16
    %z = arith.addf %r, %b : f16
    kernel.yield %z : f16
  }
  %few = om.view %s[2] : memref<4x10x4xf16> to memref<4x10x2xf16, strided<[40, 4, 1], offset: 2>>
  kernel.map %few outs %t : memref<4x10x2xf16, strided<[40, 4, 1], offset: 2>>, memref<4x10x2xf16> {
  ^bb0(%a: f16):
    %e = math.exp %a : f16
    kernel.yield %e : f16
  }
  %half = om.view %u[0] : memref<16x600x512xf16> to memref<16x600x256xf16, strided<[307200, 512, 1]>>
  kernel.map %half outs %v : memref<16x600x256xf16, strided<[307200, 512, 1]>>, memref<16x600x256xf16> {
  ^bb0(%a: f16):
    %e = math.exp %a : f16
    kernel.yield %e : f16
  }
  return
}
}

// -----

// A map in place: what it reads is copied in front of it, what it writes behind it.
// CHECK-LABEL: func.func @main
// CHECK: %[[COLUMN:.*]] = om.view %arg0[4]
// CHECK: %[[IN:.*]] = om.alloc : memref<100xf16>
// CHECK-NEXT: kernel.copy %[[COLUMN]], %[[IN]]
// CHECK-NEXT: %[[OUT:.*]] = om.alloc : memref<100xf16>
// CHECK-NEXT: kernel.map %[[IN]] outs %[[OUT]]
// CHECK: kernel.copy %[[OUT]], %[[COLUMN]]
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%m: memref<100x85xf16> {om.output}) {
  %column = om.view %m[4] : memref<100x85xf16> to memref<100xf16, strided<[85], offset: 4>>
  kernel.map %column outs %column : memref<100xf16, strided<[85], offset: 4>>, memref<100xf16, strided<[85], offset: 4>> {
  ^bb0(%a: f16):
    %s = arith.mulf %a, %a : f16
    kernel.yield %s : f16
  }
  return
}
}

// -----

// Channels that become pixels: blocks of 2 x 2 elements would be transposed. The copy through planes
// of 128 pixels transposes blocks of 128 x 8 and 2 x 128. Where the blocks are large there is one copy.
// CHECK-LABEL: func.func @main
// CHECK: %[[DEEP:.*]] = om.view %arg0[0]
// CHECK: %[[WIDE:.*]] = om.view %arg1[0]
// CHECK: %[[PLANES:.*]] = om.alloc : memref<{{.*}}x128xf16>
// CHECK-NEXT: %[[VIEW:.*]] = om.view %[[PLANES]][0]
// CHECK-NEXT: kernel.copy %[[DEEP]], %[[VIEW]]
// CHECK-NEXT: kernel.copy %[[VIEW]], %[[WIDE]]
// CHECK-NEXT: om.view
// CHECK-NEXT: kernel.copy
// CHECK-NEXT: return
// REMARK: two copies transpose larger blocks of elements
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x1x72x128x16xf16>, %y: memref<1x2x144x256xf16> {om.output}, %z: memref<1x144x256x2xf16> {om.output}) {
  %deep = om.view %x[0] : memref<1x1x72x128x16xf16> to memref<1x2x72x2x128x2xf16, strided<[2, 1, 2048, 4, 16, 2]>>
  %wide = om.view %y[0] : memref<1x2x144x256xf16> to memref<1x2x72x2x128x2xf16>
  kernel.copy %deep, %wide : memref<1x2x72x2x128x2xf16, strided<[2, 1, 2048, 4, 16, 2]>>, memref<1x2x72x2x128x2xf16>
  %planes = om.view %y[0] : memref<1x2x144x256xf16> to memref<1x144x256x2xf16, strided<[36864, 256, 1, 36864]>>
  kernel.copy %planes, %z : memref<1x144x256x2xf16, strided<[36864, 256, 1, 36864]>>, memref<1x144x256x2xf16>
  return
}
}

// RUN: atc-opt %s --npu-split-reductions | FileCheck %s

// A row that does not fit into ub is reduced in parts.
// CHECK-LABEL: func.func @main
// CHECK: %[[RESULTS:.*]] = om.alloc : memref<1x1x16xf16>
// CHECK-DAG: %[[PARTS:.*]] = om.view %arg0[0] : memref<1x1x65536xf16> to memref<1x1x16x4096xf16>
// CHECK-DAG: %[[EACH:.*]] = om.view %[[RESULTS]][0] : memref<1x1x16xf16> to memref<1x1x16x1xf16>
// CHECK: kernel.reduce %[[PARTS]], %[[EACH]] {axes = array<i64: 3>, kind = #graph<reduce_kind mean>}
// CHECK: kernel.reduce %[[RESULTS]], %arg1 {axes = array<i64: 2>, kind = #graph<reduce_kind mean>, om.tensor
// The results of squares are only added.
// CHECK: kernel.reduce %{{.*}} kind = #graph<reduce_kind sum_square>}
// CHECK: kernel.reduce %{{.*}}, %arg2 {axes = array<i64: 2>, kind = #graph<reduce_kind sum>}
// Rows that fit, and rows of a length without a part of whole blocks, stay, without leftovers.
// CHECK-NOT: om.alloc
// CHECK-NOT: om.view
// CHECK: kernel.reduce %arg3, %arg4
// CHECK: kernel.reduce %arg5, %arg6
// CHECK-NEXT: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<1x1x65536xf16>, %y: memref<1x1x1xf16> {om.output}, %z: memref<1x1x1xf16> {om.output}, %s: memref<1x1x512xf16>, %t: memref<1x1x1xf16> {om.output}, %p: memref<1x1x65537xf16>, %q: memref<1x1x1xf16> {om.output}) {
  kernel.reduce %x, %y {axes = array<i64: 2>, kind = #graph<reduce_kind mean>, om.tensor = tensor<1x1x1xf16>} : memref<1x1x65536xf16>, memref<1x1x1xf16>
  kernel.reduce %x, %z {axes = array<i64: 2>, kind = #graph<reduce_kind sum_square>} : memref<1x1x65536xf16>, memref<1x1x1xf16>
  kernel.reduce %s, %t {axes = array<i64: 2>, kind = #graph<reduce_kind mean>} : memref<1x1x512xf16>, memref<1x1x1xf16>
  kernel.reduce %p, %q {axes = array<i64: 2>, kind = #graph<reduce_kind mean>} : memref<1x1x65537xf16>, memref<1x1x1xf16>
  return
}
}

// RUN: atc-opt %s --host-expand-top-k --split-input-file | FileCheck %s
// RUN: atc-opt %s --host-expand-top-k=max-comparisons=9999 --split-input-file | FileCheck %s --check-prefix=LIMIT
// RUN: atc-opt %s --host-expand-top-k --split-input-file --remarks-filter=host-expand-top-k --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:host-expand-top-k{{.*}}the first 3 of 100 elements are found by comparisons
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-top-k{{.*}}k is not known
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-top-k{{.*}}its elements are neither f32 nor f16
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-top-k{{.*}}k is 1025, expected 1 to 1024
// REMARK-DAG: [Missed] {{.*}}Category:host-expand-top-k{{.*}}more than 16777216 comparisons

// All pairs of a row are compared; equal elements keep their order. Elements and positions are picked together.
// CHECK-LABEL: func @row
// CHECK: %[[P:.*]] = graph.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<1x1x100xf32>, tensor<1x1x100xf32>) -> tensor<1x2x100xf32>
// CHECK: graph.compare {{.*}}predicate lt>{{.*}} : (tensor<1x100xf32>, tensor<100x1xf32>)
// CHECK: graph.compare {{.*}}predicate gt>{{.*}} : (tensor<1x1x1x1x100xf32>, tensor<1x1x1x100x1xf32>)
// CHECK: graph.reduce {{.*}}kind sum>{{.*}} -> tensor<1x1x1x100x1xf32>
// CHECK: graph.compare {{.*}}predicate eq>{{.*}} : (tensor<1x1x1x1x100xf32>, tensor<3x1xf32>)
// CHECK: graph.where {{.*}} -> tensor<1x2x1x3x100xf32>
// CHECK: graph.reduce {{.*}}kind max>{{.*}} -> tensor<1x2x1x3xf32>
// CHECK: arith.fptosi %{{.*}} : f32 to i64
// CHECK-NOT: host_call
// LIMIT-LABEL: func @row
// LIMIT: graph.host_call "TopK"
func.func @row(%x: tensor<100xf32>) -> (tensor<3xf32>, tensor<3xi64>) {
  %k = graph.constant dense<3> : tensor<1xi64>
  %v, %i = graph.host_call "TopK"(%x, %k) {} : (tensor<100xf32>, tensor<1xi64>) -> (tensor<3xf32>, tensor<3xi64>)
  return %v, %i : tensor<3xf32>, tensor<3xi64>
}

// -----

// Of 47 blocks of 64 remain 5 elements each, with what is behind the last block; then of 4 blocks. Positions have
// two digits. The axis becomes the last dim, and the smallest elements come first.
// CHECK-LABEL: func @blocks
// CHECK: graph.transpose
// CHECK: tensor<2x3x47x64xf32>
// CHECK: graph.compare {{.*}}predicate lt>{{.*}} : (tensor<2x1x47x1x64xf32>, tensor<2x1x47x64x1xf32>)
// CHECK: graph.concat {{.*}} {axis = 2 : i64} : (tensor<2x3x235xf32>, tensor<2x3x5xf32>) -> tensor<2x3x240xf32>
// CHECK: graph.compare {{.*}} : (tensor<2x1x3x1x64xf32>
// CHECK: graph.concat {{.*}} (tensor<2x3x15xf32>, tensor<2x3x48xf32>)
// CHECK: graph.compare {{.*}} : (tensor<2x1x1x1x63xf32>
// CHECK: arith.mulf
// CHECK: graph.transpose {{.*}} -> tensor<5x2xi64>
func.func @blocks(%x: tensor<3013x2xf32>) -> tensor<5x2xi64> {
  %k = graph.constant dense<5> : tensor<1xi64>
  %v, %i = graph.host_call "TopK"(%x, %k) {axis = array<i64: 0>, largest = array<i64: 0>} : (tensor<3013x2xf32>, tensor<1xi64>) -> (tensor<5x2xf32>, tensor<5x2xi64>)
  return %i : tensor<5x2xi64>
}

// -----

// The largest element alone needs no comparisons of pairs.
// CHECK-LABEL: func @one
// CHECK-DAG: graph.reduce %arg0 {axes = array<i64: 1>, kind = #graph<reduce_kind max>}
// CHECK-DAG: graph.arg_max %arg0 {axis = 1 : i64}
// CHECK-NOT: graph.compare
// CHECK: return
func.func @one(%x: tensor<4x100xf32>) -> (tensor<4x1xf32>, tensor<4x1xi64>) {
  %k = graph.constant dense<1> : tensor<1xi64>
  %v, %i = graph.host_call "TopK"(%x, %k) {axis = array<i64: -1>} : (tensor<4x100xf32>, tensor<1xi64>) -> (tensor<4x1xf32>, tensor<4x1xi64>)
  return %v, %i : tensor<4x1xf32>, tensor<4x1xi64>
}

// -----

// An unknown k, integers, many results, long rows, and nodes that a user pinned to the CPU stay.
module attributes {graph.host_nodes = ["pinned"]} {
// CHECK-LABEL: func @stays
// CHECK-COUNT-5: graph.host_call "TopK"
func.func @stays(%x: tensor<2000xf32>, %n: tensor<1xi64>, %i: tensor<2000xi32>, %long: tensor<1000x1000xf32>)
    -> (tensor<*xf32>, tensor<3xi32>, tensor<1025xf32>, tensor<1000x30xf32>, tensor<3xf32>) {
  %k = graph.constant dense<3> : tensor<1xi64>
  %many = graph.constant dense<1025> : tensor<1xi64>
  %some = graph.constant dense<30> : tensor<1xi64>
  %a = graph.host_call "TopK"(%x, %n) {} : (tensor<2000xf32>, tensor<1xi64>) -> tensor<*xf32>
  %b = graph.host_call "TopK"(%i, %k) {} : (tensor<2000xi32>, tensor<1xi64>) -> tensor<3xi32>
  %c = graph.host_call "TopK"(%x, %many) {} : (tensor<2000xf32>, tensor<1xi64>) -> tensor<1025xf32>
  %d = graph.host_call "TopK"(%long, %some) {} : (tensor<1000x1000xf32>, tensor<1xi64>) -> tensor<1000x30xf32>
  %e = graph.host_call "TopK"(%x, %k) {} : (tensor<2000xf32>, tensor<1xi64>) -> tensor<3xf32> loc("e"("pinned"))
  return %a, %b, %c, %d, %e : tensor<*xf32>, tensor<3xi32>, tensor<1025xf32>, tensor<1000x30xf32>, tensor<3xf32>
}
}

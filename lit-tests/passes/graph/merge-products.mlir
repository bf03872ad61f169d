// RUN: atc-opt %s --graph-merge-products --split-input-file | FileCheck %s
// RUN: atc-opt %s --graph-merge-products --split-input-file --remarks-filter=graph-merge-products --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Queries and values of one tensor are one product; a bias that only one of them has is zero for
// the other. The results are slices.

// CHECK-LABEL: func @queries_and_values
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<[0.000000e+00, 0.000000e+00, 9.000000e+00]> : tensor<3xf32>
// CHECK: %[[ALL:.*]] = graph.fully_connected %arg0, %[[W]] bias %[[B]] : (tensor<4x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<4x3xf32>
// CHECK: %[[Q:.*]] = graph.slice %[[ALL]] {sizes = array<i64: 4, 2>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}
// CHECK: %[[V:.*]] = graph.slice %[[ALL]] {sizes = array<i64: 4, 1>, starts = array<i64: 0, 2>, steps = array<i64: 1, 1>}
// CHECK: graph.matmul %{{.*}}, %[[V]]
// REMARK: [Passed] {{.*}}2 products of one tensor become one of 3 columns
func.func @queries_and_values(%x: tensor<4x2xf32>) -> tensor<2x1xf32> {
  %q = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %v = graph.constant dense<[[5.0, 6.0]]> : tensor<1x2xf32>
  %b = graph.constant dense<[9.0]> : tensor<1xf32>
  %0 = graph.fully_connected %x, %q : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %1 = graph.fully_connected %x, %v bias %b : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<1xf32>) -> tensor<4x1xf32>
  %2 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %3 = graph.matmul %2, %1 : (tensor<2x4xf32>, tensor<4x1xf32>) -> tensor<2x1xf32>
  return %3 : tensor<2x1xf32>
}

// -----

// Results of the function and parts of a concat would be copied; a reshape that joins rows, too;
// weights that are used twice would be in memory twice; another activation is another product.

// CHECK-LABEL: func @left_alone
// CHECK-NOT: graph.slice
func.func @left_alone(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<8x2xf32>, tensor<8xf32>, tensor<4x2xf32>) {
  %a = graph.constant dense<1.0> : tensor<2x2xf32>
  %b = graph.constant dense<2.0> : tensor<2x2xf32>
  %c = graph.constant dense<3.0> : tensor<2x2xf32>
  %d = graph.constant dense<4.0> : tensor<2x2xf32>
  %e = graph.constant dense<5.0> : tensor<2x2xf32>
  %0 = graph.fully_connected %x, %a : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %1 = graph.fully_connected %x, %b : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %2 = graph.concat %1, %x {axis = 0} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %3 = graph.fully_connected %x, %c : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %4 = graph.reshape %3 : (tensor<4x2xf32>) -> tensor<8xf32>
  %5 = graph.tanh %4 : (tensor<8xf32>) -> tensor<8xf32>
  %6 = graph.fully_connected %x, %d : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %7 = graph.fully_connected %6, %d : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %8 = graph.fully_connected %x, %e {activation = #graph.activation<relu>} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %9 = graph.add %7, %8 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0, %2, %5, %9 : tensor<4x2xf32>, tensor<8x2xf32>, tensor<8xf32>, tensor<4x2xf32>
}

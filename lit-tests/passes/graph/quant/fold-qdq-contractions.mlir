// RUN: atc-opt %s --graph-fold-qdq-contractions --canonicalize --split-input-file | FileCheck %s
// RUN: atc-opt %s --graph-fold-qdq-contractions --split-input-file --remarks-filter=graph-fold-qdq-contractions --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:graph-fold-qdq-contractions{{.*}}the contraction is computed on stored integers

!x = !quant.uniform<u8:f32, 5.000000e-01:128>
!w = !quant.uniform<i8:f32:0, {2.500000e-01,1.000000e+00}>
!b = !quant.uniform<i32:f32:0, {1.250000e-01,5.000000e-01}>
!y = !quant.uniform<u8:f32, 2.000000e+00:3>

// One factor from sums to stored integers; the bias joins the sums.
// CHECK-LABEL: func @conv
// CHECK-DAG: %[[M:.*]] = graph.constant dense<{{.*}}6.250000e-02{{.*}}2.500000e-01{{.*}}> : tensor<2x1x1xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<[7, -9]> : tensor<2xi32>
// CHECK: %[[S:.*]] = graph.integer_conv %{{.*}}, %{{.*}} bias %[[B]] {{.*}}zero_point = 128 {{.*}} -> tensor<1x2x2x2xi32>
// CHECK: %[[F:.*]] = graph.cast %[[S]]
// CHECK: %[[P:.*]] = graph.mul %[[F]], %[[M]]
// CHECK: %[[R:.*]] = graph.relu %[[P]]
// CHECK: graph.quantize %[[R]] {{.*}}!quant.uniform<u8:f32, 1.000000e+00:3>
func.func @conv(%i: tensor<1x1x2x2xui8>) -> tensor<1x2x2x2x!y> {
  %q = graph.storage_cast %i : (tensor<1x1x2x2xui8>) -> tensor<1x1x2x2x!x>
  %x = graph.dequantize %q : (tensor<1x1x2x2x!x>) -> tensor<1x1x2x2xf32>
  %wi = graph.constant dense<[[[[5]]], [[[-6]]]]> : tensor<2x1x1x1xi8>
  %wq = graph.storage_cast %wi : (tensor<2x1x1x1xi8>) -> tensor<2x1x1x1x!w>
  %w = graph.dequantize %wq : (tensor<2x1x1x1x!w>) -> tensor<2x1x1x1xf32>
  %bi = graph.constant dense<[7, -9]> : tensor<2xi32>
  %bq = graph.storage_cast %bi : (tensor<2xi32>) -> tensor<2x!b>
  %b = graph.dequantize %bq : (tensor<2x!b>) -> tensor<2xf32>
  %c = graph.conv %x, %w bias %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %r = graph.relu %c : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %y = graph.quantize %r : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2x!y>
  return %y : tensor<1x2x2x2x!y>
}

// -----

!x = !quant.uniform<i8:f32, 5.000000e-01:1>
!w = !quant.uniform<i8:f32, 2.500000e-01>

// A matrix is transposed; without a quantize the sums become real numbers.
// CHECK-LABEL: func @product
// CHECK-DAG: graph.constant dense<{{\[}}[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
// CHECK-DAG: %[[M:.*]] = graph.constant dense<1.250000e-01> : tensor<f32>
// CHECK: graph.integer_fully_connected {{.*}} -> tensor<4x3xi32>
// CHECK: graph.mul %{{.*}}, %[[M]]
func.func @product(%q: tensor<4x2x!x>) -> tensor<4x3xf32> {
  %x = graph.dequantize %q : (tensor<4x2x!x>) -> tensor<4x2xf32>
  %wi = graph.constant dense<[[1, 3, 5], [2, 4, 6]]> : tensor<2x3xi8>
  %wq = graph.storage_cast %wi : (tensor<2x3xi8>) -> tensor<2x3x!w>
  %w = graph.dequantize %wq : (tensor<2x3x!w>) -> tensor<2x3xf32>
  %y = graph.matmul %x, %w : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// Weights of a product that stays real become real.
// CHECK-LABEL: func @weights_only
// CHECK: graph.constant dense<{{.*}}> : tensor<2x2xf32>
// CHECK-NOT: graph.dequantize
func.func @weights_only(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %wi = graph.constant dense<[[1, 3], [2, 4]]> : tensor<2x2xi8>
  %wq = graph.storage_cast %wi : (tensor<2x2xi8>) -> tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01>>
  %w = graph.dequantize %wq : (tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<2x2xf32>
  %y = graph.matmul %x, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

!b = !quant.uniform<u8:f32, 5.000000e-01:128>

// All sums of bytes are the same, whether they are divided by the scale or multiplied by 2.
// CHECK-LABEL: func @sum_of_bytes
// CHECK: %[[S:.*]] = graph.add
// CHECK-NEXT: graph.mul %[[S]]
func.func @sum_of_bytes(%p: tensor<4x!b>, %q: tensor<4x!b>) -> tensor<4x!b> {
  %x = graph.dequantize %p : (tensor<4x!b>) -> tensor<4xf32>
  %y = graph.dequantize %q : (tensor<4x!b>) -> tensor<4xf32>
  %s = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.quantize %s : (tensor<4xf32>) -> tensor<4x!b>
  return %r : tensor<4x!b>
}

// -----

!b = !quant.uniform<u8:f32, 2.000000e-02:128>
!c = !quant.uniform<u8:f32, 4.000000e-02:128>

// Sums in the middle of two integers are rounded otherwise if they are multiplied by 25.
// CHECK-LABEL: func @middles
// CHECK: %[[S:.*]] = graph.add
// CHECK-NEXT: graph.quantize %[[S]]
func.func @middles(%p: tensor<4x!b>, %q: tensor<4x!b>) -> tensor<4x!c> {
  %x = graph.dequantize %p : (tensor<4x!b>) -> tensor<4xf32>
  %y = graph.dequantize %q : (tensor<4x!b>) -> tensor<4xf32>
  %s = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.quantize %s : (tensor<4xf32>) -> tensor<4x!c>
  return %r : tensor<4x!c>
}

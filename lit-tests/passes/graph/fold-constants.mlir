// RUN: atc-opt %s --graph-fold-constants --split-input-file | FileCheck %s
// RUN: atc-opt %s --graph-fold-constants=max-elements=2 --split-input-file | FileCheck %s --check-prefix=MAX2
// RUN: atc-opt %s --graph-fold-constants=max-grown-elements=2000 --split-input-file | FileCheck %s --check-prefix=GROWN
// RUN: atc-opt %s --graph-fold-constants="max-work=100 max-work-per-element=0" --split-input-file | FileCheck %s --check-prefix=WORK
// RUN: atc-opt %s --graph-fold-constants="max-work=0 max-work-per-element=30" --split-input-file | FileCheck %s --check-prefix=SHARE
// RUN: atc-opt %s --graph-fold-constants="max-work=290 max-work-per-element=0" --split-input-file | FileCheck %s --check-prefix=PRODUCTS
// RUN: atc-opt %s --graph-fold-constants="max-work=1200000" --graph-fold-constants="max-work=1200000" --mlir-elide-resource-strings-if-larger=16 --split-input-file | FileCheck %s --check-prefix=TWICE

// CHECK-LABEL: func @chain
// CHECK-NEXT: %[[C:.*]] = graph.constant dense<[3.000000e+00, -5.000000e+00, 1.300000e+01]> : tensor<3xf32>
// CHECK-NEXT: return %[[C]]
// MAX2-LABEL: func @chain
// MAX2: graph.mul
// MAX2: graph.sub
// WORK-LABEL: func @chain
// WORK-NOT: graph.mul
// WORK: graph.sub
// SHARE-LABEL: func @chain
// SHARE-NOT: graph.mul
// SHARE: graph.sub
func.func @chain() -> tensor<3xf32> {
  %a = graph.constant dense<[2.0, -2.0, 7.0]> : tensor<3xf32>
  %b = graph.constant dense<2.0> : tensor<1xf32>
  %c = graph.constant dense<1.0> : tensor<1xf32>
  %0 = graph.mul %a, %b : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  %1 = graph.sub %0, %c : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// Not what is larger than all it is made of, unless it is small. The type of the
// elements does not count: half precision weights become float ones.
// CHECK-LABEL: func @grown
// CHECK-DAG: graph.constant dense<7.000000e+00> : tensor<1x4xf32>
// CHECK-DAG: graph.constant {{.*}} : tensor<2048xf32>
// CHECK-DAG: graph.expand %{{.*}} -> tensor<2000x1xf32>
// GROWN-LABEL: func @grown
// GROWN-NOT: graph.expand
// GROWN: return
func.func @grown() -> (tensor<2000x1xf32>, tensor<1x4xf32>, tensor<2048xf32>) {
  %a = graph.constant dense<7.0> : tensor<1x1xf32>
  %h = graph.constant dense<0.5> : tensor<2048xf16>
  %0 = graph.expand %a : (tensor<1x1xf32>) -> tensor<2000x1xf32>
  %1 = graph.expand %a : (tensor<1x1xf32>) -> tensor<1x4xf32>
  %2 = graph.cast %h : (tensor<2048xf16>) -> tensor<2048xf32>
  return %0, %1, %2 : tensor<2000x1xf32>, tensor<1x4xf32>, tensor<2048xf32>
}

// -----

// Weights are constants whatever they are made of; what an input decides is not folded for them.
// CHECK-LABEL: func @weights
// CHECK-DAG: %[[FILTER:.*]] = graph.constant {{.*}} : tensor<64x1x5x5xf32>
// CHECK-DAG: graph.conv %{{.*}}, %[[FILTER]]
// CHECK-DAG: %[[EXPANDED:.*]] = graph.expand %{{.*}} -> tensor<64x1x5x5xf32>
// CHECK-DAG: %[[SCALED:.*]] = graph.mul %[[EXPANDED]], %arg1
// CHECK-DAG: graph.conv %{{.*}}, %[[SCALED]]
func.func @weights(%x: tensor<1x64x8x8xf32>, %scale: tensor<1xf32>) -> (tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>) {
  %blur = graph.constant dense<0.04> : tensor<1x1x5x5xf32>
  %two = graph.constant dense<2.0> : tensor<1xf32>
  %0 = graph.expand %blur : (tensor<1x1x5x5xf32>) -> tensor<64x1x5x5xf32>
  %1 = graph.mul %0, %two : (tensor<64x1x5x5xf32>, tensor<1xf32>) -> tensor<64x1x5x5xf32>
  %2 = graph.conv %x, %1 {dilations = array<i64: 1, 1>, groups = 64 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x8x8xf32>, tensor<64x1x5x5xf32>) -> tensor<1x64x4x4xf32>
  %grown = graph.expand %blur : (tensor<1x1x5x5xf32>) -> tensor<64x1x5x5xf32>
  %scaled = graph.mul %grown, %scale : (tensor<64x1x5x5xf32>, tensor<1xf32>) -> tensor<64x1x5x5xf32>
  %3 = graph.conv %x, %scaled {dilations = array<i64: 1, 1>, groups = 64 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x8x8xf32>, tensor<64x1x5x5xf32>) -> tensor<1x64x4x4xf32>
  return %2, %3 : tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>
}

// -----

// CHECK-LABEL: func @left_alone
// CHECK: graph.add
// CHECK: graph.gather
func.func @left_alone(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<1xf32>) {
  %a = graph.constant dense<7.0> : tensor<2xf32>
  %far = graph.constant dense<5> : tensor<1xi64>
  %0 = graph.add %x, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.gather %a, %far {axis = 0 : i64} : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %0, %1 : tensor<2xf32>, tensor<1xf32>
}

// -----

// Results of dynamic schedules that are no tensors, though all that they are made of is constant.
// CHECK-LABEL: func @no_tensors
// CHECK: graph.host_call "SequenceConstruct"
// CHECK: graph.if
func.func @no_tensors() -> (!graph.sequence<tensor<2xf32>>, tensor<2xf32>) {
  %a = graph.constant dense<7.0> : tensor<2xf32>
  %yes = graph.constant dense<true> : tensor<i1>
  %s = graph.host_call "SequenceConstruct"(%a) {} : (tensor<2xf32>) -> !graph.sequence<tensor<2xf32>>
  %r = graph.if %yes : (tensor<i1>) -> tensor<2xf32> {
    graph.leave %a : tensor<2xf32>
  } else {
    graph.leave %a : tensor<2xf32>
  }
  return %s, %r : !graph.sequence<tensor<2xf32>>, tensor<2xf32>
}

// -----

// Results that are no numbers, and calls without operands.
// CHECK-LABEL: func @no_numbers
// CHECK: graph.host_call "SequenceEmpty"
// CHECK: graph.host_call "RandomNormal"
// CHECK-SAME: tensor<2xcomplex<f32>>
func.func @no_numbers() -> (!graph.sequence<tensor<*xf32>>, tensor<2xcomplex<f32>>) {
  %s = graph.host_call "SequenceEmpty"() {dtype = array<i64: 1>} : () -> !graph.sequence<tensor<*xf32>>
  %c = graph.host_call "RandomNormal"() {dtype = array<i64: 14>, shape = array<i64: 2>} : () -> tensor<2xcomplex<f32>>
  return %s, %c : !graph.sequence<tensor<*xf32>>, tensor<2xcomplex<f32>>
}

// -----

// Calls of host kernels, but for those that draw random numbers.
// CHECK-LABEL: func @calls
// CHECK-DAG: graph.constant dense<[1, 7, 3]> : tensor<3xi64>
// CHECK-DAG: graph.host_call "RandomNormalLike"
func.func @calls() -> (tensor<3xi64>, tensor<3xf32>) {
  %data = graph.constant dense<[1, 2, 3]> : tensor<3xi64>
  %at = graph.constant dense<1> : tensor<1x1xi64>
  %new = graph.constant dense<7> : tensor<1xi64>
  %like = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = graph.host_call "ScatterND"(%data, %at, %new) {} : (tensor<3xi64>, tensor<1x1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %1 = graph.host_call "RandomNormalLike"(%like) {} : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xi64>, tensor<3xf32>
}

// -----

// Weights of few bits stay as they are stored, and results that grow are not stored.
// CHECK-LABEL: func @weights
// CHECK: graph.host_call "DequantizeLinear"
// CHECK: graph.host_call "Cast"
func.func @weights() -> (tensor<3xf32>, tensor<2048xf32>) {
  %stored = graph.constant dense<[1, 2, 3]> : tensor<3xi8>
  %scale = graph.constant dense<0.5> : tensor<f32>
  %half = graph.constant dense<1.0> : tensor<2048xf16>
  %0 = graph.host_call "DequantizeLinear"(%stored, %scale) {} : (tensor<3xi8>, tensor<f32>) -> tensor<3xf32>
  %1 = graph.host_call "Cast"(%half) {to = array<i64: 1>} : (tensor<2048xf16>) -> tensor<2048xf32>
  return %0, %1 : tensor<3xf32>, tensor<2048xf32>
}

// -----

// Tables of indices may grow more.
// CHECK-LABEL: func @indices
// CHECK-NOT: graph.sub
// CHECK: return
func.func @indices() -> tensor<64x64xi64> {
  %a = graph.constant dense<3> : tensor<64x1xi64>
  %b = graph.constant dense<2> : tensor<1x64xi64>
  %0 = graph.sub %a, %b : (tensor<64x1xi64>, tensor<1x64xi64>) -> tensor<64x64xi64>
  return %0 : tensor<64x64xi64>
}

// -----

// The work of a product counts its columns, that of a convolution its filter, that of a pool its
// window, and not only the 18 elements that each of them reads.
// PRODUCTS-LABEL: func @products
// PRODUCTS: graph.matmul
// PRODUCTS: graph.conv
// PRODUCTS: graph.max_pool
// CHECK-LABEL: func @products
// CHECK-NOT: graph.{{matmul|conv|max_pool}}
func.func @products() -> (tensor<3x3xf32>, tensor<1x1x1x1xf32>, tensor<1x2x1x1xf32>) {
  %a = graph.constant dense<1.0> : tensor<3x3xf32>
  %x = graph.constant dense<1.0> : tensor<1x1x3x3xf32>
  %p = graph.constant dense<1.0> : tensor<1x2x3x3xf32>
  %0 = graph.matmul %a, %a : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = graph.conv %x, %x {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1} : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x1x1xf32>
  %2 = graph.max_pool %p {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x3x3xf32>) -> tensor<1x2x1x1xf32>
  return %0, %1, %2 : tensor<3x3xf32>, tensor<1x1x1x1xf32>, tensor<1x2x1x1xf32>
}

// -----

// The work of a reduction counts what it reads, that of a function, also in a map, is more than that
// of a sum; of what is only moved the result counts.
// WORK-LABEL: func @elements
// WORK: graph.reduce
// WORK: graph.pow
// WORK: graph.map
// WORK-NOT: graph.{{slice|mul}}
// WORK: return
func.func @elements() -> (tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) {
  %a = graph.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<7xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %c = graph.constant dense<2.0> : tensor<1xf32>
  %0 = graph.reduce %a {axes = array<i64: 0>, kind = #graph<reduce_kind sum>} : (tensor<7xf32>) -> tensor<1xf32>
  %1 = graph.pow %b, %c : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %2 = graph.map %b : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%e: f32):
    %power = math.exp %e : f32
    graph.yield %power : f32
  }
  %3 = graph.slice %a {starts = array<i64: 1>, sizes = array<i64: 1>, steps = array<i64: 1>} : (tensor<7xf32>) -> tensor<1xf32>
  %4 = graph.mul %b, %c : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>
}

// -----

// Where all elements of the operands are one number, those of the result are, too, and only one is
// computed.
// WORK-LABEL: func @all_one
// WORK-DAG: graph.constant dense<2.250000e+00> : tensor<64x4xf32>
// WORK-DAG: graph.constant dense<3.000000e+00> : tensor<64xf32>
// WORK-DAG: graph.constant dense<true> : tensor<64x4xi1>
// WORK-NEXT: return
func.func @all_one() -> (tensor<64x4xf32>, tensor<64xf32>, tensor<64x4xi1>) {
  %a = graph.constant dense<1.5> : tensor<64x2xf32>
  %b = graph.constant dense<1.5> : tensor<64x4xf32>
  %c = graph.constant dense<2.0> : tensor<1xf32>
  %0 = graph.pow %b, %c : (tensor<64x4xf32>, tensor<1xf32>) -> tensor<64x4xf32>
  %1 = graph.reduce %a {axes = array<i64: 1>, keepdims = false, kind = #graph<reduce_kind sum>} : (tensor<64x2xf32>) -> tensor<64xf32>
  %2 = graph.compare %b, %c {predicate = #graph<compare_predicate lt>} : (tensor<64x4xf32>, tensor<1xf32>) -> tensor<64x4xi1>
  return %0, %1, %2 : tensor<64x4xf32>, tensor<64xf32>, tensor<64x4xi1>
}

// -----

// A second run of the pass has only what the first has left, and no share for what that has made.
// TWICE-LABEL: func @runs
// TWICE-NOT: graph.log_softmax
// TWICE: graph.softmax
func.func @runs() -> tensor<70000xf32> {
  %a = graph.constant dense<1.5> : tensor<70000xf32>
  %0 = graph.log_softmax %a {axis = 0 : i64} : (tensor<70000xf32>) -> tensor<70000xf32>
  %1 = graph.softmax %0 {axis = 0 : i64} : (tensor<70000xf32>) -> tensor<70000xf32>
  return %1 : tensor<70000xf32>
}

// -----

// A transpose above the limit becomes a constant, as the matrix of a product that an embedding
// shares; other ops that are as large stay.
// MAX2-LABEL: func @large_transpose
// MAX2-DAG: graph.constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
// MAX2-DAG: graph.neg
// MAX2-NOT: graph.transpose
func.func @large_transpose() -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %w = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = graph.neg %w : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<2x3xf32>
}

// RUN: atc-opt %s --graph-fuse-elementwise --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: atc-opt %s --graph-fuse-elementwise=max-ops=2 --split-input-file | FileCheck %s --check-prefix=OPS2
// RUN: atc-opt %s --graph-fuse-elementwise=max-code=4 --split-input-file | FileCheck %s --check-prefix=CODE4
// RUN: atc-opt %s --graph-fuse-elementwise=max-cheap-ops=0 --split-input-file | FileCheck %s --check-prefix=CHEAP0
// RUN: atc-opt %s --graph-fuse-elementwise=max-inputs=2 --split-input-file | FileCheck %s --check-prefix=INPUTS2
// RUN: atc-opt %s --graph-fuse-elementwise=max-code=4 --split-input-file --remarks-filter=graph-fuse-elementwise --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: [Passed] {{.*}}Category:graph-fuse-elementwise{{.*}}the kernel computes an input of its own: {{[0-9]+}} operations
// REMARK-DAG: [Missed] {{.*}}Category:graph-fuse-elementwise{{.*}}the fused maps have more than 4 ops

// A chain becomes one map with the name of its last op; the scalar goes into the body.
// CHECK-LABEL: func @chain
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3xf32>{{.*}}, %[[B:[^:]*]]: tensor<3xf32>
// CHECK: %[[M:.*]] = graph.map %[[X]], %[[B]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: ^bb0(%[[E:[^:]*]]: f32 {{.*}}, %[[F:[^:]*]]: f32
// CHECK-NEXT: %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[E]], %[[C]] : f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[F]] : f32
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[S]] : f32
// CHECK-NEXT: graph.yield %[[T]] : f32
// CHECK-NEXT: } loc("out")
// CHECK-NEXT: return %[[M]]
// INPUTS2-LABEL: func @chain
// INPUTS2-COUNT-1: graph.map
// INPUTS2-NOT: graph.map
// INPUTS2: return
func.func @chain(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %c = graph.constant dense<2.0> : tensor<1x1xf32>
  %0 = graph.mul %x, %c : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %1 = graph.add %0, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = graph.tanh %1 : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("out")
  return %2 : tensor<2x3xf32>
}

// -----

// The same tensor read twice is one input.
// CHECK-LABEL: func @same_input
// CHECK: graph.map %{{[^,]*}} : (tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT: ^bb0(%[[E:[^:]*]]: f32
// CHECK-NEXT: arith.mulf %[[E]], %[[E]]
func.func @same_input(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.mul %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Types may change inside a map; bool is i1, unsigned integers are signless.
// CHECK-LABEL: func @types
// CHECK: graph.map %{{.*}}, %{{.*}} : (tensor<2xui8>, tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT: ^bb0(%{{.*}}: i8 {{.*}}, %{{.*}}: f32
// CHECK: arith.uitofp
// CHECK: arith.cmpf
// CHECK: arith.select
// CHECK-NOT: graph.map
func.func @types(%x: tensor<2xui8>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.cast %x : (tensor<2xui8>) -> tensor<2xf32>
  %1 = graph.compare %0, %y {predicate = #graph<compare_predicate lt>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %2 = graph.where %1, %0, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// A cheap value used twice is computed twice; an expensive one is not.
// CHECK-LABEL: func @shared
// CHECK: %[[T:.*]] = graph.map %arg0
// CHECK: math.tanh
// CHECK: graph.map %[[T]]
// CHECK: arith.addf
// CHECK: math.exp
// CHECK: graph.map %[[T]]
// CHECK: arith.addf
// CHECK: math.sin
// CHECK-NOT: graph.map
// CHEAP0-LABEL: func @shared
// CHEAP0: math.tanh
// CHEAP0: arith.addf
// CHEAP0: %[[S:.*]] = graph.map
// CHEAP0-NEXT: ^bb0
// CHEAP0-NEXT: math.exp
// CHEAP0: graph.map
// CHEAP0-NEXT: ^bb0
// CHEAP0-NEXT: math.sin
func.func @shared(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = graph.tanh %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.add %0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.exp %1 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.sin %1 : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A value that is broadcast is computed on its own unless that is cheap.
// CHECK-LABEL: func @broadcast
// CHECK: %[[R:.*]] = graph.map %arg0 : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: math.sqrt
// CHECK: graph.map %arg2, %arg1, %[[R]] : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK: arith.negf
// CHECK-NOT: graph.map
// INPUTS2-LABEL: func @broadcast
// INPUTS2-COUNT-3: graph.map
func.func @broadcast(%a: tensor<3xf32>, %b: tensor<2x1xf32>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.sqrt %a : (tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.neg %b : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %2 = graph.add %x, %1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %3 = graph.mul %2, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// -----

// A constant that gives the result its shape stays an input; other readers keep
// the producer.
// CHECK-LABEL: func @left_alone
// CHECK: %[[C:.*]] = graph.constant
// CHECK: graph.map %arg0, %[[C]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[T:.*]] = graph.map %arg0
// CHECK: graph.map %[[T]]
// CHECK: return %{{.*}}, %[[T]]
func.func @left_alone(%x: tensor<1xf32>) -> (tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) {
  %c = graph.constant dense<2.0> : tensor<4xf32>
  %0 = graph.mul %x, %c : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.neg %x : (tensor<1xf32>) -> tensor<1xf32>
  %2 = graph.exp %1 : (tensor<1xf32>) -> tensor<1xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<1xf32>, tensor<1xf32>
}

// -----

// Not into a loop: the value would be computed again and again.
// CHECK-LABEL: func @loop
// CHECK: graph.map
// CHECK: scf.for
// CHECK: graph.map
func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = graph.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> tensor<4xf32> {
    %2 = graph.add %acc, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

// -----

// A body has at most max-ops ops: three in a row are two and one.
// OPS2-LABEL: func @bounded
// OPS2: graph.map
// OPS2-NEXT: ^bb0
// OPS2-NEXT: math.exp
// OPS2-NEXT: math.tanh
// OPS2-NEXT: graph.yield
// OPS2: graph.map
// OPS2-NEXT: ^bb0
// OPS2-NEXT: math.sqrt
// OPS2-NEXT: graph.yield
// OPS2: return
func.func @bounded(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.tanh %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.sqrt %1 : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// Five ops in a map are more than max-code: each stays a map of its own, and the constants
// stay operands, so that the three sums are the same but for what they read.
// CODE4-LABEL: func @much_code
// CODE4-COUNT-3: graph.constant
// CODE4: %[[A:.*]] = graph.map %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
// CODE4-NEXT: ^bb0(%[[E:.*]]: f32, %[[F:.*]]: f32):
// CODE4-NEXT: arith.addf %[[E]], %[[F]]
// CODE4-NEXT: graph.yield
// CODE4: graph.map %[[A]], %{{.*}}
// CODE4-NEXT: ^bb0
// CODE4-NEXT: arith.addf
// CODE4-NEXT: graph.yield
// CODE4: math.exp
// CODE4-NEXT: graph.yield
// CODE4: arith.addf
// CODE4-NEXT: graph.yield
// CODE4: math.tanh
// CODE4-NEXT: graph.yield
// CODE4: return
func.func @much_code(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = graph.constant dense<1.0> : tensor<1xf32>
  %b = graph.constant dense<2.0> : tensor<1xf32>
  %c = graph.constant dense<3.0> : tensor<1xf32>
  %0 = graph.add %x, %a : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  %1 = graph.add %0, %b : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  %2 = graph.exp %1 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.add %2, %c : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  %4 = graph.tanh %3 : (tensor<2xf32>) -> tensor<2xf32>
  return %4 : tensor<2xf32>
}

// -----

// The same op four times is no more code than once: these are fused.
// CODE4-LABEL: func @little_code
// CODE4-COUNT-2: graph.map
// CODE4-NOT: graph.map
// CODE4: return
func.func @little_code(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.tanh %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.exp %y : (tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.tanh %2 : (tensor<2xf32>) -> tensor<2xf32>
  return %1, %3 : tensor<2xf32>, tensor<2xf32>
}

// -----

// Two maps of two ops and a constant are more than max-code. With the constants as operands they
// are one.
// CODE4-LABEL: func @constants_differ
// CODE4: graph.map %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
// CODE4-NEXT: ^bb0
// CODE4-NEXT: arith.addf
// CODE4-NEXT: math.exp
// CODE4: graph.map %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
// CODE4-NEXT: ^bb0
// CODE4-NEXT: arith.addf
// CODE4-NEXT: math.exp
// CODE4-NOT: graph.map
// CODE4: return
func.func @constants_differ(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = graph.constant dense<1.0> : tensor<1xf32>
  %b = graph.constant dense<2.0> : tensor<1xf32>
  %0 = graph.add %x, %a : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  %1 = graph.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.add %x, %b : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  %3 = graph.exp %2 : (tensor<2xf32>) -> tensor<2xf32>
  return %1, %3 : tensor<2xf32>, tensor<2xf32>
}

// -----

// What is computed again stays apart from the first computation (train-recompute).
// CHECK-LABEL: func.func @recomputed
// CHECK: %[[FIRST:.*]] = graph.map %arg0 : (tensor<8x8xf32>)
// CHECK: graph.matmul %[[FIRST]]
// CHECK: %[[AGAIN:.*]] = graph.map %arg0 {train.recomputed}
// CHECK: graph.matmul %[[AGAIN]]
func.func @recomputed(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = graph.tanh %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.sigmoid %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = graph.matmul %1, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = graph.tanh %x {train.recomputed} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = graph.sigmoid %3 {train.recomputed} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = graph.matmul %4, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2, %5 : tensor<8x8xf32>, tensor<8x8xf32>
}

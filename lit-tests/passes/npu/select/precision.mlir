// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(npu-precision{mode=force_fp16}))' | FileCheck %s --check-prefix=FORCE
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(npu-precision{mode=force_fp16}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(npu-precision{mode=force_fp16 clip-weights=false}))' 2>&1 | FileCheck %s --check-prefix=INFINITE
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(npu-precision{mode=cube_fp16}))' | FileCheck %s --check-prefix=CUBE
// RUN: atc-opt %s --pass-pipeline='builtin.module(func.func(npu-precision{mode=origin}))' | FileCheck %s --check-prefix=ORIGIN
// RUN: not atc-opt %s --pass-pipeline='builtin.module(func.func(npu-precision{mode=f8}))' 2>&1 | FileCheck %s --check-prefix=MODE
// MODE: mode must be force_fp16, cube_fp16 or origin, but is 'f8'

// Inputs and results keep their types; weights are f16, biases f32; bodies of
// maps compute in f32.
// FORCE-LABEL: func.func @main(%arg0: tensor<1x2x4x4xf32>, %arg1: tensor<3xi64>) -> tensor<1x2x4x4xf32>
// FORCE-DAG: %[[X:.*]] = graph.cast %arg0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf16>
// FORCE-DAG: %[[W:.*]] = graph.constant dense<5.000000e-01> : tensor<2x2x1x1xf16>
// FORCE-DAG: %[[B:.*]] = graph.constant dense<1.000000e+05> : tensor<2xf32>
// FORCE: %[[C:.*]] = graph.conv %[[X]], %[[W]] bias %[[B]] {{.*}} -> tensor<1x2x4x4xf16>
// FORCE: %[[M:.*]] = graph.map %[[C]]
// FORCE-NEXT: ^bb0(%[[E:.*]]: f16):
// FORCE-NEXT: %[[WIDE:.*]] = arith.extf %[[E]] : f16 to f32
// FORCE-NEXT: %[[EPS:.*]] = arith.constant 9.99999996E-13 : f32
// FORCE-NEXT: %[[SUM:.*]] = arith.addf %[[WIDE]], %[[EPS]] : f32
// FORCE-NEXT: %[[NARROW:.*]] = arith.truncf %[[SUM]] : f32 to f16
// FORCE-NEXT: graph.yield %[[NARROW]] : f16
// What is finite stays finite.
// FORCE: %[[L:.*]] = graph.constant dense<-6.550400e+04> : tensor<1x2x4x4xf16>
// FORCE: graph.add %[[M]], %[[L]] : {{.*}} -> tensor<1x2x4x4xf16>
// FORCE: %[[OUT:.*]] = graph.cast {{.*}} -> tensor<1x2x4x4xf32>
// FORCE-NEXT: return %[[OUT]]

// CUBE-LABEL: func.func @main
// CUBE: %[[X:.*]] = graph.cast %arg0
// CUBE: %[[C:.*]] = graph.conv %[[X]], %{{.*}} bias %{{.*}} : (tensor<1x2x4x4xf16>, tensor<2x2x1x1xf16>, tensor<2xf32>) -> tensor<1x2x4x4xf16>
// CUBE-NEXT: graph.cast %[[C]] : (tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf32>
// CUBE: graph.add {{.*}} -> tensor<1x2x4x4xf32>

// ORIGIN-NOT: f16
func.func @main(%arg0: tensor<1x2x4x4xf32>, %arg1: tensor<3xi64>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x1x1xf32>
  %b = graph.constant dense<1.0e5> : tensor<2xf32>
  %c = graph.conv %arg0, %w bias %b {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %m = graph.map %c : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%x: f32):
    %eps = arith.constant 1.0e-12 : f32
    %sum = arith.addf %x, %eps : f32
    graph.yield %sum : f32
  }
  %l = graph.constant dense<-3.4e38> : tensor<1x2x4x4xf32>
  %r = graph.add %m, %l : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// What makes integers of the inputs stays f32, as far as no contraction is in front;
// integers that a map keeps to itself count as well.
// FORCE-LABEL: func.func @quantized
// FORCE: %[[S:.*]] = graph.map %arg0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
// FORCE: %[[H:.*]] = graph.cast %[[S]] : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf16>
// FORCE: graph.map %arg0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8>
// FORCE-NEXT: ^bb0(%{{.*}}: f32):
// FORCE: graph.conv %[[H]], {{.*}} -> tensor<1x2x4x4xf16>
// FORCE: graph.map %{{.*}} : (tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xui8>
func.func @quantized(%arg0: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xui8>, tensor<1x2x4x4xui8>) {
  %s = graph.map %arg0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%x: f32):
    %u = arith.fptoui %x : f32 to i8
    %f = arith.uitofp %u : i8 to f32
    graph.yield %f : f32
  }
  %q = graph.map %arg0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8> {
  ^bb0(%x: f32):
    %u = arith.fptoui %x : f32 to i8
    graph.yield %u : i8
  }
  %w = graph.constant dense<0.5> : tensor<2x2x1x1xf32>
  %c = graph.conv %s, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = graph.map %c : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8> {
  ^bb0(%x: f32):
    %u = arith.fptoui %x : f32 to i8
    graph.yield %u : i8
  }
  return %q, %r : tensor<1x2x4x4xui8>, tensor<1x2x4x4xui8>
}

// What an index is made of stays f32 where that is made of integers itself.
// FORCE-LABEL: func.func @index_of_integers
// FORCE-NOT: f16
// FORCE: return
func.func @index_of_integers(%arg0: tensor<4xi32>) -> tensor<4xi64> {
  %f = graph.map %arg0 : (tensor<4xi32>) -> tensor<4xf32> {
  ^bb0(%x: i32):
    %r = arith.sitofp %x : i32 to f32
    graph.yield %r : f32
  }
  %i = graph.map %f : (tensor<4xf32>) -> tensor<4xi64> {
  ^bb0(%x: f32):
    %r = arith.fptosi %x : f32 to i64
    graph.yield %r : i64
  }
  return %i : tensor<4xi64>
}

// A map that rounds f32 numbers keeps them, and only its result is narrowed: of numbers that are
// almost the same in f16 the whole ones differ. Bytes are the same in f16.
// FORCE-LABEL: func.func @whole_numbers
// FORCE: graph.map %arg0 : (tensor<4xf32>) -> tensor<4xf32>
// FORCE: math.floor %{{.*}} : f32
// FORCE-LABEL: func.func @whole_numbers_of_bytes
// FORCE: graph.map %arg0 : (tensor<4xui8>) -> tensor<4xf16>
func.func @whole_numbers(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %f = graph.map %arg0 : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: f32):
    %r = math.floor %x : f32
    %d = arith.subf %x, %r : f32
    graph.yield %d : f32
  }
  %y = graph.relu %f : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @whole_numbers_of_bytes(%arg0: tensor<4xui8>) -> tensor<4xf32> {
  %f = graph.map %arg0 : (tensor<4xui8>) -> tensor<4xf32> {
  ^bb0(%x: i8):
    %u = arith.uitofp %x : i8 to f32
    %r = math.floor %u : f32
    graph.yield %r : f32
  }
  %y = graph.relu %f : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// An integer contraction that stays on the CPU keeps its f32 result and inputs, also one that
// was narrowed where it is made; what reads it is narrowed.
// FORCE-LABEL: func.func @integer_contraction
// FORCE: %[[S:.*]] = graph.constant dense<2.500000e-01> : tensor<3xf32>
// FORCE: %[[C:.*]] = graph.conv {{.*}} -> tensor<1x3x1x1xf16>
// FORCE: %[[R:.*]] = graph.reshape %[[C]] : (tensor<1x3x1x1xf16>) -> tensor<1x3xf16>
// FORCE: %[[WIDE:.*]] = graph.cast %[[R]] : (tensor<1x3xf16>) -> tensor<1x3xf32>
// FORCE: %[[P:.*]] = graph.integer_fully_connected %{{.*}}, %{{.*}} inputs %[[S]], %[[WIDE]] {{.*}} -> tensor<1x3xf32> {
// FORCE-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: f32, %{{.*}}: f32):
// FORCE: %[[H:.*]] = graph.cast %[[P]] : (tensor<1x3xf32>) -> tensor<1x3xf16>
// FORCE: graph.relu %[[H]] : (tensor<1x3xf16>) -> tensor<1x3xf16>
func.func @integer_contraction(%x: tensor<1x4xui8>, %w: tensor<3x4xi8>, %i: tensor<1x2x1x1xf32>) -> tensor<1x3xf32> {
  %s = graph.constant dense<0.25> : tensor<3xf32>
  %f = graph.constant dense<0.5> : tensor<3x2x1x1xf32>
  %c = graph.conv %i, %f {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x1x1xf32>
  %r = graph.reshape %c : (tensor<1x3x1x1xf32>) -> tensor<1x3xf32>
  %p = graph.integer_fully_connected %x, %w inputs %s, %r {filter_zero_points = array<i64>, zero_point = 0 : i64} : (tensor<1x4xui8>, tensor<3x4xi8>, tensor<3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> {
  ^bb0(%sum: i32, %scale: f32, %more: f32):
    %a = arith.sitofp %sum : i32 to f32
    %b = arith.mulf %a, %scale : f32
    %d = arith.addf %b, %more : f32
    graph.yield %d : f32
  }
  %y = graph.relu %p : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}

// A scale that is a part of something else: that part is f16, and converted where it is taken.
// FORCE-LABEL: func.func @part_as_scale
// FORCE: %[[S:.*]] = graph.slice {{.*}} -> tensor<2x1x4xf16>
// FORCE: %[[W:.*]] = graph.cast %[[S]] : (tensor<2x1x4xf16>) -> tensor<2x1x4xf32>
// FORCE: %[[R:.*]] = graph.reshape %[[W]] : (tensor<2x1x4xf32>) -> tensor<2x4x1xf32>
// FORCE: graph.map %{{.*}}, %[[R]]
func.func @part_as_scale(%x: tensor<2x2x4xf32>, %i: tensor<2x4x3xi64>) -> tensor<2x4x3xf32> {
  %a = graph.relu %x : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  %s = graph.slice %a {sizes = array<i64: 2, 1, 4>, starts = array<i64: 0, 1, 0>, steps = array<i64: 1, 1, 1>} : (tensor<2x2x4xf32>) -> tensor<2x1x4xf32>
  %r = graph.reshape %s : (tensor<2x1x4xf32>) -> tensor<2x4x1xf32>
  %y = graph.map %i, %r : (tensor<2x4x3xi64>, tensor<2x4x1xf32>) -> tensor<2x4x3xf32> {
  ^bb0(%n: i64, %scale: f32):
    %f = arith.sitofp %n : i64 to f32
    %p = arith.mulf %f, %scale : f32
    graph.yield %p : f32
  }
  return %y : tensor<2x4x3xf32>
}

// The square of 256 is infinite in f16: squares and their means stay f32 until a map reads them.
// FORCE-LABEL: func.func @norm
// FORCE: %[[X:.*]] = graph.cast %arg0 : {{.*}} -> tensor<2x64xf16>
// FORCE: %[[S:.*]] = graph.map %[[X]] : (tensor<2x64xf16>) -> tensor<2x64xf32>
// FORCE: %[[V:.*]] = graph.reduce %[[S]] {{.*}} -> tensor<2xf32>
// FORCE: %[[R:.*]] = graph.reshape %[[V]] {{.*}} -> tensor<2x1xf32>
// FORCE: graph.map %[[X]], %[[R]] : (tensor<2x64xf16>, tensor<2x1xf32>) -> tensor<2x64xf16>
// FORCE-NEXT: ^bb0(%{{.*}}: f16, %{{.*}}: f32):
// Squares that something else reads, too, are f16.
// FORCE: %[[Q:.*]] = graph.mul {{.*}} -> tensor<2x64xf16>
// FORCE: graph.reduce %[[Q]] {{.*}} -> tensor<2x1xf16>
func.func @norm(%x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x1xf32>) {
  %s = graph.map %x : (tensor<2x64xf32>) -> tensor<2x64xf32> {
  ^bb0(%a: f32):
    %p = arith.mulf %a, %a : f32
    graph.yield %p : f32
  }
  %v = graph.reduce %s {axes = array<i64: 1>, keepdims = false, kind = #graph<reduce_kind mean>} : (tensor<2x64xf32>) -> tensor<2xf32>
  %r = graph.reshape %v : (tensor<2xf32>) -> tensor<2x1xf32>
  %n = graph.map %x, %r : (tensor<2x64xf32>, tensor<2x1xf32>) -> tensor<2x64xf32> {
  ^bb0(%a: f32, %b: f32):
    %e = arith.constant 1.0e-6 : f32
    %c = arith.addf %b, %e : f32
    %d = math.rsqrt %c : f32
    %p = arith.mulf %a, %d : f32
    graph.yield %p : f32
  }
  %q = graph.mul %n, %n : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %m = graph.reduce %q {axes = array<i64: 1>, keepdims = true, kind = #graph<reduce_kind mean>} : (tensor<2x64xf32>) -> tensor<2x1xf32>
  return %n, %q, %m : tensor<2x64xf32>, tensor<2x64xf32>, tensor<2x1xf32>
}

// Sums of squares, and sums by which maps divide, stay f32 as well: a quotient by infinity would be a
// zero that nobody notices. Other sums are f16.
// FORCE-LABEL: func.func @sums
// FORCE: %[[W:.*]] = graph.cast {{.*}} -> tensor<2x64xf32>
// FORCE: graph.reduce %[[W]] {{.*}}sum_square{{.*}} -> tensor<2x1xf32>
// FORCE: graph.reduce %[[W]] {{.*}}kind = #graph<reduce_kind sum>{{.*}} -> tensor<2x1xf32>
// FORCE: graph.map {{.*}} : (tensor<2x64xf16>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x64xf16>
// FORCE: graph.reduce {{.*}}kind = #graph<reduce_kind sum>{{.*}} -> tensor<2x1xf16>
func.func @sums(%a: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x1xf32>) {
  %x = graph.relu %a : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %q = graph.reduce %x {axes = array<i64: 1>, keepdims = true, kind = #graph<reduce_kind sum_square>} : (tensor<2x64xf32>) -> tensor<2x1xf32>
  %s = graph.reduce %x {axes = array<i64: 1>, keepdims = true, kind = #graph<reduce_kind sum>} : (tensor<2x64xf32>) -> tensor<2x1xf32>
  %n = graph.map %x, %q, %s : (tensor<2x64xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x64xf32> {
  ^bb0(%e: f32, %b: f32, %c: f32):
    %r = math.sqrt %b : f32
    %d = arith.divf %e, %r : f32
    %f = arith.divf %d, %c : f32
    graph.yield %f : f32
  }
  %t = graph.reduce %n {axes = array<i64: 1>, keepdims = true, kind = #graph<reduce_kind sum>} : (tensor<2x64xf32>) -> tensor<2x1xf32>
  return %n, %t : tensor<2x64xf32>, tensor<2x1xf32>
}

// Factors beyond f16 are read as they are, masks and bounds are clamped. Weights are, too, with a warning.
// FORCE-LABEL: func.func @beyond
// FORCE-DAG: %[[F:.*]] = graph.constant dense<[1.000000e+06, 1.000000e+00]> : tensor<2xf32>
// FORCE-DAG: %[[M:.*]] = graph.constant dense<[-6.550400e+04, 0.000000e+00]> : tensor<2xf16>
// FORCE: graph.map %{{.*}}, %[[F]], %[[M]] : (tensor<2x2xf16>, tensor<2xf32>, tensor<2xf16>) -> tensor<2x2xf16>
// WARN: warning: {{.*}}W11012: 3 of 4 weights of node 'layer' are beyond 65504, where f16 ends, and become 65504 or -65504; name the node in a file of --keep_dtype to compute it in f32
// WARN-NOT: W11012
// INFINITE-DAG: W11012: 3 of 4 weights of node 'layer' are beyond 65504, where f16 ends, and become infinite; name
// INFINITE-DAG: graph.constant dense<[-6.550400e+04, 0.000000e+00]> : tensor<2xf16>
// INFINITE-DAG: graph.constant dense<{{\[\[}}0x7C00, 6.550400e+04], [0xFC00, 0x7C00]]> : tensor<2x2xf16>
func.func @beyond(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %f = graph.constant dense<[1.0e6, 1.0]> : tensor<2xf32>
  %m = graph.constant dense<[-1.0e9, 0.0]> : tensor<2xf32>
  %w = graph.constant dense<[[1.0e5, 65504.0], [-7.0e4, 3.0e38]]> : tensor<2x2xf32>
  %y = graph.map %x, %f, %m : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32> {
  ^bb0(%e: f32, %a: f32, %b: f32):
    %p = arith.mulf %e, %a : f32
    %s = arith.addf %p, %b : f32
    graph.yield %s : f32
  }
  %z = graph.fully_connected %y, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("y"("layer"))
  return %z : tensor<2x2xf32>
}

// The product of two scales is often below the normal numbers of f16: scales of integers and what
// they are computed of stay f32, as far as it is elementwise; the result and the maximum are f16.
// FORCE-LABEL: func.func @scales
// FORCE: %[[W:.*]] = graph.constant dense<{{.*}}> : tensor<4xf32>
// FORCE: %[[M:.*]] = graph.reduce {{.*}} -> tensor<f16>
// FORCE: %[[S:.*]] = graph.map %[[M]] : (tensor<f16>) -> tensor<f32>
// FORCE: %[[P:.*]] = graph.mul %[[S]], %[[W]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
// FORCE: %[[R:.*]] = graph.reshape %[[P]] {{.*}} -> tensor<1x4xf32>
// FORCE: graph.map %arg1, %[[R]] : (tensor<2x4xi32>, tensor<1x4xf32>) -> tensor<2x4xf16>
func.func @scales(%x: tensor<2x8xf32>, %sums: tensor<2x4xi32>) -> tensor<2x4xf32> {
  %w = graph.constant dense<[1.0e-4, 2.0e-4, 3.0e-4, 4.0e-4]> : tensor<4xf32>
  %f = graph.constant dense<1.0> : tensor<8x8xf32>
  %h = graph.fully_connected %x, %f : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %m = graph.reduce %h {axes = array<i64: 0, 1>, keepdims = false, kind = #graph<reduce_kind max>} : (tensor<2x8xf32>) -> tensor<f32>
  %s = graph.map %m : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a: f32):
    %c = arith.constant 2.55e+02 : f32
    %d = arith.divf %a, %c : f32
    graph.yield %d : f32
  }
  %p = graph.mul %s, %w : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.reshape %p : (tensor<4xf32>) -> tensor<1x4xf32>
  %y = graph.map %sums, %r : (tensor<2x4xi32>, tensor<1x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%a: i32, %b: f32):
    %c = arith.sitofp %a : i32 to f32
    %d = arith.mulf %c, %b : f32
    graph.yield %d : f32
  }
  return %y : tensor<2x4xf32>
}

// What keeps a norm above zero does so in f16, also where it is added; a bound that f16 has, and one
// below numbers of any sign, stay as they are.
// FORCE-LABEL: func.func @norms
// FORCE: graph.map
// FORCE: %[[NORM:.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// FORCE-NEXT: %[[SMALLEST:.*]] = arith.constant 5.96046448E-8 : f32
// FORCE-NEXT: %[[ABOVE:.*]] = arith.maximumf %[[NORM]], %[[SMALLEST]] : f32
// FORCE-NEXT: arith.truncf %[[ABOVE]]
// FORCE: graph.map
// FORCE: %[[ROOT:.*]] = arith.addf
// FORCE: %[[ABOVE2:.*]] = arith.maximumf %[[ROOT]]
// FORCE-NEXT: arith.truncf %[[ABOVE2]]
// FORCE: graph.map
// FORCE: %[[LARGE:.*]] = arith.maximumf
// FORCE-NEXT: arith.truncf %[[LARGE]]
// FORCE: graph.map
// FORCE: %[[ANY:.*]] = arith.addf
// FORCE-NEXT: arith.truncf %[[ANY]]
func.func @norms(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = graph.reduce %x {axes = array<i64: 1>, kind = #graph<reduce_kind l2>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %0 = graph.map %n : (tensor<4x1xf32>) -> tensor<4x1xf32> {
  ^bb0(%e: f32):
    %eps = arith.constant 1.0e-12 : f32
    %m = arith.maximumf %e, %eps : f32
    graph.yield %m : f32
  }
  %1 = graph.map %x : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%e: f32):
    %eps = arith.constant 1.0e-10 : f32
    %r = math.sqrt %e : f32
    %s = arith.addf %r, %eps : f32
    graph.yield %s : f32
  }
  %2 = graph.map %x : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%e: f32):
    %eps = arith.constant 1.0e-3 : f32
    %m = arith.maximumf %e, %eps : f32
    graph.yield %m : f32
  }
  %3 = graph.map %x : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%e: f32):
    %eps = arith.constant 1.0e-12 : f32
    %s = arith.addf %e, %eps : f32
    graph.yield %s : f32
  }
  return %0, %1, %2, %3 : tensor<4x1xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// What a mask makes in the body of a map stays finite, too; what cannot be too large is left alone.
// FORCE-LABEL: func.func @masks
// FORCE: graph.map
// FORCE: %[[SUM:.*]] = arith.addf
// FORCE: %[[LOW:.*]] = arith.constant -6.550400e+04 : f32
// FORCE-NEXT: %[[MASKED:.*]] = arith.select %{{.*}}, %[[LOW]], %[[SUM]] : f32
// FORCE-NEXT: arith.truncf %[[MASKED]]
// FORCE: graph.map
// FORCE: %[[MASK:.*]] = arith.mulf
// FORCE-NEXT: %[[HIGH:.*]] = arith.constant 6.550400e+04 : f32
// FORCE-NEXT: %[[BELOW:.*]] = arith.minimumf %[[MASK]], %[[HIGH]] : f32
// FORCE-NEXT: %[[LOW2:.*]] = arith.constant -6.550400e+04 : f32
// FORCE-NEXT: %[[INSIDE:.*]] = arith.maximumf %[[BELOW]], %[[LOW2]] : f32
// FORCE-NEXT: arith.truncf %[[INSIDE]]
// FORCE: graph.map
// FORCE: %[[SMALL:.*]] = arith.divf
// FORCE-NEXT: arith.truncf %[[SMALL]]
func.func @masks(%c: tensor<4xi1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.map %c, %x : (tensor<4xi1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%m: i1, %e: f32):
    %low = arith.constant -3.40282347E+38 : f32
    %sum = arith.addf %e, %e : f32
    %s = arith.select %m, %low, %sum : f32
    graph.yield %s : f32
  }
  %1 = graph.map %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%e: f32):
    %low = arith.constant -1.0e9 : f32
    %p = arith.mulf %e, %low : f32
    graph.yield %p : f32
  }
  %2 = graph.map %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%e: f32):
    %large = arith.constant 1.0e9 : f32
    %q = arith.divf %e, %large : f32
    graph.yield %q : f32
  }
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Between sums of integers all is f32, but products of two activations read f16, which the maps
// around them make and read.
// FORCE-LABEL: @between_integers
// CUBE-LABEL: @between_integers
// ORIGIN-LABEL: @between_integers
// FORCE: graph.map %{{.*}} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf16>
// FORCE: arith.truncf
// FORCE-NOT: graph.cast
// FORCE: graph.matmul %{{.*}} : (tensor<2x4x8xf16>, tensor<2x8x4xf16>) -> tensor<2x4x4xf16>
// FORCE-NEXT: graph.map %{{.*}} : (tensor<2x4x4xf16>) -> tensor<2x4x4xf32>
// FORCE: arith.extf
// FORCE: graph.map %{{.*}} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
// CUBE: graph.matmul %{{.*}} -> tensor<2x4x4xf16>
// ORIGIN: graph.matmul %{{.*}} -> tensor<2x4x4xf32>
func.func @between_integers(%x: tensor<4x32xui8>, %a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) -> (tensor<4x32xi32>, tensor<2x4x4xf32>, tensor<2x4x8xf32>) {
  %filter = graph.constant dense<2> : tensor<32x32xi8>
  %sums = graph.integer_fully_connected %x, %filter {filter_zero_points = array<i64>, npu.sums = "blocks", zero_point = 3 : i64} : (tensor<4x32xui8>, tensor<32x32xi8>) -> tensor<4x32xi32>
  %0 = graph.map %a : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  ^bb0(%e: f32):
    %s = math.absf %e : f32
    graph.yield %s : f32
  }
  %1 = graph.matmul %0, %b : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  %2 = graph.map %1 : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  ^bb0(%e: f32):
    %s = math.absf %e : f32
    graph.yield %s : f32
  }
  %3 = graph.map %a : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  ^bb0(%e: f32):
    %s = math.sqrt %e : f32
    graph.yield %s : f32
  }
  return %sums, %2, %3 : tensor<4x32xi32>, tensor<2x4x4xf32>, tensor<2x4x8xf32>
}

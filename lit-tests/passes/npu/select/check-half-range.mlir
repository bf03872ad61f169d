// RUN: atc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(npu-precision{mode=force_fp16},npu-check-half-range))' -o /dev/null 2>&1 | FileCheck %s
// RUN: atc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(npu-precision{mode=force_fp16},npu-check-half-range))' --remarks-filter=npu-check-half-range --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Each warning is that of the next function; what comes of lost numbers is no second one. What
// finite bounds allow but do not prove is a remark, here for the last function.
// REMARK: MayOverflow {{.*}} from 0.00 to 16581375.00

// The exponential of 12 is beyond f16.
// CHECK: W11016: whatever the inputs are, node 'exp' makes numbers of 162755 or more, beyond 65504, where f16 ends; name them
func.func @exponential(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = graph.map %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: f32):
    %l = arith.constant 12.0 : f32
    %h = arith.constant 14.0 : f32
    %a = arith.maximumf %v, %l : f32
    %b = arith.minimumf %a, %h : f32
    %r = math.exp %b : f32
    graph.yield %r : f32
  } loc("e"("exp"))
  %m = graph.map %e : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: f32):
    %r = math.sqrt %v : f32
    graph.yield %r : f32
  } loc("m"("root"))
  return %m : tensor<4xf32>
}

// -----

// One pixel with a large weight: some element is beyond f16, not all.
// CHECK: W11016: {{.*}} node 'scale' makes numbers of 70000 or more
func.func @one_element(%x: tensor<1x3xui8>) -> tensor<1x3xf32> {
  %w = graph.constant dense<[[1.0, 70000.0, 2.0]]> : tensor<1x3xf32>
  %f = graph.cast %x : (tensor<1x3xui8>) -> tensor<1x3xf32>
  %b = graph.constant dense<1.0> : tensor<f32>
  %s = graph.map %f, %w, %b : (tensor<1x3xf32>, tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32> {
  ^bb0(%v: f32, %k: f32, %c: f32):
    %p = arith.addf %v, %c : f32
    %r = arith.mulf %p, %k : f32
    graph.yield %r : f32
  } loc("s"("scale"))
  return %s : tensor<1x3xf32>
}

// -----

// A product that has every number between its bounds, and a bias that no input makes up for; the
// next layer as well.
// CHECK: W11016: {{.*}} node 'layer' makes numbers of -69000 or less, beyond 65504, where f16 ends; so do 1 more: 'other'; name them
func.func @bias(%x: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %s = graph.map %x : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%v: f32):
    %r = math.tanh %v : f32
    graph.yield %r : f32
  } loc("s"("tanh"))
  %w = graph.constant dense<[[500.0, -400.0, 100.0], [1.0, 2.0, 3.0]]> : tensor<2x3xf32>
  %b = graph.constant dense<[-70000.0, 0.0]> : tensor<2xf32>
  %c = graph.constant dense<[0.0, 70000.0]> : tensor<2xf32>
  %y = graph.fully_connected %s, %w bias %b : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x2xf32> loc("y"("layer"))
  %z = graph.fully_connected %s, %w bias %c : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x2xf32> loc("z"("other"))
  return %y, %z : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// The sum of 4096 squares of numbers of 20 and more is f32, and becomes f16 in front of a product.
// CHECK: W11016: {{.*}} node 'squares' makes numbers of 1.6384e+06 or more
func.func @squares(%x: tensor<2x4096xf32>) -> tensor<2x1xf32> {
  %s = graph.map %x : (tensor<2x4096xf32>) -> tensor<2x4096xf32> {
  ^bb0(%v: f32):
    %l = arith.constant 20.0 : f32
    %r = arith.maximumf %v, %l : f32
    graph.yield %r : f32
  } loc("s"("max"))
  %q = graph.reduce %s {axes = array<i64: 1>, kind = #graph<reduce_kind sum_square>} : (tensor<2x4096xf32>) -> tensor<2x1xf32> loc("q"("squares"))
  %w = graph.constant dense<1.0> : tensor<1x1xf32>
  %y = graph.fully_connected %q, %w : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32> loc("y"("layer"))
  return %y : tensor<2x1xf32>
}

// -----

// A constant keeps all numbers finite in f16, which the model's are not.
// CHECK: W11016: {{.*}} node 'far' makes numbers of 100000 or more
func.func @clamped(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = graph.map %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: f32):
    %l = arith.constant 1.0e5 : f32
    %z = arith.constant 0.0 : f32
    %a = arith.maximumf %v, %z : f32
    %r = arith.addf %a, %l : f32
    graph.yield %r : f32
  } loc("e"("far"))
  return %e : tensor<4xf32>
}

// -----

// The second plane of an image is at least 80 * 1000.
// CHECK: W11016: {{.*}} node 'aipp' makes numbers of 80000 or more
func.func @image(%x: tensor<1x8x8x2xui8>) -> tensor<1x2x8x8xf32> {
  %p = graph.preprocess %x {crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0, 1>, means = array<f32: 0.0, -80.0>, mins = array<f32: 0.0, 0.0>, factors = array<f32: 1.0, 1000.0>} : (tensor<1x8x8x2xui8>) -> tensor<1x2x8x8xf32> loc("p"("aipp"))
  return %p : tensor<1x2x8x8xf32>
}

// -----

// At the borders of an image the window has zeros: only the bias and the residual count there.
// CHECK: W11016: {{.*}} node 'conv' makes numbers of 66000 or more
func.func @conv(%x: tensor<1x1x4x4xui8>, %t: tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32> {
  %f = graph.cast %x : (tensor<1x1x4x4xui8>) -> tensor<1x1x4x4xf32>
  %r = graph.map %t : (tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32> {
  ^bb0(%v: f32):
    %l = arith.constant 1000.0 : f32
    %m = arith.maximumf %v, %l : f32
    graph.yield %m : f32
  } loc("r"("max"))
  %w = graph.constant dense<[[[[1.0]]], [[[5.0]]]]> : tensor<2x1x1x1xf32>
  %b = graph.constant dense<[0.0, 65000.0]> : tensor<2xf32>
  %y = graph.conv %f, %w bias %b residual %r {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, activation = #graph.activation<relu>} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32> loc("y"("conv"))
  return %y : tensor<1x2x6x6xf32>
}

// -----

// An activation takes lost numbers away, and a slice may.
// CHECK-NOT: W11016
func.func @removed(%x: tensor<2x3xui8>) -> (tensor<2x2xf32>, tensor<1xf32>) {
  %f = graph.cast %x : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %w = graph.constant dense<-1.0> : tensor<2x3xf32>
  %b = graph.constant dense<-70000.0> : tensor<2xf32>
  %y = graph.fully_connected %f, %w bias %b {activation = #graph.activation<relu>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x2xf32> loc("y"("layer"))
  %c = graph.constant dense<[0.0, 50000.0]> : tensor<2xf32>
  %s = graph.slice %c {starts = array<i64: 0>, sizes = array<i64: 1>, steps = array<i64: 1>} : (tensor<2xf32>) -> tensor<1xf32>
  %z = graph.map %s, %s : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> {
  ^bb0(%u: f32, %v: f32):
    %r = arith.addf %u, %v : f32
    graph.yield %r : f32
  } loc("z"("sum"))
  return %y, %z : tensor<2x2xf32>, tensor<1xf32>
}

// -----

// Nothing is certain of inputs of any size, of a mask that some rows have, of what may be anything
// up to a bound, and of an infinite constant.
// CHECK-NOT: W11016
func.func @possible(%x: tensor<4xf32>, %m: tensor<4xi1>, %u: tensor<4xui8>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = graph.map %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: f32):
    %r = math.exp %v : f32
    graph.yield %r : f32
  } loc("e"("exp"))
  %a = graph.map %m : (tensor<4xi1>) -> tensor<4xf32> {
  ^bb0(%v: i1):
    %l = arith.constant -1.0e9 : f32
    %f = arith.uitofp %v : i1 to f32
    %r = arith.mulf %f, %l : f32
    graph.yield %r : f32
  } loc("a"("mask"))
  %f = graph.cast %u : (tensor<4xui8>) -> tensor<4xf32>
  %s = graph.map %f : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: f32):
    %w = arith.mulf %v, %v : f32
    %r = arith.mulf %w, %v : f32
    graph.yield %r : f32
  } loc("s"("cube"))
  %i = graph.constant dense<[0.0, 0.0, 0xFF800000, 0.0]> : tensor<4xf32>
  %y = graph.map %x, %i : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: f32, %k: f32):
    %t = math.tanh %v : f32
    %r = arith.addf %t, %k : f32
    graph.yield %r : f32
  } loc("y"("masked"))
  return %e, %a, %s, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// RUN: atc-opt %s --split-input-file --verify-diagnostics

// A case for every message of the verifiers: elementwise ops, reductions, maps and attributes.

func.func @reduce_axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op axis 2 is not in [0, 2), the dims of the input}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @reduce_negative_axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op axis -1 is not in [0, 2), the dims of the input}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: -1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @reduce_axes(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op axes must be sorted and name a dim once, but 0 follows 1}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @reduce_float(%x: tensor<2x3xi32>) {
  // expected-error @+1 {{'graph.reduce' op kind l2 expects floating-point elements, but input is 'tensor<2x3xi32>'}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind l2>, axes = array<i64: 1>} : (tensor<2x3xi32>) -> tensor<2x1xi32>
  return
}

// -----

func.func @reduce_number(%x: tensor<2x3xcomplex<f32>>) {
  // expected-error @+1 {{'graph.reduce' op kind sum expects integer or floating-point elements, but input is 'tensor<2x3xcomplex<f32>>'}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 1>} : (tensor<2x3xcomplex<f32>>) -> tensor<2x1xcomplex<f32>>
  return
}

// -----

func.func @reduce_result(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op result is 'tensor<2xf32>', expected 'tensor<2x1xf32>'}}
  %0 = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @arg_max_axis(%x: tensor<2xf32>) {
  // expected-error @+1 {{'graph.arg_max' op axis 1 is not in [0, 1), the dims of the input}}
  %0 = graph.arg_max %x {axis = 1 : i64} : (tensor<2xf32>) -> tensor<1xi64>
  return
}

// -----

func.func @arg_min_empty(%x: tensor<2x0xf32>) {
  // expected-error @+1 {{'graph.arg_min' op axis 1 of 'tensor<2x0xf32>' has no elements to choose from}}
  %0 = graph.arg_min %x {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2x1xi64>
  return
}

// -----

func.func @arg_max_result(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.arg_max' op result is 'tensor<2x1xi32>', expected 'tensor<2x1xi64>'}}
  %0 = graph.arg_max %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x1xi32>
  return
}

// -----

func.func @softmax_axis(%x: tensor<2xf32>) {
  // expected-error @+1 {{'graph.softmax' op axis -1 is not in [0, 1), the dims of the input}}
  %0 = graph.softmax %x {axis = -1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @log_softmax_elements(%x: tensor<2xi32>) {
  // expected-error @+1 {{'graph.log_softmax' op expects floating-point elements, but input is 'tensor<2xi32>'}}
  %0 = graph.log_softmax %x {axis = 0 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @elements_float(%x0: tensor<2xi32>) {
  // expected-error @+1 {{'graph.exp' op expects floating-point elements, but an operand is 'tensor<2xi32>'}}
  %0 = graph.exp %x0 : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @elements_numeric(%x0: tensor<2xi1>, %x1: tensor<2xi1>) {
  // expected-error @+1 {{'graph.add' op expects integer or floating-point elements, but an operand is 'tensor<2xi1>'}}
  %0 = graph.add %x0, %x1 : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @elements_integral(%x0: tensor<2xf32>, %x1: tensor<2xf32>) {
  // expected-error @+1 {{'graph.and' op expects bool or integer elements, but an operand is 'tensor<2xf32>'}}
  %0 = graph.and %x0, %x1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @elements_bool(%x0: tensor<2xi8>) {
  // expected-error @+1 {{'graph.not' op expects bool (i1) elements, but an operand is 'tensor<2xi8>'}}
  %0 = graph.not %x0 : (tensor<2xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @elements_any(%x0: tensor<2xcomplex<f32>>, %x1: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{'graph.compare' op expects bool, integer or floating-point elements, but an operand is 'tensor<2xcomplex<f32>>'}}
  %0 = graph.compare %x0, %x1 {predicate = #graph<compare_predicate eq>} : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  return
}

// -----

func.func @elements_differ(%x0: tensor<2xf32>, %x1: tensor<2xf16>) {
  // expected-error @+1 {{'graph.mul' op operands must have one element type, but are 'tensor<2xf32>', 'tensor<2xf16>'}}
  %0 = graph.mul %x0, %x1 : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  return
}

// -----

func.func @broadcast(%x0: tensor<2xf32>, %x1: tensor<3xf32>) {
  // expected-error @+1 {{'graph.sub' op operand shapes do not broadcast: 'tensor<2xf32>', 'tensor<3xf32>'}}
  %0 = graph.sub %x0, %x1 : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @condition(%x0: tensor<2xi8>, %x1: tensor<2xf32>, %x2: tensor<2xf32>) {
  // expected-error @+1 {{'graph.where' op condition must have bool (i1) elements, but is 'tensor<2xi8>'}}
  %0 = graph.where %x0, %x1, %x2 : (tensor<2xi8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @elementwise_result(%x0: tensor<2xf32>, %x1: tensor<1xf32>) {
  // expected-error @+1 {{'graph.add' op result is 'tensor<2xf16>', expected 'tensor<2xf32>'}}
  %0 = graph.add %x0, %x1 : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @cast_shape(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.cast' op keeps the shape, but input is 'tensor<2xf32>' and result is 'tensor<3xi32>'}}
  %0 = graph.cast %x0 : (tensor<2xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @cast_elements(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.cast' op expects bool, integer or floating-point elements, but has 'tensor<2xcomplex<f32>>'}}
  %0 = graph.cast %x0 : (tensor<2xf32>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @relayout_type(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.relayout' op changes the layout only, but input is 'tensor<2xf32>' and result is 'tensor<2xf16>'}}
  %0 = graph.relayout %x0 : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @map_broadcast(%x0: tensor<2xf32>, %x1: tensor<3xf32>) {
  // expected-error @+1 {{'graph.map' op input shapes do not broadcast: 'tensor<2xf32>', 'tensor<3xf32>'}}
  %0 = graph.map %x0, %x1 : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32, %b: f32):
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_result(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.map' op result is 'tensor<3xf32>', but the inputs broadcast to 'tensor<2xf32>'}}
  %0 = graph.map %x0 : (tensor<2xf32>) -> tensor<3xf32> {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_arguments(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.map' op body has 2 arguments, expected 1, one for each input}}
  %0 = graph.map %x0 : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32, %b: f32):
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_argument(%x0: tensor<2xui8>) {
  // expected-error @+1 {{'graph.map' op body argument 0 is 'f32', expected 'i8', the element type of input 0}}
  %0 = graph.map %x0 : (tensor<2xui8>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_ops(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.map' op body may use arith and math ops only, but has 'graph.constant'}}
  %0 = graph.map %x0 : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    %b = graph.constant dense<1.0> : tensor<f32>
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_nothing(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.map' op body yields nothing, expected 'f32'}}
  %0 = graph.map %x0 : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    graph.yield
  }
  return
}

// -----

func.func @map_yield(%x0: tensor<2xf32>) {
  // expected-error @+1 {{'graph.map' op body yields 'f32', expected 'i32', the element type of the result}}
  %0 = graph.map %x0 : (tensor<2xf32>) -> tensor<2xi32> {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return
}

// -----

func.func @map_capture(%x: tensor<2xf32>, %outer: f32) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = graph.map %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    // expected-error @+1 {{using value defined outside the region}}
    %s = arith.addf %a, %outer : f32
    graph.yield %s : f32
  }
  return
}

// -----

// expected-error @+1 {{layout block must be at least 0, but is -1}}
func.func @layout_block(%x: tensor<1x2x3x4xf32, #graph.layout<block = -1, halo = [0, 0, 0, 0]>>)

// -----

// expected-error @+1 {{layout halo must be 4 sizes of at least 0 (top, left, bottom, right), but is [0, 0]}}
func.func @layout_halo(%x: tensor<1x2x3x4xf32, #graph.layout<block = 0, halo = [0, 0]>>)

// -----

// expected-error @+1 {{layout halo must be 4 sizes of at least 0 (top, left, bottom, right), but is [0, 0, -1, 0]}}
func.func @layout_halo_negative(%x: tensor<1x2x3x4xf32, #graph.layout<block = 0, halo = [0, 0, -1, 0]>>)

// -----

func.func @gradient_type(%x: tensor<3xf32>) {
  // expected-error @+1 {{has a gradient of 'tensor<4xf32>' by a variable of 'tensor<3xf32>'}}
  %g = graph.gradient %x of %x at %x : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @gradient_count(%x: tensor<3xf32>) {
  // expected-error @+1 {{has 1 variables, 2 values for them and 1 gradients}}
  %g = "graph.gradient"(%x, %x, %x, %x) {operandSegmentSizes = array<i32: 1, 1, 2>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

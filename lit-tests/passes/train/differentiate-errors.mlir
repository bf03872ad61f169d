// RUN: atc-opt %s --train-differentiate --split-input-file --verify-diagnostics

// expected-error @+1 {{E15002: the model has no parameters to train}}
func.func @none(%w: tensor<1xf32>) -> tensor<1xf32> {
  return %w : tensor<1xf32>
}

// -----

// expected-error @+1 {{E15001: the parameter 'w' is a 'tensor<1xi32>', but only float tensors}}
func.func @integer(%x: tensor<1xf32>, %w: tensor<1xi32> {om.name = "w", train.parameter}) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}

// -----

// expected-error @+1 {{E15004: result 0, the loss, is not a float tensor of one element}}
func.func @many(%w: tensor<2xf32> {om.name = "w", train.parameter}) -> tensor<2xf32> {
  return %w : tensor<2xf32>
}

// -----

// expected-error @+1 {{E15003: no gradient is known for these nodes between a parameter and the loss: 'h' (Hardmax)}}
func.func @host(%w: tensor<1xf32> {om.name = "w", train.parameter}) -> tensor<1xf32> {
  %0 = graph.host_call "Hardmax"(%w) {} : (tensor<1xf32>) -> tensor<1xf32> loc("h")
  return %0 : tensor<1xf32>
}

// -----

// expected-error @+1 {{E15001: the parameter 'w' is a 'tensor<0xf32>', but only float tensors}}
func.func @empty(%x: tensor<1xf32>, %w: tensor<0xf32> {om.name = "w", train.parameter}) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}

// -----

// Only scatters that write or add are linear, and only static shapes have positions.
// expected-error @+1 {{E15003: no gradient is known for these nodes between a parameter and the loss: 'a' (ScatterElements), 'm' (ScatterElements)}}
func.func @scatters(%w: tensor<1xf32> {om.name = "w", train.parameter}, %i: tensor<1xi64>, %d: tensor<?xi64>) -> tensor<1xf32> {
  %0 = graph.host_call "ScatterElements"(%w, %i, %w) {reduction = "mul"} : (tensor<1xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<1xf32> loc("m")
  %1 = graph.host_call "ScatterElements"(%0, %d, %0) {reduction = "add"} : (tensor<1xf32>, tensor<?xi64>, tensor<1xf32>) -> tensor<1xf32> loc("a")
  return %1 : tensor<1xf32>
}

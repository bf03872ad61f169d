// RUN: atc-opt %s --split-input-file --verify-diagnostics

// A case for every message of the verifiers of collectives.

func.func @twice(%x: tensor<2xf32>) {
  // expected-error @+1 {{ranks must be nonnegative and name each rank once, but are [1, 1]}}
  %0 = graph.all_reduce %x {kind = #graph<reduce_kind sum>, ranks = array<i64: 1, 1>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @nobody(%x: tensor<2xf32>) {
  // expected-error @+1 {{ranks must name at least one rank}}
  %0 = graph.all_reduce %x {kind = #graph<reduce_kind sum>, ranks = array<i64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @kind(%x: tensor<2xf32>) {
  // expected-error @+1 {{kind must be sum, max or min, but is mean}}
  %0 = graph.all_reduce %x {kind = #graph<reduce_kind mean>, ranks = array<i64: 0, 1>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @bools(%x: tensor<2xi1>) {
  // expected-error @+1 {{combines numbers, but input is 'tensor<2xi1>'}}
  %0 = graph.all_reduce %x {kind = #graph<reduce_kind max>, ranks = array<i64: 0, 1>} : (tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @axis(%x: tensor<2xf32>) {
  // expected-error @+1 {{axis 1 is not in [0, 1), the dims of the input}}
  %0 = graph.all_gather %x {axis = 1 : i64, ranks = array<i64: 0, 1>} : (tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @share(%x: tensor<2xf32>) {
  // expected-error @+1 {{expects 'tensor<2xf32>' to be a share of 'tensor<6xf32>' along dim 0, of 2 ranks}}
  %0 = graph.all_gather %x {axis = 0 : i64, ranks = array<i64: 0, 1>} : (tensor<2xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects 'tensor<3xf32>' to be a share of 'tensor<4xf32>' along dim 0, of 2 ranks}}
  %0 = graph.reduce_scatter %x {axis = 0 : i64, kind = #graph<reduce_kind sum>, ranks = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @divide(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{cannot divide dim 0 of 'tensor<3x4xf32>' among 2 ranks}}
  %0 = graph.all_to_all %x {split_axis = 0 : i64, concat_axis = 1 : i64, ranks = array<i64: 0, 1>} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @concat(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{concat_axis 2 is not in [0, 2), the dims of the input}}
  %0 = graph.all_to_all %x {split_axis = 0 : i64, concat_axis = 2 : i64, ranks = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @root(%x: tensor<2xf32>) {
  // expected-error @+1 {{root 2 is none of the ranks [0, 1]}}
  %0 = graph.broadcast %x {root = 2 : i64, ranks = array<i64: 0, 1>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @peer(%x: tensor<2xf32>) {
  // expected-error @+1 {{expects a nonnegative rank and tag, but has -1 and 0}}
  graph.send %x {to = -1 : i64, tag = 0 : i64} : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @dynamic() {
  // expected-error @+1 {{passes tensors of static shape, but has 'tensor<?xf32>'}}
  %0 = graph.receive {from = 1 : i64, tag = 0 : i64} : tensor<?xf32>
  return
}

// RUN: atc-opt %s -split-input-file -verify-diagnostics

func.func @kernel(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{calls kernel 'Nothing', which there is not}}
  %y = graph.host_call "Nothing"(%x) {} : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @positions_count(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{has 2 positions, expected 1, one for each operand}}
  %y = graph.host_call "Clip"(%x) at [0, 1] {} : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @positions_order(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{positions must rise and stay below 4096, but are [1, 0]}}
  %y = graph.host_call "Clip"(%x, %x) at [1, 0] {} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @condition_type(%c: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{has a condition of type 'tensor<f32>', expected a bool tensor of one element}}
  %r = graph.if %c : (tensor<f32>) -> tensor<2xf32> {
    graph.leave %x : tensor<2xf32>
  } else {
    graph.leave %x : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

func.func @condition_size(%c: tensor<2xi1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{has a condition of type 'tensor<2xi1>', expected a bool tensor of one element}}
  %r = graph.if %c : (tensor<2xi1>) -> tensor<2xf32> {
    graph.leave %x : tensor<2xf32>
  } else {
    graph.leave %x : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

func.func @branch_count(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{the second branch leaves with 0 values, expected 1}}
  %r = graph.if %c : (tensor<i1>) -> tensor<2xf32> {
    graph.leave %x : tensor<2xf32>
  } else {
    graph.leave
  }
  return %r : tensor<2xf32>
}

// -----

func.func @loop_results(%go: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{has 0 results, expected 1, one for each carried value}}
  graph.loop %go, %x : (tensor<i1>, tensor<2xf32>) -> () {
  ^bb0(%v: tensor<2xf32>):
    graph.leave %go, %v : tensor<i1>, tensor<2xf32>
  }
  return
}

// -----

func.func @loop_arguments(%go: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{body has 0 arguments, expected 1, one for each carried value}}
  %r = graph.loop %go, %x : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32> {
    graph.leave %go, %x : tensor<i1>, tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

func.func @loop_leave(%go: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{the body leaves with 1 values, expected 2}}
  %r = graph.loop %go, %x : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%v: tensor<2xf32>):
    graph.leave %v : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

func.func @loop_condition(%go: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{has a condition of type 'tensor<2xf32>', expected a bool tensor of one element}}
  %r = graph.loop %go, %x : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%v: tensor<2xf32>):
    graph.leave %v, %v : tensor<2xf32>, tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

func.func @results(%x: tensor<?xf32>) {
  // expected-error @+1 {{has 2 results, expected at most 1}}
  %y:2 = graph.host_call "Clip"(%x) {} : (tensor<?xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @terminator(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{the second branch must end with graph.leave}}
  %r = graph.if %c : (tensor<i1>) -> tensor<2xf32> {
    graph.leave %x : tensor<2xf32>
  } else {
    graph.yield %x : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

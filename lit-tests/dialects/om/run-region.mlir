// RUN: atc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: om.run_region @part_0(%{{.*}}) : (tensor<4xf32>) -> tensor<2x2xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %y = om.run_region @part_0(%x) : (tensor<4xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
func.func private @part_0(memref<4xf32>, memref<2x2xf32> {om.output})

// -----

func.func @no_region(%x: tensor<4xf32>) {
  // expected-error @+1 {{there is no region @part_0}}
  om.run_region @part_0(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func private @part_0(memref<4xf32>)
func.func @too_many(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has 2 inputs and outputs, but @part_0 takes 1 buffers and returns 0 values}}
  %y = om.run_region @part_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @part_0(memref<4xf32>, memref<5xf32>)
func.func @other_size(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{value 1 is 'tensor<4xf32>', but @part_0 takes 'memref<5xf32>'}}
  %y = om.run_region @part_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @part_0(memref<?xf32>)
func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error @+1 {{value 0 is 'tensor<?xf32>', but @part_0 takes 'memref<?xf32>'}}
  om.run_region @part_0(%x) : (tensor<?xf32>) -> ()
  return
}

// RUN: atc-opt %s --split-input-file --verify-diagnostics

// A case for every message of the verifiers: the preprocessing of images.

func.func @image_type(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{image is 'tensor<1x8x8x3xf32>', it must be ui8 [N][H][W][planes]}}
  %0 = graph.preprocess %x {crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0, 1, 2>, means = array<f32: 0.0, 0.0, 0.0>,
    mins = array<f32: 0.0, 0.0, 0.0>, factors = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @crop_count(%x: tensor<1x8x8x3xui8>) {
  // expected-error @+1 {{crop has 2 numbers, it must have 4}}
  %0 = graph.preprocess %x {crop = array<i64: 0, 0>, planes = array<i64: 0, 1, 2>, means = array<f32: 0.0, 0.0, 0.0>,
    mins = array<f32: 0.0, 0.0, 0.0>, factors = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x8x8x3xui8>) -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @crop_outside(%x: tensor<1x8x8x3xui8>) {
  // expected-error @+1 {{crop [4, 0, 5, 8] goes outside of an image of 8 x 8}}
  %0 = graph.preprocess %x {crop = array<i64: 4, 0, 5, 8>, planes = array<i64: 0, 1, 2>, means = array<f32: 0.0, 0.0, 0.0>,
    mins = array<f32: 0.0, 0.0, 0.0>, factors = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x8x8x3xui8>) -> tensor<1x3x5x8xf32>
  return
}

// -----

func.func @odd_chroma(%x: tensor<1x12x8x1xui8>) {
  // expected-error @+1 {{a semi-planar image is [N][H * 3/2][W][1] with even sizes and crop}}
  %0 = graph.preprocess %x {semi_planar, crop = array<i64: 1, 0, 6, 8>, planes = array<i64: 0, 1, 2>, means = array<f32: 0.0, 0.0, 0.0>,
    mins = array<f32: 0.0, 0.0, 0.0>, factors = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x12x8x1xui8>) -> tensor<1x3x6x8xf32>
  return
}

// -----

func.func @plane(%x: tensor<1x8x8x3xui8>) {
  // expected-error @+1 {{names plane 3 of 3}}
  %0 = graph.preprocess %x {crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0, 1, 3>, means = array<f32: 0.0, 0.0, 0.0>,
    mins = array<f32: 0.0, 0.0, 0.0>, factors = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x8x8x3xui8>) -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @half_a_matrix(%x: tensor<1x8x8x3xui8>) {
  // expected-error @+1 {{a colour conversion has a matrix of 9, and 3 numbers before and after}}
  %0 = graph.preprocess %x {matrix = array<i64: 1, 2, 3>, crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0, 1, 2>, means = array<f32: 0.0, 0.0, 0.0>,
    mins = array<f32: 0.0, 0.0, 0.0>, factors = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x8x8x3xui8>) -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @planes_of_a_matrix(%x: tensor<1x8x8x3xui8>) {
  // expected-error @+1 {{a colour conversion reads 3 planes, not 1}}
  %0 = graph.preprocess %x {matrix = array<i64: 1, 2, 3, 4, 5, 6, 7, 8, 9>, before = array<i64: 0, 0, 0>, after = array<i64: 0, 0, 0>, crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0>, means = array<f32: 0.0>,
    mins = array<f32: 0.0>, factors = array<f32: 0.0>} : (tensor<1x8x8x3xui8>) -> tensor<1x1x8x8xf32>
  return
}

// -----

func.func @numbers(%x: tensor<1x8x8x3xui8>) {
  // expected-error @+1 {{a colour conversion has numbers of at most 24 bits}}
  %0 = graph.preprocess %x {matrix = array<i64: 1, 2, 3, 4, 5, 6, 7, 8, 16777217>, before = array<i64: 0, 0, 0>, after = array<i64: 0, 0, 0>, crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0, 1, 2>, means = array<f32: 0.0, 0.0, 0.0>,
    mins = array<f32: 0.0, 0.0, 0.0>, factors = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x8x8x3xui8>) -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @result(%x: tensor<1x8x8x3xui8>) {
  // expected-error @+1 {{result is 'tensor<1x4x8x8xf32>', it must be f32 or f16 [1][at most 3][8][8]}}
  %0 = graph.preprocess %x {crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0, 1, 2>, means = array<f32: 0.0, 0.0, 0.0>,
    mins = array<f32: 0.0, 0.0, 0.0>, factors = array<f32: 0.0, 0.0, 0.0>} : (tensor<1x8x8x3xui8>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @means(%x: tensor<1x8x8x3xui8>) {
  // expected-error @+1 {{has 2 means, mins or factors for 3 channels}}
  %0 = graph.preprocess %x {crop = array<i64: 0, 0, 8, 8>, planes = array<i64: 0, 1, 2>, means = array<f32: 0.0, 0.0>,
    mins = array<f32: 0.0, 0.0>, factors = array<f32: 0.0, 0.0>} : (tensor<1x8x8x3xui8>) -> tensor<1x3x8x8xf32>
  return
}

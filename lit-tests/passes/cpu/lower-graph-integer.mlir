// RUN: atc-opt %s --kernel-assign-layout --kernel-assign-halo --cpu-lower-graph --split-input-file | FileCheck %s

// The border of what a padded integer convolution reads holds its zero point, as the kernel
// stores it. 9 taps of 16 channels are 36 steps of four bytes, three of which are added at a time.
// CHECK-LABEL: func @main
// CHECK: kernel.fill {{.*}}value = 1.310000e+02
// CHECK: kernel.pack
// CHECK: %[[STARTS:.*]] = om.weight dense<[0, 36]> : tensor<2xi32>
// CHECK: cpu.integer_conv2d %{{.*}}, %{{.*}}, %{{.*}}, %[[STARTS]], %{{.*}} inputs %{{.*}} outs %{{.*}} {by_magnitude = array<i1: false>, groups = array<i64: 3>, {{.*}}products = 36864 : i64, strides = array<i64: 1, 1>} : memref<1x1x6x6x16xi8>, memref<36x16x4xi8>, memref<36xi32>, memref<2xi32>, memref<16xi32>, memref<16xf32>, memref<1x1x4x4x16xi8>
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: f32):
// CHECK: cpu.integer_yield
func.func @main(%x: tensor<1x16x4x4xui8>) -> tensor<1x16x4x4xui8> {
  %w = graph.constant dense<1> : tensor<16x16x3x3xi8>
  %m = graph.constant dense<[0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0]> : tensor<16xf32>
  %s = graph.reshape %m : (tensor<16xf32>) -> tensor<16x1x1xf32>
  %y = graph.integer_conv %x, %w inputs %s {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xui8>, tensor<16x16x3x3xi8>, tensor<16x1x1xf32>) -> tensor<1x16x4x4xui8> {
  ^bb0(%sum: i32, %scale: f32):
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = arith.fptoui %1 : f32 to i8
    graph.yield %2 : i8
  }
  return %y : tensor<1x16x4x4xui8>
}

// -----

// Two weights of 127 side by side could leave 16 bits: their sums are by magnitude.
// Columns that do not fill a block are a kernel of their own, with its own part of the starts
// and the bias. Bytes are seen with 128 less: 8 * 127 * 128 is made up for.
// CHECK-LABEL: func @main
// CHECK: %[[BIAS:.*]] = om.weight dense<[130048, {{((130048, ){17}(0, ){13})}}0]> : tensor<32xi32>
// CHECK: %[[FILTER:.*]] = om.weight {{.*}} : memref<4x16x4xi8>
// CHECK: %[[STARTS:.*]] = om.weight dense<[0, 2, 4]> : tensor<3xi32>
// CHECK: %[[STEPS:.*]] = om.weight dense<[0, 4, 0, 4]> : tensor<4xi32>
// CHECK-DAG: %[[STARTS0:.*]] = om.view %[[STARTS]][0] : memref<3xi32> to memref<2xi32>
// CHECK-DAG: %[[BIAS0:.*]] = om.view %[[BIAS]][0] : memref<32xi32> to memref<16xi32>
// CHECK: cpu.integer_conv2d %{{.*}}, %[[FILTER]], %[[STEPS]], %[[STARTS0]], %[[BIAS0]] outs {{.*}} : memref<1x1x1x3x8xi8>, memref<4x16x4xi8>, memref<4xi32>, memref<2xi32>, memref<16xi32>, memref<1x1x1x3x16xi32, {{.*}}>
// CHECK-DAG: %[[STARTS1:.*]] = om.view %[[STARTS]][4] : memref<3xi32> to memref<2xi32>
// CHECK-DAG: %[[BIAS1:.*]] = om.view %[[BIAS]][64] : memref<32xi32> to memref<16xi32>
// CHECK: cpu.integer_conv2d %{{.*}}, %[[FILTER]], %[[STEPS]], %[[STARTS1]], %[[BIAS1]] outs {{.*}} : memref<1x1x1x3x8xi8>, {{.*}}, memref<1x1x1x3x2xi32, {{.*}}>
func.func @main(%x: tensor<3x8xui8>) -> tensor<3x18xi32> {
  %w = graph.constant dense<127> : tensor<18x8xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x8xui8>, tensor<18x8xi8>) -> tensor<3x18xi32>
  return %y : tensor<3x18xi32>
}

// -----

// 3x3 windows of many channels go through tiles of 4x4 outputs.
// CHECK-LABEL: func @main
// CHECK: %[[TILES:.*]] = om.alloc : memref<1x36x9x32xi16>
// CHECK: cpu.winograd_input %{{.*}} outs %[[TILES]] : memref<1x2x14x14x16xi8>, memref<1x36x9x32xi16>
// CHECK: cpu.winograd_conv2d %[[TILES]], {{.*}} memref<1x36x9x32xi16>, memref<1x36x16x16x2xi16>, memref<16xi32>, memref<1x1x12x12x16xi32>
func.func @main(%x: tensor<1x32x12x12xui8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<1> : tensor<16x32x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x12x12xui8>, tensor<16x32x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// Those at an end may be cut off.
// CHECK-LABEL: func @main
// CHECK: %[[TILES:.*]] = om.alloc : memref<1x36x25x32xi16>
// CHECK: cpu.winograd_input %{{.*}} outs %[[TILES]] : memref<1x2x19x21x16xi8>, memref<1x36x25x32xi16>
// CHECK: cpu.winograd_conv2d %[[TILES]], {{.*}} memref<1x36x25x32xi16>, memref<1x36x16x16x2xi16>, memref<16xi32>, memref<1x1x17x19x16xi32>
func.func @main(%x: tensor<1x32x17x19xui8>) -> tensor<1x16x17x19xi32> {
  %w = graph.constant dense<1> : tensor<16x32x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x17x19xui8>, tensor<16x32x3x3xi8>) -> tensor<1x16x17x19xi32>
  return %y : tensor<1x16x17x19xi32>
}

// -----

// Weights of 127 on 1024 channels add up to more than the sums of 4x4 outputs may, 2^25, but
// not to what those of 2x2 may. Memory for one more than 36 tiles keeps positions apart in caches.
// CHECK-LABEL: func @main
// CHECK: %[[TILES:.*]] = om.alloc : memref<1x16x37x1024xi16>
// CHECK: cpu.winograd_input %{{.*}} outs %[[TILES]] : memref<1x64x14x14x16xi8>, memref<1x16x37x1024xi16>
// CHECK: cpu.winograd_conv2d %[[TILES]], {{.*}} memref<1x16x37x1024xi16>, memref<1x16x512x16x2xi16>, memref<16xi32>, memref<1x1x12x12x16xi32>
func.func @main(%x: tensor<1x1024x12x12xui8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<127> : tensor<16x1024x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1024x12x12xui8>, tensor<16x1024x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// 129024 times 255 is just below it.
// CHECK-LABEL: func @main
// CHECK: %[[TILES:.*]] = om.alloc : memref<1x36x9x112xi16>
// CHECK: cpu.winograd_input %{{.*}} outs %[[TILES]] : memref<1x7x14x14x16xi8>, memref<1x36x9x112xi16>
// CHECK: cpu.winograd_conv2d %[[TILES]], {{.*}} memref<1x36x9x112xi16>, memref<1x36x56x16x2xi16>, memref<16xi32>, memref<1x1x12x12x16xi32>
func.func @main(%x: tensor<1x112x12x12xui8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<-128> : tensor<16x112x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x112x12x12xui8>, tensor<16x112x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// With 16 channels more they leave it.
// CHECK-LABEL: func @main
// CHECK: %[[TILES:.*]] = om.alloc : memref<1x16x37x128xi16>
// CHECK: cpu.winograd_input %{{.*}} outs %[[TILES]] : memref<1x8x14x14x16xi8>, memref<1x16x37x128xi16>
// CHECK: cpu.winograd_conv2d %[[TILES]], {{.*}} memref<1x16x37x128xi16>, memref<1x16x64x16x2xi16>, memref<16xi32>, memref<1x1x12x12x16xi32>
func.func @main(%x: tensor<1x128x12x12xui8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<-128> : tensor<16x128x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x128x12x12xui8>, tensor<16x128x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// The same weights for bytes with a sign stay in it: 147456 times 128 is below 2^25.
// CHECK-LABEL: func @main
// CHECK: %[[TILES:.*]] = om.alloc : memref<1x36x9x128xi16>
// CHECK: cpu.winograd_input %{{.*}} outs %[[TILES]] {signed_input} : memref<1x8x14x14x16xi8>, memref<1x36x9x128xi16>
func.func @main(%x: tensor<1x128x12x12xi8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<-128> : tensor<16x128x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 3 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x128x12x12xi8>, tensor<16x128x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// Sums that leave 2^29 are not for tiles at all.
// CHECK-LABEL: func @main
// CHECK-NOT: winograd
// CHECK: cpu.integer_conv2d
func.func @main(%x: tensor<1x1856x12x12xui8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<-128> : tensor<16x1856x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1856x12x12xui8>, tensor<16x1856x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// Of the outputs of 4x4 tiles three in ten would not exist; all those of 2x2 do.
// CHECK-LABEL: func @main
// CHECK: %[[TILES:.*]] = om.alloc : memref<1x16x39x32xi16>
// CHECK: cpu.winograd_input %{{.*}} outs %[[TILES]] : memref<1x2x8x28x16xi8>, memref<1x16x39x32xi16>
// CHECK: cpu.winograd_conv2d %[[TILES]], {{.*}} memref<1x16x39x32xi16>, memref<1x16x16x16x2xi16>, memref<16xi32>, memref<1x1x6x26x16xi32>
func.func @main(%x: tensor<1x32x6x26xui8>) -> tensor<1x16x6x26xi32> {
  %w = graph.constant dense<1> : tensor<16x32x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x6x26xui8>, tensor<16x32x3x3xi8>) -> tensor<1x16x6x26xi32>
  return %y : tensor<1x16x6x26xi32>
}

// -----

// Few outputs do not pay for the larger weights.
// CHECK-LABEL: func @main
// CHECK-NOT: winograd
// CHECK: cpu.integer_conv2d
func.func @main(%x: tensor<1x32x8x8xui8>) -> tensor<1x16x8x8xi32> {
  %w = graph.constant dense<1> : tensor<16x32x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x8x8xui8>, tensor<16x32x3x3xi8>) -> tensor<1x16x8x8xi32>
  return %y : tensor<1x16x8x8xi32>
}

// -----

// Few channels do not pay for the way there and back.
// CHECK-LABEL: func @main
// CHECK-NOT: winograd
// CHECK: cpu.integer_conv2d
func.func @main(%x: tensor<1x16x12x12xui8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<1> : tensor<16x16x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x12x12xui8>, tensor<16x16x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// Steps between windows share no places.
// CHECK-LABEL: func @main
// CHECK-NOT: winograd
// CHECK: cpu.integer_conv2d
func.func @main(%x: tensor<1x32x24x24xui8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<1> : tensor<16x32x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x24x24xui8>, tensor<16x32x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// Nor do windows with gaps.
// CHECK-LABEL: func @main
// CHECK-NOT: winograd
// CHECK: cpu.integer_conv2d
func.func @main(%x: tensor<1x32x12x12xui8>) -> tensor<1x16x12x12xi32> {
  %w = graph.constant dense<1> : tensor<16x32x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x32x12x12xui8>, tensor<16x32x3x3xi8>) -> tensor<1x16x12x12xi32>
  return %y : tensor<1x16x12x12xi32>
}

// -----

// Groups of channels have few each.
// CHECK-LABEL: func @main
// CHECK-NOT: winograd
// CHECK: cpu.integer_conv2d
func.func @main(%x: tensor<1x64x12x12xui8>) -> tensor<1x32x12x12xi32> {
  %w = graph.constant dense<1> : tensor<32x32x3x3xi8>
  %y = graph.integer_conv %x, %w {zero_point = 131 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x64x12x12xui8>, tensor<32x32x3x3xi8>) -> tensor<1x32x12x12xi32>
  return %y : tensor<1x32x12x12xi32>
}

// -----

// Two weights of 127 side by side: one step each by magnitude.
// CHECK-LABEL: func @main
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: true>, groups = array<i64: 1>{{.*}} memref<4x16x4xi8>
func.func @main(%x: tensor<3x16xui8>) -> tensor<3x16xi32> {
  %w = graph.constant dense<127> : tensor<16x16xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x16xui8>, tensor<16x16xi8>) -> tensor<3x16xi32>
  return %y : tensor<3x16xi32>
}

// -----

// Weights that add up to 128 of a sign fit together: 60 of each pair do in twos, not in fours.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[0, 4]> : tensor<2xi32>
// CHECK: om.weight dense<[0, 4, 8, 12]> : tensor<4xi32>
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: false>, groups = array<i64: 2>
func.func @main(%x: tensor<3x16xui8>) -> tensor<3x1xi32> {
  %w = graph.constant dense<30> : tensor<1x16xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x16xui8>, tensor<1x16xi8>) -> tensor<3x1xi32>
  return %y : tensor<3x1xi32>
}

// -----

// 100 and 100 do not fit one step: 72 go to another one, with the same bytes. The two are not
// added before they are widened; weights with the other sign count apart.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[0, 4]> : tensor<2xi32>
// CHECK: om.weight dense<[0, 4, 0, 8]> : tensor<4xi32>
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: false>, groups = array<i64: 2>
// CHECK: atc_packed_{{[0-9]+}}: "0x01000000641CFDFC{{(0{120})}}0000000005060708{{(0{112})}}00480000{{(0{120})}}00000000000000F7{{(0{112})}}"
func.func @main(%x: tensor<3x12xui8>) -> tensor<3x2xi32> {
  %w = graph.constant dense<[[100, 100, -3, -4, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, -9]]> : tensor<2x12xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x12xui8>, tensor<2x12xi8>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// -----

// A group that is not full has weights of zero, of bytes that another step reads.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[0, 8]> : tensor<2xi32>
// CHECK: om.weight dense<[0, 4, 8, 12, 16, 20, 24, 24]> : tensor<8xi32>
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: false>, groups = array<i64: 4>
// CHECK: atc_packed_{{[0-9]+}}: "0x01000000{{((010101010{120}){7}0{128})}}"
func.func @main(%x: tensor<3x28xui8>) -> tensor<3x1xi32> {
  %w = graph.constant dense<1> : tensor<1x28xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x28xui8>, tensor<1x28xi8>) -> tensor<3x1xi32>
  return %y : tensor<3x1xi32>
}

// -----

// Blocks read what their groups of channels have: the second one has half of a list.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[0, 4, 8]> : tensor<3xi32>
// CHECK: %[[STARTS:.*]] = om.weight dense<[0, 2, 3]> : tensor<3xi32>
// CHECK: cpu.integer_conv2d %{{.*}}, %{{.*}}, %{{.*}}, %[[STARTS]], {{.*}} memref<3x16x4xi8>, memref<3xi32>, memref<3xi32>, memref<32xi32>, memref<1x2x4x4x16xi32>
// CHECK: atc_packed_{{[0-9]+}}: "0x01000000{{((01){32}0{64}0{64}(01){32}(01){32}0{64})}}"
func.func @main(%x: tensor<1x12x4x4xui8>) -> tensor<1x24x4x4xi32> {
  %w = graph.constant dense<1> : tensor<24x4x1x1xi8>
  %y = graph.integer_conv %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 3 : i64} : (tensor<1x12x4x4xui8>, tensor<24x4x1x1xi8>) -> tensor<1x24x4x4xi32>
  return %y : tensor<1x24x4x4xi32>
}

// -----

// Steps that fit with no other one, the first 8, are a run of their own where there are many
// others, and the one that is left of those in threes goes with them.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[0, 39, 48]> : tensor<3xi32>
// CHECK: om.weight dense<[32, 36, 40, 44, {{.*}}, 180, 184, 0, 4, 8, 12, 16, 20, 24, 28, 188]> : tensor<48xi32>
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: false, false>, groups = array<i64: 3, 1>
func.func @main(%x: tensor<3x192xui8>) -> tensor<3x1xi32> {
  %w = graph.constant dense<"0x404040404040404040404040404040404040404040404040404040404040404001010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101"> : tensor<1x192xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x192xui8>, tensor<1x192xi8>) -> tensor<3x1xi32>
  return %y : tensor<3x1xi32>
}

// -----

// Three of 20 and 20 add up to 120, a fourth one would not fit.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[0, 12]> : tensor<2xi32>
// CHECK: om.weight dense<[0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44]> : tensor<12xi32>
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: false>, groups = array<i64: 3>
func.func @main(%x: tensor<3x48xui8>) -> tensor<3x1xi32> {
  %w = graph.constant dense<20> : tensor<1x48xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x48xui8>, tensor<1x48xi8>) -> tensor<3x1xi32>
  return %y : tensor<3x1xi32>
}

// -----

// The first 20 steps fit in twos, the other 90 in threes.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[0, 90, 110]> : tensor<3xi32>
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: false, false>, groups = array<i64: 3, 2>
func.func @main(%x: tensor<3x440xui8>) -> tensor<3x1xi32> {
  %w = graph.constant dense<"0x2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101"> : tensor<1x440xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 0 : i64, filter_zero_points = array<i64>} : (tensor<3x440xui8>, tensor<1x440xi8>) -> tensor<3x1xi32>
  return %y : tensor<3x1xi32>
}

// -----

// Only the 8 quads that are too large are by magnitude, one step each. The bias takes
// 3 * 64 from plain sums, (3 - 128) * 2016 from those by magnitude, and -16 for inverted bytes.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[251824, {{((0, ){14})}}0]> : tensor<16xi32>
// CHECK: om.weight dense<[0, 8, 16]> : tensor<3xi32>
// CHECK: om.weight dense<[32, 36, 40, 44, 48, 52, 56, 60, 0, 4, 8, 12, 16, 20, 24, 28]> : tensor<16xi32>
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: false, true>, groups = array<i64: 4, 1>
// CHECK: atc_packed_{{[0-9]+}}: "0x01000000{{((020202020{120}){8}(7F7FFE0{122}){8})}}"
func.func @main(%x: tensor<3x64xui8>) -> tensor<3x1xi32> {
  %w = graph.constant dense<"0x7F7FFE007F7FFE007F7FFE007F7FFE007F7FFE007F7FFE007F7FFE007F7FFE000202020202020202020202020202020202020202020202020202020202020202"> : tensor<1x64xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 3 : i64, filter_zero_points = array<i64>} : (tensor<3x64xui8>, tensor<1x64xi8>) -> tensor<3x1xi32>
  return %y : tensor<3x1xi32>
}

// -----

// The same for bytes with a sign: plain sums see 128 more.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<[2224, {{((0, ){14})}}0]> : tensor<16xi32>
// CHECK: cpu.integer_conv2d {{.*}}by_magnitude = array<i1: false, true>, groups = array<i64: 4, 1>, {{.*}}signed_input
func.func @main(%x: tensor<3x64xi8>) -> tensor<3x1xi32> {
  %w = graph.constant dense<"0x7F7FFE007F7FFE007F7FFE007F7FFE007F7FFE007F7FFE007F7FFE007F7FFE000202020202020202020202020202020202020202020202020202020202020202"> : tensor<1x64xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = -5 : i64, filter_zero_points = array<i64>} : (tensor<3x64xi8>, tensor<1x64xi8>) -> tensor<3x1xi32>
  return %y : tensor<3x1xi32>
}

// -----

// Weights of zero need no steps.
// CHECK-LABEL: func @main
// CHECK: om.weight dense<0> : tensor<2xi32>
// CHECK: cpu.integer_conv2d {{.*}} memref<0x16x4xi8>, memref<0xi32>, memref<2xi32>, memref<16xi32>
func.func @main(%x: tensor<3x8xui8>) -> tensor<3x2xi32> {
  %w = graph.constant dense<0> : tensor<2x8xi8>
  %y = graph.integer_fully_connected %x, %w {zero_point = 7 : i64, filter_zero_points = array<i64>} : (tensor<3x8xui8>, tensor<2x8xi8>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

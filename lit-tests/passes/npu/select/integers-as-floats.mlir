// RUN: atc-opt %s --npu-integers-as-floats --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: kernel.map %arg0 outs %arg2
// CHECK: %[[M:.*]] = arith.sitofp %{{.*}} : i64 to f32
// CHECK: arith.cmpf une, %[[M]], %{{.*}} : f32
// CHECK: %[[POSITIONS:.*]] = om.weight
// CHECK: kernel.map %{{.*}}, %[[POSITIONS]] outs %arg3
// CHECK: arith.cmpf olt
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%mask: memref<64xi64>, %length: memref<1xi32>, %y: memref<64xi1> {om.output}, %z: memref<4xi1> {om.output}) {
  kernel.map %mask outs %y : memref<64xi64>, memref<64xi1> {
  ^bb0(%m: i64):
    %zero = arith.constant 0 : i64
    %c = arith.cmpi ne, %m, %zero : i64
    kernel.yield %c : i1
  }
  %positions = om.weight dense<[0, 1, 2, 16777215]> : tensor<4xi32> : memref<4xi32>
  %wide = om.view %length[0] : memref<1xi32> to memref<4xi32, strided<[0]>>
  kernel.map %wide, %positions outs %z : memref<4xi32, strided<[0]>>, memref<4xi32>, memref<4xi1> {
  ^bb0(%l: i32, %p: i32):
    %c = arith.cmpi slt, %p, %l : i32
    kernel.yield %c : i1
  }
  return
}
}

// -----

// What becomes a narrower integer stays, although its range is known.
// CHECK-LABEL: func.func @main
// CHECK: arith.subi %{{.*}} : i64
// CHECK: arith.trunci %{{.*}} : i64 to i8
// CHECK-NOT: arith.subf
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%y: memref<4xi8> {om.output}) {
  %positions = om.weight dense<[0, 1, 2, 14]> : tensor<4xi64> : memref<4xi64>
  kernel.map %positions outs %y : memref<4xi64>, memref<4xi8> {
  ^bb0(%p: i64):
    %zero = arith.constant 0 : i64
    %n = arith.subi %zero, %p : i64
    %t = arith.trunci %n : i64 to i8
    kernel.yield %t : i8
  }
  return
}
}

// -----

// 2^24 + 1 is no number of f32, and what a run brings may be as large. Sums of integers, and
// comparisons without sign, are no floats either. Without a known range there is no sum of floats.
// CHECK-LABEL: func.func @main
// CHECK-NOT: arith.cmpf
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%a: memref<64xi64>, %b: memref<64xi64>, %y: memref<64xi1> {om.output}) {
  kernel.map %a outs %y : memref<64xi64>, memref<64xi1> {
  ^bb0(%l: i64):
    %large = arith.constant 16777216 : i64
    %c = arith.cmpi eq, %l, %large : i64
    kernel.yield %c : i1
  }
  kernel.map %a, %b outs %y : memref<64xi64>, memref<64xi64>, memref<64xi1> {
  ^bb0(%l: i64, %r: i64):
    %c = arith.cmpi eq, %l, %r : i64
    kernel.yield %c : i1
  }
  kernel.map %a, %b outs %y : memref<64xi64>, memref<64xi64>, memref<64xi1> {
  ^bb0(%l: i64, %r: i64):
    %zero = arith.constant 0 : i64
    %s = arith.addi %l, %r : i64
    %c = arith.cmpi eq, %s, %zero : i64
    kernel.yield %c : i1
  }
  kernel.map %a outs %y : memref<64xi64>, memref<64xi1> {
  ^bb0(%l: i64):
    %one = arith.constant 1 : i64
    %c = arith.cmpi ult, %l, %one : i64
    kernel.yield %c : i1
  }
  return
}
}

// -----

// What is known to be small is computed in f32: an arg-reduction of 60 elements, a bool, and what
// other kernels make of them. The integers that are stored are rounded floats.
// CHECK-LABEL: func.func @main
// CHECK: kernel.arg_reduce
// CHECK: kernel.map
// CHECK: %[[I:.*]] = arith.sitofp %{{.*}} : i64 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[I]], %{{.*}} : f32
// CHECK: %[[B:.*]] = arith.uitofp %{{.*}} : i1 to f32
// CHECK: %[[S:.*]] = arith.addf %[[P]], %[[B]] : f32
// CHECK: %[[R:.*]] = math.roundeven %[[S]] : f32
// CHECK: arith.fptosi %[[R]] : f32 to i64
// CHECK: kernel.map
// CHECK: arith.remf
// CHECK: arith.subf
// CHECK: arith.divf
// CHECK: math.roundeven
// CHECK-NOT: arith.divsi
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<4x60xf16>, %m: memref<4x1xi1>, %z: memref<4x1xi64> {om.output}) {
  %best = om.alloc : memref<4x1xi64>
  kernel.arg_reduce %x, %best {axis = 1 : i64} : memref<4x60xf16>, memref<4x1xi64>
  %scaled = om.alloc : memref<4x1xi64>
  kernel.map %best, %m outs %scaled : memref<4x1xi64>, memref<4x1xi1>, memref<4x1xi64> {
  ^bb0(%i: i64, %b: i1):
    %c1000 = arith.constant 1000 : i64
    %p = arith.muli %i, %c1000 : i64
    %e = arith.extui %b : i1 to i64
    %s = arith.addi %p, %e : i64
    kernel.yield %s : i64
  }
  kernel.map %scaled outs %z : memref<4x1xi64>, memref<4x1xi64> {
  ^bb0(%i: i64):
    %c7 = arith.constant 7 : i64
    %q = arith.divsi %i, %c7 : i64
    kernel.yield %q : i64
  }
  return
}
}

// -----

// The product reaches 59 x 300000, which is no number of f32, and a quotient of more than 2^22 could
// be rounded to the next one.
// CHECK-LABEL: func.func @main
// CHECK: arith.muli
// CHECK: arith.divsi
// CHECK: return
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<4x60xf16>, %y: memref<4x1xi64> {om.output}, %z: memref<4x1xi64> {om.output}) {
  %best = om.alloc : memref<4x1xi64>
  kernel.arg_reduce %x, %best {axis = 1 : i64} : memref<4x60xf16>, memref<4x1xi64>
  kernel.map %best outs %y : memref<4x1xi64>, memref<4x1xi64> {
  ^bb0(%i: i64):
    %large = arith.constant 300000 : i64
    %p = arith.muli %i, %large : i64
    kernel.yield %p : i64
  }
  kernel.map %best outs %z : memref<4x1xi64>, memref<4x1xi64> {
  ^bb0(%i: i64):
    %c100000 = arith.constant 100000 : i64
    %c3 = arith.constant 3 : i64
    %p = arith.muli %i, %c100000 : i64
    %q = arith.divsi %p, %c3 : i64
    kernel.yield %q : i64
  }
  return
}
}

// -----

// Indices of a host kernel have the bound that the outliner noted.
// CHECK-LABEL: func.func @main
// CHECK: kernel.map %arg0
// CHECK: arith.addf
// CHECK: kernel.map %arg1
// CHECK: arith.addi
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%i: memref<64xi64> {graph.indices_below = 4096 : i64}, %j: memref<64xi64>,
                %y: memref<64xi64> {om.output}, %z: memref<64xi64> {om.output}) {
  kernel.map %i outs %y : memref<64xi64>, memref<64xi64> {
  ^bb0(%a: i64):
    %two = arith.constant 2 : i64
    %s = arith.addi %a, %two : i64
    kernel.yield %s : i64
  }
  kernel.map %j outs %z : memref<64xi64>, memref<64xi64> {
  ^bb0(%a: i64):
    %two = arith.constant 2 : i64
    %s = arith.addi %a, %two : i64
    kernel.yield %s : i64
  }
  return
}
}

// -----

// A float that is clamped before it becomes an integer says how large that is; another does not.
// CHECK-LABEL: func.func @main
// CHECK: arith.fptosi
// CHECK: arith.fptosi
// CHECK: kernel.map
// CHECK: arith.addf
// CHECK-NOT: arith.addi
// CHECK: kernel.map
// CHECK: arith.addi
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%x: memref<4xf32>, %y: memref<4xi64> {om.output}, %z: memref<4xi64> {om.output}) {
  %clamped = om.alloc : memref<4xi64>
  %any = om.alloc : memref<4xi64>
  kernel.map %x outs %clamped : memref<4xf32>, memref<4xi64> {
  ^bb0(%e: f32):
    %least = arith.constant 0.0 : f32
    %most = arith.constant 79.0 : f32
    %0 = arith.maximumf %e, %least : f32
    %1 = arith.minimumf %0, %most : f32
    %2 = arith.fptosi %1 : f32 to i64
    kernel.yield %2 : i64
  }
  kernel.map %x outs %any : memref<4xf32>, memref<4xi64> {
  ^bb0(%e: f32):
    %most = arith.constant 79.0 : f32
    %0 = arith.minimumf %e, %most : f32
    %1 = arith.fptosi %0 : f32 to i64
    kernel.yield %1 : i64
  }
  kernel.map %clamped outs %y : memref<4xi64>, memref<4xi64> {
  ^bb0(%e: i64):
    %row = arith.constant 80 : i64
    %0 = arith.addi %e, %row : i64
    kernel.yield %0 : i64
  }
  kernel.map %any outs %z : memref<4xi64>, memref<4xi64> {
  ^bb0(%e: i64):
    %row = arith.constant 80 : i64
    %0 = arith.addi %e, %row : i64
    kernel.yield %0 : i64
  }
  return
}
}

// -----

// Any integer that is clamped has known bounds, and rounding it before changes nothing: the clamp of a length, and what follows of
// it in other maps. The sum in front of a clamp may be beyond f32.
// CHECK-LABEL: func.func @main
// CHECK: arith.minimumf
// CHECK: arith.maximumf
// CHECK: kernel.map
// CHECK: arith.addf
// CHECK: arith.cmpf ogt
// CHECK: kernel.map
// CHECK: arith.addi
// CHECK: arith.minsi
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%length: memref<4xi32>, %y: memref<4xi1> {om.output}, %z: memref<4xi32> {om.output}) {
  %last = om.alloc : memref<4xi32>
  kernel.map %length outs %last : memref<4xi32>, memref<4xi32> {
  ^bb0(%l: i32):
    %most = arith.constant 15 : i32
    %least = arith.constant 0 : i32
    %0 = arith.minsi %l, %most : i32
    %1 = arith.maxsi %0, %least : i32
    kernel.yield %1 : i32
  }
  %rows = om.weight dense<[0, 1, 2, 3]> : tensor<4xi32> : memref<4xi32>
  kernel.map %last, %rows outs %y : memref<4xi32>, memref<4xi32>, memref<4xi1> {
  ^bb0(%l: i32, %r: i32):
    %one = arith.constant 1 : i32
    %0 = arith.addi %l, %one : i32
    %1 = arith.cmpi sgt, %0, %r : i32
    kernel.yield %1 : i1
  }
  kernel.map %length outs %z : memref<4xi32>, memref<4xi32> {
  ^bb0(%l: i32):
    %most = arith.constant 15 : i32
    %least = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %0 = arith.addi %l, %one : i32
    %1 = arith.minsi %0, %most : i32
    %2 = arith.maxsi %1, %least : i32
    kernel.yield %2 : i32
  }
  return
}
}

// -----

// A run refuses indices out of range: sums of them are exact.
// CHECK-LABEL: func.func @main
// CHECK: arith.addf
module attributes {npu.soc = "Ascend310P3"} {
func.func @main(%at: memref<4xi64> {graph.index_range = array<i64: 1, 30, 40>}, %y: memref<4xi64> {om.output}) {
  kernel.map %at outs %y : memref<4xi64>, memref<4xi64> {
  ^bb0(%i: i64):
    %two = arith.constant 2 : i64
    %0 = arith.addi %i, %two : i64
    kernel.yield %0 : i64
  }
  return
}
}

// RUN: atc-opt %s --split-input-file -npu-join-launches=longest=8 | FileCheck %s
// RUN: atc-opt %s --split-input-file -npu-join-launches=longest=1 | FileCheck %s --check-prefix=OFF
// RUN: atc-opt %s --split-input-file -npu-join-launches | FileCheck %s --check-prefix=BYTIME
// Limits of what simulations touch: of two runs of the first case, of four, and of less than one.
// RUN: atc-opt %s --split-input-file -npu-join-launches=simulated-bytes=1100000 | FileCheck %s --check-prefix=BYTWO
// RUN: atc-opt %s --split-input-file -npu-join-launches=simulated-bytes=750000 | FileCheck %s --check-prefix=APART
// RUN: atc-opt %s --split-input-file -npu-join-launches=longest=2 | FileCheck %s --check-prefix=TWO
// RUN: atc-opt %s --split-input-file -npu-join-launches --remarks-filter=npu-join-launches --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: the choice is "3" for the key "npu-join-launches|Ascend310P3|main|32768xf16,32768xf16|{{[0-9a-f]+}}"

// Three programs on 8, 4 x 2 and 2 x 4 cores become one on 4 x 2: the coordinate of 8 is a sum of
// both, those of 2 x 4 swap. Between the parts the cores meet: the first load of an activation
// waits, that of the weight before it does not, nor does the loop around both of them. The program
// names its layers, and the launch the tensors that it leaves in memory.
module attributes {npu.soc = "Ascend310P3"} {
// CHECK:       npu.program @third_joined(%[[X:[a-z0-9]+]]: !npu.buffer<gm, 65536>, %[[A:[a-z0-9]+]]: !npu.buffer<gm, 65536>, %[[W:[a-z0-9]+]]: !npu.buffer<gm, 1024>, %[[B:[a-z0-9]+]]: !npu.buffer<gm, 65536>, %[[Y:[a-z0-9]+]]: !npu.buffer<gm, 65536>)
// CHECK-SAME:    grid(%[[M:[a-z0-9]+]] = 4, %[[N:[a-z0-9]+]] = 2) soc "Ascend310P3" {
// CHECK-NEXT:    npu.layer "first" of "first" at 0
// CHECK:         npu.move %[[U:[a-z0-9]+]], %[[X]] at %[[M]], %[[N]] {bytes = #npu.range<8192>, {{.*}}offsets = [#npu.affine<0>, #npu.affine<0, [8192, 32768]>]
// CHECK-NEXT:    npu.set_flag
// CHECK-NEXT:    npu.wait_flag
// CHECK-NEXT:    npu.move %[[A]], %[[U]] at %[[M]], %[[N]]
// CHECK-NEXT:    npu.pipe_barrier s
// CHECK-NEXT:    npu.signal mte2 event 0
// CHECK-NEXT:    npu.layer "second" of "second" at 1 {macs = 1 : i64}
// CHECK-NEXT:    npu.await mte3 event 0 {value = #npu.range<1 from <8>>}
// CHECK-NEXT:    npu.alloc
// CHECK-NEXT:    npu.alloc
// CHECK-NEXT:    npu.loop %[[I:[a-z0-9]+]] = 2 {
// CHECK-NEXT:      npu.move %{{[a-z0-9]+}}, %[[W]] {
// CHECK-NEXT:      npu.await mte2 event 0 {value = #npu.range<1 from <8>>}
// CHECK-NEXT:      npu.move %{{[a-z0-9]+}}, %[[A]] at %[[M]], %[[N]], %[[I]] {bytes = #npu.range<4096>, {{.*}}offsets = [#npu.affine<0>, #npu.affine<0, [16384, 8192, 4096]>]
// CHECK:         npu.pipe_barrier s
// CHECK-NEXT:    npu.signal mte2 event 0
// CHECK-NEXT:    npu.layer "third" of "third" at 2 {macs = 1 : i64}
// CHECK-NEXT:    npu.await mte3 event 0 {value = #npu.range<1 from <16>>}
// CHECK-NEXT:    npu.alloc
// CHECK-NEXT:    npu.await mte2 event 0 {value = #npu.range<1 from <16>>}
// CHECK-NEXT:    npu.move %{{[a-z0-9]+}}, %[[B]] at %[[N]], %[[M]] {bytes = #npu.range<8192>, {{.*}}offsets = [#npu.affine<0>, #npu.affine<0, [32768, 8192]>]
// CHECK-NOT:     npu.program
// OFF:           npu.program @first(
// OFF:           npu.program @second(
// OFF:           npu.program @third(
npu.program @first(%in: !npu.buffer<gm, 65536>, %out: !npu.buffer<gm, 65536>) grid(%core = 8) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 8192>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [8192]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<ub, 8192>, !npu.buffer<gm, 65536>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x at %core {offsets = [#npu.affine<0, [8192]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<gm, 65536>, !npu.buffer<ub, 8192>
}
npu.program @second(%in: !npu.buffer<gm, 65536>, %w: !npu.buffer<gm, 1024>, %out: !npu.buffer<gm, 65536>) grid(%m = 4, %n = 2) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 4096>
  %v = npu.alloc {offset = 8192 : i64} : !npu.buffer<ub, 1024>
  npu.loop %i = 2 {
    npu.move %v, %w {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
    npu.move %x, %in at %m, %n, %i {offsets = [#npu.affine<0>, #npu.affine<0, [16384, 8192, 4096]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<4096>} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 65536>
    npu.set_flag mte2 to mte3 id 0
    npu.wait_flag mte2 to mte3 id 0
    npu.move %out, %x at %m, %n, %i {offsets = [#npu.affine<0, [16384, 8192, 4096]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<4096>} : !npu.buffer<gm, 65536>, !npu.buffer<ub, 4096>
    npu.set_flag mte3 to mte2 id 0
    npu.wait_flag mte3 to mte2 id 0
  }
}
npu.program @third(%in: !npu.buffer<gm, 65536>, %out: !npu.buffer<gm, 65536>) grid(%m = 2, %n = 4) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 8192>
  npu.move %x, %in at %m, %n {offsets = [#npu.affine<0>, #npu.affine<0, [32768, 8192]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<ub, 8192>, !npu.buffer<gm, 65536>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x at %m, %n {offsets = [#npu.affine<0, [32768, 8192]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<gm, 65536>, !npu.buffer<ub, 8192>
}
// CHECK-LABEL: func.func @main
// OFF-LABEL: func.func @main
// TWO-LABEL: func.func @main
func.func @main(%x: memref<32768xf16>, %y: memref<32768xf16> {om.output}) {
  %a = om.alloc {offset = 0 : i64} : memref<32768xf16>
  // CHECK-NOT: om.launch
  // BYTIME: om.launch @third_joined(
  // BYTWO: om.launch @third_joined(
  // APART-NOT: joined(
  // APART: om.launch @third(
  // OFF: om.launch @first(
  // TWO: om.launch @second_joined(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {cost = 3 : i64, om.left_tensors = [{location = #loc{{[0-9]*}}, operand = 1 : i64}]}
  om.launch @first(%x, %a) {cost = 1 : i64} : memref<32768xf16>, memref<32768xf16>
  %b = om.alloc {offset = 65536 : i64} : memref<32768xf16>
  %w = om.weight dense<1.0> : tensor<512xf16> : memref<512xf16>
  // OFF: om.launch @second(
  om.launch @second(%a, %w, %b) {chained, cost = 2 : i64} : memref<32768xf16>, memref<512xf16>, memref<32768xf16>
  // CHECK: om.launch @third_joined(%{{.*}}, %[[A:.*]], %[[W:.*]], %[[B:.*]], %{{.*}}) {cost = 6 : i64, om.left_tensors = [{location = #loc{{[0-9]*}}, operand = 1 : i64}, {location = #loc{{[0-9]*}}, operand = 3 : i64}]}
  // OFF: om.launch @third(
  // TWO: om.launch @third({{.*}}chained
  om.launch @third(%b, %y) {chained, cost = 3 : i64} : memref<32768xf16>, memref<32768xf16>
  return
}
}

// -----

// What stays apart: a launch that begins a task, and one on other numbers of cores, all of which
// write the same bytes.
// CHECK-LABEL: npu.program @eight(
// CHECK-LABEL: npu.program @six(
// CHECK-NOT: joined
module attributes {npu.soc = "Ascend310P3"} {
npu.program @eight(%in: !npu.buffer<gm, 65536>, %out: !npu.buffer<gm, 65536>) grid(%core = 8) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 8192>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [8192]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<ub, 8192>, !npu.buffer<gm, 65536>
}
npu.program @six(%in: !npu.buffer<gm, 65536>, %out: !npu.buffer<gm, 65536>) grid(%core = 6) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 8192>
  npu.move %out, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<gm, 65536>, !npu.buffer<ub, 8192>
}
func.func @main(%x: memref<32768xf16>, %y: memref<32768xf16> {om.output}) {
  %a = om.alloc {offset = 0 : i64} : memref<32768xf16>
  %b = om.alloc {offset = 65536 : i64} : memref<32768xf16>
  om.launch @eight(%x, %a) {cost = 1 : i64} : memref<32768xf16>, memref<32768xf16>
  om.launch @eight(%a, %b) {cost = 1 : i64} : memref<32768xf16>, memref<32768xf16>
  om.launch @six(%b, %y) {chained, cost = 1 : i64} : memref<32768xf16>, memref<32768xf16>
  return
}
}

// -----

// Six cores write what a limit bounds: two more have nothing to do there, and the launches become one
// on eight.
module attributes {npu.soc = "Ascend310P3"} {
// CHECK: npu.program @six_joined({{.*}}) grid(%{{[a-z0-9]+}} = 8) soc
// CHECK: npu.move {{.*}} {bytes = #npu.range<8192 from <0, [8192]> below 49152>
npu.program @eight(%in: !npu.buffer<gm, 65536>, %out: !npu.buffer<gm, 65536>) grid(%core = 8) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 8192>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [8192]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<ub, 8192>, !npu.buffer<gm, 65536>
}
npu.program @six(%in: !npu.buffer<gm, 65536>, %out: !npu.buffer<gm, 65536>) grid(%core = 6) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 8192>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [8192]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192 from <0, [8192]> below 49152>} : !npu.buffer<ub, 8192>, !npu.buffer<gm, 65536>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x at %core {offsets = [#npu.affine<0, [8192]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192 from <0, [8192]> below 49152>} : !npu.buffer<gm, 65536>, !npu.buffer<ub, 8192>
}
func.func @main(%x: memref<32768xf16>, %y: memref<32768xf16> {om.output}) {
  %a = om.alloc {offset = 0 : i64} : memref<32768xf16>
  om.launch @eight(%x, %a) {cost = 1 : i64} : memref<32768xf16>, memref<32768xf16>
  om.launch @six(%a, %y) {chained, cost = 1 : i64} : memref<32768xf16>, memref<32768xf16>
  return
}
}

// -----

// The barriers of the loop order the second load of the weight behind the store that reads what the
// first one has loaded: it does not move in front of the load that waits.
module attributes {npu.soc = "Ascend310P3"} {
// CHECK-LABEL:  npu.program @barriers_joined(
// CHECK:          npu.await mte3
// CHECK:          npu.move %[[V:[a-z0-9]+]], %[[W:arg2]]
// CHECK:          npu.await mte2
// CHECK-NEXT:     npu.move
// CHECK-NEXT:     npu.loop
// CHECK-NEXT:       npu.pipe_barrier s
// CHECK:          npu.move %[[V]], %[[W]]
npu.program @copy(%in: !npu.buffer<gm, 1024>, %out: !npu.buffer<gm, 1024>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 1024>
  npu.move %x, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 1024>, !npu.buffer<ub, 1024>
}
npu.program @barriers(%in: !npu.buffer<gm, 1024>, %w: !npu.buffer<gm, 1024>, %out: !npu.buffer<gm, 1024>, %other: !npu.buffer<gm, 1024>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 1024>
  %v = npu.alloc {offset = 1024 : i64} : !npu.buffer<ub, 1024>
  npu.move %v, %w {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %other, %v {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 1024>, !npu.buffer<ub, 1024>
  npu.move %x, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
  npu.loop %i = 2 {
    npu.pipe_barrier s
  }
  npu.move %v, %w {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 1024>, !npu.buffer<ub, 1024>
}
func.func @main(%x: memref<512xf16>, %y: memref<512xf16> {om.output}, %z: memref<512xf16> {om.output}) {
  %w = om.weight dense<1.0> : tensor<512xf16> : memref<512xf16>
  %a = om.alloc {offset = 0 : i64} : memref<512xf16>
  om.launch @copy(%x, %a) {cost = 1 : i64} : memref<512xf16>, memref<512xf16>
  om.launch @barriers(%a, %w, %y, %z) {chained, cost = 1 : i64} : memref<512xf16>, memref<512xf16>, memref<512xf16>, memref<512xf16>
  return
}
}

// -----

// Programs that read and write a part of 64 KB of tensors of 3 GB: the simulation is charged with what
// they touch, so that it tells that one launch is faster.
// BYTIME-LABEL: npu.program @part_joined(
// BYTIME:       func.func @main
// BYTIME:         om.launch @part_joined(
module attributes {npu.soc = "Ascend310P3"} {
npu.program @part(%in: !npu.buffer<gm, 3221225472>, %out: !npu.buffer<gm, 3221225472>) grid(%core = 8) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 8192>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [8192]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<ub, 8192>, !npu.buffer<gm, 3221225472>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x at %core {offsets = [#npu.affine<0, [8192]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<gm, 3221225472>, !npu.buffer<ub, 8192>
}
func.func @main(%x: memref<1610612736xf16>, %y: memref<1610612736xf16> {om.output}) {
  %a = om.alloc {offset = 0 : i64} : memref<1610612736xf16>
  om.launch @part(%x, %a) {cost = 1 : i64} : memref<1610612736xf16>, memref<1610612736xf16>
  om.launch @part(%a, %y) {chained, cost = 1 : i64} : memref<1610612736xf16>, memref<1610612736xf16>
  return
}
}

// -----

// Launches on cube and on vector cores become the two sections of a mixed program: @cube and @again
// on 24 cores, @first and @last on 48. Each section signals an event of its own. @again reads what
// @first has written in the arena, where it lies in the same bytes, and waits for 48 signals of
// event 1; @last waits for @again, on event 2 as it does not wait for @cube, and thereby for both
// parts on cube cores. That is faster, so that it needs no option.
// BYTIME-LABEL: npu.program @again_mixed(
// BYTIME:       npu.program @last_joined(
// BYTIME-NOT:   npu.program
// BYTIME:       func.func @main
// BYTIME:         om.launch @again_mixed(
// BYTIME-NOT:     om.launch
// BYTIME:       npu.program @cube(
module attributes {npu.soc = "Ascend910B1"} {
// CHECK:       npu.program @again_mixed(%[[X:[a-z0-9]+]]: {{.*}}, %[[B:[a-z0-9]+]]: {{.*}}, %[[A:[a-z0-9]+]]: {{.*}}, %[[C:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}}) grid(%{{[a-z0-9]+}} = 24) soc "Ascend910B1" with @last_joined {
// CHECK-NEXT:    npu.layer "cube" of "cube" at 0
// CHECK-NEXT:    npu.alloc
// CHECK-NEXT:    npu.move %{{[a-z0-9]+}}, %[[X]]
// CHECK:         npu.pipe_barrier s
// CHECK-NEXT:    npu.signal mte2 event 0
// CHECK-NEXT:    npu.layer "again" of "again" at 2
// CHECK-NEXT:    npu.await mte3 event 1 {value = #npu.range<1 from <48>>}
// CHECK-NEXT:    npu.await fix event 1 {value = #npu.range<1 from <48>>}
// CHECK-NEXT:    npu.alloc
// CHECK-NEXT:    npu.await mte2 event 1 {value = #npu.range<1 from <48>>}
// CHECK-NEXT:    npu.move %{{[a-z0-9]+}}, %[[A]]
// CHECK:         npu.pipe_barrier s
// CHECK-NEXT:    npu.signal mte2 event 2
// CHECK-NEXT:  }
// CHECK:       npu.program @last_joined({{.*}}) grid(%{{[a-z0-9]+}} = 48) soc "Ascend910B1" vector_core {
// CHECK-NEXT:    npu.layer "first" of "first" at 1
// CHECK-NOT:     npu.await
// CHECK:         npu.move %{{[a-z0-9]+}}, %{{[a-z0-9]+}} at
// CHECK:         npu.pipe_barrier s
// CHECK-NEXT:    npu.signal mte2 event 1
// CHECK-NEXT:    npu.layer "last" of "last" at 3
// CHECK-NEXT:    npu.await mte3 event 2 {value = #npu.range<1 from <24>>}
// CHECK-NEXT:    npu.alloc
// CHECK-NEXT:    npu.await mte2 event 2 {value = #npu.range<1 from <24>>}
// CHECK-NOT:     npu.signal
// CHECK:       func.func @main
// CHECK:         om.launch @again_mixed(
// CHECK-NOT:     om.launch
npu.program @cube(%in: !npu.buffer<gm, 24576>, %out: !npu.buffer<gm, 24576>) grid(%core = 24) soc "Ascend910B1" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<l1, 1024>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [1024]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<l1, 1024>, !npu.buffer<gm, 24576>
}
npu.program @first(%in: !npu.buffer<gm, 24576>, %out: !npu.buffer<gm, 24576>) grid(%core = 48) soc "Ascend910B1" vector_core {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 512>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [512]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<512>} : !npu.buffer<ub, 512>, !npu.buffer<gm, 24576>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x at %core {offsets = [#npu.affine<0, [512]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<512>} : !npu.buffer<gm, 24576>, !npu.buffer<ub, 512>
}
npu.program @again(%in: !npu.buffer<gm, 24576>, %out: !npu.buffer<gm, 24576>) grid(%core = 24) soc "Ascend910B1" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<l1, 1024>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [1024]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<l1, 1024>, !npu.buffer<gm, 24576>
  %r = npu.alloc {offset = 0 : i64} : !npu.buffer<l0c, 1024>
  npu.move_l0c %out, %r at %core {offsets = [#npu.affine<0, [1024]>, #npu.affine<0>], m = #npu.range<16>, n = #npu.range<16>, type = f32, dst_type = f16, src_col = 1024 : i64, dst_row = 32 : i64, dst_col = 32 : i64} : !npu.buffer<gm, 24576>, !npu.buffer<l0c, 1024>
}
npu.program @last(%in: !npu.buffer<gm, 24576>, %out: !npu.buffer<gm, 24576>) grid(%core = 48) soc "Ascend910B1" vector_core {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 512>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [512]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<512>} : !npu.buffer<ub, 512>, !npu.buffer<gm, 24576>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x at %core {offsets = [#npu.affine<0, [512]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<512>} : !npu.buffer<gm, 24576>, !npu.buffer<ub, 512>
}
func.func @main(%x: memref<12288xf16>, %y: memref<12288xf16> {om.output}) {
  %b = om.alloc {offset = 32768 : i64} : memref<12288xf16>
  %a = om.alloc {offset = 0 : i64} : memref<12288xf16>
  %c = om.alloc {offset = 65536 : i64} : memref<12288xf16>
  om.launch @cube(%x, %b) {cost = 1 : i64} : memref<12288xf16>, memref<12288xf16>
  om.launch @first(%x, %a) {chained, cost = 1 : i64} : memref<12288xf16>, memref<12288xf16>
  om.launch @again(%a, %c) {chained, cost = 1 : i64} : memref<12288xf16>, memref<12288xf16>
  om.launch @last(%c, %y) {chained, cost = 1 : i64} : memref<12288xf16>, memref<12288xf16>
  return
}
}

// -----

// On the 310B1 cores of different kinds do not signal each other: the launches stay apart.
module attributes {npu.soc = "Ascend310B1"} {
// CHECK: npu.program @cube(
// CHECK: npu.program @vector(
// CHECK-NOT: joined
npu.program @cube(%in: !npu.buffer<gm, 1024>, %out: !npu.buffer<gm, 1024>) grid(%core = 1) soc "Ascend310B1" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<l1, 1024>
  npu.move %x, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<l1, 1024>, !npu.buffer<gm, 1024>
}
npu.program @vector(%in: !npu.buffer<gm, 1024>, %out: !npu.buffer<gm, 1024>) grid(%core = 1) soc "Ascend310B1" vector_core {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 1024>
  npu.move %x, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
}
func.func @main(%x: memref<512xf16>, %y: memref<512xf16> {om.output}) {
  %a = om.alloc {offset = 0 : i64} : memref<512xf16>
  om.launch @cube(%x, %a) {cost = 1 : i64} : memref<512xf16>, memref<512xf16>
  om.launch @vector(%a, %y) {chained, cost = 1 : i64} : memref<512xf16>, memref<512xf16>
  return
}
}

// -----

// Programs on 7 and on 8 cores become one on 8: the last core of the first one does nothing. Its
// moves have ranges that go on from core to core and end before it; the weight, which all of its
// cores read, is no part of that.
module attributes {npu.soc = "Ascend310P3"} {
// CHECK:       npu.program @eight_joined(%[[X:[a-z0-9]+]]: !npu.buffer<gm, 57344>, %[[W:[a-z0-9]+]]: !npu.buffer<gm, 1024>, %[[A:[a-z0-9]+]]: !npu.buffer<gm, 57344>, %[[Y:[a-z0-9]+]]: !npu.buffer<gm, 57344>)
// CHECK-SAME:    grid(%[[C:[a-z0-9]+]] = 8) soc "Ascend310P3" {
// CHECK:         npu.move %{{[a-z0-9]+}}, %[[W]] {bytes = #npu.range<1024>
// CHECK:         npu.move %{{[a-z0-9]+}}, %[[X]] at %[[C]] {bytes = #npu.range<8192 from <0, [8192]> below 57344>
// CHECK:         npu.move %[[A]], %{{[a-z0-9]+}} at %[[C]] {bytes = #npu.range<8192 from <0, [8192]> below 57344>
// CHECK:         npu.move %{{[a-z0-9]+}}, %[[A]] at %[[C]] {bytes = #npu.range<7168>
npu.program @seven(%in: !npu.buffer<gm, 57344>, %w: !npu.buffer<gm, 1024>, %out: !npu.buffer<gm, 57344>) grid(%core = 7) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 8192>
  %v = npu.alloc {offset = 8192 : i64} : !npu.buffer<ub, 1024>
  npu.move %v, %w {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [8192]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<ub, 8192>, !npu.buffer<gm, 57344>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x at %core {offsets = [#npu.affine<0, [8192]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<8192>} : !npu.buffer<gm, 57344>, !npu.buffer<ub, 8192>
}
npu.program @eight(%in: !npu.buffer<gm, 57344>, %out: !npu.buffer<gm, 57344>) grid(%core = 8) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 7168>
  npu.move %x, %in at %core {offsets = [#npu.affine<0>, #npu.affine<0, [7168]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<7168>} : !npu.buffer<ub, 7168>, !npu.buffer<gm, 57344>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x at %core {offsets = [#npu.affine<0, [7168]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<7168>} : !npu.buffer<gm, 57344>, !npu.buffer<ub, 7168>
}
func.func @main(%x: memref<28672xf16>, %y: memref<28672xf16> {om.output}) {
  %w = om.weight dense<1.0> : tensor<512xf16> : memref<512xf16>
  %a = om.alloc {offset = 0 : i64} : memref<28672xf16>
  // CHECK: om.launch @eight_joined(
  om.launch @seven(%x, %w, %a) {cost = 1 : i64} : memref<28672xf16>, memref<512xf16>, memref<28672xf16>
  // CHECK-NOT: om.launch
  om.launch @eight(%a, %y) {chained, cost = 2 : i64} : memref<28672xf16>, memref<28672xf16>
  return
}
}

// -----

// Between two programs that use MTE1 no core stops: the queues tell the one that stores that they are
// done, which signals, and MTE2 loads the weight once MTE1 has read the operands of the first
// program. The weight is loaded before the activation, which waits for the signals.
module attributes {npu.soc = "Ascend310P3"} {
// CHECK:       npu.program @through_joined(%{{[a-z0-9]+}}: {{.*}}, %[[W:[a-z0-9]+]]: !npu.buffer<gm, 1024>, %[[A:[a-z0-9]+]]: {{.*}}, %{{[a-z0-9]+}}: {{.*}})
// CHECK-NEXT:    npu.layer
// CHECK-NOT:     npu.pipe_barrier s
// CHECK:         npu.set_flag mte1 to mte2 id 7
// CHECK-NEXT:    npu.set_flag mte1 to mte3 id 7
// CHECK-NEXT:    npu.wait_flag mte1 to mte3 id 7
// CHECK-NEXT:    npu.set_flag mte2 to mte3 id 7
// CHECK-NEXT:    npu.wait_flag mte2 to mte3 id 7
// CHECK-NEXT:    npu.signal mte3 event 0
// CHECK-NEXT:    npu.wait_flag mte1 to mte2 id 7
// CHECK-NEXT:    npu.set_flag mte2 to mte1 id 7
// CHECK-NEXT:    npu.wait_flag mte2 to mte1 id 7
// CHECK-NEXT:    npu.layer
// CHECK-NEXT:    npu.await mte3 event 0 {value = #npu.range<1 from <8>>}
// CHECK:         npu.await mte1 event 0 {value = #npu.range<1 from <8>>}
// CHECK-NEXT:    npu.loop
// CHECK-NEXT:      npu.move %{{[a-z0-9]+}}, %[[W]]
// CHECK-NEXT:      npu.await mte2 event 0 {value = #npu.range<1 from <8>>}
// CHECK-NEXT:      npu.move %{{[a-z0-9]+}}, %[[A]]
// CHECK-NOT:     npu.pipe_barrier s
npu.program @through(%in: !npu.buffer<gm, 8192>, %w: !npu.buffer<gm, 1024>, %out: !npu.buffer<gm, 8192>) grid(%core = 8) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<l1, 512>
  %v = npu.alloc {offset = 1024 : i64} : !npu.buffer<l1, 1024>
  %u = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 512>
  npu.loop %i = 2 {
    npu.move %x, %in at %core, %i {offsets = [#npu.affine<0>, #npu.affine<0, [1024, 512]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<512>} : !npu.buffer<l1, 512>, !npu.buffer<gm, 8192>
    npu.move %v, %w {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<l1, 1024>, !npu.buffer<gm, 1024>
    npu.set_flag mte2 to mte1 id 0
    npu.wait_flag mte2 to mte1 id 0
    npu.move %u, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<512>} : !npu.buffer<ub, 512>, !npu.buffer<l1, 512>
    npu.set_flag mte1 to mte2 id 0
    npu.wait_flag mte1 to mte2 id 0
    npu.set_flag mte1 to mte3 id 0
    npu.wait_flag mte1 to mte3 id 0
    npu.move %out, %u at %core, %i {offsets = [#npu.affine<0, [1024, 512]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<512>} : !npu.buffer<gm, 8192>, !npu.buffer<ub, 512>
    npu.set_flag mte3 to mte1 id 0
    npu.wait_flag mte3 to mte1 id 0
  }
}
func.func @main(%x: memref<4096xf16>, %y: memref<4096xf16> {om.output}) {
  %w = om.weight dense<1.0> : tensor<512xf16> : memref<512xf16>
  %a = om.alloc {offset = 0 : i64} : memref<4096xf16>
  om.launch @through(%x, %w, %a) {cost = 1 : i64} : memref<4096xf16>, memref<512xf16>, memref<4096xf16>
  // CHECK: om.launch @through_joined(
  om.launch @through(%a, %w, %y) {chained, cost = 1 : i64} : memref<4096xf16>, memref<512xf16>, memref<4096xf16>
  return
}
}

// -----

// Two layers on two parts of the batch, each on both parts before the next layer: the second part
// waits for no one, and each part of the second layer only for the same part of the first one. Each
// part of the batch has an event; the last launch, which reads both, waits for both.
module attributes {npu.soc = "Ascend310P3"} {
// CHECK-LABEL:  npu.program @both_joined(
// CHECK:          npu.layer "copy" of "copy" at 0
// CHECK-NOT:      npu.await
// CHECK:          npu.signal mte2 event 0
// CHECK-NEXT:     npu.layer "copy" of "copy" at 1
// CHECK-NOT:      npu.await
// CHECK:          npu.signal mte2 event 2
// CHECK-NEXT:     npu.layer "copy" of "copy" at 2
// CHECK-NEXT:     npu.await mte3 event 0 {value = #npu.range<1 from <1>>}
// CHECK-NEXT:     npu.alloc
// CHECK-NEXT:     npu.await mte2 event 0 {value = #npu.range<1 from <1>>}
// CHECK:          npu.signal mte2 event 0
// CHECK-NEXT:     npu.layer "copy" of "copy" at 3
// CHECK-NEXT:     npu.await mte3 event 2 {value = #npu.range<1 from <1>>}
// CHECK-NEXT:     npu.alloc
// CHECK-NEXT:     npu.await mte2 event 2 {value = #npu.range<1 from <1>>}
// CHECK:          npu.signal mte2 event 2
// CHECK-NEXT:     npu.layer "both" of "both" at 4
// CHECK-NEXT:     npu.await mte3 event 2 {value = #npu.range<1 from <2>>}
// CHECK-NEXT:     npu.alloc
// CHECK-NEXT:     npu.alloc
// CHECK-NEXT:     npu.await mte2 event 2 {value = #npu.range<1 from <2>>}
npu.program @copy(%in: !npu.buffer<gm, 1024>, %out: !npu.buffer<gm, 1024>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 1024>
  npu.move %x, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 1024>, !npu.buffer<ub, 1024>
}
npu.program @both(%in: !npu.buffer<gm, 1024>, %other: !npu.buffer<gm, 1024>, %out: !npu.buffer<gm, 1024>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0 : i64} : !npu.buffer<ub, 1024>
  %y = npu.alloc {offset = 1024 : i64} : !npu.buffer<ub, 1024>
  npu.move %x, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
  npu.move %y, %other {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
  npu.set_flag mte2 to mte3 id 0
  npu.wait_flag mte2 to mte3 id 0
  npu.move %out, %y {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 1024>, !npu.buffer<ub, 1024>
}
func.func @main(%x: memref<512xf16>, %y: memref<512xf16>, %z: memref<512xf16> {om.output}) {
  %a = om.alloc {offset = 0 : i64} : memref<512xf16>
  %b = om.alloc {offset = 1024 : i64} : memref<512xf16>
  %c = om.alloc {offset = 2048 : i64} : memref<512xf16>
  %d = om.alloc {offset = 3072 : i64} : memref<512xf16>
  om.launch @copy(%x, %a) {cost = 1 : i64} : memref<512xf16>, memref<512xf16>
  om.launch @copy(%y, %b) {chained, cost = 1 : i64} : memref<512xf16>, memref<512xf16>
  om.launch @copy(%a, %c) {chained, cost = 1 : i64} : memref<512xf16>, memref<512xf16>
  om.launch @copy(%b, %d) {chained, cost = 1 : i64} : memref<512xf16>, memref<512xf16>
  om.launch @both(%c, %d, %z) {chained, cost = 1 : i64} : memref<512xf16>, memref<512xf16>, memref<512xf16>
  return
}
}

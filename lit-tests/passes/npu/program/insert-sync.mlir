// RUN: atc-opt -npu-insert-sync %s | FileCheck %s
// RUN: atc-opt -npu-insert-sync=minimise=false %s | FileCheck %s --check-prefix=EVERY
// RUN: atc-opt -npu-insert-sync=allocate=false %s | FileCheck %s --check-prefix=PAIRS
// RUN: atc-opt -npu-insert-sync=report %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// Three queues pass one buffer on. The way back from mte3 to mte2 implies those
// from v to mte2 and from mte3 to v, and the ways there from mte2 to v to mte3 the
// one from mte2 to mte3. Two copies: two ids, raised before the loop.
// CHECK-LABEL: npu.program @in_place
// CHECK-NOT:     npu.set_flag v to mte2
// CHECK:         npu.set_flag mte3 to mte2 id 0{{$}}
// CHECK-NEXT:    npu.set_flag mte3 to mte2 id 1{{$}}
// CHECK-NEXT:    npu.loop
// CHECK-NEXT:      npu.alloc
// CHECK-NEXT:      npu.wait_flag mte3 to mte2 id 0 {depth = 1 : i64, slots = 2 : i64}
// CHECK-NEXT:      npu.move
// CHECK-NEXT:      npu.set_flag mte2 to v id 0 {depth = 1 : i64, slots = 2 : i64}
// CHECK-NEXT:      npu.wait_flag mte2 to v id 0 {depth = 1 : i64, slots = 2 : i64}
// CHECK-NEXT:      npu.vector
// CHECK-NEXT:      npu.set_flag v to mte3 id 0 {depth = 1 : i64, slots = 2 : i64}
// CHECK-NEXT:      npu.wait_flag v to mte3 id 0 {depth = 1 : i64, slots = 2 : i64}
// CHECK-NEXT:      npu.move
// CHECK-NEXT:      npu.set_flag mte3 to mte2 id 0 {depth = 1 : i64, slots = 2 : i64}
// CHECK-NEXT:    {{^ *}$}}
// CHECK-NEXT:    npu.wait_flag mte3 to mte2 id 0{{$}}
// CHECK-NEXT:    npu.wait_flag mte3 to mte2 id 1{{$}}
// CHECK-NEXT:  {{^ *}$}}
// EVERY-LABEL: npu.program @in_place
// EVERY-DAG:     npu.set_flag v to mte2
// EVERY-DAG:     npu.set_flag mte3 to v
// EVERY-DAG:     npu.set_flag mte2 to mte3
// PAIRS-LABEL: npu.program @in_place
// PAIRS-NEXT:    npu.loop
// PAIRS-NEXT:      npu.alloc
// PAIRS-COUNT-2:   npu.set_flag {{v|mte3}} to mte2 id 0{{$}}
// PAIRS:           npu.move
// PAIRS-DAG:       npu.set_flag mte2 to v id 0{{$}}
// PAIRS-DAG:       npu.set_flag mte3 to v id 0{{$}}
// PAIRS:           npu.vector
// REPORT: remark: 6 dependences: 3 flags, 0 barriers, 3 implied, 0 merged
npu.program @in_place(%in: !npu.buffer<gm, 8192>, %out: !npu.buffer<gm, 8192>) grid(%core = 1) soc "Ascend310P3" {
  npu.loop %i = 8 {
    %x = npu.alloc {buffers = 2, offset = 0} : !npu.buffer<ub, 1024>
    npu.move %x, %in at %i {offsets = [#npu.affine<0>, #npu.affine<0, [1024]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 8192>
    npu.vector "relu" %x, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 1024>, !npu.buffer<ub, 1024>
    npu.move %out, %x at %i {offsets = [#npu.affine<0, [1024]>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 8192>, !npu.buffer<ub, 1024>
  }
}

// One buffer for the uses in an inner loop: flags stand outside of it on the side
// that is outside. Vector instructions that depend on each other, in one
// iteration or the next, have a barrier of their queue between them.
// CHECK-LABEL: npu.program @inner_loop
// CHECK:         npu.loop %{{.*}} = 4 {
// CHECK-NEXT:      npu.alloc
// CHECK-NEXT:      npu.wait_flag v to mte2 id 0{{$}}
// CHECK-NEXT:      npu.move
// CHECK-NEXT:      npu.set_flag mte2 to v id 0{{$}}
// CHECK-NEXT:      npu.wait_flag mte2 to v id 0{{$}}
// CHECK-NEXT:      npu.loop
// CHECK-NEXT:        npu.pipe_barrier v
// CHECK-NEXT:        npu.vector "relu"
// CHECK-NEXT:        npu.pipe_barrier v
// CHECK-NEXT:        npu.vector "abs"
// CHECK-NEXT:      {{^ *}$}}
// CHECK-NEXT:      npu.set_flag v to mte2 id 0{{$}}
// CHECK-NEXT:    {{^ *}$}}
// CHECK-NEXT:    npu.wait_flag v to mte2 id 0{{$}}
npu.program @inner_loop(%in: !npu.buffer<gm, 8192>) grid(%core = 1) soc "Ascend310P3" {
  npu.loop %i = 4 {
    %x = npu.alloc {offset = 0} : !npu.buffer<ub, 1024>
    npu.move %x, %in at %i {offsets = [#npu.affine<0>, #npu.affine<0, [1024]>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 8192>
    npu.loop %j = 3 {
      npu.vector "relu" %x, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 1024>, !npu.buffer<ub, 1024>
      npu.vector "abs" %x, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 1024>, !npu.buffer<ub, 1024>
    }
  }
}

// Buffers that share bytes are ordered like one, and so are an argument's uses;
// different arguments do not overlap. Without loops there is no way back.
// CHECK-LABEL: npu.program @overlap
// CHECK:         npu.vector "fill" %[[A:[0-9]+]]
// CHECK-NEXT:    npu.set_flag v to mte3 id 0{{$}}
// CHECK-NEXT:    npu.wait_flag v to mte3 id 0{{$}}
// CHECK-NEXT:    npu.move %{{.*}}, %[[A]]
// CHECK-NEXT:    npu.set_flag mte3 to mte2 id 0{{$}}
// CHECK-NEXT:    npu.move %{{[0-9]+}}, %{{.*}}
// CHECK-NEXT:    npu.wait_flag mte3 to mte2 id 0{{$}}
// CHECK-NEXT:    npu.move %{{[0-9]+}}, %{{.*}}
// CHECK-NEXT:  {{^ *}$}}
npu.program @overlap(%a: !npu.buffer<gm, 1024>, %b: !npu.buffer<gm, 1024>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0} : !npu.buffer<ub, 1024>
  %y = npu.alloc {offset = 512} : !npu.buffer<ub, 1024>
  %z = npu.alloc {offset = 2048} : !npu.buffer<ub, 1024>
  npu.vector "fill" %x {offsets = [#npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 1024>
  npu.move %a, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 1024>, !npu.buffer<ub, 1024>
  npu.move %z, %b {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
  npu.move %y, %b {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
}

// What is written to gm on one queue and read on another is ordered.
// CHECK-LABEL: npu.program @global
// CHECK:         npu.vector
// CHECK:         npu.set_flag mte3 to mte2 id 0{{$}}
// CHECK-NEXT:    npu.wait_flag mte3 to mte2 id 0{{$}}
npu.program @global(%a: !npu.buffer<gm, 1024>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0} : !npu.buffer<ub, 1024>
  %y = npu.alloc {offset = 1024} : !npu.buffer<ub, 1024>
  npu.vector "fill" %x {offsets = [#npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 1024>
  npu.move %a, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 1024>, !npu.buffer<ub, 1024>
  npu.move %y, %a {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 1024>
}

// A signal comes after, an await before the moves to and from gm, on any queue.
// CHECK-LABEL: npu.program @cores
// CHECK:         npu.move
// CHECK-NEXT:    npu.set_flag mte3 to mte2
// CHECK-NEXT:    npu.wait_flag mte3 to mte2
// CHECK-NEXT:    npu.signal mte2
// CHECK-NEXT:    npu.await mte2
// CHECK-NEXT:    npu.set_flag mte2 to mte3
// CHECK-NEXT:    npu.wait_flag mte2 to mte3
// CHECK-NEXT:    npu.move
npu.program @cores(%a: !npu.buffer<gm, 1024>) grid(%core = 2) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0} : !npu.buffer<ub, 1024>
  npu.move %a, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 1024>, !npu.buffer<ub, 1024>
  npu.signal mte2 event 0
  npu.await mte2 event 0 {value = #npu.range<1 from <2>>}
  npu.move %a, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 1024>, !npu.buffer<ub, 1024>
}

// Independent vector instructions stand together between barriers; one barrier
// orders several pairs.
// CHECK-LABEL: npu.program @independent
// CHECK-NOT:     npu.pipe_barrier
// CHECK:         npu.vector "relu"
// CHECK-NEXT:    npu.vector "abs"
// CHECK-NEXT:    npu.pipe_barrier v
// CHECK-NEXT:    npu.vector "neg"
// CHECK-NEXT:    npu.vector "exp"
// CHECK-NOT:     npu.pipe_barrier
npu.program @independent(%in: !npu.buffer<gm, 8192>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0} : !npu.buffer<ub, 1024>
  %a = npu.alloc {offset = 1024} : !npu.buffer<ub, 1024>
  %b = npu.alloc {offset = 2048} : !npu.buffer<ub, 1024>
  %c = npu.alloc {offset = 3072} : !npu.buffer<ub, 1024>
  %d = npu.alloc {offset = 4096} : !npu.buffer<ub, 1024>
  npu.move %x, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 8192>
  npu.vector "relu" %a, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 1024>, !npu.buffer<ub, 1024>
  npu.vector "abs" %b, %x {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 1024>, !npu.buffer<ub, 1024>
  npu.vector "neg" %c, %a {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 1024>, !npu.buffer<ub, 1024>
  npu.vector "exp" %d, %b {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 1024>, !npu.buffer<ub, 1024>
}

// Rows of one buffer that iterations write apart need no barrier; flags to the
// queue that stores and back order the others.
// CHECK-LABEL: npu.program @rows
// CHECK-NOT:     npu.pipe_barrier
// CHECK:       }
npu.program @rows(%in: !npu.buffer<gm, 8192>, %out: !npu.buffer<gm, 8192>) grid(%core = 1) soc "Ascend310P3" {
  %x = npu.alloc {offset = 0} : !npu.buffer<ub, 4096>
  %y = npu.alloc {offset = 4096} : !npu.buffer<ub, 4096>
  npu.move %x, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<4096>} : !npu.buffer<ub, 4096>, !npu.buffer<gm, 8192>
  npu.loop %i = 4 {
    npu.vector "relu" %y, %x at %i {offsets = [#npu.affine<0, [1024]>, #npu.affine<0, [1024]>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 4096>, !npu.buffer<ub, 4096>
  }
  npu.loop %j = 2 {
    %z = npu.alloc {offset = 8192} : !npu.buffer<ub, 1024>
    npu.move %z, %in {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 8192>
    npu.vector "abs" %z, %z {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<512>, type = f16, dst_type = f16} : !npu.buffer<ub, 1024>, !npu.buffer<ub, 1024>
    npu.move %out, %z {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<1024>} : !npu.buffer<gm, 8192>, !npu.buffer<ub, 1024>
  }
}

// A queue that gathers by indices that it has loaded itself finishes the load
// first. Indices of another queue have flags.
// CHECK-LABEL: npu.program @gather
// CHECK:         npu.move
// CHECK:         npu.pipe_barrier mte2
// CHECK-NEXT:    npu.gather_rows
// CHECK:         npu.vector "copy"
// CHECK-NOT:     npu.pipe_barrier
// CHECK:         npu.wait_flag v to mte2
// CHECK-NOT:     npu.pipe_barrier
// CHECK:         npu.gather_rows
npu.program @gather(%table: !npu.buffer<gm, 8192>, %ids: !npu.buffer<gm, 64>) grid(%core = 1) soc "Ascend310P3" {
  %i = npu.alloc {offset = 0} : !npu.buffer<ub, 64>
  %rows = npu.alloc {offset = 1024} : !npu.buffer<ub, 1024>
  npu.move %i, %ids {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<64>} : !npu.buffer<ub, 64>, !npu.buffer<gm, 64>
  npu.gather_rows %rows, %table, %i {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<16>, bytes = #npu.range<64>, table_rows = 128, src_row = 64, dst_row = 64} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 8192>, !npu.buffer<ub, 64>
  %j = npu.alloc {offset = 2048} : !npu.buffer<ub, 64>
  npu.vector "copy" %j, %i {offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<16>, type = i32, dst_type = i32} : !npu.buffer<ub, 64>, !npu.buffer<ub, 64>
  npu.gather_rows %rows, %table, %j {offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>], rows = #npu.range<16>, bytes = #npu.range<64>, table_rows = 128, src_row = 64, dst_row = 64} : !npu.buffer<ub, 1024>, !npu.buffer<gm, 8192>, !npu.buffer<ub, 64>
}

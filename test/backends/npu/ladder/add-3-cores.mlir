// 8192 x 8192 addition, step 3: 48 cores, which begin each round together.
npu.program @add(%x: !npu.buffer<gm, 134217728>, %y: !npu.buffer<gm, 134217728>,
                 %z: !npu.buffer<gm, 134217728>)
    grid(%core = 48) soc "Ascend910B1" vector_core {
  npu.set_flag v to mte2 id 0
  npu.set_flag mte3 to v id 0
  npu.loop %i = 171 {
    %ux = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<ub, 16384>
    %uy = npu.alloc {buffers = 1, offset = 16384} : !npu.buffer<ub, 16384>
    %uz = npu.alloc {buffers = 1, offset = 32768} : !npu.buffer<ub, 16384>
    npu.wait_flag v to mte2 id 0
    npu.await mte2 event 0 at %i {value = #npu.range<1 from <0, [48]>>}
    npu.move %ux, %x at %core, %i {
      offsets = [#npu.affine<0>, #npu.affine<0, [16384, 786432]>],
      outer = #npu.range<1>, inner = #npu.range<1>,
      bytes = #npu.range<16384 from <0, [16384, 786432]> below 134217728>
    } : !npu.buffer<ub, 16384>, !npu.buffer<gm, 134217728>
    npu.move %uy, %y at %core, %i {
      offsets = [#npu.affine<0>, #npu.affine<0, [16384, 786432]>],
      outer = #npu.range<1>, inner = #npu.range<1>,
      bytes = #npu.range<16384 from <0, [16384, 786432]> below 134217728>
    } : !npu.buffer<ub, 16384>, !npu.buffer<gm, 134217728>
    npu.set_flag mte2 to v id 0
    npu.wait_flag mte2 to v id 0
    npu.wait_flag mte3 to v id 0
    npu.vector "add" %uz, %ux, %uy {
      offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>],
      outer = #npu.range<1>, inner = #npu.range<1>,
      lanes = #npu.range<8192>, type = f16, dst_type = f16
    } : !npu.buffer<ub, 16384>, !npu.buffer<ub, 16384>, !npu.buffer<ub, 16384>
    npu.set_flag v to mte2 id 0
    npu.set_flag v to mte3 id 0
    npu.wait_flag v to mte3 id 0
    npu.move %z, %uz at %core, %i {
      offsets = [#npu.affine<0, [16384, 786432]>, #npu.affine<0>],
      outer = #npu.range<1>, inner = #npu.range<1>,
      bytes = #npu.range<16384 from <0, [16384, 786432]> below 134217728>
    } : !npu.buffer<gm, 134217728>, !npu.buffer<ub, 16384>
    npu.set_flag mte3 to v id 0
    npu.signal mte3 event 0
    npu.pipe_barrier s
  }
  npu.wait_flag v to mte2 id 0
  npu.wait_flag mte3 to v id 0
}

// 12288 x 12288 f16 into the unified buffers in tiles of 1 x 64.
npu.program @copy(%x: !npu.buffer<gm, 301989888>)
    grid(%core = 48) soc "Ascend910B1" vector_core {
  npu.loop %i = 256 {
    npu.loop %j = 192 {
      %to = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<ub, 128>
      npu.move %to, %x at %core, %i, %j {
        offsets = [#npu.affine<0>, #npu.affine<0, [6291456, 24576, 128]>],
        outer = #npu.range<1>, inner = #npu.range<1>, bytes = #npu.range<128>,
        dst_inner = 128, src_inner = 24576
      } : !npu.buffer<ub, 128>, !npu.buffer<gm, 301989888>
    }
  }
}

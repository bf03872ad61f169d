// 12288 x 12288 f16 into the unified buffers in tiles of 64 x 1024.
npu.program @copy(%x: !npu.buffer<gm, 301989888>)
    grid(%core = 48) soc "Ascend910B1" vector_core {
  npu.loop %i = 4 {
    npu.loop %j = 12 {
      %to = npu.alloc {buffers = 1, offset = 0} : !npu.buffer<ub, 131072>
      npu.move %to, %x at %core, %i, %j {
        offsets = [#npu.affine<0>, #npu.affine<0, [6291456, 1572864, 2048]>],
        outer = #npu.range<1>, inner = #npu.range<64>, bytes = #npu.range<2048>,
        dst_inner = 2048, src_inner = 24576
      } : !npu.buffer<ub, 131072>, !npu.buffer<gm, 301989888>
    }
  }
}

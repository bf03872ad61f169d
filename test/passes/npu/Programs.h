//===-- Programs.h - sequential npu programs to test with -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_PASSES_NPU_PROGRAMS_H
#define OPENATC_TEST_PASSES_NPU_PROGRAMS_H

#include <cstdint>
#include <string>

namespace atc::npu::test {

/// c[m][n] = a[m][k] x b[n][k] (+ residual[m][n]) in f16 on one core: tiles of
/// results, in them tiles in l1, in them tiles in l0. Edges are cut.
struct Matmul {
  int64_t m, n, k;
  int64_t tileM, tileN, tileL1, tileL0;
  bool residual = false;
};
std::string matmul(const Matmul &shape);

/// c = relu(a) + b on two cores, in tiles of 256 of `count` elements.
std::string elementwise(int64_t count);

/// 3 x 3 convolutions of three images [8][8][16], padded, with a residual and
/// relu: the windows of the first and last tile begin and end outside.
std::string convolution();

/// A first nest writes what the second one reads, through gm; the buffers of both
/// do not fit into ub side by side.
std::string twoStages();

/// Sums of columns: one buffer is added to by all iterations of an inner loop.
std::string accumulate();

/// Rows filled piece by piece in one inner loop and used in the next one.
std::string pieces();

/// x *= 2 in place, twice, the second time in other tiles.
std::string inPlace();

/// `stages` times in a body: load, add to a sum, store.
std::string pingPong(unsigned stages);

/// A body of `count` loads and then as many uses, in the same order.
std::string manyLoads(unsigned count);

/// The first load of the body is for its last work. With one buffer each it waits
/// for nearly all of the iteration before, and the load that is needed at once
/// waits behind it.
std::string earlyLoad();

/// Loads without loops, each used by the vector queue at once.
std::string straight(unsigned steps);

} // namespace atc::npu::test

#endif // OPENATC_TEST_PASSES_NPU_PROGRAMS_H

//===-- Compare.cpp - comparisons, logic and bits of broadcast tensors ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Broadcast.h"
#include "kernels/core/Nibbles.h"

namespace atc::kernels {

namespace {
/// Output 0, of booleans, is op(input 0, input 1).
template <typename Op> void comparison(Context &c, Op op) {
  const uint8_t dtype = c.in(0).dtype();
  broadcastPair(c, Bool, [&](const StridedSpace &space, void *out) {
    auto compare = [&](auto type) {
      using T = typename decltype(type)::Type;
      mapInputs<T, uint8_t>(c, space, out, 1,
                            [=](T a, T b) -> uint8_t { return op(Compute<T>(a), Compute<T>(b)); });
    };
    // A model with booleans may have no u8, and then no code for it (Numbers.h).
    if (dtype == Bool)
      callFor<uint8_t>(typeBit(Bool), compare);
    else if (!dispatchNumbers(dtype, compare))
      c.failType(dtype);
  });
}

/// Booleans; `op` gets them as such.
template <typename Op> void logic(Context &c, Op op) {
  if (c.in(0).dtype() != Bool)
    return c.failType(c.in(0).dtype());
  broadcastPair(c, Bool, [&](const StridedSpace &space, void *out) {
    mapInputs<uint8_t, uint8_t>(c, space, out, 1,
                                [=](uint8_t a, uint8_t b) { return uint8_t(op(a != 0, b != 0)); });
  });
}

/// Integers of any width.
template <typename Op> void bitwise(Context &c, Op op) {
  const uint8_t dtype = c.in(0).dtype();
  broadcastPair(c, dtype, [&](const StridedSpace &space, void *out) {
    if (!dispatchIntegers(dtype, [&](auto type) {
          using T = typename decltype(type)::Type;
          mapInputs<T, T>(c, space, out, 1, [=](T a, T b) { return T(op(a, b)); });
        }))
      c.failType(dtype);
  });
}
} // namespace

ATC_KERNEL(Equal) {
  if (in(0).dtype() != Str)
    return comparison(*this, [](auto a, auto b) { return a == b; });
  broadcastPair(*this, Bool, [&](const StridedSpace &space, void *out) {
    mapInputs<String, uint8_t>(*this, space, out, 8,
                               [](String a, String b) { return uint8_t(equal(a, b)); });
  });
}
ATC_KERNEL(Less) {
  comparison(*this, [](auto a, auto b) { return a < b; });
}
ATC_KERNEL(LessOrEqual) {
  comparison(*this, [](auto a, auto b) { return a <= b; });
}
ATC_KERNEL(Greater) {
  comparison(*this, [](auto a, auto b) { return a > b; });
}
ATC_KERNEL(GreaterOrEqual) {
  comparison(*this, [](auto a, auto b) { return a >= b; });
}

ATC_KERNEL(And) {
  logic(*this, [](bool a, bool b) { return a && b; });
}
ATC_KERNEL(Or) {
  logic(*this, [](bool a, bool b) { return a || b; });
}
ATC_KERNEL(Xor) {
  logic(*this, [](bool a, bool b) { return a != b; });
}
ATC_KERNEL(Not) {
  if (in(0).dtype() != Bool)
    return failType(in(0).dtype());
  if (char *out = make(0, Bool, in(0).dims()))
    mapElements<uint8_t, uint8_t>(*this, out, 1, [](uint8_t a) { return uint8_t(a == 0); });
}

ATC_KERNEL(BitwiseAnd) {
  bitwise(*this, [](auto a, auto b) { return a & b; });
}
ATC_KERNEL(BitwiseOr) {
  bitwise(*this, [](auto a, auto b) { return a | b; });
}
ATC_KERNEL(BitwiseXor) {
  bitwise(*this, [](auto a, auto b) { return a ^ b; });
}
ATC_KERNEL(BitwiseNot) {
  const uint8_t dtype = in(0).dtype();
  char *out = make(0, dtype, in(0).dims());
  if (!out)
    return;
  if (!dispatchIntegers(dtype, [&](auto type) {
        using T = typename decltype(type)::Type;
        mapElements<T, T>(*this, out, 1, [](T a) { return T(~a); });
      }))
    failType(dtype);
}

ATC_KERNEL(BitShift) {
  // A shift by the width or more, or by less than 0, leaves only the sign.
  if (is("direction", "", "LEFT"))
    bitwise(*this, [](auto a, auto b) {
      const uint64_t by = uint64_t(b);
      return by < sizeof(a) * 8 ? uint64_t(a) << by : 0;
    });
  else if (is("direction", "", "RIGHT"))
    bitwise(*this, [](auto a, auto b) {
      const uint64_t by = uint64_t(b), max = sizeof(a) * 8 - 1;
      // In two steps: the whole width is more than one shift may do.
      return by <= max ? a >> by : (a >> max) >> 1;
    });
  else
    fail("the direction is neither LEFT nor RIGHT");
}

ATC_KERNEL(Where) {
  const Tensor condition = in(0), yes = in(1), no = in(2);
  if (yes.dtype() != no.dtype())
    return fail("the values have element types % and %", yes.dtype(), no.dtype());
  Dims shape = condition.dims();
  if (!broadcastInto(*this, shape, yes.dims()) || !broadcastInto(*this, shape, no.dims()))
    return;
  char *out = make(0, yes.dtype(), shape);
  if (!out)
    return;
  const StridedSpace space(shape, broadcastSteps(condition.dims(), shape),
                           broadcastSteps(yes.dims(), shape), broadcastSteps(no.dims(), shape));
  const int64_t inner = space.inner(), stepC = space.innerStep(0), stepX = space.innerStep(1),
                stepY = space.innerStep(2);
  moveElements(*this, yes.dtype(), out, shape.product(), [&](auto *to, auto read) {
    auto *x = read(yes), *y = read(no);
    if (!x || !y)
      return;
    space.forEachRow(*this, 2, [&](int64_t row, const int64_t *offsets) {
      const uint8_t *choose = condition.as<uint8_t>() + offsets[0];
      auto *a = x + offsets[1], *b = y + offsets[2];
      auto *target = to + row * inner;
      const int64_t n = space.length(row);
      if (stepC == 1 && stepX == 1 && stepY == 1)
        for (int64_t i = 0; i < n; ++i)
          target[i] = choose[i] ? a[i] : b[i];
      else
        for (int64_t i = 0; i < n; ++i)
          target[i] = choose[i * stepC] ? a[i * stepX] : b[i * stepY];
    });
  });
}

} // namespace atc::kernels

//===-- LstmCell.h - one step of an LSTM ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TFLITE_OPS_LSTMCELL_H
#define OPENATC_FRONTENDS_TFLITE_OPS_LSTMCELL_H

#include "frontends/tflite/OpContext.h"

namespace atc::tflite {

struct LstmForm {
  fb::Activation activation;
  float cellClip, projectionClip; ///< 0: not clipped
};

/// Tensors [batch, outputs] and [batch, cells].
struct LstmState {
  Value hidden, cell;
};

/// Makes the steps of an LSTM that ONNX has no operator for: with coupled gates, clipped cells,
/// a projection, or layer norms.
class LstmCell {
public:
  /// Reads the inputs 1 to 17 and 20 to 23 of an operator: the weights i f c o, the recurrent ones,
  /// the peepholes i f o, the biases i f c o, two of the projection, and the layer norms i f c o.
  LstmCell(OpContext &c, LstmForm form);

  /// Returns the state behind a step with `x` [batch, inputs].
  LstmState step(Value x, LstmState before);

private:
  /// The values of one gate; one that the operator does not have has an empty name.
  struct Gate {
    Value input, recurrent, peephole, norm, bias;
  };

  Gate readGate(unsigned index);
  Value sum(const Gate &gate, Value x, Value hidden, Value cell);
  Value clip(Value value, float limit);

  OpContext &c;
  const LstmForm form;
  Gate inputGate, forgetGate, cellGate, outputGate;
  Value projection, projectionBias;
  bool isCoupled;
};

} // namespace atc::tflite

#endif // OPENATC_FRONTENDS_TFLITE_OPS_LSTMCELL_H

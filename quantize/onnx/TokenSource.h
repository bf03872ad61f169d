//===-- TokenSource.h - sequences of tokens as samples --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_TOKENSOURCE_H
#define OPENATC_QUANTIZE_ONNX_TOKENSOURCE_H

#include "frontends/ModelOptions.h"
#include "quantize/Calibrate.h"
#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// Samples of a language model: pieces of a text, as the numbers of its tokens. `input_ids` gets a
/// piece, `attention_mask` ones for it, `position_ids` 0, 1, ...; every other input is zeros, such
/// as the cache of one token, which the mask hides.
class TokenSource : public DataSource {
public:
  /// Reads tokens from a .npy file of integers of any shape. Returns null after an error.
  static std::unique_ptr<TokenSource> read(const std::string &path, int64_t sequence,
                                           Diagnostics &diagnostics);
  explicit TokenSource(std::vector<int64_t> tokens, int64_t sequence);

  /// Returns the shapes of the model's inputs for one piece.
  InputShapes shapesFor(OnnxModel &model) const;

  void begin(const std::vector<::om::Tensor> &inputs, Diagnostics &diagnostics) override;
  size_t count() const override { return tokens.size() / length; }
  bool next(const std::vector<::om::Buffer> &inputs, Diagnostics &diagnostics) override;

private:
  std::vector<int64_t> tokens;
  int64_t length; ///< of a piece
  size_t piece = 0;
  std::vector<::om::Tensor> tensors;
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_TOKENSOURCE_H

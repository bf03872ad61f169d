//===-- VideoH265.cpp - H.265 through libde265 --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/VideoCodec.h"

#include <libde265/de265.h>

#include <climits>

namespace atc::ascend {
namespace {

class H265Decoder : public VideoDecoder {
public:
  explicit H265Decoder(de265_decoder_context *context) : context(context) {}
  ~H265Decoder() override { de265_free_decoder(context); }

  bool decode(const uint8_t *data, size_t bytes, const TakePicture &take,
              std::string &error) override {
    if (bytes > INT_MAX) {
      error = "it has more than 2 GiB";
      return false;
    }
    if (de265_error code = de265_push_data(context, data, int(bytes), 0, nullptr);
        !de265_isOK(code)) {
      error = de265_get_error_text(code);
      return false;
    }
    de265_push_end_of_frame(context);
    return run(take, error);
  }

  void flush(const TakePicture &take) override {
    std::string ignored; // what comes out in spite of an error is still a picture
    de265_flush_data(context);
    run(take, ignored);
    de265_reset(context);
  }

private:
  /// Decodes what was pushed.
  bool run(const TakePicture &take, std::string &error) {
    int more = 1;
    bool good = true;
    while (more) {
      const de265_error code = de265_decode(context, &more);
      const bool stalled =
          code == DE265_ERROR_WAITING_FOR_INPUT_DATA || code == DE265_ERROR_IMAGE_BUFFER_FULL;
      bool took = false;
      while (const de265_image *image = de265_get_next_picture(context)) {
        took = true;
        good = pass(image, take, error) && good;
      }
      if (!de265_isOK(code) && !stalled) {
        error = de265_get_error_text(code);
        return false;
      }
      if (code == DE265_ERROR_WAITING_FOR_INPUT_DATA || (stalled && !took))
        break;
    }
    while (de265_error warning = de265_get_warning(context))
      if (warning == DE265_WARNING_NONEXISTING_PPS_REFERENCED ||
          warning == DE265_WARNING_NONEXISTING_SPS_REFERENCED ||
          warning == DE265_WARNING_SLICEHEADER_INVALID) {
        error = de265_get_error_text(warning);
        good = false;
      }
    return good;
  }

  static bool pass(const de265_image *image, const TakePicture &take, std::string &error) {
    if (de265_get_chroma_format(image) != de265_chroma_420 ||
        de265_get_bits_per_pixel(image, 0) != 8 || de265_get_bits_per_pixel(image, 1) != 8) {
      error = "only 4:2:0 with 8 bits is decoded";
      return false;
    }
    const uint8_t *planes[3];
    int strides[3];
    for (int index = 0; index < 3; ++index)
      planes[index] = de265_get_image_plane(image, index, &strides[index]);
    return passPicture(planes, strides, de265_get_image_width(image, 0),
                       de265_get_image_height(image, 0), take, error);
  }

  de265_decoder_context *const context;
};

} // namespace

std::unique_ptr<VideoDecoder> makeH265Decoder() {
  de265_decoder_context *context = de265_new_decoder();
  if (!context)
    return nullptr;
  return std::make_unique<H265Decoder>(context);
}

} // namespace atc::ascend

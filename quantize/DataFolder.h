//===-- DataFolder.h - calibration data in folders of files ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_DATAFOLDER_H
#define OPENATC_QUANTIZE_DATAFOLDER_H

#include "quantize/Calibrate.h"
#include "quantize/ImageFile.h"

namespace atc::quantize {

/// Reads calibration samples from one folder per input, separated by ';', with files in the order
/// of their names: .npy, raw bytes in .bin, or, where there are none of these, images. A .npy or
/// .bin file has the input's shape, that shape without a leading 1, or several samples one after
/// the other; images are converted to the input's shape, as many as it holds.
class DataFolder : public DataSource {
public:
  /// `dataType` is the element type of raw files ("float32"; one per input, separated by
  /// ';'), or empty.
  DataFolder(std::string folders, std::string dataType, ImageOptions imageOptions = {})
      : folders(std::move(folders)), dataType(std::move(dataType)),
        imageOptions(std::move(imageOptions)) {}

  std::optional<std::vector<int64_t>> shapeOf(const std::string &input, size_t index) override;
  void begin(const std::vector<::om::Tensor> &inputs, Diagnostics &diagnostics) override;
  size_t count() const override { return samples; }
  bool next(const std::vector<::om::Buffer> &inputs, Diagnostics &diagnostics) override;

private:
  struct File {
    std::string path;
    ::om::Tensor tensor; ///< as in the file
    size_t samples = 1;
    std::vector<std::string> images; ///< instead of `path`: the images of one sample
  };
  struct Input {
    ::om::Tensor tensor;
    std::vector<File> files;
    std::optional<ImageReader> images;
    size_t file = 0, sample = 0; ///< the next sample to read
    ::om::Buffer content;        ///< of the current file
  };

  void open(Input &input, const std::string &folder, Diagnostics &diagnostics);
  bool describe(const std::string &path, const ::om::Tensor &tensor, File &file,
                Diagnostics &diagnostics);

  void addImages(Input &input, const std::vector<std::string> &paths, const std::string &folder,
                 Diagnostics &diagnostics);
  static bool read(Input &input, Diagnostics &diagnostics);

  std::string folders, dataType;
  ImageOptions imageOptions;
  std::vector<Input> inputs;
  size_t samples = 0;
};

/// Returns the folders of a list, one per input; empty names are left out.
std::vector<std::string> splitFolders(const std::string &folders);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_DATAFOLDER_H

//===-- DataFolder.cpp - calibration data in folders of files -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/DataFolder.h"

#include "support/ElementTypes.h"
#include "support/Npy.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

namespace atc::quantize {

namespace fs = std::filesystem;

std::vector<std::string> splitFolders(const std::string &folders) {
  std::vector<std::string> list;
  std::stringstream stream(folders);
  for (std::string item; std::getline(stream, item, ';');)
    if (!item.empty())
      list.push_back(item);
  return list;
}

static bool isData(const std::string &path) {
  const fs::path suffix = fs::path(path).extension();
  return suffix == ".npy" || suffix == ".bin";
}

static bool isNpy(const std::string &path) { return fs::path(path).extension() == ".npy"; }

/// The data files of a folder, by name. Beside arrays, images are pictures of them.
static std::vector<std::string> filesOf(const std::string &folder) {
  std::vector<std::string> files, images;
  std::error_code status;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, status)) {
    const std::string path = entry.path().string();
    if (!entry.is_regular_file(status))
      continue;
    if (isData(path))
      files.push_back(path);
    else if (isImageFile(path))
      images.push_back(path);
  }
  if (files.empty())
    files = std::move(images);
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<std::vector<int64_t>> DataFolder::shapeOf(const std::string &, size_t index) {
  const std::vector<std::string> list = splitFolders(folders);
  std::vector<int64_t> dims;
  if (index < list.size())
    if (const std::vector<std::string> files = filesOf(list[index]);
        !files.empty() && readNpyDims(files.front(), dims))
      return dims;
  return std::nullopt;
}

/// In which shape a file of `dims` holds samples of `tensor`.
static bool fits(const std::vector<int64_t> &dims, const ::om::Tensor &tensor, size_t &samples) {
  samples = 1;
  if (dims == tensor.dims)
    return true;
  if (tensor.dims.empty())
    return false;
  const std::vector<int64_t> rest(tensor.dims.begin() + 1, tensor.dims.end());
  const int64_t batch = tensor.dims[0];
  if (batch == 1 && dims == rest)
    return true;
  if (dims.size() != tensor.dims.size() || batch < 1 || dims[0] < batch || dims[0] % batch ||
      !std::equal(rest.begin(), rest.end(), dims.begin() + 1))
    return false;
  samples = dims[0] / batch;
  return true;
}

bool DataFolder::describe(const std::string &path, const ::om::Tensor &tensor, File &file,
                          Diagnostics &diagnostics) {
  file.path = path;
  file.tensor = tensor;
  std::error_code status;
  std::vector<int64_t> dims;
  if (isNpy(path)) {
    if (readNpyDims(path, dims) && fits(dims, tensor, file.samples))
      file.tensor.dims = dims;
  } else if (const uintmax_t bytes = fs::file_size(path, status);
             !status && tensor.bytes && bytes && bytes % tensor.bytes == 0) {
    file.samples = bytes / tensor.bytes;
    if (!file.tensor.dims.empty())
      file.tensor.dims[0] *= file.samples;
  }
  file.tensor.elements *= file.samples;
  file.tensor.bytes *= file.samples;
  // Reads the file once now, so that all errors are reported before anything is computed.
  ::om::Buffer content(file.tensor.bytes);
  std::string error;
  if (readTensor(path, file.tensor, content.data(), error))
    return true;
  diagnostics.errorLine(error);
  return false;
}

void DataFolder::open(Input &input, const std::string &folder, Diagnostics &diagnostics) {
  std::error_code status;
  if (!fs::is_directory(folder, status)) {
    diagnostics.error("E10410", "the data folder \"" + folder + "\" does not exist");
    return;
  }
  const std::vector<std::string> files = filesOf(folder);
  if (files.empty()) {
    diagnostics.error("E10014", "the data folder \"" + folder +
                                    "\" has no .npy, .bin or image file (.bmp .png .jpg .ppm "
                                    ".pgm)");
    return;
  }
  if (isImageFile(files.front()))
    return addImages(input, files, folder, diagnostics);
  for (const std::string &path : files)
    if (File file; describe(path, input.tensor, file, diagnostics))
      input.files.push_back(std::move(file));
}

void DataFolder::addImages(Input &input, const std::vector<std::string> &paths,
                           const std::string &folder, Diagnostics &diagnostics) {
  std::string errorText;
  input.images = ImageReader::make(input.tensor, imageOptions, errorText);
  if (!input.images) {
    diagnostics.error("E10014", "the data folder \"" + folder + "\" has images, but " + errorText);
    return;
  }
  std::vector<std::string> sample;
  const unsigned before = diagnostics.numErrors();
  for (const std::string &path : paths) {
    if (!input.images->check(path, errorText)) {
      diagnostics.error("E10014", errorText);
      continue;
    }
    sample.push_back(path);
    if (int64_t(sample.size()) < input.images->perInput())
      continue;
    File file;
    file.tensor = input.tensor;
    file.images = std::move(sample);
    sample.clear();
    input.files.push_back(std::move(file));
  }
  if (diagnostics.numErrors() != before)
    return;
  if (input.files.empty())
    diagnostics.error("E10014", "the data folder \"" + folder + "\" has " +
                                    llvm::Twine(paths.size()) + " images, but a sample of input '" +
                                    printable(input.tensor.name) + "' takes " +
                                    llvm::Twine(input.images->perInput()));
  else if (!sample.empty())
    diagnostics.warning("W10014", "the last " + llvm::Twine(sample.size()) +
                                      " images of the data folder \"" + folder +
                                      "\" are not used: a sample takes " +
                                      llvm::Twine(input.images->perInput()));
}

void DataFolder::begin(const std::vector<::om::Tensor> &tensors, Diagnostics &diagnostics) {
  const std::vector<std::string> list = splitFolders(folders), types = splitFolders(dataType);
  if (list.size() != tensors.size()) {
    diagnostics.error("E10014", "the model has " + llvm::Twine(tensors.size()) +
                                    " inputs, but there are " + llvm::Twine(list.size()) +
                                    " data folders; write \"folder1;folder2\"");
    return;
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string type = types.size() == 1 ? types[0] : i < types.size() ? types[i] : "";
    const std::string wanted = om_dtype_name(tensors[i].dtype);
    // "f32" is "float32" to users.
    if (!type.empty() && dtypeNamed(type) != tensors[i].dtype)
      diagnostics.error("E10014", "the value \"" + type + "\" of --data_type does not fit input '" +
                                      printable(tensors[i].name) + "', which is " + wanted);
    Input input;
    input.tensor = tensors[i];
    open(input, list[i], diagnostics);
    size_t all = 0;
    for (const File &file : input.files)
      all += file.samples;
    if (i && all != samples && !diagnostics.hasErrors())
      diagnostics.error("E10014", "the data folder \"" + list[i] + "\" has " + llvm::Twine(all) +
                                      " samples, the first one " + llvm::Twine(samples));
    samples = i ? samples : all;
    inputs.push_back(std::move(input));
  }
}

/// The input's current file.
bool DataFolder::read(Input &input, Diagnostics &diagnostics) {
  const File &file = input.files[input.file];
  input.content = ::om::Buffer(file.tensor.bytes);
  std::string error;
  for (size_t i = 0; i < file.images.size(); ++i)
    if (!input.images->read(file.images[i], input.content.data(), i, error)) {
      diagnostics.error("E10014", error);
      return false;
    }
  if (!file.images.empty() || readTensor(file.path, file.tensor, input.content.data(), error))
    return true;
  diagnostics.errorLine(error);
  return false;
}

bool DataFolder::next(const std::vector<::om::Buffer> &buffers, Diagnostics &diagnostics) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Input &input = inputs[i];
    if (input.file == input.files.size())
      return false;
    if (input.sample == 0 && !read(input, diagnostics))
      return false;
    std::memcpy(buffers[i].data(), input.content.data<char>() + input.sample * buffers[i].size(),
                buffers[i].size());
    if (++input.sample == input.files[input.file].samples) {
      input.sample = 0;
      ++input.file;
    }
  }
  return true;
}

} // namespace atc::quantize

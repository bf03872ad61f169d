//===-- SampleOptions.cpp - the flags of samples --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/amct/SampleOptions.h"

#include "quantize/Config.h"
#include "quantize/DataFolder.h"
#include "tools/common/ModelKind.h"
#include "tools/common/Print.h"
#include "tools/common/ShownMessages.h"

#include "llvm/Support/FileSystem.h"

namespace atc::tools {

using namespace atc::quantize;

void addSampleOptions(CLI::App &app, SampleOptions &options, bool areRequired) {
  app.add_option("--model", options.model, "the float model, an .onnx file")->required();
  app.add_option("--data,--data_dir", options.data,
                 "folder of .npy, .bin or image files, one \"folder1;folder2\" for each input")
      ->required(areRequired);
  app.add_option("--input_shape", options.inputShape,
                 "shapes of inputs, \"name:1,3,224,224;other:1\"; else those of the model and "
                 "of the .npy files");
  app.add_option("--data_type,--data_types", options.dataType,
                 "element types of .bin files, such as float32; one per input, separated by ;");
  app.add_option("--batch_num", options.batchNum, "use this many samples; default: all");
  app.add_option("--image_format", options.imageFormat,
                 "what the model sees in images: RGB, BGR or GRAY");
  app.add_option("--input_format", options.inputFormat,
                 "where inputs of images have their channels: NCHW or NHWC; else the shape tells");
  for (const auto &[flag, list, text] :
       {std::tuple("--mean_chn", &options.mean,
                   "subtracted from pixels (0 to 255): a number, or one for each channel"),
        std::tuple("--min_chn", &options.min, "subtracted too"),
        std::tuple("--var_reci_chn", &options.factor, "and then they are multiplied by this"),
        std::tuple("--std_chn", &options.deviation, "or divided by this")})
    app.add_option(flag, *list, text)->delimiter(',')->expected(1, 3);
  app.add_flag("--json", options.json, "print the results as JSON");
}

void checkImages(const SampleOptions &options, ImageOptions &images, Diagnostics &diagnostics) {
  auto tell = [&](const char *flag, const std::string &wrong) {
    if (!wrong.empty())
      diagnostics.error("E10001", "the value of --" + llvm::Twine(flag) + " " + wrong);
  };
  for (const auto &[key, text] : {std::pair("image_format", &options.imageFormat),
                                  std::pair("input_format", &options.inputFormat)})
    if (!text->empty())
      tell(key, setImageOption(images, key, *text));
  for (const auto &[key, list] :
       {std::pair("mean_chn", &options.mean), std::pair("min_chn", &options.min),
        std::pair("var_reci_chn", &options.factor), std::pair("std_chn", &options.deviation)})
    if (!list->empty())
      tell(key, setImageOption(images, key, *list));
  if (!options.factor.empty() && !options.deviation.empty())
    diagnostics.error("E10001", "--std_chn and --var_reci_chn say the same: give one of them");
}

bool checkFile(const char *flag, const std::string &path, Diagnostics &diagnostics) {
  if (!llvm::sys::fs::exists(path))
    diagnostics.error("E10410", "the file \"" + path + "\" of --" + flag + " does not exist");
  else if (llvm::sys::fs::is_directory(path))
    diagnostics.error("E10041", "\"" + path + "\" of --" + flag + " is a folder, not a file");
  else
    return true;
  return false;
}

void checkModel(const char *flag, const std::string &path, Diagnostics &diagnostics) {
  if (!checkFile(flag, path, diagnostics))
    return;
  if (const std::string reason = whyNotQuantized(findModelKind(path)); !reason.empty())
    diagnostics.error("E13005", "the file \"" + path + "\" of --" + flag + " " + reason);
}

void checkSources(const SampleOptions &options, Diagnostics &diagnostics) {
  checkModel("model", options.model, diagnostics);
  for (const std::string &folder : splitFolders(options.data))
    if (!llvm::sys::fs::is_directory(folder))
      diagnostics.error("E10410",
                        "the folder \"" + folder + "\" of --data (--data_dir) does not exist");
  if (splitFolders(options.data).empty())
    diagnostics.error("E10004", "the value of --data (--data_dir) is empty");
}

void checkBatchNum(const SampleOptions &options, Diagnostics &diagnostics) {
  if (options.batchNum < 0)
    diagnostics.error("E10001", "the value \"" + llvm::Twine(options.batchNum) +
                                    "\" of --batch_num is invalid: it must be positive");
}

void printMessages(const Diagnostics &diagnostics) {
  forEachShown(diagnostics.all(),
               [](const std::string &line) { print(stderr, "%s\n", line.c_str()); });
}

} // namespace atc::tools

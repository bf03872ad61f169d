//===-- ModelKind.cpp - what a model file really is -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/ModelKind.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace atc::tools {

namespace {

struct KindInfo {
  ModelKind kind;
  const char *name;
  const char *framework; ///< that reads it; empty: none
  const char *advice;
};

constexpr KindInfo infos[] = {
    {ModelKind::Onnx, "an ONNX model", "5", "give --framework=5"},
    {ModelKind::GraphDef, "a TensorFlow graph (GraphDef)", "3", "give --framework=3"},
    {ModelKind::SavedModel, "the graph of a TensorFlow SavedModel", "3",
     "give the folder that it is in as --model, with --framework=3"},
    {ModelKind::PrototxtText, "a Caffe prototxt", "0",
     "give --framework=0, with the .caffemodel as --weight"},
    {ModelKind::CaffeModel, "a file of Caffe weights", "0",
     "give --framework=0, the .prototxt as --model and this file as --weight"},
    {ModelKind::PyTorch, "a PyTorch file", "",
     "export the model with torch.onnx.export(model, args, \"model.onnx\") and give --framework=5"},
    {ModelKind::TorchExport, "a program of torch.export", "",
     "export the model with torch.onnx.export(model, args, \"model.onnx\") and give --framework=5"},
    {ModelKind::TfLite, "a TensorFlow Lite model", "6", "give --framework=6"},
    {ModelKind::Hdf5, "an HDF5 file of Keras", "",
     "save the model with model.export(\"folder\") and give the folder with --framework=3"},
    {ModelKind::Keras, "a Keras file", "",
     "save the model with model.export(\"folder\") and give the folder with --framework=3"},
    {ModelKind::Air, "a graph of MindSpore or the Ascend toolchain (AIR)", "1",
     "give --framework=1"},
    {ModelKind::MindIr, "a MindIR file of MindSpore", "",
     "export the model with mindspore.export(..., file_format=\"AIR\") and give --framework=1, or "
     "with file_format=\"ONNX\" and --framework=5"},
    {ModelKind::Om, "a compiled model (.om)", "", "it needs no compiling: om-run runs it"},
    {ModelKind::Safetensors, "a file of weights without a graph", "",
     "export the model that has these weights as ONNX and give --framework=5"},
    {ModelKind::Archive, "an archive", "", "unpack it and give the model that is in it"},
    {ModelKind::LfsPointer, "a pointer of Git LFS and not the file itself", "",
     "fetch the file with git lfs pull"},
    {ModelKind::WebPage, "a page of a web site and not the file itself", "",
     "download the file again, from the address of its raw data"},
};

const KindInfo *infoOf(ModelKind kind) {
  for (const KindInfo &info : infos)
    if (info.kind == kind)
      return &info;
  return nullptr;
}

/// Returns whether a text begins as a prototxt does: `word:` or `word {`.
bool looksLikePrototxt(StringRef text) {
  while (true) {
    text = text.ltrim();
    if (!text.starts_with("#"))
      break;
    text = text.drop_until([](char c) { return c == '\n'; });
  }
  for (StringRef word :
       {"name", "layer", "layers", "input", "input_dim", "input_shape", "force_backward"})
    if (StringRef rest = text; rest.consume_front(word)) {
      rest = rest.ltrim();
      if (rest.starts_with(":") || rest.starts_with("{"))
        return true;
    }
  return false;
}

ModelKind kindOfZip(StringRef name) {
  if (name.ends_with(".keras"))
    return ModelKind::Keras;
  if (name.ends_with(".pt2"))
    return ModelKind::TorchExport;
  if (name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".bin") ||
      name.ends_with(".ckpt"))
    return ModelKind::PyTorch;
  return ModelKind::Archive;
}

/// Returns the kind that the first bytes of a file show, whatever its name is.
ModelKind kindOfBytes(StringRef bytes, StringRef name) {
  if (bytes.starts_with("PK\x03\x04"))
    return kindOfZip(name);
  if (bytes.starts_with(StringRef("\x80\x02", 2)) && name.contains(".p"))
    return ModelKind::PyTorch;
  if (bytes.substr(4, 4) == "TFL3")
    return ModelKind::TfLite;
  if (bytes.starts_with("\x89HDF\r\n\x1a\n"))
    return ModelKind::Hdf5;
  if (bytes.starts_with("\x1f\x8b") || bytes.starts_with("7z\xbc\xaf") || bytes.starts_with("Rar!"))
    return ModelKind::Archive;
  if (bytes.starts_with("version https://git-lfs"))
    return ModelKind::LfsPointer;
  const std::string front = bytes.take_front(64).ltrim().lower();
  if (StringRef(front).starts_with("<!doctype html") || StringRef(front).starts_with("<html"))
    return ModelKind::WebPage;
  if (looksLikePrototxt(bytes))
    return ModelKind::PrototxtText;
  // The first field of a SavedModel is its version, 1, and of an ONNX model the version of
  // its format; that of a GraphDef is a node.
  if (bytes.starts_with(StringRef("\x08\x01\x12", 3)))
    return ModelKind::SavedModel;
  if (bytes.starts_with("\x08"))
    return ModelKind::Onnx;
  return ModelKind::Unknown;
}

ModelKind kindOfName(StringRef name) {
  const std::pair<StringLiteral, ModelKind> endings[] = {{".pt", ModelKind::PyTorch},
                                                         {".pth", ModelKind::PyTorch},
                                                         {".pt2", ModelKind::TorchExport},
                                                         {".tflite", ModelKind::TfLite},
                                                         {".h5", ModelKind::Hdf5},
                                                         {".hdf5", ModelKind::Hdf5},
                                                         {".keras", ModelKind::Keras},
                                                         {".air", ModelKind::Air},
                                                         {".mindir", ModelKind::MindIr},
                                                         {".om", ModelKind::Om},
                                                         {".prototxt", ModelKind::PrototxtText},
                                                         {".caffemodel", ModelKind::CaffeModel},
                                                         {".safetensors", ModelKind::Safetensors}};
  for (auto &[ending, kind] : endings)
    if (name.ends_with(ending))
      return kind;
  return ModelKind::Unknown;
}

} // namespace

ModelKind findModelKind(const std::string &path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status) || status.type() != sys::fs::file_type::regular_file)
    return ModelKind::Unknown;
  constexpr uint64_t front = 4096;
  const uint64_t bytes = std::min<uint64_t>(status.getSize(), front);
  auto buffer = MemoryBuffer::getFileSlice(path, bytes, 0);
  const std::string name = sys::path::filename(path).lower();
  const ModelKind byName = kindOfName(name);
  if (!buffer)
    return byName;
  const StringRef contents = (*buffer)->getBuffer();
  const ModelKind byBytes = kindOfBytes(contents, name);
  if (byBytes != ModelKind::Unknown)
    return byBytes;
  // Any message may begin with its first field; the name decides.
  if (byName == ModelKind::Unknown && contents.starts_with("\n") &&
      StringRef(name).ends_with(".pb"))
    return ModelKind::GraphDef;
  return byName;
}

StringRef frameworkOf(ModelKind kind) {
  const KindInfo *info = infoOf(kind);
  return info ? info->framework : "";
}

std::string wrongKindReason(ModelKind kind, StringRef framework) {
  const KindInfo *info = infoOf(kind);
  // For these kinds the framework reads another file, or the whole folder.
  const bool isPart = kind == ModelKind::SavedModel || kind == ModelKind::CaffeModel;
  if (!info || (info->framework == framework && !isPart))
    return "";
  return std::string("is ") + info->name + ": " + info->advice;
}

std::string whyNotQuantized(ModelKind kind) {
  const StringRef framework = frameworkOf(kind);
  if (framework.empty() || framework == "5")
    return wrongKindReason(kind, "5");
  return std::string("is ") + infoOf(kind)->name +
         ": amct reads ONNX models; atc --framework=" + framework.str() +
         " --compression_optimize_conf=FILE quantizes such a model while it compiles, see "
         "docs/amct.md";
}

std::string whyNotCompiled(ModelKind kind) {
  const StringRef framework = frameworkOf(kind);
  if (kind == ModelKind::Om || framework.empty())
    return kind == ModelKind::Om ? "" : wrongKindReason(kind, "");
  return std::string("is ") + infoOf(kind)->name +
         ", which is not compiled: --mode=1 with --framework=" + framework.str() +
         " writes it as JSON";
}

} // namespace atc::tools

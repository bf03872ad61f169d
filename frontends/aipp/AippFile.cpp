//===-- AippFile.cpp - the file of --insert_op_conf -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/aipp/AippFile.h"

#include "frontends/ModelFile.h"
#include "frontends/TextMessage.h"

#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

namespace atc::aipp {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;
using google::protobuf::TextFormat;

/// Fields of a family share their limits.
struct Limits {
  const char *begin, *end; ///< what names begin and end with
  double low, high;
};

constexpr Limits fieldLimits[] = {
    {"src_image_size_", "", 0, 4096},
    {"load_start_pos_", "", 0, 4095},
    {"crop_size_", "", 0, 4096},
    {"resize_output_", "", 0, 4096},
    {"", "_padding_size", 0, 32},
    {"matrix_", "", -32768, 32767},
    {"input_bias_", "", 0, 255},
    {"output_bias_", "", 0, 255},
    {"mean_chn_", "", 0, 255},
    {"min_chn_", "", 0, 255},
    {"var_reci_chn_", "", -65504, 65504},
    {"", "padding_value", -65504, 65504},
};

double numberOf(const pb::AippOp &op, const FieldDescriptor &field) {
  const Reflection &reflection = *op.GetReflection();
  switch (field.cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return reflection.GetInt32(op, &field);
  case FieldDescriptor::CPPTYPE_UINT32:
    return reflection.GetUInt32(op, &field);
  case FieldDescriptor::CPPTYPE_FLOAT:
    return reflection.GetFloat(op, &field);
  case FieldDescriptor::CPPTYPE_BOOL:
    return reflection.GetBool(op, &field);
  default:
    return 0;
  }
}

std::string printNumber(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// Returns the field that a name may have been meant to be; empty where none is near.
std::string nearestField(llvm::StringRef name) {
  std::string nearest;
  unsigned best = std::max<size_t>(2, name.size() / 4) + 1;
  const Descriptor &type = *pb::AippOp::descriptor();
  for (int i = 0; i < type.field_count(); ++i)
    if (unsigned distance = name.edit_distance(type.field(i)->name()); distance < best) {
      best = distance;
      nearest = type.field(i)->name();
    }
  return nearest;
}

/// Returns the text of a line, counted from 0, without its comment.
std::string lineText(llvm::StringRef text, int line) {
  for (; line > 0; --line)
    text = text.split('\n').second;
  return text.split('\n').first.split('#').first.trim().take_front(80).str();
}

/// Words the parser's messages for people who do not know protobuf.
class ErrorReporter : public google::protobuf::io::ErrorCollector {
public:
  ErrorReporter(llvm::StringRef text, llvm::StringRef path, Diagnostics &diagnostics)
      : text(text), path(path), diagnostics(diagnostics) {}

  void AddError(int line, int, const std::string &message) override {
    std::string where = (path + ":" + llvm::Twine(std::max(line, 0) + 1)).str();
    std::string what = message;
    auto [head, rest] = llvm::StringRef(message).split(" has no field named \"");
    if (!rest.empty()) {
      const std::string name = rest.split('"').first.str();
      if (head.ends_with("AippFile\"")) {
        what = "'" + name + "' stands outside of aipp_op { ... }";
      } else if (name == "aipp_op") {
        what = "aipp_op stands inside of another one";
      } else {
        const std::string near = nearestField(name);
        what = "'" + name + "' is not a field of aipp_op" +
               (near.empty() ? "" : "; did you mean '" + near + "'?");
      }
    } else if (message.starts_with("Expected \"{\"")) {
      what = "aipp_op must be followed by {";
    } else {
      what += " at '" + lineText(text, std::max(line, 0)) + "'";
    }
    diagnostics.error("E10052", where + ": " + what);
  }
  void AddWarning(int, int, const std::string &) override {}

private:
  llvm::StringRef text, path;
  Diagnostics &diagnostics;
};

void checkLimits(const AippEntry &entry, Diagnostics &diagnostics) {
  std::vector<const FieldDescriptor *> stated;
  entry.op.GetReflection()->ListFields(entry.op, &stated);
  for (const FieldDescriptor *field : stated)
    for (const Limits &limits : fieldLimits) {
      llvm::StringRef name = field->name();
      if (!name.starts_with(limits.begin) || !name.ends_with(limits.end) || field->is_repeated())
        continue;
      const double value = numberOf(entry.op, *field);
      if (!(value >= limits.low && value <= limits.high))
        entry.fail(diagnostics, "E10052", field->name(),
                   "must be from " + printNumber(limits.low) + " to " + printNumber(limits.high));
    }
}

/// Checks what is required, and what fields of one entry say together.
void checkEntry(const AippEntry &entry, Diagnostics &diagnostics) {
  const pb::AippOp &op = entry.op;
  checkLimits(entry, diagnostics);
  if (op.aipp_mode() == pb::undefined)
    return entry.fail(diagnostics, "E10052", "aipp_mode", "must be static or dynamic");
  if (op.has_related_input_rank() && op.has_related_input_name())
    entry.fail(diagnostics, "E10052", "related_input_name",
               "names an input that related_input_rank numbers: leave one of them out");
  if (op.aipp_mode() == pb::dynamic) {
    if (op.max_src_image_size() == 0)
      entry.fail(diagnostics, "E10052", "max_src_image_size",
                 "must be the size in bytes of the largest image with aipp_mode: dynamic");
    return;
  }
  const pb::InputFormat format = op.input_format();
  if (format == pb::UNDEFINED)
    entry.fail(diagnostics, "E10052", "input_format",
               "is missing: it must be YUV420SP_U8, XRGB8888_U8, RGB888_U8 or YUV400_U8");
  else if (format > pb::YUV400_U8)
    entry.fail(diagnostics, "E10052", "input_format",
               "is not a format that these chips read: it must be YUV420SP_U8, XRGB8888_U8, "
               "RGB888_U8 or YUV400_U8");
  if (op.csc_switch() && format == pb::YUV400_U8)
    entry.fail(diagnostics, "E10052", "csc_switch",
               "must be false with YUV400_U8, which has one channel");
  if (op.rbuv_swap_switch() && format == pb::YUV400_U8)
    entry.fail(diagnostics, "E10052", "rbuv_swap_switch",
               "must be false with YUV400_U8, which has one channel");
  if (op.ax_swap_switch() && format != pb::XRGB8888_U8)
    entry.fail(diagnostics, "E10052", "ax_swap_switch",
               "must be false with other formats than XRGB8888_U8");
  if (op.support_rotation())
    entry.fail(diagnostics, "E10052", "support_rotation",
               "must be false: rotation is not supported; rotate the images before");
}

void noteLines(AippEntry &entry, const TextFormat::ParseInfoTree &tree) {
  const Descriptor &type = *pb::AippOp::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor *field = type.field(i);
    const int line = tree.GetLocation(field, field->is_repeated() ? 0 : -1).line;
    if (line >= 0)
      entry.lines[field->name()] = line + 1;
  }
}

} // namespace

int64_t AippEntry::integer(const std::string &field) const {
  const FieldDescriptor *descriptor = pb::AippOp::descriptor()->FindFieldByName(field);
  assert(descriptor && !descriptor->is_repeated() && "not a field of the schema");
  return static_cast<int64_t>(numberOf(op, *descriptor));
}

llvm::json::Object AippEntry::numbers() const {
  const google::protobuf::Descriptor &fields = *pb::AippOp::descriptor();
  llvm::json::Object all;
  for (int i = 0; i < fields.field_count(); ++i) {
    const FieldDescriptor &field = *fields.field(i);
    if (field.is_repeated() || field.cpp_type() == FieldDescriptor::CPPTYPE_STRING ||
        field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM)
      continue;
    // A channel is not scaled unless the file says so.
    const bool scales = llvm::StringRef(std::string(field.name())).starts_with("var_reci_chn");
    all[std::string(field.name())] =
        scales && !op.GetReflection()->HasField(op, &field) ? 1 : numberOf(op, field);
  }
  return all;
}

void AippEntry::fail(Diagnostics &diagnostics, ErrorCode code, const std::string &field,
                     const llvm::Twine &text) const {
  auto stated = lines.find(field);
  std::string where = file + ":" + std::to_string(stated == lines.end() ? line : stated->second);
  std::string what = field;
  if (stated != lines.end()) {
    std::string value;
    const FieldDescriptor *descriptor = pb::AippOp::descriptor()->FindFieldByName(field);
    TextFormat::PrintFieldValueToString(op, descriptor, descriptor->is_repeated() ? 0 : -1, &value);
    what += ": " + value;
  }
  diagnostics.error(code, where + ": " + what + " " + text);
}

std::vector<AippEntry> readAippText(llvm::StringRef text, llvm::StringRef path,
                                    Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  pb::AippFile file;
  TextFormat::ParseInfoTree tree;
  ErrorReporter reporter(text, path, diagnostics);
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&reporter);
  parser.WriteLocationsTo(&tree);
  parser.SetRecursionLimit(100);
  text.consume_front("\xEF\xBB\xBF"); // the mark of UTF-8
  if (std::optional<LoneBrace> brace = findLoneBrace(text)) {
    diagnostics.error("E10052", path + ":" + llvm::Twine(brace->line + 1) + ": " + brace->what);
    return {};
  }
  if (!parser.ParseFromString(text.str(), &file)) {
    if (diagnostics.numErrors() == before)
      diagnostics.error("E10052", path + ": the file cannot be read");
    return {};
  }
  if (file.aipp_op_size() == 0) {
    diagnostics.error("E10052", path + ": the file has no aipp_op { ... }");
    return {};
  }
  std::vector<AippEntry> entries;
  const FieldDescriptor *list = pb::AippFile::descriptor()->FindFieldByName("aipp_op");
  for (int i = 0; i < file.aipp_op_size(); ++i) {
    AippEntry entry{file.aipp_op(i), path.str(), tree.GetLocation(list, i).line + 1, {}};
    noteLines(entry, *tree.GetTreeForNested(list, i));
    checkEntry(entry, diagnostics);
    entries.push_back(std::move(entry));
  }
  return diagnostics.numErrors() == before ? entries : std::vector<AippEntry>();
}

std::vector<AippEntry> readAippFile(llvm::StringRef path, Diagnostics &diagnostics) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = readWholeFile(path, diagnostics);
  if (!buffer)
    return {};
  return readAippText(buffer->getBuffer(), path, diagnostics);
}

} // namespace atc::aipp

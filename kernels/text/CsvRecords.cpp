//===-- CsvRecords.cpp - columns of comma-separated values -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the rules of TensorFlow's DecodeCSV: fields may be in quotes, a quote inside of one is written
// twice, and unquoted fields have no quotes and no ends of lines.

#include "kernels/text/Strings.h"

namespace atc::kernels {

namespace {

/// The fields of a record in their order.
class Record {
public:
  Record(String text, char delimiter, bool quotes)
      : text(text), delimiter(delimiter), quotes(quotes) {}

  /// The bytes of the last field; inside of quotes two quotes stand for one.
  String field;
  bool isQuoted = false;

  /// Reads the next field; returns false behind the last one, and where there is an error.
  bool next() {
    while (at < text.size && (text.data[at] == '\n' || text.data[at] == '\r'))
      ++at;
    if (at >= text.size) {
      // A delimiter at the end has an empty field behind it.
      const bool isOneMore = !ended && text.size && text.data[text.size - 1] == delimiter;
      ended = true;
      field = {};
      isQuoted = false;
      return isOneMore;
    }
    isQuoted = quotes && text.data[at] == '"';
    at += isQuoted;
    const uint64_t begin = at;
    if (isQuoted) {
      while (at < text.size && (text.data[at] != '"' || isPair()))
        at += text.data[at] == '"' ? 2 : 1;
      field = {text.data + begin, at - begin};
      if (at >= text.size || (at + 1 < text.size && text.data[at + 1] != delimiter))
        return fails("a field in quotes does not end with a quote in front of a delimiter");
      at += 2;
      return true;
    }
    for (; at < text.size && text.data[at] != delimiter; ++at)
      if ((quotes && text.data[at] == '"') || text.data[at] == '\n' || text.data[at] == '\r')
        return fails("a field without quotes around it has a quote or the end of a line inside");
    field = {text.data + begin, at - begin};
    ++at;
    return true;
  }
  const char *error() const { return problem; }

private:
  /// Returns whether a quote is written twice here.
  bool isPair() const { return at + 1 < text.size && text.data[at + 1] == '"'; }
  bool fails(const char *why) {
    problem = why;
    return false;
  }

  String text;
  char delimiter;
  bool quotes;
  uint64_t at = 0;
  bool ended = false;
  const char *problem = nullptr;
};

/// Returns a field whose quotes are written once.
String unquoted(Context &c, String field) {
  char *to = field.size ? c.makeText(int64_t(field.size)) : nullptr;
  if (!to)
    return {};
  uint64_t size = 0;
  for (uint64_t at = 0; at < field.size; ++at) {
    to[size++] = field.data[at];
    at += field.data[at] == '"';
  }
  return {to, size};
}

/// Returns whether a text is a sign and digits.
bool isInteger(String text) {
  text = trimmed(text);
  uint64_t at = text.size && (text.data[0] == '-' || text.data[0] == '+');
  if (at == text.size)
    return false;
  while (at < text.size && isDigit(text.data[at]))
    ++at;
  return at == text.size;
}

bool parse(Context &, String text, float &to) { return parseNumber(text, to); }
bool parse(Context &, String text, double &to) { return parseNumber(text, to); }
bool parse(Context &, String text, int64_t &to) { return isInteger(text) && parseNumber(text, to); }
bool parse(Context &c, String text, int32_t &to) {
  int64_t wide = 0;
  if (!parse(c, text, wide) || wide != int32_t(wide))
    return false;
  to = int32_t(wide);
  return true;
}

/// Converts fields to elements of type T.
template <typename T> void makeColumn(Context &c, const Tensor &fields, const Tensor &otherwise) {
  const String absent = c.text("absent", "");
  const int64_t column = c.integer("column", 0), count = fields.count();
  T *out = c.make<T>(0, otherwise.dtype(), fields.dims());
  if (!out)
    return;
  for (int64_t i = 0; i < count; ++i) {
    const String field = fields.as<String>()[i];
    if (field.size == 0 || equal(field, absent)) {
      if (otherwise.count() == 0)
        return c.fail("field % of record % is missing, and the column has no default", column, i);
      out[i] = otherwise.as<T>()[0];
      continue;
    }
    if constexpr (__is_same(T, String))
      out[i] = field;
    else if (!parse(c, field, out[i]))
      return c.fail("field % of record % is no number of the column's type", column, i);
  }
}

} // namespace

/// Takes texts that are records apart. Outputs are the fields of each of `columns`, which rise; of
/// all without that attribute. Records have `fields` fields; without that attribute, as many as
/// there are outputs, or any number where there are `columns`.
ATC_KERNEL(CsvFields) {
  const Tensor data = in(0);
  const List<int64_t> columns = integers("columns");
  const String delimiter = text("delimiter", ",");
  const bool quotes = integer("quotes", 1) != 0;
  const int64_t count = data.count(), parts = outputs(),
                total = integer("fields", columns.given ? -1 : parts);
  if (columns.given && columns.size != parts)
    return fail("there are % columns for % outputs", columns.size, parts);
  for (int64_t i = 0; i < columns.size; ++i)
    if (columns[i] < (i ? columns[i - 1] + 1 : 0))
      return fail("column % does not rise from 0 on", columns[i]);
  String **out = scratch<String *>(maximum(parts, int64_t(1)));
  if (!out)
    return;
  // While shapes are inferred, elements may be written only once all outputs are made.
  bool isMade = true;
  for (int64_t i = 0; i < parts; ++i) {
    out[i] = make<String>(uint32_t(i), Str, data.dims());
    isMade &= out[i] != nullptr;
  }
  if (!isMade)
    return;
  for (int64_t i = 0; i < count; ++i) {
    Record record(data.as<String>()[i], delimiter.size ? delimiter.data[0] : ',', quotes);
    int64_t fields = 0, part = 0;
    for (; (total >= 0 || part < parts) && record.next(); ++fields)
      if (part < parts && fields == (columns.given ? columns[part] : part))
        out[part++][i] = record.isQuoted ? unquoted(*this, record.field) : record.field;
    if (record.error())
      return fail(record.error());
    if (part < parts || (total >= 0 && fields != total))
      return fail("record % has % fields, expected %", i, fields,
                  total >= 0 ? total : columns[parts - 1] + 1);
  }
}

/// Converts the fields of a column to numbers, or leaves them texts; input 1 is the value where a
/// field is empty or `absent`, and has no elements where that is an error.
ATC_KERNEL(CsvValues) {
  const Tensor fields = in(0), otherwise = in(1);
  switch (otherwise.dtype()) {
  case F32:
    return makeColumn<float>(*this, fields, otherwise);
  case F64:
    return makeColumn<double>(*this, fields, otherwise);
  case I32:
    return makeColumn<int32_t>(*this, fields, otherwise);
  case I64:
    return makeColumn<int64_t>(*this, fields, otherwise);
  default:
    return makeColumn<String>(*this, fields, otherwise);
  }
}

} // namespace atc::kernels

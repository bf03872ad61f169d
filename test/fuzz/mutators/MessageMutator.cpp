//===-- MessageMutator.cpp - changes messages by their descriptions -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/mutators/MessageMutator.h"

#include <cmath>
#include <iterator>
#include <vector>

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace atc::fuzz {

int64_t MessageMutator::anyNumber() {
  static constexpr int64_t special[] = {-1,        0,         16,        1 << 10,
                                        1 << 16,   1 << 24,   1u << 31,  int64_t(1) << 40,
                                        INT32_MIN, INT32_MAX, INT64_MAX, INT64_MIN};
  return below(4) == 0 ? special[below(std::size(special))] : int64_t(below(9)) - 2;
}

double MessageMutator::anyFloat() {
  static constexpr double special[] = {NAN, INFINITY, -INFINITY, 1e-40, 3e38, -0.0, 0.5};
  return below(3) == 0 ? special[below(std::size(special))] : double(anyNumber());
}

void MessageMutator::change(Message &message) {
  const auto &descriptor = *message.GetDescriptor();
  if (descriptor.field_count() == 0)
    return;
  // Half of the time one that is set.
  std::vector<const FieldDescriptor *> set;
  message.GetReflection()->ListFields(message, &set);
  const FieldDescriptor &field =
      !set.empty() && below(2) ? *set[below(set.size())]
                               : *descriptor.field(int(below(size_t(descriptor.field_count()))));
  if (field.is_repeated())
    changeRepeated(message, field);
  else if (below(8) == 0)
    message.GetReflection()->ClearField(&message, &field);
  else
    setOne(message, field);
}

void MessageMutator::setOne(Message &message, const FieldDescriptor &field) {
  const Reflection &to = *message.GetReflection();
  switch (field.cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return to.SetInt32(&message, &field, int32_t(anyNumber()));
  case FieldDescriptor::CPPTYPE_INT64:
    return to.SetInt64(&message, &field, anyNumber());
  case FieldDescriptor::CPPTYPE_UINT32:
    return to.SetUInt32(&message, &field, uint32_t(anyNumber()));
  case FieldDescriptor::CPPTYPE_UINT64:
    return to.SetUInt64(&message, &field, uint64_t(anyNumber()));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return to.SetFloat(&message, &field, float(anyFloat()));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return to.SetDouble(&message, &field, anyFloat());
  case FieldDescriptor::CPPTYPE_BOOL:
    return to.SetBool(&message, &field, below(2) != 0);
  case FieldDescriptor::CPPTYPE_ENUM:
    return to.SetEnum(
        &message, &field,
        field.enum_type()->value(int(below(size_t(field.enum_type()->value_count())))));
  case FieldDescriptor::CPPTYPE_STRING:
    return to.SetString(&message, &field, anyText());
  case FieldDescriptor::CPPTYPE_MESSAGE:
    return change(*to.MutableMessage(&message, &field));
  }
}

void MessageMutator::changeRepeated(Message &message, const FieldDescriptor &field) {
  const Reflection &to = *message.GetReflection();
  const int count = to.FieldSize(message, &field);
  if (count && below(4) == 0)
    return to.RemoveLast(&message, &field);
  const int at = int(below(size_t(count)));
  const bool isOld = count && (below(2) || !mayGrow(field));
  switch (field.cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT64:
    return isOld ? to.SetRepeatedInt64(&message, &field, at, anyNumber())
                 : to.AddInt64(&message, &field, anyNumber());
  case FieldDescriptor::CPPTYPE_UINT32:
    return isOld ? to.SetRepeatedUInt32(&message, &field, at, uint32_t(anyNumber()))
                 : to.AddUInt32(&message, &field, uint32_t(anyNumber()));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return isOld ? to.SetRepeatedFloat(&message, &field, at, float(anyFloat()))
                 : to.AddFloat(&message, &field, float(anyFloat()));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return isOld ? to.SetRepeatedDouble(&message, &field, at, anyFloat())
                 : to.AddDouble(&message, &field, anyFloat());
  case FieldDescriptor::CPPTYPE_BOOL:
    return isOld ? to.SetRepeatedBool(&message, &field, at, below(2) != 0)
                 : to.AddBool(&message, &field, below(2) != 0);
  case FieldDescriptor::CPPTYPE_STRING:
    return isOld ? to.SetRepeatedString(&message, &field, at, anyText())
                 : to.AddString(&message, &field, anyText());
  case FieldDescriptor::CPPTYPE_MESSAGE:
    if (!count && !mayGrow(field))
      return;
    return change(isOld ? *to.MutableRepeatedMessage(&message, &field, at)
                        : *to.AddMessage(&message, &field));
  default:
    return;
  }
}

} // namespace atc::fuzz

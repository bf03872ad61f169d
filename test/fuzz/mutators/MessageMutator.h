//===-- MessageMutator.h - changes messages by their descriptions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changed bytes seldom make a message that can be parsed. This changes fields of any protobuf
// message by its description; a mutator of a format derives from it and adds what it knows of
// names, types and sizes that belong together.

#ifndef OPENATC_TEST_FUZZ_MUTATORS_MESSAGEMUTATOR_H
#define OPENATC_TEST_FUZZ_MUTATORS_MESSAGEMUTATOR_H

#include "google/protobuf/message.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

namespace atc::fuzz {

class MessageMutator {
public:
  explicit MessageMutator(unsigned seed) : random(seed) { random.discard(2); }
  virtual ~MessageMutator() = default;

  /// Changes a field of a message, or of one inside it. The message stays owned by the caller.
  void change(google::protobuf::Message &message);

protected:
  /// Returns a number below `limit`, 0 where that is 0.
  size_t below(size_t limit) { return random() % std::max<size_t>(limit, 1); }
  /// Returns a small number, or one at the end of some type.
  int64_t anyNumber();
  double anyFloat();
  /// Returns a text for a field of names, types or bytes.
  virtual std::string anyText() = 0;
  /// Returns whether messages may be appended to a repeated field.
  virtual bool mayGrow(const google::protobuf::FieldDescriptor &) { return true; }

private:
  void setOne(google::protobuf::Message &message, const google::protobuf::FieldDescriptor &field);
  void changeRepeated(google::protobuf::Message &message,
                      const google::protobuf::FieldDescriptor &field);

  std::minstd_rand random;
};

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_MUTATORS_MESSAGEMUTATOR_H

//===-- HostMachine.h - runs the host program of a model ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_HOSTMACHINE_H
#define OPENATC_RUNTIME_HOSTMACHINE_H

#include "runtime-lite/src/Model.h"
#include "runtime-lite/src/Value.h"

#include <csetjmp>
#include <pthread.h>

struct om_session;

namespace atc::rt {

class HostMachine {
public:
  explicit HostMachine(om_session &session);
  HostMachine(const HostMachine &) = delete;
  HostMachine &operator=(const HostMachine &) = delete;
  ~HostMachine();

  /// `bytesHeld` are those that the session holds besides values.
  om_status start(const om_session_options &options, uint64_t bytesHeld, om_error *error);
  /// Both in the program's order; every output gets a value that outlives the run.
  om_status run(const om_value *const *inputs, om_value **outputs, om_error *error);
  /// On plain memory, for a program whose ends are all tensors of known sizes.
  om_status runPlain(const void *const *inputs, void *const *outputs, om_error *error);

  /// What the host does for kernels, in HostServices.cpp.
  struct Services;

private:
  /// A call made ready to run.
  struct CallPlan {
    host::Kernel kernel;
    const void *body;
    uint32_t firstAttribute, attributes;
    uint32_t wanted;
  };
  /// Of the session's patches, those of a part.
  struct PartPlan {
    uint32_t firstPatch, patches;
  };
  struct MachineCall : host::Call {
    HostMachine *machine;
  };

  bool prepareConstants();
  bool prepareCalls();
  bool prepareEnds();
  host::Value constantValue(uint32_t constant) const { return *constants[constant]; }

  om_status steps();
  om_status iterate(uint32_t top);
  const char *nameAt(uint32_t place) const;
  om_status call(uint32_t index);
  /// Ends the call from within its kernel, on the thread that runs it.
  [[noreturn]] void leaveKernel();
  om_status runPart(const om::fb::HostRun &run);
  om_status condition(uint32_t slot, bool &value);
  void move(const om::fb::HostMove &move);
  /// Takes over the reference.
  void setSlot(uint32_t slot, om_value *value);
  /// Refuses an output that the call does not have.
  bool hasOutput(uint32_t index);
  void setOutput(uint32_t index, om_value *value);
  void endCall();
  void endRun();
  /// Remembers the first thing that goes wrong in a call: `sentence` follows a colon.
  void refuse(om_status status, const char *sentence);
  /// The same where makeTensor or makeBuffer gave null for `bytes` bytes of `what`.
  void refuseMemory(const char *what, uint64_t bytes);
  /// Fills the run's error where the ceiling or the system refused `bytes` for `what`.
  om_status noMemory(const char *what, uint64_t bytes);
  om_status takeOutputs(om_value **outputs);

  om_session &session;
  const om_model &model;
  const om::fb::HostProgram &program;
  Memory memory;

  Array<om_value *> slots, constants;
  Array<CallPlan> calls;
  Array<host::Attribute> attributes;
  Array<host::String> attributeStrings;
  Array<host::Value> attributeTensors;

  // Of the call that is running.
  MachineCall current = {};
  const om::fb::HostCall *table = nullptr;
  Array<const host::Value *> callInputs;
  Array<om_value *> callOutputs, moved;
  om_value *items = nullptr;                        ///< made by makeItem, one reference each
  Buffer *scratch = nullptr;                        ///< until the call ends
  Buffer *texts = nullptr;                          ///< until the run ends
  uint64_t textRoom = 0;                            ///< bytes left in the first of `texts`
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; ///< tasks may ask for memory, too
  bool inParallel = false;
  jmp_buf leftKernel;
  om_status failed = OM_OK;
  om_error *error = nullptr; ///< of the run
  uint64_t serialNanoseconds = 0;
  uint64_t seed = 0;
};

} // namespace atc::rt

#endif

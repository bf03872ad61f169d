//===-- HostMachine.h - runs the dynamic schedule of a model --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_HOSTMACHINE_H
#define OPENATC_RUNTIME_HOSTMACHINE_H

#include "runtime-lite/src/Model.h"
#include "runtime-lite/src/Value.h"

#include <csetjmp>
#include <pthread.h>

struct om_session;

namespace atc::rt {

/// Interprets the dynamic schedule ("host program") of one session's model: calls host kernels,
/// runs static regions, branches and loops. It owns the slots and all values of a run. One thread
/// at a time.
class HostMachine {
public:
  /// Runs `program`, the model's or that of one of its gears.
  HostMachine(om_session &session, const om::fb::HostProgram &program);
  HostMachine(const HostMachine &) = delete;
  HostMachine &operator=(const HostMachine &) = delete;
  ~HostMachine();

  /// Allocates constants, calls and slots. `bytesHeld` are the bytes that the session holds besides
  /// values; they count against its ceiling.
  om_status start(const om_session_options &options, uint64_t bytesHeld, om_error *error);
  /// Runs the schedule on values in the model's order. Every output receives a value that outlives
  /// the run and belongs to the caller; on failure there is none.
  om_status run(const om_value *const *inputs, om_value **outputs, om_error *error);
  /// Runs the schedule on the caller's dense memory, for a model whose inputs and outputs are all
  /// tensors of known sizes. OM_ERROR_ARGUMENT otherwise.
  om_status runPlain(const void *const *inputs, void *const *outputs, om_error *error);

  /// Returns what call `index` of the model's plan has written to an output; null where it is not
  /// used, not dense, or does not exist.
  const om_value *result(uint32_t index, uint32_t output) const;

  /// Counts bytes of the session's state, or takes them away, against the session's ceiling.
  void hold(int64_t bytes) { memory.hold(bytes); }

  /// Implements the services of atc::host::Host, in HostServices.cpp.
  struct Services;

private:
  /// A call with its kernel, body and attributes resolved.
  struct CallPlan {
    host::Kernel kernel;
    const void *body;
    uint32_t firstAttribute, attributes;
    uint32_t wanted;
    bool takesRoom; ///< inputs need not be dense
    /// In how many of the next runs all threads begin a region of parallel tasks at once, because
    /// its tasks took long when they were measured; per region, for the first ones of the call.
    uint8_t sharedRuns[4];
  };
  /// A collective that has begun.
  struct Pending {
    void *request;
    om_value *output;          ///< null: there is none
    int32_t slot;              ///< for the output
    om_value *input = nullptr; ///< a reference; null: there is none
  };
  /// The range of the session's patches that belongs to a static region.
  struct PartPlan {
    uint32_t firstPatch, patches;
  };
  /// An input or output of a tile loop. Lengths in bytes.
  struct TilePort {
    char *data;      ///< of the whole tensor
    Buffer *staging; ///< a dense copy of a tile; null where tiles are used in place
    uint64_t blocks; ///< how often the dim repeats: the product of the dims before it
    uint64_t unit;   ///< length of one index of the tile loop in a block; 0: no tiles
    uint64_t stride; ///< length of a block of the whole tensor
  };
  /// The length of a tile loop.
  struct TileExtent {
    int64_t count = -1; ///< indices of the dynamic dim, or rows; -1: not known yet
    uint32_t rank = 0;  ///< of a loop over rows: the number of dims that count them
    int64_t dims[OM_MAX_RANK];
  };
  /// A kernel's call that knows its machine.
  struct MachineCall : host::Call {
    HostMachine *machine;
  };

  bool prepareConstants();
  bool prepareCalls();
  bool prepareEnds();

  /// Runs the steps of the plan from the first to the last.
  om_status steps();
  /// Counts an iteration of the loop that begins at step `top` and checks the limits of the run.
  om_status iterate(uint32_t top);
  const char *nameAt(uint32_t place) const;
  /// Runs call `index` of the plan and assigns its outputs to their slots.
  om_status call(uint32_t index);
  /// Ends the call from within its kernel, on the thread that runs it.
  [[noreturn]] void leaveKernel();
  /// Replaces the inputs of the call by dense copies where they have room.
  om_status makeInputsDense();
  /// Replaces the values in these slots by dense copies where they have room.
  om_status makeSlotsDense(const flatbuffers::Vector<int32_t> &list);
  om_status runPart(const om::fb::HostRun &run);
  // In HostCollectives.cpp.
  om_status startCollective(const om::fb::HostCollective &op);
  /// Waits for one collective and stores its result.
  om_status finish(Pending &done);
  /// Waits for the collectives whose results go to these slots.
  om_status waitFor(const flatbuffers::Vector<int32_t> &awaited);
  /// Waits for all that have begun; reports the first failure.
  om_status waitForAll();
  // In HostTiles.cpp.
  om_status runTiles(const om::fb::HostTiles &tiles);
  om_status measureTiles(const om::fb::HostTiles &tiles, uint32_t input, TileExtent &extent);
  om_status prepareTilePort(const om::fb::HostTiles &tiles, uint32_t port,
                            const TileExtent &extent);
  om_status runTile(const om::fb::HostPart &part, int64_t begin, int64_t size);
  /// Reads the condition in `slot`; OM_ERROR_RUN unless it is a bool tensor of one element.
  om_status condition(uint32_t slot, bool &value);
  void move(const om::fb::HostMove &move);
  /// Releases the value in a slot and stores `value`, whose reference it takes over.
  void setSlot(uint32_t slot, om_value *value);
  /// Returns whether the call has output `index`; otherwise the call fails.
  bool hasOutput(uint32_t index);
  /// Stores an output of the call; takes over the reference.
  void setOutput(uint32_t index, om_value *value);
  /// Releases the outputs, items and scratch memory of the current call.
  void endCall();
  /// Releases all slots and strings of the run.
  void endRun();
  /// Records the first error of a call; `sentence` follows a colon in the message.
  void refuse(om_status status, const char *sentence);
  /// Records that makeTensor or makeBuffer returned null for `bytes` bytes of `what`.
  void refuseMemory(const char *what, uint64_t bytes);
  /// Fills the run's error where the ceiling or the system refused `bytes` bytes for `what`, and
  /// returns its status.
  om_status noMemory(const char *what, uint64_t bytes);
  /// Checks the outputs and hands them to the caller; on failure none.
  om_status takeOutputs(om_value **outputs);

  om_session &session;
  const om_model &model;
  const om::fb::HostProgram &program;
  const PlannedProgram &plan;
  Memory memory;

  Array<om_value *> slots, constants;
  Array<CallPlan> calls;
  Array<host::Attribute> attributes;
  Array<host::String> attributeStrings;
  Array<host::Value> attributeTensors;

  // State of the call that is running.
  MachineCall current = {};
  const om::fb::HostCall *table = nullptr;
  bool endsFirst = false; ///< nothing reads its input 0 any more (HostPlan)
  Array<const host::Value *> callInputs;
  Array<om_value *> callOutputs, moved;
  Array<Pending> pending;
  uint32_t pendingCount = 0;
  Array<TilePort> tilePorts;                        ///< inputs, then outputs
  om_value *items = nullptr;                        ///< made by makeItem, one reference each
  Buffer *scratch = nullptr;                        ///< until the call ends
  Buffer *texts = nullptr;                          ///< until the run ends
  uint64_t textRoom = 0;                            ///< bytes left in the first of `texts`
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; ///< tasks may ask for memory, too
  bool inParallel = false;
  uint8_t *sharedRuns = nullptr; ///< of the next region of parallel tasks of the call
  uint8_t *endOfSharedRuns = nullptr;
  jmp_buf leftKernel;
  om_status failed = OM_OK;
  om_error *error = nullptr; ///< of the run
  uint64_t serialNanoseconds = 0;
  uint64_t seed = 0;
};

} // namespace atc::rt

#endif

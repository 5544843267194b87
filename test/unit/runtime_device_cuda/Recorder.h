// Recorder: a GPU that executes nothing but copies, and checks what the runtime asks of it. Memory
// of the device is memory of this process that it cannot access. Every access of a call is checked
// against live allocations, and against the accesses of other streams, whose order follows from
// streams, events and waits of the host (vector clocks). The recorder also checks the rules of
// capture, and that all that was created is destroyed. RecordingDriver.h makes tables of functions
// of it.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cleave::test {

// One access of an operation: bytes from an address.
struct DeviceAccess {
  const void *address;
  uint64_t bytes;
  bool writes;
};

// An operation in a stream. `run` does what the host can see of it.
struct DeviceOperation {
  std::string name;
  std::vector<DeviceAccess> accesses;
  std::function<void()> run;
};

class Recorder {
public:
  // The recorder of this thread, which the tables use; null: none.
  static Recorder *&current();

  // `plan` has the kernels that may be launched; it outlives the recorder.
  explicit Recorder(const plan::Plan &plan) : plan_(plan) {}

  // All that was wrong so far, at most 20 faults; empty: nothing.
  const std::vector<std::string> &faults() const { return faults_; }
  void fault(const std::string &what);
  // Adds a fault for everything that was created and not destroyed.
  void checkLeaks();
  // Calls of the driver and of libraries since the last call of this function, by name.
  std::map<std::string, int> takeCalls() { return std::exchange(calls_, {}); }
  void count(const char *call) { ++calls_[call]; }

  // Whether products are computed.
  bool multiplies = false;

  // The workspace of a library: cuBLASLt asks for addresses that are multiples of 256.
  void checkWorkspace(const void *address);

  // The kernel with this name in PTX; null if the plan has none.
  const plan::Kernel *kernel(const std::string &entry) const;

  // -- what the tables call ----------------------------------------------------------------------

  // Memory of the device cannot be accessed at its addresses, as on a GPU.
  void *allocate(uint64_t bytes, bool isDevice);
  // Where this process accesses the bytes at an address of the device, or of its own.
  char *viewOf(uint64_t address) const;
  void free(void *address, bool isDevice);
  // A new object of a kind (`event`), destroyed by destroy().
  void *create(const std::string &kind);
  void destroy(const std::string &kind, void *object);

  void *createStream();
  void enqueue(void *stream, DeviceOperation operation);
  void synchronize(void *stream);
  void await(void *event);
  // `isExternal`: in a capture, each launch of the graph records the event.
  void record(void *event, void *stream, bool isExternal);
  void wait(void *event, void *stream);
  // The time between two events outside captures. Every operation takes a millisecond; operations
  // of another stream count only where the stream of an event waits for them.
  float millisecondsBetween(void *begin, void *end) const;
  bool isCapturing() const { return capture_ != nullptr; }
  void beginCapture(void *stream);
  void *endCapture(void *stream);
  void *instantiate(void *graph);
  void launch(void *graph, void *stream);
  // A fault if a call that a capture forbids is made.
  void forbidInCapture(const char *call);

private:
  using Clock = std::vector<uint64_t>; // by stream; the host is stream 0
  struct Allocation {
    std::shared_ptr<void> memory, view; // of the device: the same pages, which are accessible
    uint64_t bytes;
    bool isDevice, isLive;
  };
  // The last accesses of a range of bytes.
  struct Mark {
    uint64_t end;
    size_t writer = 0; // stream; 0: none
    uint64_t written = 0;
    std::string writerName;
    std::map<size_t, uint64_t> readers; // stream: time
  };
  // What is recorded in a capture.
  struct Step {
    enum Kind { Run, Record, RecordExternal, Wait } kind;
    size_t stream;
    void *event;
    DeviceOperation operation;
  };
  struct Capture {
    size_t origin;
    std::vector<bool> joined; // by stream
    std::vector<Step> steps;
  };
  struct EventFacts {
    Clock clock;
    const Capture *capture = nullptr; // in which it was recorded
  };

  size_t indexOf(void *stream);
  static void join(Clock &clock, const Clock &other);
  void execute(size_t stream, const DeviceOperation &operation);
  void access(size_t stream, const std::string &name, const DeviceAccess &access);
  void compare(size_t stream, const std::string &name, const DeviceAccess &access, Mark &mark);
  void split(uint64_t at);
  bool isInCapture(size_t stream, const char *call);
  void reach(const Clock &clock);

  const plan::Plan &plan_;
  std::vector<std::string> faults_;
  std::map<std::string, int> calls_;
  std::map<uint64_t, Allocation> allocations_; // by address
  std::map<void *, std::string> objects_;      // live, with their kinds
  std::vector<void *> streams_ = {nullptr};    // by index; the host first
  std::vector<Clock> clocks_ = {Clock{0}};
  std::map<void *, EventFacts> events_;
  std::map<uint64_t, Mark> marks_; // by first byte
  // Host memory that copies in a stream read: its sum when they were enqueued.
  struct Pending {
    size_t stream;
    uint64_t time;
    DeviceAccess access;
    uint64_t sum;
    std::string name;
  };
  std::vector<Pending> pending_;
  std::unique_ptr<Capture> capture_;
  std::map<void *, std::shared_ptr<Capture>> graphs_; // also executable ones
  uintptr_t nextObject_ = 0x1000;
};

} // namespace cleave::test

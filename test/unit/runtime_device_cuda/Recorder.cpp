// See Recorder.h.
#include "test/unit/runtime_device_cuda/Recorder.h"

#include "runtime/artifact/KernelSignature.h"
#include "runtime/base/Concat.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace cleave::test {
namespace {

uint64_t sumOf(const void *memory, uint64_t bytes) {
  uint64_t sum = 14695981039346656037u;
  for (uint64_t i = 0; i < bytes; ++i)
    sum = (sum ^ static_cast<const unsigned char *>(memory)[i]) * 1099511628211u;
  return sum;
}

uint64_t numberOf(const void *address) { return reinterpret_cast<uint64_t>(address); }

} // namespace

Recorder *&Recorder::current() {
  thread_local Recorder *recorder = nullptr;
  return recorder;
}

void Recorder::fault(const std::string &what) {
  if (faults_.size() < 20)
    faults_.push_back(what);
}

const plan::Kernel *Recorder::kernel(const std::string &entry) const {
  for (const plan::Program &program : plan_.programs())
    for (const plan::Kernel &kernel : program.kernels())
      if (artifact::entryOf(kernel) == entry)
        return &kernel;
  return nullptr;
}

void Recorder::checkLeaks() {
  for (const auto &[address, allocation] : allocations_)
    if (allocation.isLive)
      fault(concat(allocation.bytes, " bytes are never freed"));
  for (const auto &[object, kind] : objects_)
    fault(concat("a ", kind, " is never destroyed"));
}

// -- objects and memory ---------------------------------------------------------------------------

void *Recorder::create(const std::string &kind) {
  void *object = reinterpret_cast<void *>(nextObject_ += 16);
  objects_[object] = kind;
  return object;
}

void Recorder::destroy(const std::string &kind, void *object) {
  auto at = objects_.find(object);
  if (at == objects_.end() || at->second != kind)
    return fault(concat("destroys a ", kind, " that does not exist"));
  objects_.erase(at);
}

// Kept after free(), so that an access of freed memory is known.
void Recorder::checkWorkspace(const void *address) {
  if (numberOf(address) % 256 != 0)
    fault("a workspace begins at an address that is no multiple of 256");
}

void *Recorder::allocate(uint64_t bytes, bool isDevice) {
  forbidInCapture("an allocation");
  int file = ::memfd_create("device memory", MFD_CLOEXEC);
  bool isSized = file >= 0 && ::ftruncate(file, off_t(bytes)) == 0;
  auto map = [&](int protection) {
    void *memory = isSized ? ::mmap(nullptr, bytes, protection, MAP_SHARED, file, 0) : MAP_FAILED;
    if (memory == MAP_FAILED)
      throw std::runtime_error("no memory for the recorder");
    return std::shared_ptr<void>(memory, [bytes](void *p) { ::munmap(p, bytes); });
  };
  std::shared_ptr<void> view = map(PROT_READ | PROT_WRITE);
  std::shared_ptr<void> memory = isDevice ? map(PROT_NONE) : view;
  ::close(file);
  void *address = memory.get();
  allocations_[numberOf(address)] = {std::move(memory), std::move(view), bytes, isDevice, true};
  return address;
}

char *Recorder::viewOf(uint64_t address) const {
  auto at = allocations_.upper_bound(address);
  if (at == allocations_.begin() || address >= std::prev(at)->first + std::prev(at)->second.bytes)
    return reinterpret_cast<char *>(address);
  --at;
  return static_cast<char *>(at->second.view.get()) + (address - at->first);
}

void Recorder::free(void *address, bool isDevice) {
  forbidInCapture("a free");
  auto at = allocations_.find(numberOf(address));
  if (at == allocations_.end() || !at->second.isLive || at->second.isDevice != isDevice)
    return fault("frees memory that is not allocated");
  uint64_t end = at->first + at->second.bytes;
  for (const auto &[begin, mark] : marks_) {
    bool isUsed = mark.writer && mark.written > clocks_[0][mark.writer];
    for (auto [stream, time] : mark.readers)
      isUsed |= time > clocks_[0][stream];
    if (isUsed && begin < end && mark.end > at->first) {
      fault(concat("frees memory that ", mark.writerName, " may still use"));
      break;
    }
  }
  at->second.isLive = false;
}

// -- streams --------------------------------------------------------------------------------------

void *Recorder::createStream() {
  void *stream = create("stream");
  streams_.push_back(stream);
  clocks_.push_back(clocks_[0]);
  for (Clock &clock : clocks_)
    clock.resize(streams_.size());
  for (auto &[event, facts] : events_)
    facts.clock.resize(streams_.size());
  return stream;
}

size_t Recorder::indexOf(void *stream) {
  auto at = std::find(streams_.begin() + 1, streams_.end(), stream);
  if (at == streams_.end()) {
    fault("uses a stream that does not exist");
    return 0;
  }
  return size_t(at - streams_.begin());
}

void Recorder::join(Clock &clock, const Clock &other) {
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

bool Recorder::isInCapture(size_t stream, const char *call) {
  if (!capture_)
    return false;
  if (!capture_->joined[stream])
    fault(concat(call, " in a stream that is not part of the capture"));
  return true;
}

void Recorder::forbidInCapture(const char *call) {
  if (capture_)
    fault(concat(call, " during a capture"));
}

void Recorder::enqueue(void *stream, DeviceOperation operation) {
  size_t index = indexOf(stream);
  if (isInCapture(index, operation.name.c_str()))
    capture_->steps.push_back({Step::Run, index, nullptr, std::move(operation)});
  else
    execute(index, operation);
}

void Recorder::execute(size_t stream, const DeviceOperation &operation) {
  join(clocks_[stream], clocks_[0]); // after all that the host has waited for
  ++clocks_[stream][stream];
  for (const DeviceAccess &one : operation.accesses)
    access(stream, operation.name, one);
  if (operation.run)
    operation.run();
}

void Recorder::synchronize(void *stream) {
  forbidInCapture("a wait of the host");
  reach(clocks_[indexOf(stream)]);
}

void Recorder::await(void *event) {
  forbidInCapture("a wait of the host");
  auto at = events_.find(event);
  if (!objects_.contains(event) || at == events_.end() || at->second.capture)
    return fault("the host waits for an event that was not recorded");
  reach(Clock(at->second.clock));
}

// The host has waited for all operations that the clock holds. It must not have changed memory that
// a copy among them reads.
void Recorder::reach(const Clock &clock) {
  join(clocks_[0], clock);
  std::erase_if(pending_, [&](const Pending &p) {
    if (p.time > clock[p.stream])
      return false;
    if (sumOf(p.access.address, p.access.bytes) != p.sum)
      fault(concat("the host changes memory while ", p.name, " may read it"));
    return true;
  });
}

void Recorder::record(void *event, void *stream, bool isExternal) {
  size_t index = indexOf(stream);
  if (!objects_.contains(event))
    return fault("records an event that does not exist");
  if (isExternal) {
    if (!isInCapture(index, "recording an event"))
      return fault("an external record outside of a capture");
    capture_->steps.push_back({Step::RecordExternal, index, event, {}});
    return;
  }
  if (isInCapture(index, "recording an event")) {
    events_[event] = {Clock(streams_.size()), capture_.get()};
    capture_->steps.push_back({Step::Record, index, event, {}});
    return;
  }
  join(clocks_[index], clocks_[0]);
  events_[event] = {clocks_[index], nullptr};
}

float Recorder::millisecondsBetween(void *begin, void *end) const {
  auto operations = [](const Clock &clock) {
    return std::accumulate(clock.begin(), clock.end(), uint64_t(0));
  };
  return float(operations(events_.at(end).clock)) - float(operations(events_.at(begin).clock));
}

void Recorder::wait(void *event, void *stream) {
  size_t index = indexOf(stream);
  if (!objects_.contains(event))
    return fault("waits for an event that does not exist");
  auto at = events_.find(event);
  if (!capture_) {
    if (at != events_.end())
      join(clocks_[index], at->second.clock);
    return;
  }
  if (at == events_.end() || at->second.capture != capture_.get())
    return fault("a capture waits for an event that was recorded outside of it");
  capture_->joined[index] = true;
  capture_->steps.push_back({Step::Wait, index, event, {}});
}

// -- capture --------------------------------------------------------------------------------------

void Recorder::beginCapture(void *stream) {
  forbidInCapture("a second capture");
  capture_ = std::make_unique<Capture>();
  capture_->origin = indexOf(stream);
  capture_->joined.resize(streams_.size());
  capture_->joined[capture_->origin] = true;
}

void *Recorder::endCapture(void *stream) {
  if (!capture_ || capture_->origin != indexOf(stream)) {
    fault("ends a capture that was not begun in this stream");
    return nullptr;
  }
  // Each stream's last step must be before the end of the origin.
  std::vector<Clock> clocks(streams_.size(), Clock(streams_.size()));
  std::map<void *, Clock> events;
  for (const Step &step : capture_->steps) {
    Clock &clock = clocks[step.stream];
    if (step.kind == Step::Wait)
      join(clock, events[step.event]);
    ++clock[step.stream];
    if (step.kind == Step::Record)
      events[step.event] = clock;
  }
  for (size_t i = 0; i < streams_.size(); ++i)
    if (clocks[capture_->origin][i] < clocks[i][i])
      fault("a capture ends before a stream of it is joined");
  void *graph = create("graph");
  graphs_[graph] = std::move(capture_);
  return graph;
}

void *Recorder::instantiate(void *graph) {
  void *executable = create("executable graph");
  graphs_[executable] = graphs_.at(graph);
  return executable;
}

void Recorder::launch(void *graph, void *stream) {
  size_t index = indexOf(stream);
  if (!objects_.contains(graph))
    return fault("launches a graph that does not exist");
  if (capture_)
    return fault("launches a graph during a capture");
  join(clocks_[index], clocks_[0]);
  std::map<void *, Clock> events;
  const std::vector<Clock> before = clocks_;
  std::vector<char> seen(streams_.size());
  // The streams of the capture are branches of the graph, which the operations in the streams
  // themselves do not order. Only the time of each stream's own operations goes on.
  auto set = [&](size_t stream, const Clock &to) {
    const uint64_t own = clocks_[stream][stream];
    clocks_[stream] = to;
    clocks_[stream][stream] = own;
  };
  for (const Step &step : graphs_.at(graph)->steps) {
    Clock &clock = clocks_[step.stream];
    if (!std::exchange(seen[step.stream], char(1)) && step.stream != index)
      set(step.stream, before[index]);
    if (step.kind == Step::Run)
      execute(step.stream, step.operation);
    else if (step.kind == Step::Record)
      events[step.event] = clock;
    else if (step.kind == Step::RecordExternal)
      events_[step.event] = {clock, nullptr};
    else
      join(clock, events.at(step.event));
  }
  for (size_t i = 0; i < seen.size(); ++i)
    if (seen[i] && i != index) {
      join(clocks_[index], clocks_[i]);
      set(i, before[i]);
    }
}

// -- accesses -------------------------------------------------------------------------------------

void Recorder::access(size_t stream, const std::string &name, const DeviceAccess &access) {
  if (access.bytes == 0)
    return;
  uint64_t begin = numberOf(access.address), end = begin + access.bytes;
  auto at = allocations_.upper_bound(begin);
  if (at == allocations_.begin() || begin >= std::prev(at)->first + std::prev(at)->second.bytes)
    return fault(concat(name, " accesses memory that is not allocated"));
  const auto &[first, allocation] = *--at;
  if (!allocation.isLive)
    return fault(concat(name, " accesses memory that was freed"));
  if (end > first + allocation.bytes)
    return fault(concat(name, " accesses ", end - first - allocation.bytes,
                        " bytes behind the end of an allocation"));
  if (!allocation.isDevice && !access.writes)
    pending_.push_back(
        {stream, clocks_[stream][stream], access, sumOf(access.address, access.bytes), name});
  split(begin), split(end);
  for (uint64_t next = begin; next < end;) {
    auto mark = marks_.find(next);
    if (mark == marks_.end()) {
      auto after = marks_.upper_bound(next);
      uint64_t until = after == marks_.end() ? end : std::min(end, after->first);
      mark = marks_.emplace(next, Mark{.end = until}).first;
    }
    compare(stream, name, access, mark->second);
    next = mark->second.end;
  }
}

// Splits the mark that holds byte `at` behind its first one.
void Recorder::split(uint64_t at) {
  auto mark = marks_.upper_bound(at);
  if (mark == marks_.begin() || (--mark)->first == at || mark->second.end <= at)
    return;
  Mark rest = mark->second;
  mark->second.end = at;
  marks_.emplace(at, std::move(rest));
}

void Recorder::compare(size_t stream, const std::string &name, const DeviceAccess &access,
                       Mark &mark) {
  const Clock &clock = clocks_[stream];
  if (mark.writer && mark.written > clock[mark.writer])
    fault(concat(name, " is not ordered after ", mark.writerName, ", which writes the same bytes"));
  for (auto [reader, time] : mark.readers)
    if (access.writes && time > clock[reader])
      fault(concat(name, " writes bytes that another queue reads, and is not ordered after it"));
  if (!access.writes) {
    mark.readers[stream] = clock[stream];
    return;
  }
  mark.readers.clear();
  mark.writer = stream, mark.written = clock[stream], mark.writerName = name;
}

} // namespace cleave::test

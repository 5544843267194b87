// Graphs of cuDNN operations: the choice of an engine, and runs at addresses.
#include "runtime/device/cuda/DnnGraph.h"

#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::device;

namespace {

// A GPU with cuDNN, and memory of it.
class Machine {
public:
  explicit Machine(const dnn::DnnTable &table) : table_(table), recorder(plan_) {
    test::Recorder::current() = &recorder;
    context_ = std::move(*CudaContext::create(test::recordingDriver(), 0));
    table_.create(&handle_);
    table_.setStream(handle_, context_->stream());
  }
  ~Machine() {
    memory_.clear();
    table_.destroy(handle_);
    context_.reset();
    test::Recorder::current() = nullptr;
  }

  void *floats(const std::vector<float> &values) {
    memory_.push_back(*context_->allocate(plan::DEVICE, values.size() * sizeof(float)));
    std::shared_ptr<void> host = *context_->allocate(plan::HOST, values.size() * sizeof(float));
    std::copy(values.begin(), values.end(), static_cast<float *>(host.get()));
    copy(host.get(), memory_.back().get(), values.size());
    return memory_.back().get();
  }
  std::vector<float> read(const void *address, size_t count) {
    std::shared_ptr<void> host = *context_->allocate(plan::HOST, count * sizeof(float));
    copy(address, host.get(), count);
    return {static_cast<float *>(host.get()), static_cast<float *>(host.get()) + count};
  }
  dnn::Handle handle() const { return handle_; }
  const dnn::DnnTable &table() const { return table_; }

private:
  void copy(const void *from, void *to, size_t floats) {
    REQUIRE(context_->copy(from, to, floats * sizeof(float), context_->stream()));
    REQUIRE(context_->synchronize());
  }

  const dnn::DnnTable &table_;
  dnn::Handle handle_ = nullptr;
  plan::Plan plan_;
  std::unique_ptr<CudaContext> context_;
  std::vector<std::shared_ptr<void>> memory_;

public:
  test::Recorder recorder;
};

// Adds the sums of two rows of three numbers at place 0, to place 1.
void addRowSums(DnnGraph &graph) {
  auto x = graph.inMemory({{1, 2, 3}, {6, 3, 1}}, dnn::kF32, 0);
  auto y = graph.inMemory({{1, 2, 1}, {2, 1, 1}}, dnn::kF32, 1);
  REQUIRE(x);
  REQUIRE(y);
  REQUIRE(graph.reductionTo(dnn::kReduceAdd, *x, *y));
}

} // namespace

TEST_CASE("the alignment of an address is a power of two, at most 16") {
  auto alignmentOf = [](uintptr_t address) {
    return DnnGraph::alignmentOf(reinterpret_cast<void *>(address));
  };
  CHECK(alignmentOf(0x1000) == 16);
  CHECK(alignmentOf(0x1008) == 8);
  CHECK(alignmentOf(0x100c) == 4);
  CHECK(alignmentOf(0x1001) == 1);
}

TEST_CASE("cuda: a finished graph runs at any addresses that it is bound to") {
  Machine machine(test::recordingDnn());
  void *x = machine.floats({1, 2, 3, 4, 5, 6}), *sums = machine.floats({0, 0});
  void *other = machine.floats({7, 8, 9, 10, 11, 12});
  {
    DnnGraph graph(machine.table(), machine.handle(), {x, sums});
    addRowSums(graph);
    REQUIRE(graph.finish(0, true));
    REQUIRE(graph.run(*graph.bind({x, sums}, nullptr)));
    CHECK(machine.read(sums, 2) == std::vector<float>{6, 15});
    REQUIRE(graph.run(*graph.bind({other, sums}, nullptr)));
    CHECK(machine.read(sums, 2) == std::vector<float>{24, 33});
  }
  CHECK(machine.recorder.faults() == std::vector<std::string>());
}

TEST_CASE("cuda: an engine in tensor cores is taken only where bits may be lost") {
  for (bool keepsBits : {false, true}) {
    Machine machine(test::recordingDnn());
    void *x = machine.floats({1, 2, 3, 4, 5, 6}), *sums = machine.floats({0, 0});
    DnnGraph graph(machine.table(), machine.handle(), {x, sums});
    addRowSums(graph);
    REQUIRE(graph.finish(0, keepsBits));
    machine.recorder.takeCalls();
    REQUIRE(graph.run(*graph.bind({x, sums}, nullptr)));
    CHECK(machine.recorder.takeCalls()["on tensor cores"] == (keepsBits ? 0 : 1));
  }
}

TEST_CASE("cuda: a graph whose engines need more workspace than there is has the reason") {
  static dnn::DnnTable table;
  table = test::recordingDnn();
  table.getAttribute = [](dnn::DescriptorRef d, int attribute, int type, int64_t wanted,
                          int64_t *count, void *values) {
    const int status = test::recordingDnn().getAttribute(d, attribute, type, wanted, count, values);
    if (attribute == dnn::kPlanWorkspaceBytes)
      *static_cast<int64_t *>(values) = 64;
    return status;
  };
  for (uint64_t bytes : {32, 64}) {
    Machine machine(table);
    void *x = machine.floats({1, 2, 3, 4, 5, 6}), *sums = machine.floats({0, 0});
    DnnGraph graph(machine.table(), machine.handle(), {x, sums});
    addRowSums(graph);
    const Status finished = graph.finish(bytes, true);
    CHECK(finished.message() == (bytes < 64 ? "cuDNN cannot run it: its engine needs 64 bytes of "
                                              "workspace, the plan has 32"
                                            : ""));
  }
}

// One GPU's context: its facts, memory, and the failures of late calls.
#include "runtime/device/cuda/CudaContext.h"

#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::device;
using Catch::Matchers::Contains;

namespace {

// Makes a recorder that of the thread.
class Recording {
public:
  Recording() : recorder(plan_) { test::Recorder::current() = &recorder; }
  ~Recording() { test::Recorder::current() = nullptr; }

private:
  plan::Plan plan_;

public:
  test::Recorder recorder;
};

} // namespace

TEST_CASE("cuda: a context knows its GPU, and a GPU that does not exist has none") {
  Recording recording;
  auto context = CudaContext::create(test::recordingDriver(), 0);
  REQUIRE(context);
  CHECK((*context)->index() == 0);
  CHECK((*context)->capability() == 90);
  CHECK((*context)->model() == "a GPU");
  CHECK((*context)->identity() == "cuda 01020300000000000000000000000000");
  CHECK_THAT(CudaContext::create(test::recordingDriver(), 1).status().message(),
             Contains("there is no GPU 1"));
}

TEST_CASE("cuda: every queue has a stream of its own") {
  Recording recording;
  auto context = std::move(*CudaContext::create(test::recordingDriver(), 0));
  for (uint32_t a = 0; a < kQueues; ++a)
    for (uint32_t b = 0; b < a; ++b)
      CHECK(context->stream(a) != context->stream(b));
  context->queue = kQueues - 1;
  CHECK(context->stream() == context->stream(kQueues - 1));
}

TEST_CASE("cuda: memory of device and host is zeroed, and no bytes are no memory") {
  Recording recording;
  auto context = std::move(*CudaContext::create(test::recordingDriver(), 0));
  CHECK(*context->allocate(plan::DEVICE, 0) == nullptr);
  auto memory = *context->allocate(plan::DEVICE, 256), host = *context->allocate(plan::HOST, 256);
  CHECK(std::count(static_cast<char *>(host.get()), static_cast<char *>(host.get()) + 256, 0) ==
        256);
  std::fill_n(static_cast<char *>(host.get()), 256, 1);
  REQUIRE(context->copy(memory.get(), host.get(), 256, context->stream()));
  REQUIRE(context->synchronize());
  CHECK(std::count(static_cast<char *>(host.get()), static_cast<char *>(host.get()) + 256, 0) ==
        256);
}

TEST_CASE("cuda: a context destroys its streams, and its memory is freed") {
  Recording recording;
  auto context = std::move(*CudaContext::create(test::recordingDriver(), 0));
  auto memory = *context->allocate(plan::DEVICE, 64);
  memory.reset();
  context.reset();
  recording.recorder.checkLeaks();
  CHECK(recording.recorder.faults() == std::vector<std::string>());
}

TEST_CASE("cuda: too little memory says how much is free") {
  Recording recording;
  driver::DriverTable table = test::recordingDriver();
  table.memGetInfo = [](size_t *free, size_t *total) {
    return *free = 1 << 20, *total = 1 << 30, driver::kSuccess;
  };
  table.memAlloc = [](driver::Address *, size_t) { return driver::kErrorOutOfMemory; };
  auto context = std::move(*CudaContext::create(table, 0));
  const Status refused = context->allocate(plan::DEVICE, 1 << 22).status();
  CHECK(refused.kind() == StatusKind::UserError);
  CHECK_THAT(refused.message(), Contains("4.00 MiB on the GPU, of whose 1.00 GiB 1.00 MiB are "
                                         "free"));
}

TEST_CASE("cuda: a failure that a kernel may have caused says how to find the kernel") {
  Recording recording;
  auto context = std::move(*CudaContext::create(test::recordingDriver(), 0));
  const std::string way = "CLEAVE_CHECK_KERNELS=wait";
  CHECK_THAT(context->status(driver::kErrorIllegalAddress, "waiting").message(), Contains(way));
  CHECK_THAT(context->status(driver::kErrorLaunchFailed, "waiting").message(), Contains(way));
  CHECK_THAT(context->status(driver::kErrorInvalidValue, "copying").message(), !Contains(way));
  CHECK_THAT(context->status(driver::kErrorCaptureUnsupported, "recording").message(),
             !Contains(way));
}

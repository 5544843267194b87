// See CudaContext.h.
#include "runtime/device/cuda/CudaContext.h"

#include "runtime/base/Units.h"

#include <cstring>

namespace cleave::device {

Result<std::unique_ptr<CudaContext>> CudaContext::create(const driver::DriverTable &driver,
                                                         int index) {
  std::unique_ptr<CudaContext> context(new CudaContext(driver, index));
  CLEAVE_TRY(context->open());
  return context;
}

Status CudaContext::open() {
  CLEAVE_TRY(status(driver_.init(0), "the CUDA driver does not start"));
  CLEAVE_TRY(status(driver_.deviceGet(&device_, index_), concat("there is no GPU ", index_)));
  char name[256] = "";
  CLEAVE_TRY(status(driver_.deviceGetName(name, sizeof name, device_), "reading a GPU's name"));
  model_ = name;
  int major = 0, minor = 0;
  CLEAVE_TRY(status(driver_.deviceGetAttribute(&major, driver::kAttributeCapabilityMajor, device_),
                    "reading a GPU's compute capability"));
  CLEAVE_TRY(status(driver_.deviceGetAttribute(&minor, driver::kAttributeCapabilityMinor, device_),
                    "reading a GPU's compute capability"));
  capability_ = 10 * major + minor;
  // The primary context is the one that the libraries use.
  CLEAVE_TRY(status(driver_.primaryContextRetain(&context_, device_), "opening the GPU"));
  CLEAVE_TRY(status(driver_.contextSetCurrent(context_), "selecting the GPU"));
  for (driver::Stream &stream : streams_)
    CLEAVE_TRY(
        status(driver_.streamCreate(&stream, driver::kStreamNonBlocking), "creating a stream"));
  return Status::ok();
}

CudaContext::~CudaContext() {
  for (driver::Stream stream : streams_)
    if (stream) {
      driver_.streamSynchronize(stream);
      driver_.streamDestroy(stream);
    }
  if (context_)
    driver_.primaryContextRelease(device_);
}

std::string CudaContext::identity() const {
  driver::Uuid uuid{};
  driver_.deviceGetUuid(&uuid, device_);
  constexpr char digits[] = "0123456789abcdef";
  std::string text = "cuda ";
  for (char byte : uuid.bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[byte & 15];
  }
  return text;
}

Result<std::shared_ptr<void>> CudaContext::allocate(plan::Space space, uint64_t bytes) {
  if (space == plan::FILE)
    return Status::userError("values in files are for CPUs; compile the model without "
                             "--file-memory");
  if (bytes == 0)
    return std::shared_ptr<void>();
  return space == plan::HOST ? allocateHost(bytes) : allocateDevice(bytes);
}

Result<std::shared_ptr<void>> CudaContext::allocateHost(uint64_t bytes) {
  void *memory = nullptr;
  CLEAVE_TRY(status(driver_.memHostAlloc(&memory, bytes, driver::kHostAllocPortable),
                    concat("cannot allocate ", bytesText(bytes), " of pinned host memory")));
  std::memset(memory, 0, bytes);
  return std::shared_ptr<void>(memory, [this](void *p) { driver_.memFreeHost(p); });
}

Result<std::shared_ptr<void>> CudaContext::allocateDevice(uint64_t bytes) {
  driver::Address address = 0;
  size_t free = 0, total = 0;
  driver_.memGetInfo(&free, &total);
  CLEAVE_TRY(status(driver_.memAlloc(&address, bytes),
                    concat("cannot allocate ", bytesText(bytes), " on the GPU, of whose ",
                           bytesText(total), " ", bytesText(free), " are free")));
  std::shared_ptr<void> memory(reinterpret_cast<void *>(address),
                               [this](void *p) { driver_.memFree(addressOf(p)); });
  CLEAVE_TRY(status(driver_.memset8(address, 0, bytes, stream(kComputeQueue)), "clearing memory"));
  CLEAVE_TRY(synchronize(stream(kComputeQueue)));
  return memory;
}

Status CudaContext::copy(const void *from, void *to, uint64_t bytes, driver::Stream stream) const {
  return status(driver_.memcpyAsync(addressOf(to), addressOf(from), bytes, stream), "copying");
}

Status CudaContext::synchronize() const {
  for (driver::Stream stream : streams_)
    CLEAVE_TRY(synchronize(stream));
  return Status::ok();
}

Status CudaContext::synchronize(driver::Stream stream) const {
  return status(driver_.streamSynchronize(stream), "waiting for the GPU");
}

// A failure of a kernel is returned by a later call, so the message says how to find the kernel.
Status CudaContext::status(int error, const std::string &what) const {
  Status status = driver::statusOf(driver_, error, what);
  bool isLate = error >= driver::kErrorIllegalAddress && error < 800;
  return isLate ? Status::defect(status.message(),
                                 "; set CLEAVE_CHECK_KERNELS=wait to find the instruction that "
                                 "causes it")
                : status;
}

} // namespace cleave::device

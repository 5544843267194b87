// See StepBackup.h.
#include "runtime/executor/StepBackup.h"

#include <cstring>

namespace cleave::executor {

Result<std::unique_ptr<StepBackup>> StepBackup::create(const plan::Program &program,
                                                       const memory::Arenas &arenas) {
  auto backup = std::make_unique<StepBackup>();
  for (const plan::Buffer &buffer : program.buffers())
    if (buffer.role() == plan::PARAMETER || buffer.role() == plan::STATE) {
      backup->parts_.push_back({arenas.address(buffer), backup->bytes_, buffer.bytes()});
      backup->bytes_ += buffer.bytes();
    }
  CLEAVE_TRY_ASSIGN(backup->memory_, memory::allocatePages(backup->bytes_));
  return backup;
}

void *StepBackup::copyOf(const Part &part) const {
  return static_cast<char *>(memory_.get()) + part.offset;
}

void StepBackup::save() {
  for (const Part &part : parts_)
    std::memcpy(copyOf(part), part.buffer, part.bytes);
}

void StepBackup::restore() {
  for (const Part &part : parts_)
    std::memcpy(part.buffer, copyOf(part), part.bytes);
}

} // namespace cleave::executor

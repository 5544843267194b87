// See StepBackup.h.
#include "runtime/executor/StepBackup.h"

namespace cleave::executor {

Result<std::unique_ptr<StepBackup>> StepBackup::create(const plan::Program &program,
                                                       const memory::Arenas &arenas,
                                                       device::Device &device) {
  std::vector<const plan::Buffer *> buffers;
  std::unique_ptr<StepBackup> backup(new StepBackup(device));
  for (const plan::Buffer &buffer : program.buffers())
    if (buffer.role() == plan::PARAMETER || buffer.role() == plan::STATE) {
      buffers.push_back(&buffer);
      backup->bytes_ += buffer.bytes();
    }
  CLEAVE_TRY_ASSIGN(backup->memory_, device.allocate(plan::HOST, backup->bytes_));
  device.prepareFor(kComputeQueue);
  char *copy = static_cast<char *>(backup->memory_.get());
  for (const plan::Buffer *buffer : buffers) {
    void *address = arenas.address(*buffer);
    CLEAVE_TRY_ASSIGN(auto saving, device.download(address, copy, buffer->bytes()));
    CLEAVE_TRY_ASSIGN(auto restoring, device.upload(copy, address, buffer->bytes()));
    backup->saving_.push_back(std::move(saving));
    backup->restoring_.push_back(std::move(restoring));
    copy += buffer->bytes();
  }
  return backup;
}

Status StepBackup::run(const Actions &actions) {
  for (const std::unique_ptr<device::Action> &action : actions)
    CLEAVE_TRY(action->run());
  return device_.synchronize();
}

Status StepBackup::save() { return run(saving_); }
Status StepBackup::restore() { return run(restoring_); }

} // namespace cleave::executor

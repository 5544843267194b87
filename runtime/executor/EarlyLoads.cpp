// See EarlyLoads.h.
#include "runtime/executor/EarlyLoads.h"

#include "runtime/artifact/Access.h"
#include "runtime/base/Queue.h"

#include <algorithm>
#include <set>

namespace cleave::executor {

Status EarlyLoads::prepare() {
  if (context_.program.schedule().empty())
    return Status::ok();
  segment_ = context_.program.schedule(0).segment();
  const auto &list = context_.program.segments(int(segment_)).instructions();
  if (std::ranges::none_of(list, [&](const auto &one) { return contain(one); }))
    return Status::ok();
  CLEAVE_TRY(findReads());
  device::Device &device = context_.device;
  device.prepareFor(kTransferQueue);
  for (const auto &[queue, read] : reads_)
    CLEAVE_TRY(add(device.wait(read.event)));
  for (const plan::Instruction &instruction : list)
    if (contain(instruction))
      CLEAVE_TRY(add(executor::prepare(context_, segment_, instruction))
                     .withContext(artifact::kindName(instruction)));
  CLEAVE_TRY_ASSIGN(device::Event loaded, device.createEvent(/*isTimed=*/false));
  CLEAVE_TRY(add(device.record(loaded)));
  device.prepareFor(kComputeQueue);
  return add(device.wait(loaded));
}

Status EarlyLoads::findReads() {
  const auto &list = context_.program.segments(int(segment_)).instructions();
  std::set<uint32_t> buffers;
  for (const plan::Instruction &instruction : list)
    if (contain(instruction))
      buffers.insert(instruction.load_input().buffer());
  for (int i = 0; i < list.size(); ++i)
    for (const artifact::Access &access : artifact::accessesOf(context_.program, list[i]))
      if (access.reads && buffers.contains(access.buffer))
        reads_[list[i].queue()].index = uint32_t(i);
  for (auto &[queue, read] : reads_) {
    CLEAVE_TRY_ASSIGN(read.event, context_.device.createEvent(/*isTimed=*/false));
  }
  return Status::ok();
}

Status EarlyLoads::add(device::PreparedAction action) {
  CLEAVE_TRY(action.status());
  actions_.push_back(std::move(*action));
  return Status::ok();
}

device::PreparedAction EarlyLoads::markAfter(uint32_t segment, uint32_t index) const {
  for (const auto &[queue, read] : reads_)
    if (segment == segment_ && index == read.index) {
      context_.device.prepareFor(queue);
      return context_.device.recordOutside(read.event);
    }
  return device::PreparedAction(nullptr);
}

Status EarlyLoads::run() {
  if (actions_.empty())
    return Status::ok();
  context_.state.scheduled = 0, context_.state.slot = context_.program.schedule(0).slot();
  for (const std::unique_ptr<device::Action> &action : actions_)
    CLEAVE_TRY(action->run());
  return Status::ok();
}

} // namespace cleave::executor

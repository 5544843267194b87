// The placement rule: buffers lie in their arenas, no two overlap at the same time, and the stated
// peak is exact. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/VerifyRules.h"
#include "runtime/base/Alignment.h"
#include "runtime/base/LinkLimits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace cleave::artifact {
namespace {

// Offsets in an arena are multiples of it, and every buffer occupies a multiple of it.
uint64_t alignmentIn(const ProgramView &view, uint32_t arena) {
  return uint64_t(view.program.arenas(int(arena)).space() == plan::FILE
                      ? kFileAlignment
                      : bufferAlignment(view.plan.device() == kCuda));
}
uint64_t aligned(const ProgramView &view, uint32_t arena, uint64_t bytes) {
  return uint64_t(alignedTo(int64_t(alignmentIn(view, arena)), int64_t(bytes)));
}

Status verifyTensorOf(const ProgramView &view, const plan::Buffer &buffer) {
  if (buffer.tensor() < -1 || buffer.tensor() >= view.plan.tensors_size())
    return Status::defect("it belongs to tensor ", buffer.tensor(), ", the plan has ",
                          view.plan.tensors_size());
  bool needed = buffer.role() == plan::PARAMETER || buffer.role() == plan::STATE ||
                buffer.role() == plan::CONSTANT || buffer.role() == plan::INPUT ||
                buffer.role() == plan::OUTPUT || buffer.role() == plan::HYPERPARAMETER;
  if (buffer.tensor() == -1)
    return needed ? Status::defect("its role ", roleName(buffer.role()), " needs a tensor")
                  : Status::ok();
  const plan::Tensor &tensor = view.plan.tensors(buffer.tensor());
  RankBlock block = blockOf(view.plan, tensor, view.rank);
  if (!std::equal(block.shape.begin(), block.shape.end(), buffer.shape().begin(),
                  buffer.shape().end()))
    return Status::defect("its shape is not that of its block of tensor '", tensor.name(), "'");
  if (tensor.dtype() != buffer.dtype() || tensor.role() != buffer.role())
    return Status::defect("it is ", dtypeName(buffer.dtype()), " ", roleName(buffer.role()),
                          ", its tensor '", tensor.name(), "' is ", dtypeName(tensor.dtype()), " ",
                          roleName(tensor.role()));
  return Status::ok();
}

Status verifyLifetime(const plan::Buffer &buffer, uint32_t instructions) {
  if (isPersistent(buffer)) {
    if (buffer.first() != 0 || buffer.last() + 1 < instructions)
      return Status::defect("it must be live from 0 to ", instructions - 1,
                            " because its role is persistent, but is live from ", buffer.first(),
                            " to ", buffer.last());
    return Status::ok();
  }
  if (buffer.first() > buffer.last() || buffer.last() >= instructions)
    return Status::defect("its lifetime from ", buffer.first(), " to ", buffer.last(),
                          " is not within ", instructions, " instructions");
  return Status::ok();
}

Status verifyBuffer(const ProgramView &view, const plan::Buffer &buffer, uint32_t instructions) {
  if (buffer.arena() >= uint32_t(view.program.arenas_size()))
    return Status::defect("it is in arena ", buffer.arena(), ", the program has ",
                          view.program.arenas_size());
  uint64_t end = buffer.offset() + buffer.bytes();
  const plan::Arena &arena = view.program.arenas(buffer.arena());
  if (end > arena.bytes() || end < buffer.offset())
    return Status::defect("it ends at byte ", end, " of arena ", buffer.arena(), ", which has ",
                          arena.bytes());
  if (const uint64_t alignment = alignmentIn(view, buffer.arena());
      buffer.offset() % alignment != 0)
    return Status::defect("its offset ", buffer.offset(), " is not a multiple of ", alignment);
  if (byteSize(buffer.dtype()) == 0)
    return Status::defect("it has no dtype");
  if (!findRole(buffer.role()))
    return Status::defect("its role ", int(buffer.role()), " does not exist");
  CLEAVE_TRY(verifySizes(buffer.shape()));
  uint64_t needed = uint64_t(elementCount(buffer.shape())) * byteSize(buffer.dtype());
  if (buffer.bytes() < needed)
    return Status::defect("it has ", buffer.bytes(), " bytes, its shape needs ", needed);
  if (buffer.role() == plan::COORDINATES &&
      (buffer.dtype() != plan::I64 || elementCount(buffer.shape()) != view.plan.mesh_size()))
    return Status::defect("coordinates must be one i64 per mesh axis");
  CLEAVE_TRY(verifyLifetime(buffer, instructions));
  return verifyTensorOf(view, buffer);
}

// The begin or the end of a buffer's lifetime, ordered by position. At one position, begins come
// before ends, because `last` is inclusive.
struct LifetimeEvent {
  uint32_t position;
  bool birth;
  uint32_t buffer;
  bool operator<(const LifetimeEvent &other) const {
    return std::tuple(position, !birth, buffer) <
           std::tuple(other.position, !other.birth, other.buffer);
  }
};

// Device memory comes first; no space has two arenas, and links have speeds.
Status verifySpaces(const ProgramView &view) {
  std::set<plan::Space> seen;
  for (int i = 0; i < view.program.arenas_size(); ++i) {
    const plan::Arena &arena = view.program.arenas(i);
    const std::string place = concat("rank ", view.rank, ", arena ", i);
    if (!plan::Space_IsValid(arena.space()))
      return Status::defect(place, " is in space ", int(arena.space()), ", which does not exist");
    if ((arena.space() == plan::DEVICE) != (i == 0) || !seen.insert(arena.space()).second)
      return Status::defect(place, " is in space ", plan::Space_Name(arena.space()),
                            ", expected DEVICE first and no space twice");
    const double latency = arena.latency_seconds(), speed = arena.bytes_per_second();
    if (!(latency >= 0 && latency <= kMostLinkLatencySeconds))
      return Status::defect(place, " has a link with a latency of ", latency, " s, expected 0 to ",
                            kMostLinkLatencySeconds, " s");
    if (speed != 0 && !(speed >= kLeastLinkBytesPerSecond && std::isfinite(speed)))
      return Status::defect(place, " has a link of ", speed,
                            " bytes per second, expected 0 or at least ", kLeastLinkBytesPerSecond);
  }
  return Status::ok();
}

// An arena ends with its last buffer, rounded up.
Status verifyArenaSize(const ProgramView &view, uint32_t index) {
  const plan::Arena &arena = view.program.arenas(int(index));
  std::string place = concat("rank ", view.rank, ", arena ", index);
  uint64_t used = 0;
  for (const plan::Buffer &buffer : view.program.buffers())
    if (buffer.arena() == index)
      used = std::max(used, buffer.offset() + buffer.bytes());
  if (used > uint64_t(kMostElements) || arena.bytes() > aligned(view, index, used))
    return Status::defect(place, " has ", arena.bytes(), " bytes, its buffers end at byte ", used);
  return Status::ok();
}

Status verifyArena(const ProgramView &view, uint32_t arena) {
  const auto &buffers = view.program.buffers();
  CLEAVE_TRY(verifyArenaSize(view, arena));
  std::vector<LifetimeEvent> events;
  for (int i = 0; i < buffers.size(); ++i)
    if (buffers[i].arena() == arena && buffers[i].bytes() > 0) {
      events.push_back({buffers[i].first(), true, uint32_t(i)});
      events.push_back({buffers[i].last(), false, uint32_t(i)});
    }
  std::sort(events.begin(), events.end());
  std::map<uint64_t, uint32_t> live; // offset -> buffer
  uint64_t bytes = 0, peak = 0;
  for (const LifetimeEvent &event : events) {
    const plan::Buffer &buffer = buffers[event.buffer];
    if (!event.birth) {
      live.erase(buffer.offset());
      bytes -= aligned(view, arena, buffer.bytes());
      continue;
    }
    auto next = live.lower_bound(buffer.offset());
    const plan::Buffer *other = nullptr;
    if (next != live.end() && next->first < buffer.offset() + buffer.bytes())
      other = &buffers[next->second];
    else if (next != live.begin() &&
             std::prev(next)->first + buffers[std::prev(next)->second].bytes() > buffer.offset())
      other = &buffers[std::prev(next)->second];
    if (other)
      return Status::defect(view.buffer(event.buffer), " overlaps buffer '", other->name(),
                            "' in arena ", arena, " at instruction ", event.position);
    live.emplace(buffer.offset(), event.buffer);
    bytes += aligned(view, arena, buffer.bytes());
    peak = std::max(peak, bytes);
  }
  if (peak != view.program.arenas(arena).peak_bytes())
    return Status::defect("rank ", view.rank, ", arena ", arena, " states a peak of ",
                          view.program.arenas(arena).peak_bytes(), " bytes, its buffers reach ",
                          peak);
  return Status::ok();
}

} // namespace

Status verifyPlacement(const ProgramView &view) {
  CLEAVE_TRY(verifySpaces(view));
  uint32_t instructions = 0;
  for (const plan::Segment &segment : view.program.segments())
    instructions += uint32_t(segment.instructions_size());
  for (int i = 0; i < view.program.buffers_size(); ++i)
    CLEAVE_TRY(verifyBuffer(view, view.program.buffers(i), instructions)
                   .withContext(view.buffer(uint32_t(i))));
  for (int arena = 0; arena < view.program.arenas_size(); ++arena)
    CLEAVE_TRY(verifyArena(view, uint32_t(arena)));
  return Status::ok();
}

} // namespace cleave::artifact

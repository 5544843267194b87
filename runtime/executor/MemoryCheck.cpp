// See MemoryCheck.h.
#include "runtime/executor/MemoryCheck.h"

#include "runtime/artifact/Access.h"

#include <algorithm>
#include <cstring>

namespace cleave::executor {
namespace {

constexpr int kUnused = 0xff; // bytes that no buffer has used yet; also NaN

// Eight bytes of poison: signalling NaNs, or integers outside the range of indices and bools.
uint64_t poisonOf(plan::DType dtype) {
  switch (dtype) {
  case plan::F64:
    return 0x7ff5a5a5a5a5a5a5;
  case plan::F32:
    return 0x7fa5a5a57fa5a5a5;
  case plan::F16:
    return 0x7d5a7d5a7d5a7d5a;
  case plan::BF16:
    return 0x7fa57fa57fa57fa5;
  default:
    return 0x5a5a5a5a5a5a5a5a;
  }
}

} // namespace

MemoryCheck::MemoryCheck(const plan::Program &program, const memory::Arenas &arenas,
                         device::Device &device)
    : program_(program), device_(device), arenas_(arenas.ranges()),
      lifetimes_(lifetimesOf(program)) {}

Status MemoryCheck::begin() {
  for (uint32_t arena = 0; arena < arenas_.size(); ++arena) {
    expected_.emplace_back(arenas_[arena].bytes, kUnused);
    CLEAVE_TRY(write({arena, 0, arenas_[arena].bytes}, expected_.back()));
  }
  std::vector<Range> persistent;
  for (int i = 0; i < program_.buffers_size(); ++i)
    if (artifact::isPersistent(program_.buffers(i)) && program_.buffers(i).bytes()) {
      persistent.push_back(rangeOf(uint32_t(i)));
      CLEAVE_TRY(write(persistent.back(),
                       std::vector<unsigned char>(size_t(program_.buffers(i).bytes()), 0)));
    }
  for (uint32_t arena = 0; arena < expected_.size(); ++arena)
    persistent.push_back({arena, expected_[arena].size(), expected_[arena].size()});
  std::sort(persistent.begin(), persistent.end(), [](const Range &a, const Range &b) {
    return std::pair(a.arena, a.begin) < std::pair(b.arena, b.begin);
  });
  Range gap{0, 0, 0};
  for (const Range &next : persistent) {
    uint64_t begin = next.arena == gap.arena ? gap.end : 0;
    if (begin < next.begin)
      transient_.push_back({next.arena, begin, next.begin});
    gap = next;
  }
  return Status::ok();
}

Status MemoryCheck::before(size_t scheduled, size_t index) {
  for (uint32_t buffer : lifetimes_[scheduled][index].begin) {
    CLEAVE_TRY(checkPoison(rangeOf(buffer)));
    CLEAVE_TRY(write(rangeOf(buffer), poisonFor(buffer)));
  }
  return Status::ok();
}

Status MemoryCheck::after(size_t scheduled, size_t index) {
  CLEAVE_TRY(device_.synchronize());
  for (uint32_t buffer : lifetimes_[scheduled][index].end) {
    std::vector<unsigned char> poison = poisonFor(buffer);
    Range range = rangeOf(buffer);
    CLEAVE_TRY(write(range, poison));
    std::copy(poison.begin(), poison.end(), expected_[range.arena].begin() + long(range.begin));
  }
  return Status::ok();
}

Status MemoryCheck::forget() const {
  for (const Range &range : transient_) {
    const auto &expected = expected_[range.arena];
    CLEAVE_TRY(
        write(range, {expected.begin() + long(range.begin), expected.begin() + long(range.end)}));
  }
  return Status::ok();
}

Status MemoryCheck::endStep() const {
  for (const Range &range : transient_)
    CLEAVE_TRY(checkPoison(range));
  return Status::ok();
}

MemoryCheck::Range MemoryCheck::rangeOf(uint32_t buffer) const {
  const plan::Buffer &of = program_.buffers(int(buffer));
  return {of.arena(), of.offset(), of.offset() + of.bytes()};
}

unsigned char *MemoryCheck::memoryOf(const Range &range) const {
  return static_cast<unsigned char *>(arenas_[range.arena].begin) + range.begin;
}

std::vector<unsigned char> MemoryCheck::poisonFor(uint32_t buffer) const {
  uint64_t bytes = program_.buffers(int(buffer)).bytes();
  uint64_t pattern = poisonOf(program_.buffers(int(buffer)).dtype());
  std::vector<unsigned char> poison(bytes);
  for (uint64_t at = 0; at < bytes; at += sizeof pattern)
    std::memcpy(poison.data() + at, &pattern, std::min<uint64_t>(sizeof pattern, bytes - at));
  return poison;
}

Status MemoryCheck::write(const Range &range, const std::vector<unsigned char> &bytes) const {
  return bytes.empty() ? Status::ok() : device_.write(memoryOf(range), bytes.data(), bytes.size());
}

Status MemoryCheck::checkPoison(const Range &range) const {
  const unsigned char *found = memoryOf(range);
  const unsigned char *expected = expected_[range.arena].data() + range.begin;
  uint64_t bytes = range.end - range.begin;
  std::vector<unsigned char> copy;
  if (!device_.isInProcess(arenas_[range.arena].space)) {
    copy.resize(bytes);
    CLEAVE_TRY(device_.read(found, copy.data(), bytes));
    found = copy.data();
  }
  if (std::memcmp(found, expected, bytes) == 0)
    return Status::ok();
  uint64_t at = uint64_t(std::mismatch(found, found + bytes, expected).first - found);
  return Status::defect("byte ", range.begin + at, " of arena ", range.arena,
                        " was written while no buffer in use held it; an instruction before "
                        "writes outside of its buffers");
}

} // namespace cleave::executor

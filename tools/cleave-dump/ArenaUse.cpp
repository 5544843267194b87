// A sweep over the buffers' lifetimes.
#include "tools/cleave-dump/ArenaUse.h"

#include <algorithm>

namespace cleave::dump {

std::vector<size_t> segmentBegins(const plan::Program &program) {
  std::vector<size_t> begins;
  size_t position = 0;
  for (const plan::Segment &segment : program.segments()) {
    begins.push_back(position);
    position += segment.instructions_size();
  }
  return begins;
}

size_t positionCount(const plan::Program &program) {
  size_t count = 0;
  for (const plan::Segment &segment : program.segments())
    count += segment.instructions_size();
  return count;
}

ArenaUse arenaUse(const plan::Program &program, uint32_t arena) {
  ArenaUse use;
  size_t positions = std::max<size_t>(1, positionCount(program));
  std::vector<uint64_t> change(positions + 1); // wraps round below zero; the sums do not
  for (const plan::Buffer &buffer : program.buffers()) {
    size_t last = std::min<size_t>(buffer.last(), positions - 1);
    if (buffer.arena() != arena || buffer.first() > last)
      continue;
    change[buffer.first()] += buffer.bytes();
    change[last + 1] -= buffer.bytes();
    if (buffer.first() == 0 && last + 1 == positions)
      use.always += buffer.bytes();
  }
  uint64_t live = 0;
  for (size_t position = 0; position < positions; ++position)
    use.live.push_back(live += change[position]);
  use.peakPosition = std::max_element(use.live.begin(), use.live.end()) - use.live.begin();
  for (int b = 0; b < program.buffers_size(); ++b) {
    const plan::Buffer &buffer = program.buffers(b);
    if (buffer.arena() != arena || buffer.first() > use.peakPosition ||
        buffer.last() < use.peakPosition)
      continue;
    use.atPeak.push_back(b);
    use.roles[buffer.role()] += buffer.bytes();
  }
  std::stable_sort(use.atPeak.begin(), use.atPeak.end(), [&](int a, int b) {
    return program.buffers(a).bytes() > program.buffers(b).bytes();
  });
  return use;
}

} // namespace cleave::dump

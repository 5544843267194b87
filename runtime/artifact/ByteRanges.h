// ByteRanges: disjoint ranges of the bytes of several arenas, each with a number. Private to this
// folder.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace cleave::artifact {

class ByteRanges {
public:
  // Removes the ranges that overlap the buffer's bytes, whole, and calls `onRemoved(number)` for
  // each.
  template <typename OnRemoved> void remove(const plan::Buffer &buffer, OnRemoved onRemoved) {
    for (auto at = firstWithin(buffer); isWithin(at, buffer); at = ranges_.erase(at))
      onRemoved(at->second.number);
  }

  // Adds the buffer's bytes, and those of the ranges that overlap them, as one range.
  void add(const plan::Buffer &buffer, uint32_t number) {
    uint64_t begin = buffer.offset(), end = begin + buffer.bytes();
    if (begin == end)
      return;
    auto at = firstWithin(buffer);
    for (; isWithin(at, buffer); at = ranges_.erase(at)) {
      begin = std::min(begin, at->first.second);
      end = std::max(end, at->second.end);
    }
    ranges_.emplace_hint(at, std::pair(buffer.arena(), begin), Range{end, number});
  }

  // The number of a range that overlaps the buffer's bytes; null if there is none.
  const uint32_t *find(const plan::Buffer &buffer) {
    auto at = firstWithin(buffer);
    return isWithin(at, buffer) ? &at->second.number : nullptr;
  }

private:
  struct Range {
    uint64_t end;
    uint32_t number;
  };
  using Ranges = std::map<std::pair<uint32_t, uint64_t>, Range>; // by arena and begin

  // The first range that ends behind the buffer's begin.
  Ranges::iterator firstWithin(const plan::Buffer &buffer) {
    auto at = ranges_.upper_bound({buffer.arena(), buffer.offset()});
    if (at != ranges_.begin()) {
      auto before = std::prev(at);
      if (before->first.first == buffer.arena() && before->second.end > buffer.offset())
        return before;
    }
    return at;
  }
  bool isWithin(Ranges::iterator at, const plan::Buffer &buffer) const {
    return buffer.bytes() > 0 && at != ranges_.end() && at->first.first == buffer.arena() &&
           at->first.second < buffer.offset() + buffer.bytes();
  }

  Ranges ranges_;
};

} // namespace cleave::artifact

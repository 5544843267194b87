// ByteRanges: disjoint ranges of the bytes of several arenas, each with a number. Private to this
// folder.
#pragma once

#include "runtime/artifact/program.pb.h"

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

  // Adds the buffer's bytes, which overlap no range.
  void add(const plan::Buffer &buffer, uint32_t number) {
    uint64_t end = buffer.offset() + buffer.bytes();
    if (buffer.bytes() > 0)
      ranges_.emplace(std::pair(buffer.arena(), buffer.offset()), Range{end, number});
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

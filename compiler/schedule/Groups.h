// Groups: the indices of a list, grouped by a number of each entry, in two arrays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cleave::schedule {

class Groups {
public:
  // Groups 0, …, size - 1 by keyOf(entry); entries whose key is not below `groups` are left out.
  template <typename KeyOf> Groups(size_t groups, size_t size, KeyOf keyOf) : begins_(groups + 1) {
    for (size_t i = 0; i < size; ++i)
      if (keyOf(i) < groups)
        ++begins_[keyOf(i) + 1];
    for (size_t group = 0; group < groups; ++group)
      begins_[group + 1] += begins_[group];
    members_.resize(begins_.back());
    std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (size_t i = 0; i < size; ++i)
      if (keyOf(i) < groups)
        members_[next[keyOf(i)]++] = static_cast<uint32_t>(i);
  }

  // The entries of a group, in the order of the list.
  std::span<const uint32_t> operator[](size_t group) const {
    return std::span(members_).subspan(begins_[group], begins_[group + 1] - begins_[group]);
  }

private:
  std::vector<uint32_t> begins_, members_;
};

} // namespace cleave::schedule

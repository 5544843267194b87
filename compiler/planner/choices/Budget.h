// Budget: the memory that the plan of one rank may use.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "runtime/base/Space.h"

#include <cassert>
#include <cstdint>
#include <optional>

namespace cleave::planner {

// A number of bytes, or no limit.
class Budget {
public:
  Budget(int64_t bytes) : bytes_(bytes) {}
  // Holds any number of bytes.
  static Budget unlimited() { return Budget(); }

  // Whether there is a number of bytes that it does not hold.
  bool isLimited() const { return bytes_.has_value(); }
  // The bytes of a limited budget.
  int64_t bytes() const {
    assert(isLimited() && "ask isLimited() first");
    return *bytes_;
  }
  // Whether this number of bytes fits.
  bool holds(int64_t bytes) const { return !isLimited() || bytes <= *bytes_; }
  // Whether every number of bytes that fits this budget also fits `other`.
  bool isAtMost(const Budget &other) const {
    return !other.isLimited() || (isLimited() && *bytes_ <= *other.bytes_);
  }
  // The rest of it after this number of bytes is used.
  Budget without(int64_t bytes) const { return isLimited() ? Budget(*bytes_ - bytes) : *this; }
  // The bytes as the budget of a solver::MemorySpace, which always has a limit: without one, more
  // than any step needs; sums of a few of them do not overflow.
  int64_t ofSpace() const { return bytes_.value_or(int64_t(1) << 60); }

  bool operator==(const Budget &) const = default;

private:
  Budget() = default;

  std::optional<int64_t> bytes_; // nothing: no limit
};

// Bytes that a rank may use in other spaces than device memory, for values that do not fit there.
struct OtherSpaces {
  int64_t host = 0, file = 0;

  int64_t bytesIn(Space space) const {
    return space == Space::Host ? host : space == Space::File ? file : 0;
  }
  bool any() const { return host > 0 || file > 0; }
  // Whether this many bytes fit.
  bool hold(int64_t hostBytes, int64_t fileBytes) const {
    return hostBytes <= host && fileBytes <= file;
  }
};

// The budget of each of `ranks` ranks: the one that is given, else the memory that the cluster
// leaves a rank. Fails as cluster::forRanks does.
Result<Budget> budgetOf(const std::optional<Budget> &given, const cluster::Cluster &cluster,
                        int64_t ranks);

} // namespace cleave::planner

// MemoryTarget: the memory that a policy is chosen for, so that the realised program just fits.
//
// The network that chooses a policy and the program count different bytes. The target is corrected
// by what the program leaves of the budget, or exceeds it by; once one target was too large and a
// smaller one fits, it stays between them.
#pragma once

#include <cstdint>
#include <optional>

namespace cleave::planner {

class MemoryTarget {
public:
  // `first`: the bytes of the first target. Targets differ by `resolution` bytes at least.
  MemoryTarget(int64_t first, int64_t resolution) : bytes_(first), resolution_(resolution) {}

  int64_t bytes() const { return bytes_; }
  // The largest target with a program that fits; 0: none.
  int64_t fitting() const { return fitting_; }
  // Whether the largest target that fits and the smallest that is too large are hardly different.
  bool isClosed() const { return tooLarge_ && *tooLarge_ - fitting_ <= resolution_; }

  // The program for this target leaves `slack` bytes of the budget, or exceeds it if negative.
  void record(int64_t slack);

  // Moves the target, after record(slack), such that about `left` bytes of the budget are left.
  // `chosenBytes`: the peak of the policy that was chosen for it, by its network.
  void correct(int64_t slack, int64_t chosenBytes, int64_t left);

private:
  int64_t bytes_, resolution_;
  int64_t fitting_ = 0;
  std::optional<int64_t> tooLarge_; // the smallest target with a program that is too large
};

} // namespace cleave::planner

// Runs the same function on several ranks, in every implementation: as threads, each with its own
// World.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Reduction.h"

#include <functional>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace cleave::comm {

// What went wrong on one rank. Catch2's assertions are not for threads, so ranks collect and the
// test checks.
class Findings {
public:
  explicit Findings(int rank) : rank(rank) {}
  void expect(bool condition, const std::string &what) {
    if (!condition && text.size() < 2000)
      text += "rank " + std::to_string(rank) + ": " + what + "\n";
  }
  void expectOk(const Status &status, const std::string &what) {
    expect(status.isOk(), what + ": " + status.message());
  }
  std::string text;

private:
  int rank;
};

using RankMain = std::function<void(World &, Findings &)>;

// `local`, `gloo`, `shm`.
const std::vector<std::string> &implementations();

// Returns all ranks' findings: empty when all went well.
std::string runRanks(const std::string &implementation, int size, const RankMain &main,
                     const Options &options = {});

inline std::vector<int> firstRanks(int size) {
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

} // namespace cleave::comm

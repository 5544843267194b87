// Runs a function on several ranks, which are threads with one World each, in any implementation.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Reduction.h"

#include <functional>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace cleave::comm {

// The errors of one rank. Catch2's assertions are not thread-safe, so ranks collect errors and the
// test checks them.
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

// The names of all implementations: `local`, `shm`, `gloo`, `mixed`; in test/unit/comm_devices
// `staged`, `nccl`.
const std::vector<std::string> &implementations();
// What not all implementations promise: started calls of different groups and directions run at the
// same time; reductions are in rank order.
enum class Promise { RunsConcurrently, ReducesInRankOrder };
// The implementations that promise it.
std::vector<std::string> implementationsThat(Promise promise);

// Runs `main` on all ranks. Returns the errors of all ranks; empty if there are none.
std::string runRanks(const std::string &implementation, int size, const RankMain &main,
                     const Options &options = {});

inline std::vector<int> firstRanks(int size) {
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

} // namespace cleave::comm

// Runs a function on several ranks, which are threads with one World each, in any implementation.
#pragma once

#include "runtime/base/MeshCoordinates.h"
#include "runtime/comm/Communicator.h"
#include "runtime/comm/Reduction.h"

#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
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

// Runs `rankMain` on threads, one for each rank. Returns the errors of all; empty if there are
// none.
inline std::string runThreads(int size, const std::function<void(int rank, Findings &)> &rankMain) {
  std::vector<Findings> findings;
  for (int rank = 0; rank < size; ++rank)
    findings.emplace_back(rank);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] { rankMain(rank, findings[size_t(rank)]); });
  for (std::thread &thread : threads)
    thread.join();
  std::string all;
  for (const Findings &finding : findings)
    all += finding.text;
  return all;
}

// Runs `main` on all ranks. Returns the errors of all ranks; empty if there are none.
std::string runRanks(const std::string &implementation, int size, const RankMain &main,
                     const Options &options = {});

// A rank's groups in a mesh, by their list of axes; a repeated list is one group.
using Groups = std::map<std::vector<int>, std::unique_ptr<Communicator>>;
inline Result<Groups> connectMesh(World &world, const std::vector<int64_t> &sizes,
                                  const std::vector<std::vector<int>> &axesLists) {
  Groups groups;
  for (const std::vector<int> &axes : axesLists) {
    const std::vector<int64_t> along(axes.begin(), axes.end());
    std::vector<int64_t> members = meshGroup(sizes, along, world.rank());
    if (!groups.count(axes)) {
      CLEAVE_TRY_ASSIGN(groups[axes], world.connect({members.begin(), members.end()}));
    }
  }
  return groups;
}

inline std::vector<int> firstRanks(int size) {
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

} // namespace cleave::comm

// Notices lost ranks while calls of NCCL are under way, and ends the calls. NCCL's kernels wait for
// other ranks on the GPU, without limit: a second thread looks at the communicators, at the ranks
// and at a word of memory that the GPU changes behind each call, and aborts all communicators of
// this rank when one cannot continue.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"
#include "runtime/comm/nccl/Nccl.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace cleave::comm::nccl {

class NcclWatch {
public:
  // `table` and `world` outlive this object.
  NcclWatch(const Table &table, const World &world, std::chrono::milliseconds timeout);
  ~NcclWatch();
  NcclWatch(const NcclWatch &) = delete;

  // The GPU changes this word, which this process reads, when it has completed a call. It must not
  // go while await() runs.
  void watchProgress(const uint32_t *word);
  // Watches a communicator, until release(), which ends it: in agreement with the other ranks, or
  // by an abort if a call has failed.
  void add(Comm comm);
  void release(Comm comm);

  // Runs `wait` with the communicators watched. Status::lost if they were aborted: a rank of this
  // machine has ended, NCCL reports an error, or the GPU makes no progress for the timeout.
  Status await(const std::function<Status()> &wait);
  // Waits until NCCL has accepted a call that returned `code`. `doing` is for messages.
  Status settle(Comm comm, Code code, const std::string &doing);
  // Aborts all communicators, once, for a failure outside await().
  void abort(const Status &reason);
  // The failure that aborted the communicators.
  Status failure() const;

private:
  void watch();
  void noteProgress();
  Status look();
  Status error(Comm comm, Code code, const std::string &doing) const;
  void abortLocked(const Status &reason);

  const Table &table_;
  const World &world_;
  std::chrono::milliseconds timeout_;
  mutable std::mutex mutex_;
  std::condition_variable change_;
  std::vector<Comm> comms_;
  Status failure_;
  const uint32_t *word_ = nullptr;
  uint32_t seen_ = 0;                           // the value of the word
  std::chrono::steady_clock::time_point moved_; // when await() began, or the word changed last
  std::map<int, std::chrono::steady_clock::time_point> ends_; // of ranks, when first noticed
  bool isAwaiting_ = false, isOver_ = false;
  std::thread thread_; // the last member: it uses the others
};

} // namespace cleave::comm::nccl

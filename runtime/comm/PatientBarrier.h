// A barrier for the slow parts of a run: loading, saving, hashing. A rank may take any time as long
// as it makes progress (Heartbeat.h); a rank without progress for the timeout is lost.
//
// Every rank publishes a note on the World's blackboard: how many barriers it has entered, and its
// CPU time. Rank 0 reads the notes of all ranks and publishes its verdict; the other ranks read
// rank 0's note and the verdict.
#pragma once

#include "runtime/base/AwakeClock.h"
#include "runtime/comm/Communicator.h"
#include "runtime/comm/Heartbeat.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cleave::comm {

class PatientBarrier {
public:
  // `everyone` is the group of all ranks; both references outlive this object. Every rank makes
  // one. The calling thread is the one that works and waits. Its CPU time is also passed to
  // `report`, in another thread, at least every second.
  PatientBarrier(World &world, Communicator &everyone, std::chrono::milliseconds timeout,
                 std::function<void(uint64_t)> report = {});

  // Returns when all ranks have called it. `doing` says what the ranks did before: `saving`.
  // Status::lost names a rank that ended, or made no progress for the timeout.
  Status wait(const std::string &doing);

private:
  using Clock = std::chrono::steady_clock;
  // What this rank knows of another one.
  struct Seen {
    std::string note;
    int64_t entered = 0; // barriers
    AwakeClock::Duration changed{0};
  };

  Result<std::optional<std::string>> read(const std::string &key, const std::string &doing);
  Status write(const std::string &key, const std::string &value, const std::string &doing);
  Status writeNote(uint64_t cpuTime, const std::string &doing);
  Status unreachable(const Status &status, Clock::time_point begun, const std::string &doing);
  Status look(int rank, Seen &seen, const std::string &doing);
  Status collect(const std::string &doing);
  Status follow(const std::string &doing);
  Status silent(int rank, const std::string &doing) const;
  Status ended(int rank, const std::string &doing) const;

  World &world_;
  Communicator &everyone_;
  std::chrono::milliseconds timeout_;
  std::function<void(uint64_t)> report_;
  std::atomic<int64_t> entered_{0};
  std::mutex noteMutex_;
  std::atomic<bool> isFirstSilent_{false}; // rank 0 let a request wait
  AwakeClock clock_;
  std::unique_ptr<Heartbeat> heartbeat_; // destroyed first: its thread uses the members above
};

} // namespace cleave::comm

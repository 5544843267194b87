// See RollCall.h. Every rank writes an entry into the store. Rank 0 reads them all and writes its
// verdict, which the others wait for: `0` if all is well, otherwise the kind of the failed status
// and its message.
#include "runtime/launch/RollCall.h"

#include <random>
#include <thread>

namespace cleave::launch {
namespace {

constexpr const char *kVerdict = "roll/verdict";

std::string keyOf(int rank) { return concat("roll/", rank); }

// An entry has random digits, so that two processes of the same rank differ.
std::string entryOf(const std::string &choice) {
  return concat(std::random_device()(), " ", choice);
}
std::string choiceOf(const std::string &entry) { return entry.substr(entry.find(' ') + 1); }

std::string named(const std::string &choice) {
  return choice.empty() ? "no CLEAVE_COMM" : "CLEAVE_COMM=" + choice;
}

// `rank 1`, `ranks 1, 3`; of those without an entry.
Result<std::string> missingRanks(comm::TcpStore &store, int size) {
  std::string list;
  int count = 0;
  for (int rank = 0; rank < size; ++rank) {
    CLEAVE_TRY_ASSIGN(auto entry, store.peek(keyOf(rank)));
    if (!entry)
      list += concat(count++ ? ", " : "", rank);
  }
  return concat(count > 1 ? "ranks " : "rank ", list);
}

// Rank 0: waits for the entries of all ranks and compares them.
Status readEntries(comm::TcpStore &store, const RankEnvironment &environment,
                   const std::string &choice, std::chrono::milliseconds timeout) {
  auto begun = std::chrono::steady_clock::now();
  for (int rank = 1; rank < environment.size; ++rank) {
    auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begun);
    auto entry = store.get(keyOf(rank), std::max(timeout - waited, std::chrono::milliseconds(0)));
    if (!entry) {
      auto missing = missingRanks(store, environment.size);
      if (!missing)
        return missing.status();
      return Status::lost(*missing, " did not come to the rendezvous at ",
                          environment.masterAddress, ":", environment.masterPort, " within ",
                          std::chrono::duration<double>(timeout).count(), " s");
    }
    if (choiceOf(*entry) != choice)
      return Status::userError("rank ", rank, " has ", named(choiceOf(*entry)), ", rank 0 has ",
                               named(choice), "; set it for all ranks or for none");
  }
  return Status::ok();
}

Status fromVerdict(const std::string &verdict) {
  if (verdict == "0")
    return Status::ok();
  std::string message = verdict.substr(1);
  return verdict[0] == '1' ? Status::userError(message) : Status::lost(message);
}

} // namespace

Status callRoll(comm::TcpStore &store, const RankEnvironment &environment,
                const std::string &choice, std::chrono::milliseconds timeout) {
  Status entered = store.set(keyOf(environment.rank), entryOf(choice));
  if (entered.kind() == StatusKind::UserError)
    return Status::userError("another process has joined this job as rank ", environment.rank,
                             "; start each process with a rank of its own");
  CLEAVE_TRY(entered);
  if (environment.rank != 0) { // rank 0 may have begun to wait a little later
    auto verdict = store.get(kVerdict, timeout + std::chrono::seconds(5));
    return verdict ? fromVerdict(*verdict)
                   : verdict.status().withContext("rank 0 did not call the roll");
  }
  Status status = readEntries(store, environment, choice, timeout);
  CLEAVE_TRY(store.set(kVerdict, concat(status.exitCode(), status.message())));
  if (!status) // the others read it before the store goes with this rank
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  return status;
}

} // namespace cleave::launch

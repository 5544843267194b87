// Session: one rank among the others: the world that it joins, what all ranks agree on, and the
// messages of rank 0.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/PatientBarrier.h"
#include "runtime/launch/Launch.h"
#include "tools/cleave-run/Agreement.h"
#include "tools/cleave-run/Options.h"

#include <memory>
#include <string>
#include <vector>

namespace cleave::run {

// Keeps references to the constructor's arguments. Methods but join() are for ranks that have
// joined.
class Session {
public:
  Session(const Options &options, const launch::RankEnvironment &environment,
          launch::StepReporter &reporter)
      : options_(options), environment_(environment), reporter_(reporter) {}

  // Collective: connects the ranks. Errors as of launch::joinWorld.
  Status join();

  const launch::RankEnvironment &environment() const { return environment_; }
  bool isFirst() const { return environment_.rank == 0; }
  // --threads, or this rank's share of the cores.
  int threads() const;
  const comm::Options &communication() const { return communication_; }
  comm::World &world() { return *world_; }
  comm::Communicator &everyone() const { return *everyone_; }
  // A barrier of everyone() for use after slow parts of the run.
  comm::PatientBarrier &barrier() { return *barrier_; }

  // Collective: succeeds if all ranks arrive without a failure and with equal intents; otherwise
  // all ranks end with one message. `doing`: the work of ranks that have not arrived, for messages.
  Status agreeAfter(const std::string &doing, const Intent &own);
  // Sets whether all ranks have the same failure, so that one message reports it.
  void setJoint(bool isJoint) { isJoint_ = isJoint; }
  // A failure as the user sees it: with the rank and its current work, unless the launcher adds
  // both or all ranks have it.
  Status described(const Status &failure) const;

  // Print on rank 0, unless --quiet is given or there is nothing to print.
  void note(const std::vector<std::string> &notes) const;
  void warn(const std::string &text) const;
  // Collective: rank 0 prints the texts of all ranks, each below the title and its rank.
  Status printFromAll(const char *title, const std::string &text) const;

private:
  const Options &options_;
  const launch::RankEnvironment &environment_;
  launch::StepReporter &reporter_;
  // Each depends on those before it.
  comm::Options communication_;
  std::unique_ptr<comm::World> world_;
  std::unique_ptr<comm::Communicator> everyone_;
  std::unique_ptr<comm::PatientBarrier> barrier_;
  bool isJoint_ = false;
};

} // namespace cleave::run

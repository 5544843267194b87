// --data-command: rank 0 runs the command, and all ranks get what it writes.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/DataCommand.h"
#include "tools/cleave-run/Options.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cleave::run {

class DataFeed {
public:
  // The plan has inputs; plan and options outlive the feed.
  DataFeed(const plan::Plan &plan, const Options &options);

  // On rank 0: starts the command, which is to write the micro-batches from step `first` on. A user
  // error if that fails.
  Status start(int64_t first);

  // Collective: hands the micro-batches of a step to source(). False if the command has ended
  // before it had written all of them. User errors, the same on all ranks: see DataCommand::next()
  // and BatchSource::set(), and a command that has written nothing.
  Result<bool> receive(int64_t step, comm::Communicator &everyone);

  const data::BatchSource &source() const { return source_; }

private:
  Result<std::vector<std::string>> read(int64_t step);

  const Options &options_;
  std::vector<data::InputDescription> inputs_;
  int64_t slots_, first_ = 0;
  data::BatchSource source_;
  std::unique_ptr<data::DataCommand> command_; // of rank 0
};

} // namespace cleave::run

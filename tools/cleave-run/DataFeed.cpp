// See DataFeed.h.
#include "tools/cleave-run/DataFeed.h"

#include "runtime/base/DType.h"
#include "runtime/executor/Executor.h"
#include "tools/cleave-run/Gather.h"

#include <chrono>
#include <nlohmann/json.hpp>

namespace cleave::run {

using Json = nlohmann::ordered_json;

static std::string nameOf(const Options &options) {
  return concat("the data command '", options.dataCommand, "'");
}

// CLEAVE_INPUTS: what the command is to write.
static std::string described(const std::vector<data::InputDescription> &inputs) {
  Json all = Json::array();
  for (const data::InputDescription &input : inputs) {
    Json entry{{"name", input.name}, {"dtype", longName(input.dtype)}, {"shape", input.shape}};
    if (input.vocabulary)
      entry["below"] = *input.vocabulary;
    if (input.ignored)
      entry["ignored"] = *input.ignored;
    all.push_back(std::move(entry));
  }
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

DataFeed::DataFeed(const plan::Plan &plan, const Options &options)
    : options_(options), inputs_(executor::inputsOf(plan)), slots_(executor::slotsOf(plan)),
      source_(inputs_, nameOf(options)) {}

Status DataFeed::start(int64_t first) {
  first_ = first;
  data::CommandOptions command;
  command.command = options_.dataCommand;
  command.environment = {{"CLEAVE_FIRST_STEP", concat(first)},
                         {"CLEAVE_MICRO_BATCHES", concat(slots_)},
                         {"CLEAVE_SEED", concat(options_.seed)},
                         {"CLEAVE_INPUTS", described(inputs_)}};
  command.arrays = inputs_.size();
  command.readAhead = size_t(2 * slots_);
  // Shorter than the time after which the other ranks, which wait for this one, take it for lost.
  command.patience = std::chrono::milliseconds(options_.timeoutSeconds * 900);
  CLEAVE_TRY_ASSIGN(command_, data::DataCommand::start(std::move(command)));
  return Status::ok();
}

// The micro-batches of a step, on rank 0; none if the command has ended.
Result<std::vector<std::string>> DataFeed::read(int64_t step) {
  std::vector<std::string> batches;
  for (int64_t slot = 0; slot < slots_; ++slot) {
    CLEAVE_TRY_ASSIGN(std::string bytes, command_->next());
    if (bytes.empty() && step == first_)
      return Status::userError(nameOf(options_), " has written ", batches.size(),
                               batches.size() == 1 ? " batch" : " batches", ", expected ", slots_,
                               " for each step");
    if (bytes.empty())
      return std::vector<std::string>();
    batches.push_back(std::move(bytes));
  }
  return batches;
}

Result<bool> DataFeed::receive(int64_t step, comm::Communicator &everyone) {
  std::vector<std::string> batches;
  std::string failure; // empty: none
  if (everyone.rank() == 0) {
    if (auto read = this->read(step))
      batches = std::move(*read);
    else
      failure = read.status().message();
  }
  int64_t found[] = {int64_t(batches.size()), int64_t(failure.size())};
  CLEAVE_TRY(everyone.allReduce(found, found, 2, DType::I64, comm::Reduce::Sum));
  if (found[1] > 0) {
    CLEAVE_TRY_ASSIGN(failure, fromFirst(everyone, failure));
    return Status::userError(failure);
  }
  if (found[0] == 0)
    return false;
  batches.resize(size_t(found[0]));
  for (std::string &batch : batches) {
    CLEAVE_TRY_ASSIGN(batch, fromFirst(everyone, std::move(batch)));
  }
  CLEAVE_TRY(source_.set(step, std::move(batches)));
  return true;
}

} // namespace cleave::run

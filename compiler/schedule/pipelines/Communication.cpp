#include "compiler/schedule/pipelines/Communication.h"

#include "runtime/base/Concat.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

namespace cleave::pipelines {

const char *nameOf(Operation operation) {
  constexpr const char *kNames[] = {"",        "SEND_F",      "RECV_F",          "SEND_B",
                                    "RECV_B",  "WAIT_SEND_F", "WAIT_SEND_B",     "UNSHARD",
                                    "RESHARD", "REDUCE_GRAD", "WAIT_REDUCE_GRAD"};
  return kNames[static_cast<uint8_t>(operation)];
}

bool hasMicroBatch(Operation operation) {
  return Operation::SendForward <= operation && operation <= Operation::WaitSendBackward;
}

std::string textOf(const Instruction &instruction) {
  if (instruction.task)
    return textOf(*instruction.task);
  std::string text = concat(instruction.stage, nameOf(instruction.operation));
  if (hasMicroBatch(instruction.operation))
    text += std::to_string(instruction.microBatch);
  return text;
}

namespace {

using Row = std::vector<Instruction>;

bool isGradient(Kind kind) { return kind == Kind::Backward || kind == Kind::InputGradient; }

// The send and the receive of an action's result.
struct Message {
  Instruction send, receive;
};

std::optional<Message> messageOf(const Order &order, const Action &action) {
  const bool isForward = action.kind == Kind::Forward;
  if (isForward ? order.isLast(action.stage)
                : !isGradient(action.kind) || order.isFirst(action.stage))
    return std::nullopt;
  const uint32_t to = isForward ? action.stage + 1 : action.stage - 1;
  if (order.rankOf[to] == order.rankOf[action.stage])
    return std::nullopt;
  const Operation send = isForward ? Operation::SendForward : Operation::SendBackward;
  const Operation receive = isForward ? Operation::ReceiveForward : Operation::ReceiveBackward;
  return Message{{send, std::nullopt, action.stage, action.microBatch},
                 {receive, std::nullopt, to, action.microBatch}};
}

// The first stages that tasks from `begin` on use; all of the task that reaches `count`.
std::vector<uint32_t> nextStages(std::span<const Task> tasks, size_t count) {
  std::vector<uint32_t> stages;
  for (const Task &task : tasks) {
    for (const Action &action : task.actions())
      if (std::find(stages.begin(), stages.end(), action.stage) == stages.end())
        stages.push_back(action.stage);
    if (stages.size() >= count)
      break;
  }
  return stages;
}

Row withParameters(std::span<const Task> tasks) {
  constexpr size_t kMostStages = 3;
  Row row;
  std::vector<uint32_t> gathered;
  const auto add = [&](Operation operation, uint32_t stage) {
    row.push_back({operation, std::nullopt, stage});
  };
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::vector<uint32_t> next = nextStages(tasks.subspan(i), kMostStages);
    std::erase_if(gathered, [&](uint32_t stage) {
      const bool isFreed = std::find(next.begin(), next.end(), stage) == next.end();
      if (isFreed)
        add(Operation::Reshard, stage);
      return isFreed;
    });
    for (uint32_t stage : next)
      if (std::find(gathered.begin(), gathered.end(), stage) == gathered.end()) {
        add(Operation::Unshard, stage);
        gathered.push_back(stage);
      }
    row.push_back({Operation::Compute, tasks[i]});
  }
  for (uint32_t stage : gathered)
    add(Operation::Reshard, stage);
  return row;
}

Row withReductions(const Row &row, uint32_t microBatches) {
  Row result;
  std::map<uint32_t, uint32_t> backwards; // by stage
  for (const Instruction &instruction : row) {
    result.push_back(instruction);
    if (!instruction.task)
      continue;
    for (const Action &action : instruction.task->actions())
      if ((action.kind == Kind::Backward || action.kind == Kind::WeightGradient) &&
          ++backwards[action.stage] == microBatches)
        for (Operation operation : {Operation::ReduceGradient, Operation::WaitReduceGradient})
          result.push_back({operation, std::nullopt, action.stage});
  }
  return result;
}

// Waits for sends: of forwards after the backward of their stage, of the rest at the end.
Row withWaits(const Row &row) {
  Row result;
  std::vector<Instruction> waits; // that are due
  for (const Instruction &instruction : row) {
    result.push_back(instruction);
    if (instruction.operation == Operation::SendForward)
      waits.push_back(
          {Operation::WaitSendForward, std::nullopt, instruction.stage, instruction.microBatch});
    if (instruction.operation == Operation::SendBackward)
      waits.push_back(
          {Operation::WaitSendBackward, std::nullopt, instruction.stage, instruction.microBatch});
    if (!instruction.task)
      continue;
    for (const Action &action : instruction.task->actions()) {
      const Instruction wait{Operation::WaitSendForward, std::nullopt, action.stage,
                             action.microBatch};
      const auto due = std::find(waits.begin(), waits.end(), wait);
      if (isGradient(action.kind) && due != waits.end()) {
        result.push_back(wait);
        waits.erase(due);
      }
    }
  }
  result.insert(result.end(), waits.begin(), waits.end());
  return result;
}

// Adds sends and receives: rank by rank, one instruction of each that has its inputs.
class SendsAndReceives {
public:
  SendsAndReceives(const Order &order, const std::vector<Row> &rows)
      : order_(order), rows_(rows), next_(rows.size()), result_(rows.size()) {}

  Result<std::vector<Row>> run() {
    for (size_t left = rows_.size(); left > 0;) {
      bool isChanged = false;
      for (uint32_t rank = 0; rank < rows_.size(); ++rank) {
        if (next_[rank] == rows_[rank].size() || !isReady(rows_[rank][next_[rank]]))
          continue;
        add(rank, rows_[rank][next_[rank]++]);
        left -= next_[rank] == rows_[rank].size();
        isChanged = true;
      }
      if (!isChanged)
        return Status::userError("deadlock: no rank can go on");
    }
    return std::move(result_);
  }

private:
  bool isReady(const Instruction &instruction) const {
    if (!instruction.task)
      return true;
    for (const Action &action : instruction.task->actions()) {
      const auto has = [&](Kind kind, uint32_t stage) {
        return done_.contains({kind, stage, action.microBatch});
      };
      if (action.kind == Kind::Forward && !order_.isFirst(action.stage) &&
          !has(Kind::Forward, action.stage - 1))
        return false;
      if (isGradient(action.kind) && !order_.isLast(action.stage) &&
          !has(Kind::Backward, action.stage + 1) && !has(Kind::InputGradient, action.stage + 1))
        return false;
    }
    return true;
  }

  void add(uint32_t rank, const Instruction &instruction) {
    result_[rank].push_back(instruction);
    if (!instruction.task)
      return;
    for (const Action &action : instruction.task->actions()) {
      done_.insert(action);
      if (const std::optional<Message> message = messageOf(order_, action)) {
        result_[rank].push_back(message->send);
        result_[order_.rankOf[message->receive.stage]].push_back(message->receive);
      }
    }
  }

  const Order &order_;
  const std::vector<Row> &rows_;
  std::vector<size_t> next_; // by rank
  std::set<Action> done_;
  std::vector<Row> result_;
};

} // namespace

Result<std::vector<std::vector<Instruction>>> withCommunication(const Order &order) {
  std::vector<Row> rows;
  for (const std::vector<Task> &tasks : order.tasks)
    rows.push_back(withReductions(withParameters(tasks), order.microBatches()));
  CLEAVE_TRY_ASSIGN(rows, SendsAndReceives(order, rows).run());
  for (Row &row : rows)
    row = withWaits(row);
  return rows;
}

namespace {

class CommunicationCheck {
public:
  CommunicationCheck(const Order &order, const std::vector<Row> &rows)
      : order_(order), rows_(rows) {}

  Status run() {
    CLEAVE_TRY(findPlaces());
    for (uint32_t rank = 0; rank < rows_.size(); ++rank)
      for (size_t at = 0; at < rows_[rank].size(); ++at)
        CLEAVE_TRY(checkOne(rows_[rank][at], at).withContext(place(rank, at)));
    return checkMeetings();
  }

private:
  using Key = std::tuple<Operation, uint32_t, uint32_t>; // with stage and micro-batch

  static Key keyOf(const Instruction &i) { return {i.operation, i.stage, i.microBatch}; }
  std::string place(uint32_t rank, size_t at) const {
    return concat("line ", rank + 1, ", cell ", at + 1, ": ", textOf(rows_[rank][at]));
  }

  Status findPlaces() {
    for (uint32_t rank = 0; rank < rows_.size(); ++rank)
      for (size_t at = 0; at < rows_[rank].size(); ++at) {
        const Instruction &instruction = rows_[rank][at];
        if (instruction.task) {
          for (const Action &action : instruction.task->actions())
            actions_[action] = at;
        } else if (instruction.stage >= order_.rankOf.size() ||
                   order_.rankOf[instruction.stage] != rank) {
          return Status::userError(place(rank, at), ": stage ", instruction.stage,
                                   " is on another rank");
        } else if (hasMicroBatch(instruction.operation) &&
                   !places_.emplace(keyOf(instruction), at).second) {
          return Status::userError(place(rank, at), ": is listed a second time");
        }
      }
    return Status::ok();
  }

  // The place of an instruction in its row, or nothing.
  std::optional<size_t> placeOf(const Instruction &instruction) const {
    const auto found = places_.find(keyOf(instruction));
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

  Status checkOne(const Instruction &instruction, size_t at) {
    if (instruction.task) {
      for (const Action &action : instruction.task->actions())
        if (const std::optional<Message> message = messageOf(order_, action))
          CLEAVE_TRY(checkMessage(*message, action, at));
    } else if (instruction.operation == Operation::WaitSendForward ||
               instruction.operation == Operation::WaitSendBackward) {
      Instruction send = instruction;
      send.operation = instruction.operation == Operation::WaitSendForward
                           ? Operation::SendForward
                           : Operation::SendBackward;
      if (const std::optional<size_t> sent = placeOf(send); !sent || *sent > at)
        return Status::userError("waits for ", textOf(send), ", which is not before it");
    }
    return Status::ok();
  }

  // The message of a task at `at` of its row.
  Status checkMessage(const Message &message, const Action &action, size_t at) {
    const std::optional<size_t> sent = placeOf(message.send), received = placeOf(message.receive);
    if (!sent || *sent < at)
      return Status::userError("expected ", textOf(message.send), " after it");
    if (!received)
      return Status::userError("expected ", textOf(message.receive), " on rank ",
                               order_.rankOf[message.receive.stage]);
    Action consumer = action;
    consumer.stage = message.receive.stage;
    if (action.kind != Kind::Forward)
      consumer.kind = actions_.contains({Kind::Backward, consumer.stage, consumer.microBatch})
                          ? Kind::Backward
                          : Kind::InputGradient;
    if (*received > actions_.at(consumer))
      return Status::userError("expected ", textOf(message.receive), " before ", textOf(consumer));
    messages_ += 1;
    return Status::ok();
  }

  // Every send and receive belongs to a message, and two ranks send and receive in one order.
  Status checkMeetings() {
    std::map<std::pair<uint32_t, uint32_t>, std::deque<Instruction>> sent; // by from and to
    size_t ends = 0;
    for (bool isSending : {true, false})
      for (uint32_t rank = 0; rank < rows_.size(); ++rank)
        for (size_t at = 0; at < rows_[rank].size(); ++at) {
          Instruction i = rows_[rank][at];
          const bool isSend =
              i.operation == Operation::SendForward || i.operation == Operation::SendBackward;
          if (isSend != isSending || i.task || !hasMicroBatch(i.operation) ||
              i.operation >= Operation::WaitSendForward)
            continue;
          ++ends;
          const bool isForward = i.operation <= Operation::ReceiveForward;
          const uint32_t other = isForward == isSend ? i.stage + 1 : i.stage - 1; // may wrap
          if (other >= order_.rankOf.size() || order_.rankOf[other] == rank)
            return Status::userError(place(rank, at), ": there is no other rank to exchange with");
          if (isSend) {
            sent[{rank, order_.rankOf[other]}].push_back(i);
            continue;
          }
          std::deque<Instruction> &queue = sent[{order_.rankOf[other], rank}];
          const Instruction send{isForward ? Operation::SendForward : Operation::SendBackward,
                                 std::nullopt, other, i.microBatch};
          if (queue.empty() || !(queue.front() == send))
            return Status::userError(place(rank, at), ": rank ", order_.rankOf[other], " sends ",
                                     queue.empty() ? std::string("nothing more")
                                                   : textOf(queue.front()),
                                     " at that place");
          queue.pop_front();
        }
    if (ends != 2 * messages_)
      return Status::userError("found ", ends, " sends and receives; expected ", 2 * messages_);
    return Status::ok();
  }

  const Order &order_;
  const std::vector<Row> &rows_;
  std::map<Key, size_t> places_;     // of sends, receives and waits in their rows
  std::map<Action, size_t> actions_; // of actions in their rows
  size_t messages_ = 0;
};

} // namespace

Status checkCommunication(const Order &order,
                          const std::vector<std::vector<Instruction>> &instructions) {
  return CommunicationCheck(order, instructions).run();
}

} // namespace cleave::pipelines

// Communication: an order with the communication that its tasks need, as PyTorch's runtime of
// pipelines executes it: sends and receives between stages, and the parameters and gradients of
// stages whose parameters are sharded over data-parallel ranks.
#pragma once

#include "compiler/schedule/pipelines/Order.h"
#include "runtime/base/Status.h"

#include <optional>

namespace cleave::pipelines {

enum class Operation : uint8_t {
  Compute,
  SendForward, // the result of a forward, to the next stage
  ReceiveForward,
  SendBackward, // the input gradient, to the stage before
  ReceiveBackward,
  WaitSendForward, // until a send is complete
  WaitSendBackward,
  Unshard, // gather the parameters of a stage
  Reshard, // free them
  ReduceGradient,
  WaitReduceGradient,
};

// PyTorch's name: `SEND_F`. Not of Compute.
const char *nameOf(Operation operation);
// Whether an operation is for one micro-batch: sends, receives and waits for sends.
bool hasMicroBatch(Operation operation);

struct Instruction {
  Operation operation = Operation::Compute;
  std::optional<Task> task; // of Compute, which uses no other field
  // The stage that sends or receives: a send of the forward of stage 0 meets a receive of stage 1.
  uint32_t stage = 0;
  uint32_t microBatch = 0; // 0 where there is none
  bool operator==(const Instruction &) const = default;
};

// `0SEND_F2`, `1UNSHARD`, or the text of a task.
std::string textOf(const Instruction &instruction);

// The instructions of each rank, as PyTorch 2.15 adds them to an order of one pipeline that check()
// accepts:
//   * at most three stages are gathered at a time, those that the next tasks use;
//   * the gradients of a stage are reduced after its last backward or weight gradient;
//   * a send directly follows its producer, and its receive is appended to the list of the other
//     rank at that moment; there is none between two stages of one rank;
//   * the wait for a forward's send follows the backward of its stage, other waits are at the end.
// Where a task has no inputs, ever, the order cannot end: then a user error.
Result<std::vector<std::vector<Instruction>>> withCommunication(const Order &order);

// A user error if the instructions, by rank, do not send each value that another rank needs once,
// after its producer, or do not receive it once, before its consumer; if two ranks do not receive
// in the order in which the other one sends; or if another operation is for a stage of another
// rank, or waits for nothing. It names the place as line and cell of a CSV, from 1: rank and place
// in its list. `order` has the tasks of the instructions, and check() accepts it.
Status checkCommunication(const Order &order,
                          const std::vector<std::vector<Instruction>> &instructions);

} // namespace cleave::pipelines

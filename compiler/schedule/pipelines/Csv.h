// Csv: orders in the CSV format of PyTorch's pipelines (torch.distributed.pipelining, version
// 2.15): one line per rank, and one cell per task or instruction in its order.
//
//   0F0,3F0,3I0,3W0,0I0,0W0        2 ranks, stages in a V, one micro-batch
//   1F0,2F0,2I0,1I0,2W0,1W0
//
// A cell is a stage, an action and a micro-batch: `2F0`. Actions are F, B, I and W (Order.h), and
// `(0F3;7B1)OVERLAP_F_B` is a pair in one task. Blanks around a cell do not count. The rank of a
// stage is where its cells are; recomputes, several pipelines and pairs of forwards cannot be
// written.
//
// Tasks alone: an empty cell is an idle step, and is left out. With communication: SEND_F, RECV_F,
// SEND_B, RECV_B, WAIT_SEND_F and WAIT_SEND_B have a stage and a micro-batch, and UNSHARD, RESHARD,
// REDUCE_GRAD and WAIT_REDUCE_GRAD a stage (Communication.h); empty cells are errors.
#pragma once

#include "compiler/schedule/pipelines/Order.h"
#include "runtime/base/Status.h"

#include <string_view>

namespace cleave::pipelines {

enum class CsvFormat {
  Tasks,         // PyTorch's compute_only
  Communication, // PyTorch's compute_comms
};

// The order of a file's text. A user error with line and cell, both from 1, if a cell is not valid,
// an action is listed twice, one is missing, a stage is on two ranks, or the order cannot end; with
// communication, also if a value is not sent and received (checkCommunication).
Result<Order> readCsv(std::string_view text, CsvFormat format);

// The text of an order, each line with a newline. A user error if check() refuses the order or the
// format cannot hold it.
Result<std::string> writeCsv(const Order &order, CsvFormat format);

} // namespace cleave::pipelines

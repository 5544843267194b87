// Draw: an order as text for a terminal, ranks by time.
#pragma once

#include "compiler/schedule/pipelines/Evaluate.h"

#include <string>
#include <string_view>

namespace cleave::pipelines {

// One line per rank. A task begins with its text, and is as long as its seconds: its letter and
// micro-batch, with the stage before it where ranks have several. Dots are bubbles. Drawings of
// more than `width` columns are continued in further blocks, each with the time at which it begins.
// The last lines state makespan, longest rank, bubble, and micro-batches in flight. `evaluation` is
// what evaluate() returned for the order. `row` is the word for a rank of the order.
//
//   rank 0  F0 F1 ......B0--- ...B1---
//   rank 1  ...F0 B0--- F1 B1--- ......
//   makespan 9.00 s, longest rank 9.00 s, bubble 33.3 %; in flight on ranks: 2 1
std::string draw(const Order &order, const Evaluation &evaluation, size_t width = 110,
                 std::string_view row = "rank");

} // namespace cleave::pipelines

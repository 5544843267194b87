// Overlap: an order of a program's instructions in which transfers run beside computation. Plain
// data.
//
// Instructions stay in their segments, and every two that access a common buffer, one of them to
// write, stay in order. No instruction passes a message to another stage of a pipeline: a send that
// waits for its receiver would otherwise wait for work that the receiver has not expected.
#pragma once

#include "passes/schedule/Waits.h"

#include <cstdint>
#include <vector>

namespace cleave::schedule {

// A program before its buffers have places: byte i of an access stands for buffer number i.
struct TimedProgram {
  QueuedProgram program;
  std::vector<double> seconds; // predicted, by instruction
  std::vector<int64_t> bytes;  // by buffer; 0: it is live all the time, or is not counted
};

// The new order: by new number the given number of an instruction. It is the given order unless
// another one is faster (secondsOf) and takes no more than `limit` bytes, or no more than the given
// one (peakOf).
//
// Step 1 moves each transfer (an instruction that is not in queue 0) to the latest place from which
// it ends before its first reader begins, as far as memory permits. Step 2: where computation would
// wait for a transfer, later computation that need not wait runs first.
std::vector<int64_t> overlapOrder(const TimedProgram &timed, int64_t limit);

// The program with the `flight` of its copies between spaces: until the computation that begins
// after their predicted end, as far as memory permits: no more than `limit` bytes, or no more than
// now.
TimedProgram withFlights(const TimedProgram &timed, int64_t limit);

// The program in another order.
TimedProgram reordered(const TimedProgram &timed, const std::vector<int64_t> &order);

// The seconds of one run of each segment, messages between others, if each queue runs its
// instructions in order, each instruction waits for those before it that access a common buffer,
// one of them to write, and a transfer waits for the computation before it: until then, others may
// need the places of its buffers.
double secondsOf(const TimedProgram &timed);

// The most bytes that are live at an instruction. A buffer is live from the first instruction that
// accesses it to the last one that may run while an access is in flight (QueueOrder::until).
int64_t peakOf(const TimedProgram &timed);

} // namespace cleave::schedule

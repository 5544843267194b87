// Queues: on GPUs, instructions that compute, collectives, copies between host and device, sends
// and receives are in queues of their own; waits order those that access common bytes
// (program.proto). On CPUs, only copies between spaces have one.
#pragma once

#include "passes/schedule/Waits.h"

#include "mlir/IR/BuiltinOps.h"

namespace cleave::program {
class ProgramOp;
} // namespace cleave::program

namespace cleave::schedule {

// The instructions of a program and the bytes that they access. The bytes of placed buffers are
// numbered arena after arena; otherwise byte i stands for buffer number i.
QueuedProgram queuesOf(program::ProgramOp program, bool arePlaced);

// Sets the attribute `queue` of instructions in other queues than 0.
void assignQueues(mlir::ModuleOp module);

// Sets their attribute `waits`. The buffers have been placed.
void setWaits(mlir::ModuleOp module);

// Registers --cleave-schedule-queues.
void registerQueuesPass();

} // namespace cleave::schedule

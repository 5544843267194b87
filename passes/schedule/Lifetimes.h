// Lifetimes: which instructions need each buffer of a program.
#pragma once

namespace cleave::program {
class ProgramOp;
} // namespace cleave::program

namespace cleave::schedule {

// To be called when all instructions are in their final order, before the buffers are placed. Sets
// `first` and `last` of every buffer: from the first instruction that accesses it to the last one
// that may run while an access is in flight (QueueOrder::until). Persistent buffers, and those of
// early loads, live all the time. Erases the other buffers that no instruction accesses.
void setLifetimes(program::ProgramOp program);

} // namespace cleave::schedule

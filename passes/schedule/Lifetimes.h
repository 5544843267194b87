// Lifetimes: which instructions need each buffer of a program.
#pragma once

namespace cleave::program {
class BufferOp;
class ProgramOp;
} // namespace cleave::program

namespace cleave::schedule {

// Whether the buffer is live all the time: it is persistent, or an early load writes it.
bool isAlwaysLive(program::BufferOp buffer);

// To be called when all instructions are in their final order, before the buffers are placed. Sets
// `first` and `last` of every buffer: from the first instruction that accesses it to the last one
// that may run while an access is in flight (QueueOrder::until). Erases the buffers that no
// instruction accesses and that are not always live.
void setLifetimes(program::ProgramOp program);

} // namespace cleave::schedule

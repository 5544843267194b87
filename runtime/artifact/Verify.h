// The independent check of a plan: it shares no code with the compiler and recomputes everything
// that the plan states.
//
// The rules, in the order of the checks (each has a labelled negative test):
//  structure      mesh, tensors, their sources and shardings are well formed; every rank runs one
//                 step, and all or none one evaluation; there is a module of the plan's device if
//                 there are kernels
//  placement      buffers lie inside their arenas, are aligned to 64 bytes and large enough for
//                 their shape; no two overlap in space and time; persistent ones are always live;
//                 the stated peak is the recomputed one
//  kernels        symbols match the signatures that they carry; those of GPUs have a grid
//  instructions   every index is in range, every operand fits into its buffer and is live; dtypes
//                 and sizes agree; launches match the signatures of their kernels
//  schedule       every segment runs at most once per micro-batch, and there are at most as many
//                 micro-batches as entries
//  queues         instructions of different queues that access common bytes, one of them to write,
//                 are ordered by waits; all collectives are in one queue
//  early loads    the buffer of a load that may run during the step before is live throughout the
//                 step, the load alone writes it, and the segment of the load alone reads it
//  dataflow       along the whole schedule, nothing is read before it is written or after it was
//                 overwritten; an evaluation writes no persistent buffer
//  programs       the programs of one rank have the same persistent buffers at the same places
//  communication  all members of a group issue the same collectives in one common order with equal
//                 sizes, every send has its recv, and no rank waits forever
//
// The work of a verified step is bounded by the plan: at most 2^28 instructions, of which none
// touches more than its buffers, except that a matmul or convolution takes up to 2 * a * b FLOPs,
// where `a` and `b` are the numbers of elements of its result and of its larger operand.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

namespace cleave::artifact {

// Ok, or a defect: one sentence that names the rank, instruction and buffers of the first
// violation.
Status verifyPlan(const plan::Plan &plan);

} // namespace cleave::artifact

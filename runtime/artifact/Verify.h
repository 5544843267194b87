// The independent check of a plan: it shares no code with the compiler and believes none of its
// claims.
//
// The rules, in the order in which they are looked at (each has a labelled negative test):
//  structure      mesh, program table, tensors, their sources and shardings are well formed
//  placement      buffers lie inside their arenas, 64-aligned, large enough for their shape; no two
//                 overlap in space and time; persistent ones live always; the stated peak is the
//                 recomputed one
//  instructions   every index is in range, every operand fits into its buffer and is live; dtypes
//                 and sizes agree
//  dataflow       along the whole schedule, nothing is read before it is written or after it was
//                 overwritten; events are started before they are waited for, and nobody touches
//                 a started collective's buffers before that
//  communication  all members of a group issue the same collectives in one common order with equal
//                 sizes, every send meets its recv, and no rank waits for ever
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

namespace cleave::artifact {

// Ok, or a defect: one sentence with rank, instruction and buffers of the first rule that is
// broken.
Status verifyPlan(const plan::Plan &plan);

} // namespace cleave::artifact

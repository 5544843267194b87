// RematTables: what is recomputed in the backward pass (activation checkpointing) and what is kept
// for it, with the layers of a model in one row.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <string>

namespace cleave::dump {

// The decisions of a kind, `recompute` or `kept`, in program order: how many of how many values of
// alike ops, their bytes on one rank, the seconds of recomputing them, and the reason of the first.
// Empty without such decisions.
std::string rematTable(const plan::Plan &plan, const std::string &kind);

// `activation checkpointing of 271 values: 34.1 GiB not kept, 55.0 ms more; most of it input of
// h.{0-78}.down.weight (79 of 80); copies of 560 parameters are recomputed`; empty if nothing is
// recomputed.
std::string recomputationText(const plan::Plan &plan);

} // namespace cleave::dump

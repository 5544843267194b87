// What cleave-dump can show of a plan: one function per option, each from the plan to text for
// people (Json.cpp: for programs). They read the plan only; equal plans give equal text.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>

namespace cleave::dump {

// What was decided and why, what it costs: the default. `path` is the plan's file, for the title.
std::string summary(const plan::Plan &plan, const std::string &path);

// Every logical tensor: layout, what one rank holds.
std::string shardingView(const plan::Plan &plan);

// Memory over the instructions of one step as a picture, what is live at the peak, the largest
// buffers.
std::string memoryView(const plan::Plan &plan);

// Every collective of one step: kind, group, bytes, predicted seconds.
std::string collectivesView(const plan::Plan &plan);

// The instructions of one rank. A user error for a rank that the plan has not.
Result<std::string> programView(const plan::Plan &plan, uint32_t rank);

// All that the plan says about one parameter, op or value: decisions with reasons and alternatives,
// tensor, buffers, instructions. A user error, with the nearest names, if nothing has that name.
Result<std::string> explain(const plan::Plan &plan, const std::string &name);

// The plan as JSON, fields as docs/interface.md promises.
std::string json(const plan::Plan &plan);

} // namespace cleave::dump

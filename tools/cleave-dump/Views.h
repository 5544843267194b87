// The views of cleave-dump: one function per option, each from the plan to text (Json.cpp: to
// JSON). The result depends on the plan only.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace cleave::dump {

// Default view: decisions, reasons, costs. `path` of the plan file is used in the title.
// `all`: every row of its tables.
std::string summary(const plan::Plan &plan, const std::string &path, bool all = false);

// The same in about ten lines, as cleave-compile prints it.
std::string brief(const plan::Plan &plan, const std::string &path);

// Every logical tensor: its layout, and the part held by one rank.
std::string shardingView(const plan::Plan &plan);

// Chart of memory over the instructions of one step, live buffers at the peak, largest buffers.
std::string memoryView(const plan::Plan &plan);

// Every collective of one step: kind, group, bytes, predicted seconds.
std::string collectivesView(const plan::Plan &plan);

// The stages of a pipeline over time: their parts of micro-batches with predicted seconds, bubbles,
// and micro-batches in flight. A user error if the plan has no stages.
Result<std::string> scheduleView(const plan::Plan &plan);

// One step of rank 0 by kind of instruction: predicted seconds, FLOPs, bytes, rates, and on GPUs
// the blocks of a launch. The verifier's error if the plan is defective.
Result<std::string> kindsView(const plan::Plan &plan);

// The instructions of one rank. A user error if the plan has no such rank.
Result<std::string> programView(const plan::Plan &plan, uint32_t rank);

// Everything about one parameter, op or value: decisions with reasons and alternatives, tensor,
// buffers, instructions. For `stage:N`, explainStage(). A user error that lists similar names if
// the name is unknown.
Result<std::string> explain(const plan::Plan &plan, const std::string &name);

// The layers and the time of a stage, and for each border the time of all stages if it were a
// layer earlier or later. `number`: as typed.
Result<std::string> explainStage(const plan::Plan &plan, const std::string &number);

// What the backward pass reads of the forward pass: values that are kept and values that are
// recomputed, with the price of memory at which that would change.
std::string rematView(const plan::Plan &plan);

// Two plans side by side: costs, kernels and collectives, layouts, recomputation and memory that
// differ, those of repeated blocks together, the largest differences first. Paths are used in the
// title.
std::string diffView(const plan::Plan &before, const std::string &pathBefore,
                     const plan::Plan &after, const std::string &pathAfter);

// A page for browsers, in one file that loads nothing: mesh, memory, timeline, decisions, rates,
// collectives, remarks. `path` of the plan file is used in the title.
std::string htmlView(const plan::Plan &plan, const std::string &path);

// The predicted step as a trace for Perfetto: every run of all ranks; above a million instructions,
// each segment once, and one rank where all run one program. A user error if the step cannot end.
Result<std::string> traceView(const plan::Plan &plan);

// A plan in the form of another framework.
struct Exported {
  std::string text;                 // the file
  std::vector<std::string> missing; // a sentence per decision that it cannot express
};

// The mesh, and the layout of every tensor between steps as placements of PyTorch's DTensors, in
// JSON (docs/interface.md).
Exported dtensorView(const plan::Plan &plan);

// A configuration of torchtitan in TOML. `path` of the plan file is named in it. A user error if
// the plan is for inference.
Result<Exported> torchtitanView(const plan::Plan &plan, const std::string &path);

// The plan as JSON; docs/interface.md lists the stable fields.
std::string json(const plan::Plan &plan);

} // namespace cleave::dump

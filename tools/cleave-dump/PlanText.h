// The parts of a plan as short texts, and access to what its indices refer to.
//
// A plan may be damaged in ways that its hash does not show (a defect of the compiler): every index
// is checked here, and what is not there prints as `?`. The views use nothing else to follow an
// index.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::dump {

// How wide tables are: as the terminal; not limited where the output is none.
size_t lineWidth();
// The text, on a terminal at most `width` columns of it.
std::string shortened(const std::string &text, size_t width);

// `parameter`, `device`, `sum`, …
std::string text(plan::Role role);
std::string text(plan::Space space);
std::string text(plan::Reduce reduce);

// `2x16x256`, `scalar`.
std::string shapeText(const google::protobuf::RepeatedField<int64_t> &shape);

// `dp+tp`; `-` without axes.
std::string axesText(const plan::Plan &plan, const google::protobuf::RepeatedField<uint32_t> &axes);

// `dp=2 x tp=4`; `one rank` for a mesh without axes.
std::string meshText(const plan::Plan &plan);

// `[dp, _]`: the mesh axes that each dim of the tensor is split over.
std::string layoutText(const plan::Plan &plan, const plan::Tensor &tensor);

// Bytes of the whole tensor, and of the block (with padding) that one rank holds.
uint64_t tensorBytes(const plan::Tensor &tensor);
uint64_t blockBytes(const plan::Plan &plan, const plan::Tensor &tensor);

// What an index refers to; an empty message if there is no such thing.
const plan::Buffer &bufferAt(const plan::Program &program, uint64_t index);
const plan::Kernel &kernelAt(const plan::Program &program, uint64_t index);
const plan::Tensor &tensorAt(const plan::Plan &plan, uint64_t index);
const plan::Program &programOf(const plan::Plan &plan, uint64_t rank);

// `name f32[2x16]`; `?7` for an index without a buffer.
std::string bufferText(const plan::Program &program, uint64_t index);

// The ranks that run program `index`, as `0-3,6`.
std::string ranksOf(const plan::Plan &plan, uint32_t index);

// The ranks of a group along mesh axes.
uint64_t ranksAlong(const plan::Plan &plan, const google::protobuf::RepeatedField<uint32_t> &axes);

// How often the schedule runs a segment in one step.
uint64_t runsPerStep(const plan::Program &program, uint32_t segment);

// Bytes of the tensors that a collective moves or reduces (one rank's view, the larger side).
uint64_t collectiveBytes(const plan::Program &program, const plan::Collective &collective);

} // namespace cleave::dump

// Short strings for the parts of a plan, and checked access by index.
//
// A plan may contain invalid indices despite a correct hash (a defect of the compiler): every
// access here is checked, and an invalid index prints as `?`. The views follow indices through
// these functions only.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::dump {

// Columns of a line (terminalWidth()).
size_t lineWidth();
// The table in that width, with its headings in colour on a terminal.
std::string tableText(const Table &table);
// A text that heads a part of the output, in lines of that width; none behind the last one.
std::string titled(const std::string &text);
// The text in lines of that width, each behind `indent` blanks.
std::string paragraph(const std::string &text, size_t indent);

// `gpt.plan: training of gpt.onnx on 4 ranks, mesh dp=2,tp=2`.
std::string titleOf(const plan::Plan &plan, const std::string &path);

// `parameter`, `device`, `sum`, …
std::string text(plan::Role role);
std::string text(plan::Space space);
std::string text(plan::Reduce reduce);

// `2x16x256`, `scalar`.
std::string shapeText(const google::protobuf::RepeatedField<int64_t> &shape);

// `dp+tp`; `-` without axes.
std::string axesText(const plan::Plan &plan, const google::protobuf::RepeatedField<uint32_t> &axes);

// `dp=2,tp=4`; `one rank` for a mesh without axes.
std::string meshText(const plan::Plan &plan);

// The name of the mesh axis over the stages of a pipeline, and its size; 1 without stages.
inline constexpr std::string_view kStageAxis = "stage";
uint64_t stageCount(const plan::Plan &plan);

// `[dp, _]`: the mesh axes that each dim of the tensor is split over.
std::string layoutText(const plan::Plan &plan, const plan::Tensor &tensor);

// Bytes of the whole tensor, and of the (padded) block of one rank.
uint64_t tensorBytes(const plan::Tensor &tensor);
uint64_t blockBytes(const plan::Plan &plan, const plan::Tensor &tensor);

// The message at an index; an empty message if the index is invalid.
const plan::Buffer &bufferAt(const plan::Program &program, uint64_t index);
const plan::Kernel &kernelAt(const plan::Program &program, uint64_t index);
const plan::Tensor &tensorAt(const plan::Plan &plan, uint64_t index);
// The step of a rank; an empty message if it has none.
const plan::Program &programOf(const plan::Plan &plan, uint32_t rank);

// `name f32[2x16]`; `?7` for an index without a buffer.
std::string bufferText(const plan::Program &program, uint64_t index);

// The ranks that run the program, as `0-3,6`.
std::string ranksOf(const plan::Program &program);
// Whether the program is an evaluation.
bool isEvaluation(const plan::Program &program);

// Number of ranks of a group along these mesh axes.
uint64_t ranksAlong(const plan::Plan &plan, const google::protobuf::RepeatedField<uint32_t> &axes);

// Number of executions of a segment in one step or evaluation.
uint64_t runsOf(const plan::Program &program, uint32_t segment);

// `runs 2 times a step`, `runs once an evaluation`
std::string runsText(const plan::Program &program, uint32_t segment);

// Bytes moved or reduced by a collective on one rank: the larger of operands and results.
uint64_t collectiveBytes(const plan::Program &program, const plan::Collective &collective);

// The collectives of a step of rank 0; those of one kind, group and segment share a row. Segments
// of one name, one for each slot of the micro-batches, count as one. `axis`: only those over this
// axis of the mesh. Empty if there are none.
std::string collectiveTable(const plan::Plan &plan, std::optional<uint32_t> axis = {});

// The name of a decision in a row that several may share: its place in the model, if it has one.
inline const std::string &rowName(const plan::Decision &decision) {
  return decision.place().empty() ? decision.name() : decision.place();
}

} // namespace cleave::dump

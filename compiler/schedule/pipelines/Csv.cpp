#include "compiler/schedule/pipelines/Csv.h"

#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/pipelines/Check.h"
#include "compiler/schedule/pipelines/Communication.h"
#include "compiler/schedule/pipelines/OrderTimeline.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace cleave::pipelines {
namespace {

constexpr size_t kShown = 40; // characters of a cell that is not one, in messages

// Calls visit(part) for the parts between separators, until one fails.
template <typename Visit> Status eachPart(std::string_view text, char separator, Visit visit) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    CLEAVE_TRY(visit(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return Status::ok();
}

std::string_view withoutBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// The number at the beginning of `text`, which is removed. Above 9 digits there is none.
std::optional<uint32_t> takeNumber(std::string_view &text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto digits = static_cast<size_t>(end - text.data());
  if (error != std::errc() || digits > 9)
    return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

// One action, communication included: `2F0`.
std::optional<Instruction> parseSimple(std::string_view text) {
  const std::optional<uint32_t> stage = takeNumber(text);
  const size_t nameEnd = std::min(text.find_first_of("0123456789"), text.size());
  const std::string_view name = text.substr(0, nameEnd);
  text.remove_prefix(nameEnd);
  const std::optional<uint32_t> microBatch = takeNumber(text);
  if (!stage || !text.empty())
    return std::nullopt;
  for (Kind kind : {Kind::Forward, Kind::Backward, Kind::InputGradient, Kind::WeightGradient})
    if (name.size() == 1 && name[0] == letterOf(kind) && microBatch)
      return Instruction{Operation::Compute, Action{kind, *stage, *microBatch}};
  for (auto operation = Operation::SendForward; operation <= Operation::WaitReduceGradient;
       operation = static_cast<Operation>(static_cast<uint8_t>(operation) + 1))
    if (name == nameOf(operation) && hasMicroBatch(operation) == microBatch.has_value())
      return Instruction{operation, std::nullopt, *stage, microBatch.value_or(0)};
  return std::nullopt;
}

// `2F0` or `(0F3;7B1)OVERLAP_F_B`.
std::optional<Instruction> parseCell(std::string_view text) {
  constexpr std::string_view kEnd = ")OVERLAP_F_B";
  if (!text.starts_with('('))
    return parseSimple(text);
  const size_t middle = text.find(';');
  if (!text.ends_with(kEnd) || middle == text.npos)
    return std::nullopt;
  const auto first = parseSimple(text.substr(1, middle - 1));
  const auto second = parseSimple(text.substr(middle + 1, text.size() - kEnd.size() - middle - 1));
  if (!first || !second || !first->task || !second->task)
    return std::nullopt;
  const Task pair(first->task->actions()[0], second->task->actions()[0]);
  return pair.isOverlap() ? std::optional(Instruction{Operation::Compute, pair}) : std::nullopt;
}

class CsvReader {
public:
  explicit CsvReader(CsvFormat format) : format_(format) {}

  Result<Order> read(std::string_view text) {
    if (text.ends_with('\n'))
      text.remove_suffix(1);
    CLEAVE_TRY(eachPart(text, '\n', [&](std::string_view line) { return readLine(line); }));
    CLEAVE_TRY(inferSizes());
    CLEAVE_TRY(checkActions(order_));
    CLEAVE_TRY(checkEnd());
    if (format_ == CsvFormat::Communication)
      CLEAVE_TRY(checkCommunication(order_, rows_));
    return std::move(order_);
  }

private:
  struct Place {
    size_t line = 0, cell = 0; // from 1
    std::string text() const { return concat("line ", line, ", cell ", cell); }
  };

  Status readLine(std::string_view line) {
    rows_.emplace_back();
    order_.tasks.emplace_back();
    size_t cell = 0;
    CLEAVE_TRY(eachPart(line, ',', [&](std::string_view text) {
      const Place place{rows_.size(), ++cell};
      return readCell(withoutBlanks(text), place).withContext(place.text());
    }));
    return order_.tasks.back().empty()
               ? Status::userError("line ", rows_.size(), " has no action; expected those of rank ",
                                   rows_.size() - 1)
               : Status::ok();
  }

  Status readCell(std::string_view text, Place place) {
    if (text.empty())
      return format_ == CsvFormat::Tasks
                 ? Status::ok()
                 : Status::userError("is empty; expected an action, because this is an order with ",
                                     "communication");
    const std::optional<Instruction> instruction = parseCell(text);
    if (!instruction)
      return Status::userError("found '", text.substr(0, kShown), text.size() > kShown ? "…" : "",
                               "'; expected a stage, an action and a micro-batch ", "such as 2F0");
    if (!instruction->task && format_ == CsvFormat::Tasks)
      return Status::userError("found the communication '", text,
                               "'; expected only F, B, I, W and pairs of them");
    rows_.back().push_back(*instruction);
    if (!instruction->task)
      return Status::ok();
    for (const Action &action : instruction->task->actions())
      CLEAVE_TRY(addAction(action, place));
    order_.tasks.back().push_back(*instruction->task);
    places_.push_back(place);
    return Status::ok();
  }

  Status addAction(const Action &action, Place place) {
    if (const auto [first, isNew] = firstOf_.emplace(action, place); !isNew)
      return Status::userError("found ", textOf(action), " a second time; the first is in ",
                               first->second.text());
    const auto [stage, isNew] = placeOfStage_.emplace(action.stage, place);
    if (!isNew && stage->second.line != place.line)
      return Status::userError("found stage ", action.stage, ", which is on the rank of line ",
                               stage->second.line, ", too; expected each stage on one rank");
    microBatches_ = std::max(microBatches_, action.microBatch + 1);
    return Status::ok();
  }

  Status inferSizes() {
    uint32_t stages = 0; // in ascending order
    for (const auto &[stage, place] : placeOfStage_) {
      if (stage != stages)
        return Status::userError("found no action of stage ", stages, ", but of stage ", stage,
                                 " in ", place.text());
      order_.rankOf.push_back(static_cast<uint32_t>(place.line) - 1);
      ++stages;
    }
    if (microBatches_ > firstOf_.size()) // some are missing, and the file cannot be so large
      return Status::userError("found micro-batch ", microBatches_ - 1, " in a file of ",
                               firstOf_.size(), " actions; expected micro-batches from 0 on");
    order_.stages = stages;
    order_.pipelineOf.resize(microBatches_, 0);
    return Status::ok();
  }

  // As check(), with places in the file.
  Status checkEnd() {
    Costs costs;
    costs.stages.resize(order_.stages);
    schedule::Timeline timeline = timelineOf(order_, costs);
    for (size_t i = 0; i < timeline.names.size(); ++i)
      timeline.names[i] += concat(" in ", places_[i].text());
    return schedule::simulate(timeline).status();
  }

  const CsvFormat format_;
  Order order_;
  std::vector<std::vector<Instruction>> rows_;
  std::vector<Place> places_; // of tasks, rank by rank
  std::map<Action, Place> firstOf_;
  std::map<uint32_t, Place> placeOfStage_; // of the first action
  uint32_t microBatches_ = 0;
};

Status checkHolds(const Order &order) {
  if (order.pipelines() > 1)
    return Status::userError("found ", order.pipelines(),
                             " pipelines; PyTorch's CSV has one stage ", "on one rank");
  for (const std::vector<Task> &tasks : order.tasks)
    for (const Task &task : tasks)
      if ((task.actions().size() == 2 && !task.isOverlap()) ||
          task.actions().front().kind == Kind::Recompute)
        return Status::userError("found ", textOf(task), ", which PyTorch's CSV cannot hold; ",
                                 "expected F, B, I, W and overlapped pairs");
  return Status::ok();
}

} // namespace

Result<Order> readCsv(std::string_view text, CsvFormat format) {
  return CsvReader(format).read(text);
}

Result<std::string> writeCsv(const Order &order, CsvFormat format) {
  CLEAVE_TRY(check(order));
  CLEAVE_TRY(checkHolds(order));
  if (format == CsvFormat::Tasks)
    return textOf(order) + '\n';
  CLEAVE_TRY_ASSIGN(const std::vector<std::vector<Instruction>> rows, withCommunication(order));
  std::string text;
  for (const std::vector<Instruction> &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      text += textOf(row[i]) + (i + 1 < row.size() ? "," : "\n");
  return text;
}

} // namespace cleave::pipelines

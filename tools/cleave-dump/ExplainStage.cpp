// --explain stage:N: what a stage of a pipeline runs, and why the model is cut where it is.
#include "runtime/artifact/Access.h"
#include "runtime/base/Fold.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/InstructionOwners.h"
#include "tools/cleave-dump/PlanStages.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>

namespace cleave::dump {

namespace {

// Seconds of one micro-batch. Recomputation and gradients of weights count as backward.
struct PartSeconds {
  double forward = 0, backward = 0;

  double sum() const { return forward + backward; }
  void add(pipelines::Kind kind, double seconds) {
    (kind == pipelines::Kind::Forward ? forward : backward) += seconds;
  }
};

struct Layer {
  std::string name;
  PartSeconds work;
  double moment = 0; // the sum of seconds times position over its forward instructions

  double position() const {
    return work.forward > 0 ? moment / work.forward : std::numeric_limits<double>::max();
  }
};

// A chunk of the model: consecutive layers on one stage.
struct Chunk {
  uint32_t stage = 0;
  std::vector<Layer> layers; // in the order in which they compute
  PartSeconds work;          // with what belongs to no layer

  Layer &layerNamed(const std::string &name) {
    const auto found = std::ranges::find(layers, name, &Layer::name);
    return found == layers.end() ? layers.emplace_back(Layer{name, {}}) : *found;
  }
};

// The layer of a parameter: its name up to the first number, else without its last part.
std::string layerOf(const std::string &parameter) {
  for (size_t begin = 0, end; begin < parameter.size(); begin = end + 1) {
    end = std::min(parameter.find('.', begin), parameter.size());
    const std::string part = parameter.substr(begin, end - begin);
    if (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos)
      return parameter.substr(0, end);
  }
  return parameter.substr(0, parameter.rfind('.'));
}

class StageReader {
public:
  StageReader(const plan::Plan &plan, const std::vector<const plan::Program *> &stages)
      : plan_(plan), stages_(stages) {
    const std::vector<uint32_t> placement = placementOf(stages);
    chunks_.resize(placement.size());
    for (size_t c = 0; c < placement.size(); ++c)
      chunks_[c].stage = placement[c];
    const std::vector<std::vector<uint32_t>> chunksOfStage = chunksOf(placement);
    for (size_t s = 0; s < stages.size(); ++s)
      addStage(*stages[s], chunksOfStage[s]);
    for (Chunk &chunk : chunks_) // casts and transfers of a layer run ahead of it
      std::ranges::stable_sort(chunk.layers, {}, &Layer::position);
  }

  const std::vector<Chunk> &chunks() const { return chunks_; }

  std::vector<double> secondsByStage() const {
    std::vector<double> seconds(stages_.size(), 0);
    for (const Chunk &chunk : chunks_)
      seconds[chunk.stage] += chunk.work.sum();
    return seconds;
  }

private:
  // Several segments may run one part, for other micro-batches each: the first one counts.
  void addStage(const plan::Program &stage, const std::vector<uint32_t> &chunks) {
    const std::vector<std::vector<int>> owners = instructionOwners(plan_, stage);
    std::map<std::pair<pipelines::Kind, uint32_t>, bool> isKnown;
    size_t position = 0;
    for (const plan::Segment &segment : stage.segments()) {
      const size_t begin = position;
      position += size_t(segment.instructions_size());
      const std::optional<MicroBatchPart> part = partOf(segment);
      if (!part || part->chunk >= chunks.size() ||
          std::exchange(isKnown[{part->kind, part->chunk}], true))
        continue;
      Chunk &chunk = chunks_[chunks[part->chunk]];
      for (int i = 0; i < segment.instructions_size(); ++i)
        addInstruction(segment.instructions(i), owners[begin + size_t(i)], part->kind, i, chunk);
    }
  }

  void addInstruction(const plan::Instruction &instruction, const std::vector<int> &owners,
                      pipelines::Kind kind, int position, Chunk &chunk) {
    chunk.work.add(kind, instruction.seconds());
    const double seconds = instruction.seconds() / double(owners.size());
    for (int owner : owners) {
      Layer &layer = chunk.layerNamed(layerOf(tensorAt(plan_, uint64_t(owner)).name()));
      layer.work.add(kind, seconds);
      if (kind == pipelines::Kind::Forward)
        layer.moment += seconds * position;
    }
  }

  const plan::Plan &plan_;
  const std::vector<const plan::Program *> &stages_;
  std::vector<Chunk> chunks_;
};

// `wte, wpe, h.{0-3}`.
std::string layersText(const Chunk &chunk) {
  std::string text;
  for (size_t begin = 0, end; begin < chunk.layers.size(); begin = end) {
    std::vector<std::string> names;
    for (end = begin; end < chunk.layers.size() &&
                      nameShape(chunk.layers[end].name) == nameShape(chunk.layers[begin].name);
         ++end)
      names.push_back(chunk.layers[end].name);
    text += (text.empty() ? "" : ", ") + foldedName(names);
  }
  return text;
}

// The most micro-batches whose values the stage holds at one time.
int64_t inFlight(const plan::Program &stage) {
  const bool hasWeights = hasSegment(stage, "weights");
  int64_t live = 0, most = 0;
  for (const plan::ScheduleStep &step : stage.schedule()) {
    if (step.segment() >= uint32_t(stage.segments_size()))
      continue;
    const std::optional<MicroBatchPart> part = partOf(stage.segments(int(step.segment())));
    if (!part || part->chunk != 0)
      continue;
    const auto last = hasWeights ? pipelines::Kind::WeightGradient : pipelines::Kind::Backward;
    live += part->kind == pipelines::Kind::Forward ? 1 : part->kind == last ? -1 : 0;
    most = std::max(most, live);
  }
  return most;
}

// The message of a chunk to the next one: `2 values, 1.12 MiB in 11.6 us`.
std::string messageText(const plan::Program &stage, size_t number) {
  const std::string name = "send forward", numbered = name + concat(" ", number);
  for (const plan::Segment &segment : stage.segments()) {
    if (segment.name() != (number == 0 ? name : numbered))
      continue;
    uint64_t bytes = 0, values = 0;
    for (const plan::Instruction &instruction : segment.instructions()) {
      bytes += collectiveBytes(stage, instruction.collective());
      values += uint64_t(instruction.collective().send_size());
    }
    return concat(values, values == 1 ? " value, " : " values, ", bytesText(bytes), " in ",
                  secondsText(secondsOf(segment)));
  }
  return "nothing";
}

// The seconds of the stages if a border moved by a layer, or by the part of it in a chunk.
class BorderTable {
public:
  BorderTable(const Chunk &before, const Chunk &after, std::vector<double> seconds)
      : before_(before), after_(after), seconds_(std::move(seconds)) {}

  std::string text() {
    Table table({"border", ">" + stage(before_), ">" + stage(after_), ">slowest stage"});
    addRow(table, "now", 0);
    const Layer *last = layer(before_, before_.layers.size() - 1), *first = layer(after_, 0);
    if (last && first && last->name == first->name) {
      addRow(table, "before " + last->name + ", which it divides", last->work.sum());
      addRow(table, "after " + first->name, -first->work.sum());
    } else {
      if (last)
        addRow(table, "before " + last->name, last->work.sum());
      if (first)
        addRow(table, "after " + first->name, -first->work.sum());
    }
    return tableText(table);
  }

private:
  static std::string stage(const Chunk &chunk) { return concat("stage ", chunk.stage); }
  static const Layer *layer(const Chunk &chunk, size_t i) {
    return i < chunk.layers.size() ? &chunk.layers[i] : nullptr;
  }

  // `moved`: seconds from the stage before the border to the one after it.
  void addRow(Table &table, const std::string &where, double moved) const {
    std::vector<double> seconds = seconds_;
    seconds[before_.stage] -= moved;
    seconds[after_.stage] += moved;
    table.add({where, secondsText(seconds[before_.stage]), secondsText(seconds[after_.stage]),
               secondsText(*std::ranges::max_element(seconds))});
  }

  const Chunk &before_, &after_;
  std::vector<double> seconds_; // by stage
};

std::string workText(const std::vector<double> &seconds, const PartSeconds &work, uint32_t stage) {
  const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / double(seconds.size());
  const auto slowest = size_t(std::ranges::max_element(seconds) - seconds.begin());
  return concat(secondsText(work.sum()), " per micro-batch, ", secondsText(work.forward),
                " of it forward; ",
                slowest == stage ? std::string("this is the slowest stage")
                                 : concat("the slowest, stage ", slowest, ", takes ",
                                          secondsText(seconds[slowest])),
                "; the mean is ", secondsText(mean));
}

std::string stageText(const plan::Plan &plan, const std::vector<const plan::Program *> &stages,
                      uint32_t stage) {
  const StageReader reader(plan, stages);
  const std::vector<Chunk> &chunks = reader.chunks();
  const std::vector<double> seconds = reader.secondsByStage();
  const plan::Program &program = *stages[stage];
  std::string layers;
  PartSeconds work;
  for (const Chunk &chunk : chunks)
    if (chunk.stage == stage) {
      layers += (layers.empty() ? "" : "; then ") + layersText(chunk);
      work.forward += chunk.work.forward;
      work.backward += chunk.work.backward;
    }
  std::string text =
      titled(concat("stage ", stage, " of ", stages.size(), ", on ranks ", ranksOf(program))) +
      "\n" + paragraph(layers, 2) + paragraph(workText(seconds, work, stage), 2) +
      paragraph(concat(bytesText(program.arenas().empty() ? 0 : program.arenas(0).bytes()),
                       " of device memory, with up to ", inFlight(program), " of ",
                       microBatchesOf(program), " micro-batches in flight"),
                2);
  std::vector<size_t> count(stages.size(), 0); // chunks by stage so far
  for (size_t c = 0; c + 1 < chunks.size(); ++c) {
    const Chunk &before = chunks[c], &after = chunks[c + 1];
    const size_t number = count[before.stage]++;
    if (before.stage == after.stage || (before.stage != stage && after.stage != stage))
      continue;
    text += concat("\nfrom stage ", before.stage, " to stage ", after.stage, ": ",
                   messageText(*stages[before.stage], number), "\n") +
            BorderTable(before, after, seconds).text();
  }
  return text + "\n" +
         paragraph("Each micro-batch waits for the slowest stage. The other borders are estimated "
                   "from the seconds of this plan; a new plan may recompute other values.",
                   0);
}

} // namespace

Result<std::string> explainStage(const plan::Plan &plan, const std::string &number) {
  const std::vector<const plan::Program *> stages = stagesOf(plan);
  if (stages.empty())
    return Status::userError("--explain stage:", number,
                             ": the plan has no stages; cleave-compile --stages makes them");
  uint32_t stage = 0;
  const char *end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, stage);
  if (error != std::errc() || stop != end || stage >= stages.size())
    return Status::userError("--explain stage:", number, ": expected a stage from 0 to ",
                             stages.size() - 1);
  return stageText(plan, stages, stage);
}

} // namespace cleave::dump

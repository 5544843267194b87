#include "tools/cleave-dump/ModelEdges.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/base/Concat.h"
#include "tools/cleave-dump/BackwardBegin.h"
#include "tools/cleave-dump/InstructionOwners.h"
#include "tools/cleave-dump/InstructionParts.h"
#include "tools/cleave-dump/PlanText.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace cleave::dump {

namespace {

// A module that a value comes from.
struct Source {
  int module;
  bool isOfParameters = true;
  std::string value, layout;         // as in ModelEdge
  std::vector<std::string> passages; // in the order in which the value first takes each
  uint64_t bytes = 0;

  bool operator==(const Source &) const = default;
};

// Without repetitions: where paths without a module join, as in residual connections, copies would
// double with every layer.
using Sources = std::vector<Source>;

void addNew(Sources &to, const Sources &from) {
  for (const Source &source : from)
    if (std::ranges::find(to, source) == to.end())
      to.push_back(source);
}

// `all-gather over tp, sent to stage 1`
std::string passageText(const std::vector<std::string> &passages) {
  std::string text;
  for (const std::string &passage : passages)
    text += (text.empty() ? "" : ", ") + passage;
  return text;
}

// The step of a stage while it runs; plans without stages have one.
struct Stage {
  const plan::Program *program;
  std::vector<std::vector<Owners>> owners; // by position and part
  std::vector<size_t> begins;              // positions of segments
  std::vector<bool> isForLoss;             // by position; empty without a loss
  std::vector<bool> hasRun;                // by segment
  int step = 0, instruction = 0;           // the next one: in the schedule, and in its segment
  std::map<uint32_t, Sources> sources;     // by buffer
  std::set<uint32_t> ofInputs;             // buffers whose content depends on inputs
};

// By op: the layout of its result in the forward pass, `[dp, _]`. Without a place, a decision may
// be about another pass.
std::map<std::string, std::string> layoutsOfOps(const plan::Plan &plan) {
  constexpr std::string_view kGives = "gives ";
  std::map<std::string, std::string> layouts;
  for (const plan::Decision &decision : plan.decisions()) {
    const size_t gives = decision.choice().find(kGives);
    if (gives != std::string::npos && !decision.place().empty() &&
        !decision.place().ends_with("gradient"))
      layouts.emplace(decision.name(), decision.choice().substr(gives + kGives.size()));
  }
  return layouts;
}

// Leaves parameters out where other values pass.
void leaveOutParameters(std::vector<ModelEdge> &edges) {
  std::set<std::pair<std::string, std::string>> others; // pairs between which values pass
  for (const ModelEdge &edge : edges)
    if (!edge.isOfParameters)
      others.emplace(edge.from, edge.to);
  std::erase_if(edges, [&](const ModelEdge &edge) {
    return edge.isOfParameters && others.contains({edge.from, edge.to});
  });
}

using Readers = std::map<std::string, std::set<std::string>>; // by module: those that it feeds

// Whether a path through other modules connects the ends of the edge. `ranks`: the position of each
// module in the order in which the forward pass reaches them. The path uses only modules that are
// reached before the reader, which excludes modules that the pass reaches twice, such as a tied
// head.
bool hasLongerPath(const ModelEdge &edge, const Readers &readers,
                   const std::map<std::string, int> &ranks) {
  std::set<std::string> seen = {edge.from};
  std::vector<std::string> open = {edge.from};
  while (!open.empty()) {
    const std::string module = open.back();
    open.pop_back();
    const auto found = readers.find(module);
    if (found == readers.end())
      continue;
    for (const std::string &reader : found->second) {
      if (reader == edge.to && module != edge.from)
        return true;
      if (ranks.at(reader) < ranks.at(edge.to) && seen.insert(reader).second)
        open.push_back(reader);
    }
  }
  return false;
}

void markSkips(std::vector<ModelEdge> &edges, const std::map<std::string, int> &ranks) {
  Readers readers;
  for (const ModelEdge &edge : edges)
    readers[edge.from].insert(edge.to);
  for (ModelEdge &edge : edges)
    edge.isSkip = hasLongerPath(edge, readers, ranks);
}

// Follows values through the segments of the forward pass, in the order of the schedule.
class EdgeFinder {
public:
  explicit EdgeFinder(const plan::Plan &plan) : plan_(plan), layouts_(layoutsOfOps(plan)) {
    findModules();
    findStages();
  }

  std::vector<ModelEdge> find() {
    for (bool hasMoved = true; hasMoved;) {
      hasMoved = false;
      for (size_t s = 0; s < stages_.size(); ++s)
        hasMoved |= advance(s);
    }
    std::map<std::string, int> ranks;
    for (size_t m = 0; m < modules_.size(); ++m)
      ranks[modules_[m]] = reached_[m];
    leaveOutParameters(edges_);
    markSkips(edges_, ranks);
    return std::move(edges_);
  }

private:
  void findModules() {
    std::map<std::string, int> indices;
    for (const plan::Tensor &tensor : plan_.tensors()) {
      const size_t end = tensor.name().rfind('.');
      if (tensor.role() != plan::PARAMETER || end == std::string::npos) {
        moduleOf_.push_back(-1);
        continue;
      }
      const auto [found, isNew] = indices.emplace(tensor.name().substr(0, end), modules_.size());
      if (isNew)
        modules_.push_back(found->first);
      moduleOf_.push_back(found->second);
    }
    reached_.assign(modules_.size(), std::numeric_limits<int>::max());
  }

  // Finds the program of each stage: the step of its first rank.
  void findStages() {
    const uint64_t ranks = artifact::rankCount(plan_) / stageCount(plan_);
    for (uint64_t s = 0; s < stageCount(plan_); ++s) {
      const plan::Program &program = programOf(plan_, uint32_t(s * ranks));
      Stage stage = {.program = &program,
                     .owners = partOwners(plan_, program),
                     .isForLoss = neededByLoss(program)};
      if (std::ranges::find(stage.isForLoss, true) == stage.isForLoss.end())
        stage.isForLoss.clear();
      size_t position = 0;
      for (const plan::Segment &segment : program.segments()) {
        stage.begins.push_back(position);
        position += size_t(segment.instructions_size());
      }
      stage.hasRun.resize(stage.begins.size());
      for (int b = 0; b < program.buffers_size(); ++b) {
        const int tensor = program.buffers(b).tensor();
        const int module =
            tensor >= 0 && size_t(tensor) < moduleOf_.size() ? moduleOf_[tensor] : -1;
        if (module >= 0)
          stage.sources[uint32_t(b)] = {sourceAt(stage, module, uint32_t(b))};
      }
      stages_.push_back(std::move(stage));
    }
  }

  Source sourceAt(const Stage &stage, int module, uint32_t buffer) const {
    const plan::Buffer &value = bufferAt(*stage.program, buffer);
    const std::string shape = value.shape().empty() ? "" : "[" + shapeText(value.shape()) + "]";
    return {.module = module,
            .value = artifact::dtypeName(value.dtype()) + shape,
            .bytes = value.bytes()};
  }

  bool isForward(const Stage &stage, int segment, size_t position) const {
    const std::string &name = stage.program->segments(segment).name();
    if (!plan_.trains())
      return true;
    if (name == "micro")
      return stage.isForLoss.empty() || stage.isForLoss[position];
    return name == "begin" || name.find("forward") != std::string::npos;
  }

  // Advances the stage until it waits for a message, and returns whether it advanced. Executes the
  // instructions of a segment only in its first run, and messages in every run.
  bool advance(size_t s) {
    Stage &stage = stages_[s];
    const plan::Program &program = *stage.program;
    bool hasMoved = false;
    for (; stage.step < program.schedule_size(); ++stage.step, stage.instruction = 0) {
      const int segment = int(program.schedule(stage.step).segment());
      if (segment >= program.segments_size())
        return false; // a defective plan
      const auto &instructions = program.segments(segment).instructions();
      for (; stage.instruction < instructions.size(); ++stage.instruction) {
        const plan::Instruction &instruction = instructions[stage.instruction];
        const size_t position = stage.begins[size_t(segment)] + size_t(stage.instruction);
        if (instruction.has_collective() && isMessage(instruction.collective())) {
          if (!exchange(s, instruction.collective()))
            return hasMoved;
        } else if (!stage.hasRun[size_t(segment)] && isForward(stage, segment, position)) {
          execute(stage, instruction, position);
        }
        hasMoved = true;
      }
      stage.hasRun[size_t(segment)] = true;
    }
    return hasMoved;
  }

  static bool isMessage(const plan::Collective &collective) {
    return collective.kind() == plan::Collective::SEND ||
           collective.kind() == plan::Collective::RECV;
  }

  // Sends or receives; false if the message has not been sent yet.
  bool exchange(size_t s, const plan::Collective &message) {
    Stage &stage = stages_[s];
    if (message.kind() == plan::Collective::SEND) {
      std::vector<Sources> values;
      for (uint32_t buffer : message.send())
        values.push_back(passed(stage.sources[buffer], concat("sent to stage ", message.peer())));
      sent_[{s, message.peer()}].push_back(std::move(values));
      return true;
    }
    std::deque<std::vector<Sources>> &waiting = sent_[{message.peer(), s}];
    if (waiting.empty())
      return false;
    for (int i = 0; i < message.recv_size() && size_t(i) < waiting.front().size(); ++i) {
      stage.sources[message.recv(i)] = waiting.front()[size_t(i)];
      stage.ofInputs.insert(message.recv(i));
    }
    waiting.pop_front();
    return true;
  }

  static Sources passed(const Sources &sources, const std::string &passage) {
    Sources moved;
    for (Source source : sources) {
      if (!passage.empty() && std::ranges::find(source.passages, passage) == source.passages.end())
        source.passages.push_back(passage);
      addNew(moved, {std::move(source)});
    }
    return moved;
  }

  void execute(Stage &stage, const plan::Instruction &instruction, size_t position) {
    if (instruction.has_copy())
      return pass(stage, instruction.copy().from(), instruction.copy().to(), "");
    if (instruction.has_collective())
      return collect(stage, instruction.collective());
    const std::vector<std::vector<artifact::Access>> parts = partsOf(*stage.program, instruction);
    for (size_t p = 0; p < parts.size(); ++p)
      compute(stage, instruction, parts[p], stage.owners[position][p]);
  }

  static void pass(Stage &stage, uint32_t from, uint32_t to, const std::string &passage) {
    stage.sources[to] = passed(stage.sources[from], passage);
    if (stage.ofInputs.contains(from))
      stage.ofInputs.insert(to);
  }

  void collect(Stage &stage, const plan::Collective &collective) const {
    const std::string passage =
        artifact::kindName(collective) + " over " + axesText(plan_, collective.axes());
    for (int i = 0; i < std::min(collective.send_size(), collective.recv_size()); ++i)
      pass(stage, collective.send(i), collective.recv(i), passage);
  }

  void compute(Stage &stage, const plan::Instruction &instruction,
               const std::vector<artifact::Access> &accesses, const Owners &owners) {
    Sources read;
    bool isOfInputs = instruction.has_load_input();
    for (const artifact::Access &access : accesses)
      if (access.reads || instruction.has_launch()) { // a launch may read what it writes
        addNew(read, stage.sources[access.buffer]);
        isOfInputs |= stage.ofInputs.contains(access.buffer);
      }
    const int module = read.empty() ? -1 : moduleOf(owners, isOfInputs);
    for (const Source &source : read)
      if (module >= 0 && source.module != module)
        add(source, module);
    for (const artifact::Access &access : accesses)
      if (access.writes) {
        if (isOfInputs)
          stage.ofInputs.insert(access.buffer);
        stage.sources[access.buffer] = read;
        if (module >= 0)
          stage.sources[access.buffer] = {
              computed(stage, instruction, access.buffer, module, isOfInputs)};
      }
  }

  // The source of a buffer that the instruction has written.
  Source computed(const Stage &stage, const plan::Instruction &instruction, uint32_t buffer,
                  int module, bool isOfInputs) const {
    Source source = sourceAt(stage, module, buffer);
    source.isOfParameters = !isOfInputs;
    if (const auto layout = layouts_.find(instruction.name()); layout != layouts_.end())
      source.layout = layout->second;
    return source;
  }

  // The module, among those of the parameters, that the forward pass reaches last; -1 if there is
  // none. Work on inputs marks all of them as reached.
  int moduleOf(const Owners &parameters, bool isOfInputs) {
    int last = -1;
    for (int parameter : parameters) {
      const int module = moduleOf_[size_t(parameter)];
      if (module < 0)
        continue;
      int &reached = reached_[size_t(module)];
      if (isOfInputs && reached == std::numeric_limits<int>::max())
        reached = count_++;
      if (last < 0 || reached >= reached_[size_t(last)])
        last = module;
    }
    return last;
  }

  void add(const Source &source, int to) {
    const std::string passage = passageText(source.passages);
    const auto key = std::tuple(source.module, to, source.value, source.layout, passage);
    const auto [found, isNew] = edgeOf_.emplace(key, edges_.size());
    if (isNew)
      edges_.push_back({.from = modules_[size_t(source.module)],
                        .to = modules_[size_t(to)],
                        .value = source.value,
                        .bytes = source.bytes,
                        .layout = source.layout,
                        .passage = passage,
                        .isOfParameters = true});
    edges_[found->second].isOfParameters &= source.isOfParameters;
  }

  const plan::Plan &plan_;
  const std::map<std::string, std::string> layouts_;
  std::vector<std::string> modules_;
  std::vector<int> moduleOf_; // by tensor; -1: none
  std::vector<int> reached_;  // by module: its rank among those reached
  int count_ = 0;             // of modules reached
  std::vector<Stage> stages_;
  std::map<std::pair<size_t, size_t>, std::deque<std::vector<Sources>>> sent_; // by stages
  std::vector<ModelEdge> edges_;
  std::map<std::tuple<int, int, std::string, std::string, std::string>, size_t> edgeOf_;
};

} // namespace

std::vector<ModelEdge> modelEdges(const plan::Plan &plan) { return EdgeFinder(plan).find(); }

} // namespace cleave::dump

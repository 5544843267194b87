// The text is put together from parts, not printed from objects: a step of 1,024 ranks has some
// 100,000 events. Names are quoted once.
#include "compiler/schedule/Trace.h"

#include <charconv>
#include <concepts>
#include <nlohmann/json.hpp>

namespace cleave::schedule {
namespace {

constexpr double kMicroseconds = 1e6; // of a second

// As a JSON string. Names come from the user's file; invalid UTF-8 is replaced.
std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class TraceText {
public:
  TraceText(const Timeline &timeline, const Simulation &simulation)
      : timeline_(timeline), simulation_(simulation), isCritical_(timeline.tasks.size()) {
    for (const std::string &name : timeline.names)
      names_.push_back(quoted(name));
    for (const Unit &unit : timeline.units)
      units_.push_back(quoted(unit.name));
    for (uint32_t task : simulation.criticalPath)
      isCritical_[task] = true;
  }

  std::string text() {
    add("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [");
    nameTracks();
    for (size_t task = 0; task < timeline_.tasks.size(); ++task)
      if (simulation_.ends[task] > simulation_.begins[task])
        addTask(task);
    for (size_t space = 0; space < timeline_.spaces.size(); ++space)
      for (const LiveLevel &level : simulation_.live[space].levels)
        addCounter(space, level);
    add("\n]}\n");
    return std::move(text_);
  }

private:
  template <typename... Parts> void add(const Parts &...parts) { (append(parts), ...); }
  void append(const std::string &text) { text_ += text; }
  void append(const char *text) { text_ += text; }
  template <typename Number>
    requires std::integral<Number> || std::floating_point<Number>
  void append(Number number) {
    char digits[32];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }

  void beginEvent(const char *phase, uint32_t rank) {
    add(isFirst_ ? "\n" : ",\n", "{\"ph\":\"", phase, "\",\"pid\":", rank);
    isFirst_ = false;
  }

  void addMetadata(uint32_t rank, size_t track, const char *what, const char *key,
                   const std::string &value) {
    beginEvent("M", rank);
    add(",\"tid\":", track, ",\"name\":\"", what, "\",\"args\":{\"", key, "\":", value, "}}");
  }

  void nameTracks() {
    std::vector<bool> isNamed(timeline_.resources.size()); // by rank
    for (size_t r = 0; r < timeline_.resources.size(); ++r) {
      const Resource &resource = timeline_.resources[r];
      const std::string rank = std::to_string(resource.rank);
      if (!isNamed[resource.rank]) {
        addMetadata(resource.rank, r, "process_name", "name", quoted("rank " + rank));
        addMetadata(resource.rank, r, "process_sort_index", "sort_index", rank);
      }
      isNamed[resource.rank] = true;
      addMetadata(resource.rank, r, "thread_name", "name", quoted(nameOf(resource)));
      addMetadata(resource.rank, r, "thread_sort_index", "sort_index", std::to_string(r));
    }
  }

  void addTask(size_t index) {
    const Task &task = timeline_.tasks[index];
    beginEvent("X", timeline_.resources[task.resource].rank);
    add(",\"tid\":", task.resource, ",\"name\":", names_[task.name],
        ",\"ts\":", simulation_.begins[index] * kMicroseconds,
        ",\"dur\":", (simulation_.ends[index] - simulation_.begins[index]) * kMicroseconds,
        ",\"args\":{\"unit\":", units_[task.unit], ",\"slot\":", task.slot,
        isCritical_[index] ? ",\"critical\":true}}" : "}}");
  }

  void addCounter(size_t space, const LiveLevel &level) {
    beginEvent("C", timeline_.spaces[space].rank);
    add(",\"name\":\"live bytes: ", nameOf(timeline_.spaces[space].kind),
        "\",\"ts\":", level.seconds * kMicroseconds, ",\"args\":{\"value\":", level.bytes, "}}");
  }

  const Timeline &timeline_;
  const Simulation &simulation_;
  std::vector<std::string> names_, units_; // quoted
  std::vector<bool> isCritical_;           // by task
  bool isFirst_ = true;                    // no event was written yet
  std::string text_;
};

} // namespace

std::string traceOf(const Timeline &timeline, const Simulation &simulation) {
  return TraceText(timeline, simulation).text();
}

} // namespace cleave::schedule

#include "passes/driver/WaysOut.h"

#include "passes/driver/MicroBatches.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace cleave::driver {

std::vector<OtherCount> otherCounts(const CompileOptions &options) {
  std::vector<OtherCount> others;
  if (!options.train)
    return others;
  Result<std::vector<std::string>> symbols = batchSymbols(options);
  if (!symbols)
    return others;
  const Batches batches = batchesOf(options, std::move(*symbols));
  for (int64_t count : batches.counts) {
    OtherCount other{inMicroBatches(options, batches, count), ""};
    if (options.accumulate == 1 || !options.microBatch.empty()) {
      other.change = concat("--micro-batch ", count);
    } else {
      for (const std::string &symbol : batches.symbols)
        other.change += concat("--set ", symbol, "=", other.options.symbols.at(symbol), " ");
      other.change += concat("--accumulate ", count);
    }
    if (count != options.accumulate)
      others.push_back(std::move(other));
  }
  return others;
}

namespace {

// How often ranks are doubled, and larger numbers of micro-batches are tried.
constexpr size_t kDoublings = 3, kCounts = 3;

// Resources that a suggestion needs beyond the given ones, in the order of the table.
enum class Price { Nothing, Memory, Ranks };

struct WayOut {
  Price price;
  std::string change; // the options, as typed
  planner::QuickPoint point;
};

class WayOutSearch {
public:
  WayOutSearch(Variants &variants, const CompileOptions &options)
      : variants_(variants), options_(options) {}

  std::string run() {
    Result<planner::QuickPlan> here = variants_.quick(options_);
    if (!here)
      return "";
    addMemory(*here);
    addSpaces(*here);
    addFreedom();
    addRanks();
    addMicroBatches();
    return tableText() + triedText() + searchText();
  }

private:
  // The suggestions as a table, the cheapest first: the least memory, of others the fastest.
  std::string tableText() {
    if (ways_.empty())
      return "; no suggestion was found";
    std::ranges::stable_sort(ways_, {}, [](const WayOut &way) {
      const planner::QuickPoint &point = way.point;
      return std::pair(way.price, way.price == Price::Memory ? double(point.bytes) : point.seconds);
    });
    Table table({"suggestion", ">step at most", ">memory of a rank"});
    for (const WayOut &way : ways_)
      table.add({way.change, secondsText(way.point.seconds),
                 bytesText(static_cast<uint64_t>(way.point.bytes))});
    std::string text = "\n" + table.str();
    text.pop_back(); // the last end of a line
    return text;
  }

  // The changes that did not help.
  std::string triedText() const {
    return tried_.empty() ? ""
                          : (ways_.empty() ? "; " : "\n  ") + ("tried without success: " + tried_);
  }

  // The fastest plan that is found within the budget.
  std::optional<planner::QuickPoint> pointUnder(const CompileOptions &options) {
    Result<planner::Budget> budget = variants_.budget(options);
    Result<planner::QuickPlan> quick = budget ? variants_.quick(options) : budget.status();
    const planner::QuickPoint *point = quick ? quick->within(*budget) : nullptr;
    return point ? std::optional(*point) : std::nullopt;
  }

  // Whether a plan is found; else the change is listed among those that were tried.
  bool offer(Price price, const std::string &change, const CompileOptions &options) {
    const std::optional<planner::QuickPoint> point = pointUnder(options);
    if (point)
      ways_.push_back({price, change, *point});
    else
      tried_ += (tried_.empty() ? "" : ", ") + change;
    return point.has_value();
  }

  // Offers the first change that helps. Each takes less memory than the one before: if the last one
  // does not help, the others are not tried.
  void offerFirst(Price price, std::vector<OtherCount> changes) {
    if (changes.empty())
      return;
    const OtherCount last = std::move(changes.back());
    changes.pop_back();
    const std::optional<planner::QuickPoint> point = pointUnder(last.options);
    if (!point) {
      tried_ += (tried_.empty() ? "" : ", ") + last.change;
      return;
    }
    for (const OtherCount &other : changes)
      if (offer(price, other.change, other.options))
        return;
    ways_.push_back({price, last.change, *point});
  }

  // ` --pin zero3,full-recompute`: what leads to a plan that follows recipes.
  std::string pinText(const planner::QuickPoint &point) const {
    if (point.pin.empty())
      return "";
    return " --pin " + options_.pin + (options_.pin.empty() ? "" : ",") + point.pin;
  }

  // Where a smaller budget than the refusal names is searched, if the options allow that search.
  std::string searchText() const {
    const bool isSearching = options_.leastMemory || options_.leastRanks;
    return isSearching || options_.microBatch == "auto"
               ? ""
               : (ways_.empty() ? "; " : "\n  ") + std::string("--memory least looks for less");
  }

  // The plans under the given options: one that fits, the one with the fewest bytes, the fastest.
  // Recipes cannot be joined with a file of pins.
  void addMemory(planner::QuickPlan here) {
    Result<planner::Budget> budget = variants_.budget(options_);
    if (!budget)
      return;
    if (std::filesystem::exists(options_.pin))
      here.points.resize(1);
    if (const planner::QuickPoint *point = here.within(*budget); point && !point->pin.empty())
      ways_.push_back({Price::Nothing, pinText(*point).substr(1), *point});
    const planner::QuickPoint &least = here.smallest(), &fastest = here.points[0];
    if (!budget->holds(least.bytes))
      ways_.push_back(
          {Price::Memory, concat("--memory ", memoryText(least.bytes), pinText(least)), least});
    if (fastest.bytes > least.bytes)
      ways_.push_back({Price::Memory, concat("--memory ", memoryText(fastest.bytes)), fastest});
  }

  // Everything that can be in host memory.
  void addSpaces(const planner::QuickPlan &here) {
    constexpr const char *kAll = "offload:states,offload:parameters,offload:activations";
    CompileOptions options = options_;
    if (options.hostMemory > 0 || options.fileMemory > 0 || std::filesystem::exists(options.pin))
      return;
    const std::string host = memoryText(here.points[0].bytes);
    options.hostMemory = here.points[0].bytes;
    options.pin += concat(options.pin.empty() ? "" : ",", kAll);
    offer(Price::Nothing, concat("--host-memory ", host, " --pin ", options.pin), options);
  }

  void addFreedom() {
    CompileOptions options = options_;
    options.pin.clear();
    if (!options_.pin.empty())
      offer(Price::Nothing, "no --pin", options);
    options.mesh.reset();
    if (options_.mesh)
      offer(Price::Nothing, options_.pin.empty() ? "no --mesh" : "no --mesh and no --pin", options);
  }

  void addRanks() {
    std::vector<OtherCount> changes;
    CompileOptions options = options_;
    options.mesh.reset();
    for (size_t i = 0; i < kDoublings; ++i) {
      options.ranks *= 2;
      if (!variants_.budget(options)) // more than the cluster has
        break;
      changes.push_back({options, concat("--ranks ", options.ranks)});
    }
    offerFirst(Price::Ranks, std::move(changes));
  }

  void addMicroBatches() {
    std::vector<OtherCount> changes;
    for (OtherCount &other : otherCounts(options_))
      if (other.options.accumulate > options_.accumulate && changes.size() < kCounts)
        changes.push_back(std::move(other));
    offerFirst(Price::Nothing, std::move(changes));
  }

  Variants &variants_;
  const CompileOptions &options_;
  std::vector<WayOut> ways_;
  std::string tried_; // what does not fit
};

} // namespace

std::string waysOut(Variants &variants, const CompileOptions &options) {
  return WayOutSearch(variants, options).run();
}

} // namespace cleave::driver

#include "compiler/planner/remat/RematChoices.h"

#include <algorithm>

namespace cleave::planner {

// The slots at which an op may be recomputed once: at most the last ones before its first reader.
constexpr size_t kSlots = 10;

// Where ops may be recomputed several times: the most choices of all ops together. Segments are
// short then: only a share of the bytes that cross their ends is live at a time.
constexpr size_t kMostChoices = 2000;
constexpr double kKeptShare = 0.25;

// The slots that are an op's own ones: its first read, the starts of its segment and of those that
// read it; and shared ones.
static std::vector<int64_t> segmentSlots(const OpenOp &open, const std::vector<int64_t> &shared) {
  std::vector<int64_t> slots;
  for (int64_t slot : open.slots)
    if (slot == open.firstRead || slot == open.start || open.crossings.count(slot) ||
        std::find(shared.begin(), shared.end(), slot) != shared.end())
      slots.push_back(slot);
  return slots;
}

// Picks at most `count` evenly spaced entries.
static std::vector<int64_t> someOf(const std::vector<int64_t> &all, size_t count) {
  std::vector<int64_t> some;
  for (size_t i = 0; i < all.size(); ++i)
    if (all.size() <= count || (i + 1) * count / all.size() > i * count / all.size())
      some.push_back(all[i]);
  return some;
}

RematChoices::RematChoices(const StepModel &model, const PricedDecisions &whole,
                           const PinnedRemat &pinned, const OtherSpaces &spaces,
                           int maxRecomputations, size_t shared)
    : model_(model), whole_(whole), pinned_(pinned), spaces_(spaces),
      maxRecomputations_(maxRecomputations), reads_(readsOf(model)), openOf_(model.ops.size(), -1) {
  findOpenOps();
  findSlots();
  if (shared > 0)
    findSegments();
  const std::vector<int64_t> starts = someOf(starts_, shared);
  for (OpenOp &open : open_) {
    if (maxRecomputations_ > 1)
      open.several = shared > 0 ? segmentSlots(open, starts) : open.slots;
    std::reverse(open.several.begin(), open.several.end());
    addChoices(open);
    choices_ += open.choices.size();
    if (!isSmall() && shared == 0)
      return;
  }
}

bool RematChoices::isSmall() const { return maxRecomputations_ == 1 || choices_ <= kMostChoices; }

std::vector<int64_t> RematChoices::recomputationsOf(const OpenOp &open,
                                                    const RematChoice &choice) const {
  std::vector<int64_t> found;
  for (const Span &life : choice.lives)
    if (choice.away == Space::Device && life.begin > tickOf(open.forwardEnd))
      found.push_back(life.begin);
  return found;
}

bool RematChoices::isReadForward(const OpenOp &open, int result) const {
  const std::vector<Use> &uses = model_.values[model_.ops[open.op].results[result]].uses;
  return std::any_of(uses.begin(), uses.end(),
                     [&](const Use &use) { return model_.ops[use.op].part == Part::Forward; });
}

// -- instants -------------------------------------------------------------------------------------

static bool isOfSeveral(const OpenOp &open, int64_t slot) {
  return std::binary_search(open.several.begin(), open.several.end(), slot);
}

// The end of the last reader outside whose slot is in [begin, end); 0: there is none.
static int64_t lastRead(const OpenOp &open, int64_t begin, int64_t end) {
  int64_t last = 0;
  for (const std::vector<Span> &reads : open.reads)
    for (const Span &read : reads)
      if (begin <= read.begin && read.begin < end)
        last = std::max(last, read.end);
  return last;
}

void RematChoices::findOpenOps() {
  for (size_t i = 0; i < model_.ops.size(); ++i) {
    const Op &op = model_.ops[i];
    if (op.part != Part::Forward || op.isView || op.operands.empty())
      continue;
    openOf_[i] = static_cast<int>(open_.size());
    open_.push_back({.op = static_cast<int>(i), .forwardEnd = op.runs.end});
  }
  for (size_t i = 0; i < model_.ops.size(); ++i)
    for (int input : reads_.inputs[i]) {
      OpenOp &open = open_[openOf_[input]];
      const Op &reader = model_.ops[i];
      if (reader.part == Part::Forward) {
        open.forwardEnd = std::max(open.forwardEnd, reader.runs.end);
        continue;
      }
      open.firstRead = std::min(open.firstRead, reader.runs.begin - 1);
      open.lastRead = std::max(open.lastRead, reader.runs.end);
    }
  for (OpenOp &open : open_) {
    findKept(open);
    findPartial(open);
    open.reads.resize(model_.ops[open.op].results.size());
  }
  findReads();
  if (maxRecomputations_ > 1)
    findPlaces();
}

void RematChoices::findPlaces() {
  ticks_ = static_cast<int64_t>(open_.size());
  for (OpenOp &open : open_) {
    open.place = &open - open_.data();
    for (int input : reads_.inputs[open.op])
      open_[openOf_[input]].lastPlace = open.place;
  }
}

void RematChoices::findPartial(OpenOp &open) const {
  open.partial = sufficientResults(model_, open.op);
  open.needsOperands = !open.partial;
  if (!open.partial)
    open.partial = passedOnResults(model_, open.op);
  open.firstOther = open.partial ? OpenOp::kNone : open.firstRead;
}

void RematChoices::findReads() {
  for (const Op &reader : model_.ops)
    if (reader.part != Part::Forward && !reader.isView)
      for (int operand : reader.operands) {
        const Value &value = model_.values[sourceOf(model_, operand)];
        if (value.producer < 0 || openOf_[value.producer] < 0)
          continue;
        OpenOp &open = open_[openOf_[value.producer]];
        const Span read = {reader.runs.begin - 1, reader.runs.end};
        readerAt_.emplace(read.begin, static_cast<int>(&reader - model_.ops.data()));
        open.reads[value.result].push_back(read);
        if (!open.isPartial(value.result))
          open.firstOther = std::min(open.firstOther, read.begin);
      }
}

void RematChoices::findKept(OpenOp &open) {
  int64_t end = 0;
  for (const Holding &holding : whole_.holdings)
    if (holding.op == open.op && holding.result >= 0 && holding.span.end > open.forwardEnd) {
      open.keptBytes += holding.bytes;
      open.outsideBytes += isReadForward(open, holding.result) ? 0 : holding.bytes;
      end = std::max(end, holding.span.end);
    }
  if (end > 0 && open.firstRead != OpenOp::kNone)
    open.lastRead = end;
}

void RematChoices::findSlots() {
  for (size_t i = open_.size(); i-- > 0;) {
    OpenOp &open = open_[i];
    for (int64_t slot : {open.firstRead, open.firstOther})
      if (slot != OpenOp::kNone)
        open.slots.push_back(slot);
    if (maxRecomputations_ > 1)
      for (const std::vector<Span> &reads : open.reads)
        for (const Span &read : reads)
          open.slots.push_back(read.begin);
    std::erase_if(open.slots, [&](int64_t slot) {
      return (maxRecomputations_ == 1 && slot > open.firstOther) || slot <= open.forwardEnd;
    });
    std::sort(open.slots.begin(), open.slots.end(), std::greater<>());
    open.slots.erase(std::unique(open.slots.begin(), open.slots.end()), open.slots.end());
    if (maxRecomputations_ == 1)
      open.slots.resize(std::min(open.slots.size(), kSlots));
    for (int input : reads_.inputs[open.op]) {
      OpenOp &source = open_[openOf_[input]];
      source.slots.insert(source.slots.end(), open.slots.begin(), open.slots.end());
      if (!open.slots.empty())
        source.until = std::max(source.until, open.slots.front() + 1);
    }
  }
}

void RematChoices::findSegments() {
  const std::vector<int> segments = segmentsOf(model_, kKeptShare);
  starts_.assign(segments.size() + 1, OpenOp::kNone);
  auto startOf = [&](const OpenOp &open) -> int64_t & {
    auto next = std::upper_bound(segments.begin(), segments.end(), open.op);
    return starts_[next - segments.begin()];
  };
  for (const OpenOp &open : open_)
    startOf(open) = std::min(startOf(open), open.firstRead);
  for (OpenOp &open : open_) {
    open.start = startOf(open);
    for (int input : reads_.inputs[open.op])
      open_[openOf_[input]].crossings.insert(open.start);
  }
  std::sort(starts_.begin(), starts_.end());
}

static bool isPermitted(const PinnedRemat &pinned, const OpenOp &open, bool recomputed) {
  return !pinned.recomputed[open.op] || *pinned.recomputed[open.op] == recomputed;
}

// The spaces in which the results of an op may wait, apart from device memory.
static std::vector<Space> otherSpaces(const StepModel &model, const ForwardReads &reads,
                                      const PinnedRemat &pinned, const OtherSpaces &bytes,
                                      const OpenOp &open) {
  const std::vector<int> &results = model.ops[open.op].results;
  const bool isDecided =
      pinned.away.count(open.op) || std::any_of(results.begin(), results.end(), [&](int value) {
        return model.values[value].space != Space::Device;
      });
  std::vector<Space> spaces;
  for (Space space : {Space::Host, Space::File})
    if (!isDecided && bytes.bytesIn(space) > 0 && open.keptBytes >= kLeastAwayBytes &&
        open.firstRead > open.forwardEnd && mayBeAway(model, reads, open.op))
      spaces.push_back(space);
  return spaces;
}

void RematChoices::addChoices(OpenOp &open) const {
  const bool isRead = open.firstRead != OpenOp::kNone;
  std::vector<int64_t> ends = {open.lastRead};
  if (open.until > open.lastRead)
    ends.push_back(open.until);
  if (!isRead)
    open.choices.push_back({}); // gone
  for (int64_t end : ends)
    if (end > open.forwardEnd && isPermitted(pinned_, open, false))
      open.choices.push_back({false, {{tickOf(open.forwardEnd), tickOf(end)}}});
  if (open.choices.empty() && isPermitted(pinned_, open, false))
    open.choices.push_back({}); // read only while it is there anyway
  for (Space space : otherSpaces(model_, reads_, pinned_, spaces_, open))
    for (int64_t end : ends)
      if (end > open.firstRead && isPermitted(pinned_, open, false))
        open.choices.push_back({false, {{beginOf(open, open.firstRead), tickOf(end)}}, space});
  if (!isPermitted(pinned_, open, true) || !isRecomputable(model_, open.op))
    return;
  size_t count = 0;
  for (int64_t slot : open.slots) {
    const bool isLate = slot <= open.firstOther && count++ < kSlots;
    if (!isLate && (slot > open.firstOther || !isOfSeveral(open, slot)))
      continue;
    for (int64_t end : ends)
      if (end > slot) {
        if (slot <= open.firstRead)
          open.choices.push_back({false, {{beginOf(open, slot), tickOf(end)}}});
        if (open.partial)
          open.choices.push_back({true, {{beginOf(open, slot), tickOf(end)}}});
      }
    if (!isRead) // for other ops recomputed there
      open.choices.push_back({false, {{beginOf(open, slot), endOf(open, slot)}}});
  }
  if (maxRecomputations_ > 1)
    addSeveral(open, ends);
  if (open.choices.empty())
    open.choices.push_back({});
}

void RematChoices::addSeveral(OpenOp &open, const std::vector<int64_t> &ends) const {
  const std::vector<int64_t> &slots = open.several;
  std::vector<Span> lives = {{tickOf(open.forwardEnd), 0}};
  addLives(open, slots, 0, ends, lives);
  for (size_t i = 0; i < slots.size() && lastRead(open, 0, slots[i]) == 0; ++i) {
    lives[0].begin = beginOf(open, slots[i]);
    addLives(open, slots, i + 1, ends, lives);
  }
}

void RematChoices::addLives(OpenOp &open, const std::vector<int64_t> &slots, size_t next,
                            const std::vector<int64_t> &ends, std::vector<Span> &lives) const {
  const int64_t begin = instantOf(lives.back().begin);
  if (lives.size() > 1) {
    const bool isRead = lastRead(open, begin, OpenOp::kNone) > 0;
    std::vector<int64_t> last;
    for (int64_t end : ends)
      last.push_back(tickOf(end));
    if (!isRead)
      last.push_back(endOf(open, begin));
    for (int64_t end : last)
      if (end > lives.back().begin) {
        lives.back().end = end;
        open.choices.push_back({false, lives});
      }
  }
  if (lives.size() == static_cast<size_t>(maxRecomputations_) || open.choices.size() > kMostChoices)
    return;
  for (size_t i = next; i < slots.size(); ++i) {
    const int64_t needed = tickOf(lastRead(open, begin, slots[i]));
    std::vector<int64_t> until;
    if (needed > 0)
      until.push_back(needed);
    for (size_t k = 0; k < i; ++k)
      if (slots[k] >= begin && endOf(open, slots[k]) > needed &&
          (slots[k] == begin || starts_.empty() || open.crossings.count(slots[k])))
        until.push_back(endOf(open, slots[k]));
    for (int64_t end : until)
      if (end <= tickOf(slots[i])) {
        lives.back().end = end;
        lives.push_back({beginOf(open, slots[i]), 0});
        addLives(open, slots, i + 1, ends, lives);
        lives.pop_back();
      }
  }
}

} // namespace cleave::planner

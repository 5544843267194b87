// Recompute decisions as functions of strategies and prices, and the lives of contents.
#include "compiler/planner/remat/JointNetwork.h"

#include "compiler/planner/remat/PartOfGroup.h"

#include <algorithm>

namespace cleave::planner {

static bool any(const std::vector<bool> &flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

JointNetwork::JointNetwork(Costs &costs, const PlanProblem &kept, const PinnedRemat &pinned)
    : costs_(costs), model_(costs.model()), kept_(kept), pinned_(pinned),
      reads_(model_.values.size()), hasHome_(model_.values.size(), false),
      ofProducts_(model_.values.size()), firstBehind_(model_.ops.size(), kNever),
      nodes_(kept_.network.nodes.size()), priced_(kept_.network) {
  findReads();
  findBlocks();
  others_ = whileOthersWait();
  for (size_t v = 0; v < nodes_.size(); ++v)
    if (v < model_.ops.size())
      addRemats(static_cast<int>(v));
    else
      addOther(static_cast<int>(v));
  findUntil();
  for (solver::Node &node : priced_.nodes)
    node.usages.clear();
  for (solver::Edge &edge : priced_.edges)
    if (isDroppable(edge))
      edge.cost = solver::CostTable(std::vector<double>(edge.cost.size(), 0.0));
}

const solver::Problem &JointNetwork::priced(double price, int64_t instant) {
  setShares(price, instant);
  for (size_t v = 0; v < nodes_.size(); ++v) {
    const std::vector<int64_t> bytes = bytesAt(v, instant);
    std::vector<solver::Choice> choices(priced_.nodes[v].choices.size());
    for (size_t c = 0; c < choices.size(); ++c)
      choices[c].cost = bestRemat(v, c, price, bytes).first;
    priced_.nodes[v].choices = std::move(choices);
  }
  return priced_;
}

int64_t JointNetwork::bytesOf(const std::vector<int> &choices, double price, int64_t instant) {
  int64_t sum = 0;
  for (size_t v = 0; v < nodes_.size(); ++v) {
    const std::vector<int64_t> bytes = bytesAt(v, instant);
    const int remat = bestRemat(v, choices[v], price, bytes).second;
    sum += bytes[remat * priced_.nodes[v].choices.size() + choices[v]];
  }
  return sum;
}

int64_t JointNetwork::fullest(const std::vector<int> &choices) const {
  return fullest(choices, std::vector<int>(nodes_.size(), 0));
}

int64_t JointNetwork::fullest(const std::vector<int> &choices, double price, int64_t instant) {
  std::vector<int> remats;
  for (size_t v = 0; v < nodes_.size(); ++v)
    remats.push_back(bestRemat(v, choices[v], price, bytesAt(v, instant)).second);
  return fullest(choices, remats);
}

double JointNetwork::worstSeconds() {
  double sum = 0;
  auto keepFinite = [](double &most, double seconds) {
    if (seconds < solver::kForbidden)
      most = std::max(most, seconds);
  };
  for (size_t v = 0; v < nodes_.size(); ++v) {
    double most = 0;
    for (const RematPrice &remat : nodes_[v].remats)
      for (double seconds : remat.seconds)
        keepFinite(most, seconds);
    // What all dependents of a source pay together, if not for memory.
    sum += most + (nodes_[v].dependents > 0 ? sourceSeconds(v).most : 0);
  }
  std::map<const void *, double> ofTables;
  for (const solver::Edge &edge : priced_.edges) {
    auto [entry, isNew] = ofTables.try_emplace(edge.cost.identity(), 0);
    for (size_t k = 0; isNew && k < edge.cost.size(); ++k)
      keepFinite(entry->second, edge.cost[k]);
    sum += entry->second;
  }
  return sum;
}

int64_t JointNetwork::fullest(const std::vector<int> &choices,
                              const std::vector<int> &remats) const {
  std::map<int64_t, int64_t> changes;
  for (size_t v = 0; v < nodes_.size(); ++v)
    for (const Life &life : nodes_[v].lives)
      if (life.remat == remats[v]) {
        changes[life.span.begin] += bytesOf(v, life, choices[v]);
        changes[life.span.end] -= bytesOf(v, life, choices[v]);
      }
  int64_t bytes = 0, most = 0, instant = 0;
  for (auto [at, change] : changes)
    if ((bytes += change) > most) {
      most = bytes;
      instant = at;
    }
  return instant;
}

// -- reads --------------------------------------------------------------------------------------

void JointNetwork::findReads() {
  for (const Op &op : model_.ops) {
    if (op.isView)
      continue;
    for (int operand : op.operands) {
      Reads &reads = reads_[sourceOf(model_, operand)];
      const int64_t at = op.runs.begin;
      if (op.part == Part::Forward) {
        reads.firstForward = std::min(reads.firstForward, at);
        reads.lastForward = std::max(reads.lastForward, at);
      } else {
        reads.firstOutside = std::min(reads.firstOutside, at);
        reads.lastOutside = std::max(reads.lastOutside, at);
      }
    }
  }
  for (size_t i = model_.ops.size(); i-- > 0;) {
    const Op &op = model_.ops[i];
    for (int result : op.results) {
      firstBehind_[i] = std::min(firstBehind_[i], reads_[result].firstOutside);
      for (const Use &use : model_.values[result].uses)
        if (model_.ops[use.op].part == Part::Forward)
          firstBehind_[i] = std::min(firstBehind_[i], firstBehind_[use.op]);
    }
  }
}

bool JointNetwork::isCertain(const Op &op) const {
  return op.part != Part::Forward ||
         std::any_of(op.results.begin(), op.results.end(),
                     [&](int result) { return reads_[result].isForward(); });
}

bool JointNetwork::hasBlock(const Op &op, size_t operand) const {
  const int value = op.operands[operand], producer = model_.values[value].producer;
  return producer >= 0 && !model_.ops[producer].isView && hasHome_[value] &&
         !op.readsSparsely(static_cast<int>(operand)) &&
         std::find(op.operands.begin(), op.operands.end(), value) ==
             op.operands.begin() + static_cast<int64_t>(operand);
}

bool JointNetwork::isReadByProduct(int value, int64_t instant) const {
  const std::vector<Span> &products = ofProducts_[value];
  return std::any_of(products.begin(), products.end(), [&](const Span &product) {
    return product.begin <= instant && instant < product.end;
  });
}

void JointNetwork::findBlocks() {
  for (const Store &store : model_.stores)
    if (store.value >= 0 && store.op < 0)
      hasHome_[store.value] = true;
  for (const Op &op : model_.ops)
    for (size_t k = 0; op.work.isProduct && isCertain(op) && k < op.operands.size(); ++k)
      if (hasBlock(op, k))
        ofProducts_[op.operands[k]].push_back(op.runs);
}

// -- recompute decisions ------------------------------------------------------------------------

void JointNetwork::addRemats(int index) {
  const Op &op = model_.ops[index];
  JointNode &node = nodes_[index];
  std::vector<bool> direct, forward;
  for (int result : op.results) {
    direct.push_back(reads_[result].isDirect());
    forward.push_back(reads_[result].isForward());
  }
  node.remats.push_back({any(direct) || op.part != Part::Forward ? Remat::Kept : Remat::Gone});
  const bool mayRecompute = isRecomputable(model_, index) && firstBehind_[index] < kNever &&
                            pinned_.recomputed[index].value_or(true);
  std::vector<bool> given(op.results.size(), false);
  if (mayRecompute && any(direct)) {
    node.remats.push_back({Remat::Recomputed});
    if (const auto sufficient = sufficientResults(model_, index)) {
      for (int result : *sufficient)
        given[result] = true;
      node.remats.push_back({Remat::FromKept});
    }
  }
  for (size_t k = 0; k < node.remats.size(); ++k) {
    addSeconds(index, node.remats[k], forward, direct, given, mayRecompute);
    addLives(index, static_cast<int>(k), direct, given);
  }
  addWaiting(index);
  if (mayRecompute)
    findSources(index, direct);
}

void JointNetwork::addSeconds(int index, RematPrice &price, std::vector<bool> needed,
                              const std::vector<bool> &direct, const std::vector<bool> &given,
                              bool mayRecompute) {
  const Op &op = model_.ops[index];
  const std::vector<bool> none(op.results.size(), false);
  const bool isFromKept = price.remat == Remat::FromKept;
  for (size_t r = 0; isFromKept && r < given.size(); ++r)
    needed[r] = needed[r] || given[r];
  const GroupPart once = partOf(op, needed, none),
                  recomputed = partOf(op, direct, isFromKept ? given : none);
  const bool isCut = price.remat != Remat::Kept && mayRecompute;
  auto known = seconds_.find({kept_.priced[index].get(), price.remat, isCut, needed, direct});
  if (known == seconds_.end()) {
    std::vector<double> seconds;
    for (size_t c = 0; c < kept_.network.nodes[index].choices.size(); ++c) {
      double sum = kept_.network.nodes[index].choices[c].cost;
      if (c >= kept_.priced[index]->choices.size()) { // a rest
        sum = isCut && !isWhole(once) ? 0 : sum;
      } else {
        const OpChoice &choice = kept_.priced[index]->choices[c];
        if (isCut && !isWhole(once))
          sum = std::min(sum, secondsOfPart(costs_, op, choice, once));
        if (isCut && price.remat != Remat::Gone)
          sum += secondsOfPart(costs_, op, choice, recomputed);
      }
      seconds.push_back(sum);
    }
    known = seconds_
                .insert({{kept_.priced[index].get(), price.remat, isCut, needed, direct},
                         std::move(seconds)})
                .first;
  }
  price.seconds = known->second;
}

void JointNetwork::findSources(int index, const std::vector<bool> &direct) {
  const Op &op = model_.ops[index];
  std::vector<bool> isRead(op.operands.size(), true);
  const std::vector<bool> none(op.results.size(), false);
  for (size_t r = 0; r < op.results.size(); ++r) {
    std::vector<bool> one = none;
    one[r] = true;
    const GroupPart part = partOf(op, any(direct) ? direct : one, none);
    for (size_t k = 0; k < isRead.size(); ++k)
      isRead[k] = isRead[k] && part.operands[k];
  }
  std::vector<int> &sources = nodes_[index].sources;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const int source = model_.values[sourceOf(model_, op.operands[k])].producer;
    if (isRead[k] && source >= 0 && isRecomputable(model_, source) &&
        isReadByRecomputedOnly(source) &&
        std::find(sources.begin(), sources.end(), source) == sources.end())
      sources.push_back(source);
  }
  for (int source : sources)
    ++nodes_[source].dependents;
}

void JointNetwork::findUntil() {
  until_.assign(model_.ops.size(), kNever);
  for (size_t i = model_.ops.size(); i-- > 0;) {
    for (int result : model_.ops[i].results)
      until_[i] = std::min(until_[i], reads_[result].firstOutside);
    for (int source : nodes_[i].sources)
      until_[source] = std::min(until_[source], until_[i]);
  }
}

bool JointNetwork::isReadByRecomputedOnly(int index) const {
  const std::vector<int> &results = model_.ops[index].results;
  return results.size() == 1 && !reads_[results[0]].isDirect();
}

// -- lives --------------------------------------------------------------------------------------

// Whether the plan has the bytes whatever is recomputed.
static bool isCertain(ArgumentNeed need) {
  return need == ArgumentNeed::KeptCopy || need == ArgumentNeed::Store;
}

void JointNetwork::addOther(int v) {
  const std::vector<int> &ofArguments = kept_.argumentNode;
  const auto found = std::find(ofArguments.begin(), ofArguments.end(), v);
  const solver::Node &node = kept_.network.nodes[v];
  for (size_t u = 0; u < node.usages.size(); ++u)
    if (found == ofArguments.end() ||
        planner::isCertain(kept_.argumentNeeds[found - ofArguments.begin()][u]))
      nodes_[v].lives.push_back(
          {{node.usages[u].begin, node.usages[u].end}, 0, static_cast<int>(u)});
  RematPrice &only = nodes_[v].remats.emplace_back();
  for (const solver::Choice &choice : node.choices)
    only.seconds.push_back(choice.cost);
}

void JointNetwork::addLives(int index, int remat, const std::vector<bool> &direct,
                            const std::vector<bool> &given) {
  const Op &op = model_.ops[index];
  const std::vector<Need> &needs = kept_.needs[index];
  std::vector<bool> isHoused(op.results.size(), false);
  const Remat its = nodes_[index].remats[remat].remat;
  const std::vector<bool> reads = partOf(op, direct, given).reads;
  for (size_t u = 0; u < needs.size(); ++u) {
    const int result = needs[u].index;
    if (needs[u].kind == Need::Kind::Follower)
      nodes_[index].lives.push_back({needs[u].span, remat, static_cast<int>(u)});
    if (needs[u].kind != Need::Kind::Home || isHoused[result])
      continue;
    isHoused[result] = true;
    const bool isKept = its == Remat::Kept ? direct[result]
                                           : its == Remat::FromKept && given[result] &&
                                                 (direct[result] || reads[result]);
    addLife(index, remat, static_cast<int>(u), isKept);
  }
  if (op.work.isProduct && isCertain(op))
    addBlocks(index, remat);
}

void JointNetwork::addBlocks(int index, int remat) {
  const Op &op = model_.ops[index];
  const std::vector<Need> &needs = kept_.needs[index];
  for (size_t u = 0; u < needs.size(); ++u) {
    const Span &span = needs[u].span;
    if (needs[u].kind == Need::Kind::Natural)
      nodes_[index].lives.push_back(
          {{std::max(span.begin, op.runs.begin), std::min(span.end, op.runs.end)},
           remat,
           static_cast<int>(u)});
  }
  nodes_[index].lives.push_back({op.runs, remat, -1, 0, &blocksOf(index)});
}

const std::vector<int64_t> &JointNetwork::blocksOf(int index) {
  const Op &op = model_.ops[index];
  std::vector<bool> isCounted;
  for (size_t k = 0; k < op.operands.size(); ++k)
    isCounted.push_back(hasBlock(op, k));
  auto [entry, isNew] = blocks_.try_emplace({kept_.priced[index].get(), isCounted});
  for (size_t c = 0; isNew && c < kept_.network.nodes[index].choices.size(); ++c) {
    int64_t bytes = 0;
    for (size_t k = 0; k < op.operands.size(); ++k) {
      const Value &value = model_.values[op.operands[k]];
      if (isCounted[k])
        bytes +=
            c < kept_.priced[index]->choices.size()
                ? storedBytes(value, kept_.priced[index]->choices[c].operands[k], costs_.mesh())
                : value.bytes() / costs_.mesh().ranks();
    }
    entry->second.push_back(bytes);
  }
  return entry->second;
}

void JointNetwork::addLife(int index, int remat, int usage, bool isKept) {
  const Op &op = model_.ops[index];
  const Need &need = kept_.needs[index][usage];
  const Reads &reads = reads_[op.results[need.index]];
  const bool isHeld = op.isAccumulate && op.repeats > 1; // through all micro-batches
  const bool isForward = op.part == Part::Forward;
  auto add = [&](int64_t begin, int64_t end, int from, int64_t bytes) {
    begin = std::max(begin, need.span.begin);
    end = std::min(end, need.span.end);
    for (const Span &product : ofProducts_[op.results[need.index]]) { // in rising order
      if (begin < std::min(end, product.begin))
        nodes_[index].lives.push_back({{begin, std::min(end, product.begin)}, remat, from, bytes});
      begin = std::max(begin, product.end);
    }
    if (begin < end)
      nodes_[index].lives.push_back({{begin, end}, remat, from, bytes});
  };
  int64_t homeEnd = op.runs.end;
  if (isForward && reads.isForward())
    homeEnd = std::max(homeEnd, reads.firstForward);
  if (isKept || !isForward)
    homeEnd = std::max(homeEnd, reads.isDirect() ? reads.firstOutside : firstBehind_[index]);
  if (!isForward && !reads.isDirect())
    homeEnd = op.runs.end;
  add(isHeld ? 0 : op.runs.end, homeEnd, usage, 0);
  const int64_t share = model_.values[op.results[need.index]].bytes() / costs_.mesh().ranks();
  add(homeEnd, reads.lastForward + 1, -1, share);
  add(std::max({homeEnd, reads.firstOutside, reads.lastForward + 1}), reads.lastOutside + 1, -1,
      share);
}

Span JointNetwork::whileOthersWait() const {
  Span span;
  for (const Op &op : model_.ops)
    if (op.part == Part::Forward)
      span.begin = span.end = std::max(span.begin, op.runs.end);
  for (const Op &op : model_.ops)
    if (op.part == Part::Backward && model_.waiting > 1)
      span.end = std::max(span.end, op.runs.end);
  return span;
}

void JointNetwork::addWaiting(int index) {
  const Op &op = model_.ops[index];
  std::vector<Life> &lives = nodes_[index].lives;
  if (op.part != Part::Forward || op.repeats == 1)
    return;
  for (size_t i = 0, count = lives.size(); i < count; ++i) {
    Life life = lives[i];
    if (life.span.begin > others_.begin || life.span.end <= others_.begin || life.blocks)
      continue;
    life.span = others_;
    life.times = model_.waiting - 1;
    if (life.span.begin < life.span.end)
      lives.push_back(life);
  }
}

int64_t JointNetwork::bytesOf(size_t v, const Life &life, size_t choice) const {
  if (life.blocks)
    return (*life.blocks)[choice];
  return life.times *
         (life.usage < 0 ? life.bytes : kept_.network.nodes[v].choices[choice].bytes[life.usage]);
}

std::vector<int64_t> JointNetwork::bytesAt(size_t v, int64_t instant) const {
  const size_t choices = kept_.network.nodes[v].choices.size();
  std::vector<int64_t> bytes(nodes_[v].remats.size() * choices, 0);
  for (const Life &life : nodes_[v].lives)
    if (life.span.begin <= instant && instant < life.span.end)
      for (size_t c = 0; c < choices; ++c)
        bytes[life.remat * choices + c] += bytesOf(v, life, c);
  return bytes;
}

// -- prices -------------------------------------------------------------------------------------

void JointNetwork::setShares(double price, int64_t instant) {
  shares_.assign(model_.ops.size(), 0);
  sharesOfOthers_.assign(model_.ops.size(), 0);
  const bool doOthersWait = others_.begin <= instant && instant < others_.end;
  for (size_t i = 0; i < model_.ops.size(); ++i) {
    const JointNode &node = nodes_[i];
    if (node.dependents == 0 || node.remats.size() != 1)
      continue;
    const Op &op = model_.ops[i];
    const bool isThere = op.runs.end <= instant && instant < until_[i] &&
                         reads_[op.results[0]].lastForward < instant &&
                         !isReadByProduct(op.results[0], instant);
    const int64_t others = doOthersWait && op.repeats > 1 ? model_.waiting - 1 : 0;
    shares_[i] = shareOf(i, price * static_cast<double>(isThere + others), shares_);
    sharesOfOthers_[i] = shareOf(i, price * static_cast<double>(others), sharesOfOthers_);
  }
}

double JointNetwork::shareOf(size_t index, double perByte, const std::vector<double> &shares) {
  const JointNode &node = nodes_[index];
  if (kept_.priced[index]->rest.choice >= 0)
    return 0;
  const SourceSeconds &computed = sourceSeconds(index);
  return std::min(perByte * static_cast<double>(computed.leastBytes),
                  computed.least + paidFor(node, shares)) /
         node.dependents;
}

double JointNetwork::paidFor(const JointNode &node, const std::vector<double> &shares) const {
  double sum = 0;
  for (int source : node.sources)
    sum += shares[source];
  return sum;
}

double JointNetwork::paidFor(int index, double price) const {
  int64_t bytes = 0;
  for (int result : model_.ops[index].results)
    if (reads_[result].isDirect())
      bytes += model_.values[result].bytes() / costs_.mesh().ranks();
  const JointNode &node = nodes_[index];
  return std::max(std::min(paidFor(node, shares_), price * static_cast<double>(bytes)),
                  paidFor(node, sharesOfOthers_));
}

const JointNetwork::SourceSeconds &JointNetwork::sourceSeconds(size_t index) {
  const PricedOp *kind = kept_.priced[index].get();
  auto [known, isNew] = sources_.try_emplace(kind);
  if (!isNew)
    return known->second;
  SourceSeconds &found = known->second;
  const Op &op = model_.ops[index];
  const GroupPart part = partOf(op, {true}, {false});
  for (const OpChoice &choice : kind->choices) {
    found.leastBytes = std::min(found.leastBytes, storedBytes(model_.values[op.results[0]],
                                                              choice.results[0], costs_.mesh()));
    const double seconds = secondsOfPart(costs_, op, choice, part);
    found.least = std::min(found.least, seconds);
    if (seconds < solver::kForbidden)
      found.most = std::max(found.most, seconds);
  }
  return found;
}

std::pair<double, int> JointNetwork::bestRemat(size_t v, size_t choice, double price,
                                               const std::vector<int64_t> &bytes) const {
  const JointNode &node = nodes_[v];
  const size_t choices = kept_.network.nodes[v].choices.size();
  std::pair<double, int> best = {solver::kForbidden, 0};
  for (size_t k = 0; k < node.remats.size(); ++k) {
    const bool isRecomputed = node.remats[k].remat == Remat::Recomputed;
    const double paid = isRecomputed ? paidFor(static_cast<int>(v), price) : 0;
    const double seconds = node.remats[k].seconds[choice] + paid +
                           price * static_cast<double>(bytes[k * choices + choice]);
    if (seconds < best.first)
      best = {seconds, static_cast<int>(k)};
  }
  return best;
}

// -- edges --------------------------------------------------------------------------------------

bool JointNetwork::isDroppable(const solver::Edge &edge) const {
  if (edge.to >= static_cast<int>(model_.ops.size()))
    return false;
  const Op &op = model_.ops[edge.to];
  if (!op.group || op.part != Part::Forward || !isRecomputable(model_, edge.to))
    return false;
  std::vector<bool> forward;
  for (int result : op.results)
    forward.push_back(reads_[result].isForward());
  const GroupPart part = partOf(op, forward, std::vector<bool>(forward.size(), false));
  for (size_t k = 0; k < part.operands.size(); ++k)
    if (!part.operands[k] && comesFrom(op.operands[k], edge.from))
      return true;
  return false;
}

bool JointNetwork::comesFrom(int value, int node) const {
  const Value &plain = model_.values[value];
  if ((plain.producer >= 0 ? plain.producer : kept_.argumentNode[plain.argument]) == node)
    return true;
  return std::any_of(kept_.copies.begin(), kept_.copies.end(), [&](const CopyNode &copy) {
    return copy.value == value && copy.node == node;
  });
}

} // namespace cleave::planner

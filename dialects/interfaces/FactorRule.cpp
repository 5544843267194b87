// Parser and printer of the factor notation, and the layouts that follow from split factors.
#include "dialects/interfaces/FactorRule.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <map>
#include <optional>
#include <sstream>

namespace cleave {

namespace {

// Parses the notation to a rule and takes the sizes of factors from the shapes.
class RuleReader {
public:
  RuleReader(const std::string &notation, ReduceKind reduce) : reduce_(reduce) {
    size_t arrow = notation.find("->");
    assert(arrow != std::string::npos && "a factor rule needs `->`");
    operandText_ = notation.substr(0, arrow);
    resultText_ = notation.substr(arrow + 2);
  }

  FactorRule read(const std::vector<std::vector<Polynomial>> &operandShapes,
                  const std::vector<std::vector<Polynomial>> &resultShapes) {
    rule_.operands = values(operandText_, operandShapes.size());
    rule_.results = values(resultText_, resultShapes.size());
    sizes_.resize(rule_.factors.size());
    findSizes(operandShapes, resultShapes);
    for (size_t f = 0; f < rule_.factors.size(); ++f) {
      assert(sizes_[f] && "the shapes do not tell the size of a factor");
      rule_.factors[f].size = *sizes_[f];
    }
    for (size_t f = 0; f < rule_.factors.size(); ++f)
      if (rule_.factors[f].kind == FactorKind::PassThrough && !standsInResult(f))
        rule_.factors[f].kind = FactorKind::Reduction;
    return std::move(rule_);
  }

private:
  // Parses the values of one side, separated by commas. A side without shapes is empty.
  std::vector<FactorRule::Dims> values(const std::string &text, size_t count) {
    std::vector<FactorRule::Dims> result;
    std::istringstream parts(text + ",");
    for (std::string part; std::getline(parts, part, ',');)
      result.push_back(dims(part));
    if (count == 0 && result.size() == 1 && result[0].empty())
      result.clear();
    assert(result.size() == count && "the factor rule has another number of values than the op");
    return result;
  }

  FactorRule::Dims dims(const std::string &text) {
    FactorRule::Dims result;
    bool inProduct = false;
    for (size_t i = 0; i < text.size();) {
      char c = text[i];
      if (std::isspace(static_cast<unsigned char>(c))) {
        ++i;
      } else if (c == '(' || c == ')') {
        assert(inProduct == (c == ')') && "unbalanced parentheses in a factor rule");
        inProduct = c == '(';
        if (inProduct)
          result.emplace_back();
        ++i;
      } else {
        size_t end = std::min(text.find_first_of(" ()\t\n", i), text.size());
        if (!inProduct)
          result.emplace_back();
        result.back().push_back(factor(text.substr(i, end - i)));
        i = end;
      }
    }
    assert(!inProduct && "unbalanced parentheses in a factor rule");
    return result;
  }

  int factor(std::string name) {
    if (name == "1") {
      rule_.factors.push_back({1, FactorKind::Replicated, reduce_});
      return static_cast<int>(rule_.factors.size()) - 1;
    }
    bool whole = name[0] == '!';
    name.erase(0, whole);
    assert(!name.empty() && "a factor without a name");
    auto [entry, isNew] = index_.try_emplace(name, static_cast<int>(rule_.factors.size()));
    if (isNew)
      rule_.factors.push_back({0, FactorKind::PassThrough, reduce_});
    if (whole)
      rule_.factors[entry->second].kind = FactorKind::Replicated;
    return entry->second;
  }

  void findSizes(const std::vector<std::vector<Polynomial>> &operandShapes,
                 const std::vector<std::vector<Polynomial>> &resultShapes) {
    for (size_t f = 0; f < rule_.factors.size(); ++f)
      if (rule_.factors[f].size == Polynomial(1))
        sizes_[f] = 1;
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t v = 0; v < rule_.operands.size(); ++v)
        changed |= learn(rule_.operands[v], operandShapes[v]);
      for (size_t v = 0; v < rule_.results.size(); ++v)
        changed |= learn(rule_.results[v], resultShapes[v]);
    }
  }

  // Computes the sizes of factors that are the only unknown one of their dim. Returns whether there
  // was one.
  bool learn(const FactorRule::Dims &dims, const std::vector<Polynomial> &shape) {
    assert(dims.size() == shape.size() && "the factor rule has another number of dims");
    bool learned = false;
    for (size_t d = 0; d < dims.size(); ++d) {
      Polynomial known(1);
      int unknown = -1;
      int unknowns = 0;
      for (int f : dims[d]) {
        if (sizes_[f])
          known *= *sizes_[f];
        else if (++unknowns)
          unknown = f;
      }
      if (unknowns == 0)
        assert(known == shape[d] && "a factor has two sizes");
      if (unknowns != 1)
        continue;
      std::optional<Polynomial> rest = shape[d].dividedBy(known);
      assert(rest && "a dim is not the product of its factors");
      sizes_[unknown] = *rest;
      learned = true;
    }
    return learned;
  }

  bool standsInResult(int factor) const {
    for (const FactorRule::Dims &result : rule_.results)
      for (const std::vector<int> &dim : result)
        if (std::find(dim.begin(), dim.end(), factor) != dim.end())
          return true;
    return false;
  }

  ReduceKind reduce_;
  std::string operandText_, resultText_;
  FactorRule rule_;
  std::map<std::string, int> index_;
  std::vector<std::optional<Polynomial>> sizes_;
};

} // namespace

FactorRule FactorRule::parse(const std::string &notation,
                             const std::vector<std::vector<Polynomial>> &operandShapes,
                             const std::vector<std::vector<Polynomial>> &resultShapes,
                             ReduceKind reduce) {
  return RuleReader(notation, reduce).read(operandShapes, resultShapes);
}

// a … z, then a1 … z1 and so on.
static std::string factorName(int factor) {
  std::string name(1, static_cast<char>('a' + factor % 26));
  return factor < 26 ? name : name + std::to_string(factor / 26);
}

static std::string dimsText(const FactorRule &rule, const FactorRule::Dims &dims) {
  std::string text;
  for (const std::vector<int> &dim : dims) {
    std::string product;
    for (int f : dim) {
      const char *mark = rule.factors[f].kind == FactorKind::Replicated ? "!" : "";
      product += (product.empty() ? "" : " ") + (mark + factorName(f));
    }
    if (dim.size() != 1)
      product = "(" + product + ")";
    text += (text.empty() ? "" : " ") + product;
  }
  return text;
}

std::string FactorRule::str() const {
  std::string text;
  for (size_t v = 0; v < operands.size(); ++v)
    text += (v ? ", " : "") + dimsText(*this, operands[v]);
  text += " ->";
  for (size_t v = 0; v < results.size(); ++v)
    text += (v ? ", " : " ") + dimsText(*this, results[v]);
  return text;
}

// The axes of every dim: the concatenation of the axes of its factors.
static Sharding dimsSharding(const FactorRule::Dims &dims, const FactorAxes &axes) {
  Sharding sharding = Sharding::replicated(dims.size());
  for (size_t d = 0; d < dims.size(); ++d)
    for (int f : dims[d])
      sharding.dims[d].insert(sharding.dims[d].end(), axes[f].begin(), axes[f].end());
  return sharding;
}

// Whether a factor occurs in these dims, or in any operand.
static bool occurs(int factor, const FactorRule::Dims &dims) {
  for (const std::vector<int> &dim : dims)
    if (std::find(dim.begin(), dim.end(), factor) != dim.end())
      return true;
  return false;
}

static bool occursInOperand(int factor, const FactorRule &rule) {
  for (const FactorRule::Dims &dims : rule.operands)
    if (occurs(factor, dims))
      return true;
  return false;
}

Sharding operandSharding(const FactorRule &rule, size_t operand, const FactorAxes &axes) {
  return dimsSharding(rule.operands[operand], axes);
}

Sharding resultSharding(const FactorRule &rule, size_t result, const FactorAxes &axes) {
  const FactorRule::Dims &dims = rule.results[result];
  Sharding sharding = dimsSharding(dims, axes);
  for (int f = 0; f < static_cast<int>(axes.size()); ++f) {
    const bool isSummed = rule.factors[f].kind == FactorKind::Reduction || occursInOperand(f, rule);
    if (axes[f].empty() || occurs(f, dims) || !isSummed)
      continue;
    sharding.partial.insert(sharding.partial.end(), axes[f].begin(), axes[f].end());
    sharding.reduce = rule.factors[f].reduce;
  }
  std::sort(sharding.partial.begin(), sharding.partial.end());
  return sharding;
}

static bool isSizeOne(const FactorRule &rule, int factor) {
  return rule.factors[factor].size.constant() == 1;
}

// Whether the factor divides evenly into `ranks` blocks.
static bool isDivisible(const Factor &factor, int64_t ranks) {
  if (std::optional<int64_t> size = factor.size.constant())
    return *size % ranks == 0;
  return factor.size.dividedBy(ranks).has_value();
}

// Whether every dim with a split factor beside other factors divides evenly into blocks.
static bool dimsAllowSplit(const FactorRule &rule, const FactorRule::Dims &dims,
                           const FactorAxes &axes, const Mesh &mesh) {
  for (const std::vector<int> &dim : dims) {
    if (dim.size() < 2)
      continue;
    bool isMajor = true; // all factors before this one have size 1
    for (size_t i = 0; i < dim.size(); ++i) {
      if (!axes[dim[i]].empty()) {
        if (!isMajor)
          return false;
        bool minorsAreOne = std::all_of(dim.begin() + i + 1, dim.end(),
                                        [&](int minor) { return isSizeOne(rule, minor); });
        int64_t ranks = mesh.ranksAlong(axes[dim[i]]);
        if (!minorsAreOne && !isDivisible(rule.factors[dim[i]], ranks))
          return false;
      }
      isMajor &= isSizeOne(rule, dim[i]);
    }
  }
  return true;
}

bool isValidSplit(const FactorRule &rule, const FactorAxes &axes, const Mesh &mesh) {
  assert(axes.size() == rule.factors.size() && mesh.axes.size() <= 64);
  uint64_t used = 0;
  for (size_t f = 0; f < axes.size(); ++f) {
    if (axes[f].empty())
      continue;
    if (rule.factors[f].kind == FactorKind::Replicated)
      return false;
    for (int axis : axes[f]) {
      uint64_t bit = uint64_t(1) << axis;
      if (used & bit)
        return false;
      used |= bit;
    }
    std::optional<int64_t> size = rule.factors[f].size.constant();
    if (size && mesh.ranksAlong(axes[f]) > *size)
      return false;
  }
  if (used == 0)
    return true;
  for (const FactorRule::Dims &dims : rule.operands)
    if (!dimsAllowSplit(rule, dims, axes, mesh))
      return false;
  for (const FactorRule::Dims &dims : rule.results)
    if (!dimsAllowSplit(rule, dims, axes, mesh))
      return false;
  return true;
}

} // namespace cleave

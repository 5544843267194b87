// See Einsum.h. The product becomes a chain of sums, transposes and dot_generals.
#include "compiler/frontend/emit/Einsum.h"

#include <algorithm>
#include <map>

namespace cleave::emit {

using namespace graph;

namespace {

// An operand and the label of each of its dims. Dims of an ellipsis are labelled '0', '1', … from
// the last one.
struct Term {
  Value value;
  std::string labels;
};

// The labels of each operand and of the result: `ij,jk->ik`.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

std::string expandEllipsis(std::string labels, size_t rank) {
  size_t at = labels.find("...");
  if (at == std::string::npos)
    return labels;
  size_t named = labels.size() - 3;
  std::string dims;
  for (size_t i = named; i < rank; ++i)
    dims.insert(dims.begin(), static_cast<char>('0' + (i - named)));
  return labels.replace(at, 3, dims);
}

// The result without `->`: labels of the ellipsis, then those that occur once, in alphabetical
// order.
std::string impliedResult(const std::vector<std::string> &operands) {
  std::map<char, int> count;
  for (const std::string &labels : operands)
    for (char label : labels)
      ++count[label];
  std::string ellipsis, rest;
  for (auto [label, times] : count) {
    if (label <= '9')
      ellipsis.insert(ellipsis.begin(), label);
    else if (times == 1)
      rest += label;
  }
  return ellipsis + rest;
}

Equation parse(const std::string &text, const Values &values) {
  if (text.find_first_of("0123456789") != std::string::npos) // which stand for dims of ellipses
    fail("equation '", text, "' names dims by digits, expected letters");
  size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation out;
  size_t most = 0;
  for (size_t begin = 0, i = 0; begin <= left.size(); ++i) {
    size_t end = std::min(left.find(',', begin), left.size());
    if (i >= values.size())
      fail("equation '", text, "' has more operands than there are inputs");
    size_t rank = rankOf(values[i]);
    out.operands.push_back(expandEllipsis(left.substr(begin, end - begin), rank));
    most = std::max(most, rank);
    if (out.operands.back().size() != rank)
      fail("equation '", text, "' names ", out.operands.back().size(), " dims of input ", i,
           ", which has ", rank);
    begin = end + 1;
  }
  if (out.operands.size() != values.size())
    fail("equation '", text, "' has ", out.operands.size(), " operands for ", values.size(),
         " inputs");
  if (arrow == std::string::npos) {
    out.result = impliedResult(out.operands);
    return out;
  }
  // The ellipsis of the result has the dims of the longest one.
  size_t ellipsis = 0;
  for (const std::string &labels : out.operands)
    ellipsis = std::max<size_t>(
        ellipsis, std::count_if(labels.begin(), labels.end(), [](char c) { return c <= '9'; }));
  std::string result = text.substr(arrow + 2);
  out.result =
      expandEllipsis(result, result.size() < 3 ? result.size() : result.size() - 3 + ellipsis);
  return out;
}

bool has(const std::string &labels, char label) { return labels.find(label) != std::string::npos; }

// The size of each label. Dims of size 1 broadcast to it. Fails where other sizes differ.
std::map<char, Polynomial> sizesOf(const std::vector<Term> &terms) {
  std::map<char, Polynomial> sizes;
  for (const Term &term : terms) {
    Sizes dims = shapeOf(term.value);
    for (size_t i = 0; i < dims.size(); ++i) {
      char label = term.labels[i];
      if (!std::isalnum(static_cast<unsigned char>(label)))
        fail("has the operand '", term.labels, "', expected letters");
      Polynomial &known = sizes.emplace(label, dims[i]).first->second;
      if (known == Polynomial(1))
        known = dims[i];
      if (known != dims[i] && dims[i] != Polynomial(1))
        fail("uses '", std::string(1, label), "' for dims of size ", known.str(), " and ",
             dims[i].str());
    }
  }
  return sizes;
}

// Checks that the result has labels of operands only, each once.
void checkResult(const std::string &result, const std::map<char, Polynomial> &sizes) {
  for (char label : result)
    if (!sizes.contains(label) || std::count(result.begin(), result.end(), label) > 1)
      fail("has the result '", result, "', expected different letters of the operands");
}

// Sums over the dims whose label is not in `needed`.
Term sumOthers(const Emitter &e, const Term &term, const std::string &needed) {
  Ints over;
  Term out;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (has(needed, term.labels[i]))
      out.labels += term.labels[i];
    else
      over.push_back(static_cast<int64_t>(i));
  }
  out.value = buildReduce(e.b, Reduction::Sum, term.value, over);
  return out;
}

// The product, summed over labels that only these two have and that are not in `needed`.
Term multiply(const Emitter &e, Term a, Term c, const std::string &needed) {
  a = sumOthers(e, a, needed + c.labels);
  c = sumOthers(e, c, needed + a.labels);
  Ints batch[2], contracting[2];
  std::string shared, left, right;
  for (size_t i = 0; i < a.labels.size(); ++i) {
    char label = a.labels[i];
    size_t j = c.labels.find(label);
    if (j == std::string::npos) {
      left += label;
      continue;
    }
    bool stays = has(needed, label);
    (stays ? batch : contracting)[0].push_back(static_cast<int64_t>(i));
    (stays ? batch : contracting)[1].push_back(static_cast<int64_t>(j));
    if (stays)
      shared += label;
  }
  for (char label : c.labels)
    if (!has(a.labels, label))
      right += label;
  Value value = DotGeneralOp::create(e.b, e.loc, a.value, c.value, batch[0], batch[1],
                                     contracting[0], contracting[1]);
  return {value, shared + left + right};
}

// Takes the diagonal of dims of one operand with the same label.
Term takeDiagonals(const Emitter &e, Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    size_t again;
    while ((again = term.labels.find(term.labels[i], i + 1)) != std::string::npos) {
      term.value = diagonal(e, term.value, static_cast<int64_t>(i), static_cast<int64_t>(again));
      term.labels.erase(again, 1);
    }
  }
  return term;
}

// Removes the dims of size 1 that broadcast: such an operand does not depend on the label.
Term dropBroadcast(const Emitter &e, const Term &term, const std::map<char, Polynomial> &sizes) {
  Term out;
  Sizes dims = shapeOf(term.value), kept;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != sizes.at(term.labels[i]))
      continue;
    out.labels += term.labels[i];
    kept.push_back(dims[i]);
  }
  out.value = e.reshape(term.value, kept);
  return out;
}

} // namespace

// Masks elements whose indices along both dims differ, and sums over one of the dims.
Value diagonal(const Emitter &e, Value x, int64_t a, int64_t b) {
  Sizes dims = shapeOf(x);
  if (dims[a] != dims[b])
    fail("takes the diagonal of dims of size ", dims[a].str(), " and ", dims[b].str());
  mlir::Type index = e.b.getI64Type();
  Value isDiagonal = e.compare(Predicate::EQ, e.iota(dims, a, index), e.iota(dims, b, index));
  return e.reduce(Reduction::Sum, e.select(isDiagonal, x, e.splat(x, 0)), {std::max(a, b)});
}

Value einsum(const Emitter &e, std::string equation, const Values &operands) {
  std::erase(equation, ' ');
  Equation parsed = parse(equation, operands);
  std::vector<Term> terms;
  for (size_t i = 0; i < operands.size(); ++i) {
    e.checkSameType(operands[0], operands[i]);
    terms.push_back({operands[i], parsed.operands[i]});
  }
  if (terms.empty())
    fail("has no inputs, expected at least 1");
  if (terms.size() > 256)
    fail("has ", terms.size(), " inputs, expected at most 256");
  std::map<char, Polynomial> sizes = sizesOf(terms);
  checkResult(parsed.result, sizes);
  for (Term &term : terms)
    term = dropBroadcast(e, takeDiagonals(e, term), sizes);
  Term product = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string needed = parsed.result;
    for (size_t later = i + 1; later < terms.size(); ++later)
      needed += terms[later].labels;
    product = multiply(e, product, terms[i], needed);
    e.type(shapeOf(product.value), elementOf(product.value));
  }
  product = sumOthers(e, product, parsed.result);
  Ints permutation;
  for (char label : parsed.result)
    permutation.push_back(static_cast<int64_t>(product.labels.find(label)));
  return e.transpose(product.value, permutation);
}

} // namespace cleave::emit

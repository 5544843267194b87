// Einsum: a product of any number of operands as a chain of sums, transposes and dot_generals.
#include "compiler/frontend/onnx/NodeImport.h"

#include <algorithm>

namespace cleave::onnx {
namespace {

using namespace graph;

// An operand and the label of each of its dims. Dims of an ellipsis are labelled '0', '1', … from the last one.
struct Term {
  Value value;
  std::string labels;
};

// `ij,jk->ik` taken apart: labels per operand, and the result's.
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

// Without `->`: the labels that occur once, in alphabetical order, behind the ellipsis' ones.
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

Equation parse(NodeImport &n, std::string text) {
  std::erase(text, ' ');
  size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation out;
  size_t most = 0;
  for (size_t begin = 0, i = 0; begin <= left.size(); ++i) {
    size_t end = std::min(left.find(',', begin), left.size());
    if (i >= n.inputCount())
      fail("equation '" + text + "' has more operands than the node has inputs");
    size_t rank = dimsOf(n.input(i)).size();
    out.operands.push_back(expandEllipsis(left.substr(begin, end - begin), rank));
    most = std::max(most, rank);
    if (out.operands.back().size() != rank)
      fail("equation '" + text + "' names " + std::to_string(out.operands.back().size()) +
           " dims of input " + std::to_string(i) + ", which has " + std::to_string(rank));
    begin = end + 1;
  }
  if (out.operands.size() != n.inputCount())
    fail("equation '" + text + "' has " + std::to_string(out.operands.size()) + " operands for " +
         std::to_string(n.inputCount()) + " inputs");
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

// Every label once per operand, of one size everywhere, and the result's among them.
void check(const std::vector<Term> &terms, const std::string &result) {
  std::map<char, int64_t> sizes;
  for (const Term &term : terms) {
    Dims dims = dimsOf(term.value);
    for (size_t i = 0; i < dims.size(); ++i) {
      char label = term.labels[i];
      if (!std::isalnum(static_cast<unsigned char>(label)) ||
          std::count(term.labels.begin(), term.labels.end(), label) > 1)
        fail("has the operand '" + term.labels + "', expected different letters");
      auto [known, isNew] = sizes.emplace(label, dims[i]);
      if (known->second != dims[i])
        fail("uses '" + std::string(1, label) + "' for dims of size " +
             std::to_string(known->second) + " and " + std::to_string(dims[i]));
    }
  }
  for (char label : result)
    if (!sizes.contains(label) || std::count(result.begin(), result.end(), label) > 1)
      fail("has the result '" + result + "', expected different letters of the operands");
}

// Sums over the dims whose label is not in `needed`.
Term sumOthers(NodeImport &n, const Term &term, const std::string &needed) {
  Dims over;
  Term out;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (has(needed, term.labels[i]))
      out.labels += term.labels[i];
    else
      over.push_back(static_cast<int64_t>(i));
  }
  out.value = buildReduce(n.b, Reduction::Sum, term.value, over);
  return out;
}

// The product, summed over what only these two have and nobody needs later.
Term multiply(NodeImport &n, Term a, Term c, const std::string &needed) {
  a = sumOthers(n, a, needed + c.labels);
  c = sumOthers(n, c, needed + a.labels);
  Dims batch[2], contracting[2];
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
  Value value = DotGeneralOp::create(n.b, n.loc, a.value, c.value, batch[0], batch[1],
                                     contracting[0], contracting[1]);
  return {value, shared + left + right};
}

Values importEinsum(NodeImport &n) {
  Values inputs = n.allInputs();
  if (!n.hasAttribute("equation"))
    fail("attribute 'equation' is missing");
  Equation equation = parse(n, n.text("equation", ""));
  std::vector<Term> terms;
  for (size_t i = 0; i < inputs.size(); ++i) {
    n.checkSameType(inputs[0], inputs[i]);
    terms.push_back({inputs[i], equation.operands[i]});
  }
  check(terms, equation.result);
  Term product = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string needed = equation.result;
    for (size_t later = i + 1; later < terms.size(); ++later)
      needed += terms[later].labels;
    product = multiply(n, product, terms[i], needed);
    n.type(dimsOf(product.value), elementOf(product.value));
  }
  product = sumOthers(n, product, equation.result);
  Dims permutation;
  for (char label : equation.result)
    permutation.push_back(static_cast<int64_t>(product.labels.find(label)));
  return {n.transpose(product.value, permutation)};
}

constexpr OpEntry kOps[] = {{"Einsum", 12, importEinsum}};

} // namespace

llvm::ArrayRef<OpEntry> einsumOps() { return kOps; }

} // namespace cleave::onnx

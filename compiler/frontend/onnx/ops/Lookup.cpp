// Lookup: values found by keys, and counts of n-grams. Strings are compared by their numbers.
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// A list of numbers or strings in an attribute.
struct List {
  Tensor values;
  bool isString = false;
};

Tensor numbers(ElementType type, const std::vector<double> &values) {
  Tensor out(type, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    out.set(static_cast<int64_t>(i), values[i]);
  return out;
}

List stringList(NodeImport &n, const std::vector<std::string> &strings) {
  List list{Tensor(ElementType::I64, {static_cast<int64_t>(strings.size())}), true};
  for (size_t i = 0; i < strings.size(); ++i)
    list.values.values[i] = static_cast<double>(n.services.strings().numberOf(strings[i]));
  return list;
}

std::optional<List> tensorList(NodeImport &n, const std::string &name) {
  const StoredTensor *stored = n.tensor(name);
  if (!stored)
    return std::nullopt;
  Value value = n.services.tensorValue(*stored);
  List list{n.tensorOf(value, name), stored->dataType == kStringType};
  list.values.shape = {list.values.size()};
  return list;
}

// The attribute `prefix` + _int64s, _floats, _strings or _tensor.
std::optional<List> listAttribute(NodeImport &n, const std::string &prefix) {
  if (auto integers = n.integers(prefix + "_int64s"))
    return List{numbers(ElementType::I64, {integers->begin(), integers->end()})};
  if (auto decimals = n.decimals(prefix + "_floats"))
    return List{numbers(ElementType::F32, *decimals)};
  if (auto strings = n.strings(prefix + "_strings"))
    return stringList(n, *strings);
  return tensorList(n, prefix + "_tensor");
}

// The value for keys that are missing, in the type of the values.
List absentValue(NodeImport &n, const List &values) {
  double decimal = n.decimal("default_float", -0.0);
  int64_t integer = n.integer("default_int64", -1);
  std::string text = n.string("default_string", "_Unused");
  if (std::optional<List> given = tensorList(n, "default_tensor"))
    return *given;
  if (values.isString)
    return stringList(n, {text});
  bool isReal = isFloat(values.values.type);
  return {numbers(values.values.type, {isReal ? decimal : static_cast<double>(integer)})};
}

// Replaces every element by the value of its key, the last one where a key occurs twice.
Bindings importLabelEncoder(NodeImport &n) {
  n.checkInputs(1, 1);
  std::optional<List> keys = listAttribute(n, "keys"), values = listAttribute(n, "values");
  if (!keys || !values || keys->values.size() != values->values.size())
    fail("has no keys and values, or different numbers of both");
  Value x = n.input(0);
  if (keys->isString != n.isString(0) ||
      (!keys->isString && isFloat(x) != isFloat(keys->values.type)))
    fail("has keys of another type than its operand");
  Tensor table = absentValue(n, *values).values;
  if (table.size() != 1 || table.type != values->values.type)
    fail("has a default of another type than its values, or none");
  table.shape[0] += values->values.size();
  table.values.insert(table.values.end(), values->values.values.begin(),
                      values->values.values.end());
  keys->values.type = graph::toElementType(elementOf(x));
  Sizes dims = shapeOf(x);
  dims.push_back(keys->values.size());
  Value element = n.broadcast(n.insertDim(x, rankOf(x)), dims);
  Value key = n.broadcast(n.constant(keys->values), dims);
  Value hit = n.compare(Predicate::EQ, element, key);
  if (isFloat(x)) // NaN is a key, too
    hit = n.binary<graph::OrOp>(hit, n.binary<graph::AndOp>(isNan(n, element), isNan(n, key)));
  int64_t last = rankOf(x);
  Value place = n.add(n.iota(dims, last, n.b.getI64Type()), 1);
  place = n.reduce(Reduction::Max, n.select(hit, place, n.splat(place, 0)), {last});
  Binding found{{n.gather(n.constant(table), place, 0)}};
  found.isString = values->isString;
  return {found};
}

// -- n-grams --------------------------------------------------------------------------------------

// Counts each of the n-grams [count, n] in the lines of x [lines, size], where the elements of an
// n-gram are `step` apart: [lines, count] of float32; null where no line is long enough.
Value countGrams(NodeImport &n, Value x, const Tensor &grams, int64_t step) {
  Sizes dims = shapeOf(x);
  int64_t length = grams.shape[1],
          places = n.number(dims[1], "the lines' length") - step * (length - 1);
  if (places < 1 || grams.shape[0] == 0)
    return {};
  n.evaluator.checkOps(); // counted over all lengths and steps
  Sizes all = {dims[0], places, grams.shape[0]};
  Value hit;
  for (int64_t k = 0; k < length; ++k) {
    Value element = n.broadcast(n.insertDim(n.slice(x, 1, step * k, places), 2), all);
    Value wanted = n.dropDim(n.slice(n.constant(grams), 1, k, 1), 1);
    Value same = n.compare(Predicate::EQ, element, n.broadcast(wanted, all));
    hit = hit ? n.binary<graph::AndOp>(hit, same) : same;
  }
  return n.reduce(Reduction::Sum, n.cast(hit, n.b.getF32Type()), {1});
}

// The n-grams of one length in the pool, [count, n] in the type of x.
Tensor gramsOf(const List &pool, const Ints &starts, size_t length, Value x) {
  int64_t size = pool.values.size(), begin = starts[length - 1];
  int64_t end = length < starts.size() ? starts[length] : size;
  auto n = static_cast<int64_t>(length);
  if (begin < 0 || end < begin || end > size || (end - begin) % n)
    fail("attribute 'ngram_counts' does not fit a pool of ", size);
  Tensor grams(graph::toElementType(elementOf(x)), {(end - begin) / n, n});
  std::copy(pool.values.values.begin() + begin, pool.values.values.begin() + end,
            grams.values.begin());
  return grams;
}

// The result by the attribute 'mode': counts, weights of the n-grams that occur, or their product.
Value weighed(NodeImport &n, Value counts) {
  std::string mode = n.string("mode", "");
  int64_t size = n.number(n.dim(counts, 1), "number of n-grams");
  std::vector<double> given = n.decimals("weights").value_or(std::vector<double>(size, 1));
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    fail("attribute 'mode' is '", mode, "', expected TF, IDF or TFIDF");
  if (static_cast<int64_t>(given.size()) != size)
    fail("has ", given.size(), " weights for ", size, " n-grams");
  if (mode == "TF")
    return counts;
  Value weights = n.broadcast(n.constant(numbers(ElementType::F32, given)), shapeOf(counts));
  if (mode == "TFIDF")
    return n.mul(counts, weights);
  return n.select(n.compare(Predicate::GT, counts, 0), weights, n.splat(weights, 0));
}

// The counts of all n-grams, [lines, n-grams].
Value countAll(NodeImport &n, Value x, const List &pool, const Ints &starts) {
  int64_t shortest = n.requiredInteger("min_gram_length"),
          longest = n.requiredInteger("max_gram_length"),
          skips = n.requiredInteger("max_skip_count");
  if (skips < 0 || skips > 256)
    fail("attribute 'max_skip_count' is ", skips, ", expected 0 to 256");
  Values all;
  for (size_t length = 1; length <= starts.size(); ++length) {
    Tensor grams = gramsOf(pool, starts, length, x);
    auto size = static_cast<int64_t>(length);
    Value sum = n.splat({n.dim(x, 0), grams.shape[0]}, n.b.getF32Type(), 0);
    bool isCounted = size >= shortest && size <= longest;
    for (int64_t step = 1; isCounted && step <= (length == 1 ? 1 : skips + 1); ++step)
      if (Value some = countGrams(n, x, grams, step))
        sum = n.add(sum, some);
      else
        break; // longer steps fit even less
    all.push_back(sum);
  }
  return n.concat(all, 1);
}

Values importTfIdf(NodeImport &n) {
  n.checkInputs(1, 1);
  std::optional<Ints> integers = n.integers("pool_int64s");
  std::optional<std::vector<std::string>> strings = n.strings("pool_strings");
  Ints starts = n.integers("ngram_counts").value_or(Ints()),
       columns = n.integers("ngram_indexes").value_or(Ints());
  Value x = n.input(0);
  if (n.isString(0) != strings.has_value() || (!strings && !integers) || starts.empty() ||
      columns.empty() || rankOf(x) < 1 || rankOf(x) > 2)
    fail("has no pool of its operand's type, no 'ngram_counts' or 'ngram_indexes', or an operand "
         "of more than 2 dims");
  List pool = strings ? stringList(n, *strings)
                      : List{numbers(ElementType::I64, {integers->begin(), integers->end()})};
  bool isLine = rankOf(x) == 1;
  Value counts = weighed(n, countAll(n, isLine ? n.insertDim(x, 0) : x, pool, starts));
  Sizes dims = shapeOf(counts);
  auto [least, most] = std::minmax_element(columns.begin(), columns.end());
  if (dims[1] != Polynomial(static_cast<int64_t>(columns.size())) || *least < 0 ||
      *most > (int64_t(1) << 31))
    fail("has ", columns.size(), " 'ngram_indexes' for ", dims[1].str(),
         " n-grams, or one below 0");
  Value placed =
      graph::ScatterOp::create(n.b, n.loc, n.type({dims[0], *most + 1}, elementOf(counts)),
                               Reduction::Sum, counts, n.integers(columns), 1);
  return {isLine ? n.dropDim(placed, 0) : placed};
}

constexpr OpEntry kLookupOps[] = {
    {"TfIdfVectorizer", 9, importTfIdf},
    {"ai.onnx.ml:LabelEncoder", 1, importLabelEncoder},
};

} // namespace

llvm::ArrayRef<OpEntry> lookupOps() { return kLookupOps; }

} // namespace cleave::onnx

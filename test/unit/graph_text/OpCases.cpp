// See OpCases.h.
#include "test/unit/graph_text/OpCases.h"

namespace cleave::test {

std::string OpCase::text() const {
  return "func.func @f(" + args + ") -> " + result + " {\n" + body + "\nreturn %y : " + result +
         "\n}";
}

namespace {

const char *kMatrix = "tensor<3x4xf64>";

// %y: %z without infinities, the results of a scatter in rows without updates.
std::string finite(const std::string &type) {
  return R"(%low = graph.constant dense<-9.0> : tensor<f64>
            %lows = graph.broadcast %low to [] : tensor<f64> -> )" +
         type + R"(
            %high = graph.constant dense<9.0> : tensor<f64>
            %highs = graph.broadcast %high to [] : tensor<f64> -> )" +
         type + R"(
            %above = graph.max %z, %lows : )" +
         type + R"(
            %y = graph.min %above, %highs : )" +
         type;
}

std::vector<OpCase> elementwise() {
  std::vector<OpCase> cases;
  auto unary = [&](const std::string &op, double low, double high) {
    cases.push_back(
        {"%x: tensor<3x4xf64>", "%y = graph." + op + " %x : tensor<3x4xf64>", kMatrix, low, high});
  };
  auto binary = [&](const std::string &op, double low, double high) {
    cases.push_back({"%x: tensor<3x4xf64>, %z: tensor<3x4xf64>",
                     "%y = graph." + op + " %x, %z : tensor<3x4xf64>", kMatrix, low, high});
  };
  for (const char *op : {"neg", "abs", "exp", "expm1", "sin", "cos", "tanh", "atan", "erf", "relu",
                         "sigmoid", "silu", "gelu", "quick_gelu"})
    unary(op, -2, 2);
  cases.push_back(
      {"%x: tensor<3x4xf64>", "%y = graph.gelu %x {tanh} : tensor<3x4xf64>", kMatrix, -2, 2});
  for (const char *op : {"log", "log1p", "sqrt", "rsqrt"})
    unary(op, 0.5, 2);
  cases.push_back({"%x: tensor<3x4xf64>",
                   "%y = graph.dropout %x {rate = 2.5e-1 : f64} : tensor<3x4xf64>", kMatrix});
  cases.push_back({"%x: tensor<3x4xf64>, %s: tensor<i64>",
                   "%y = graph.dropout %x seed %s {rate = 2.5e-1 : f64} : tensor<3x4xf64>", kMatrix,
                   -2, 2});
  for (const char *op : {"floor", "ceil", "round"})
    unary(op, 0.1, 0.4);
  for (const char *op : {"add", "sub", "mul", "max", "min"})
    binary(op, -2, 2);
  for (const char *op : {"div", "rem", "pow"})
    binary(op, 1.1, 1.9);
  cases.push_back({"%x: tensor<3x4xf64>",
                   R"(%c = graph.constant dense<2.0> : tensor<f64>
                      %e = graph.broadcast %c to [] : tensor<f64> -> tensor<3x4xf64>
                      %y = graph.pow %x, %e : tensor<3x4xf64>)",
                   kMatrix, -2, 2});
  cases.push_back({"%p: tensor<3x4xi1>, %x: tensor<3x4xf64>, %z: tensor<3x4xf64>",
                   "%y = graph.select %p, %x, %z : tensor<3x4xi1>, tensor<3x4xf64>", kMatrix});
  cases.push_back({"%x: tensor<3x4xf64>, %n: tensor<3x4xi64>",
                   R"(%c = graph.cast %n : tensor<3x4xi64> -> tensor<3x4xf64>
                      %y = graph.mul %x, %c : tensor<3x4xf64>)",
                   kMatrix, -3, 3});
  return cases;
}

// dot_general of operands with these types; `lists` is "batch x batch contract c x c".
OpCase dot(const std::string &lhs, const std::string &rhs, const std::string &lists,
           const std::string &result) {
  return {"%x: " + lhs + ", %z: " + rhs,
          "%y = graph.dot_general %x, %z batch " + lists + " : " + lhs + ", " + rhs + " -> " +
              result,
          result};
}

std::vector<OpCase> contraction() {
  std::vector<OpCase> cases = {
      dot("tensor<3x4xf64>", "tensor<4x5xf64>", "[] x [] contract [1] x [0]", "tensor<3x5xf64>"),
      dot("tensor<3x4xf64>", "tensor<5x4xf64>", "[] x [] contract [1] x [1]", "tensor<3x5xf64>"),
      dot("tensor<4x3xf64>", "tensor<4x5xf64>", "[] x [] contract [0] x [0]", "tensor<3x5xf64>"),
      dot("tensor<2x3x4xf64>", "tensor<4x5xf64>", "[] x [] contract [2] x [0]",
          "tensor<2x3x5xf64>"),
      dot("tensor<2x3x4xf64>", "tensor<2x4x5xf64>", "[0] x [0] contract [2] x [1]",
          "tensor<2x3x5xf64>"),
      dot("tensor<2x3x4xf64>", "tensor<2x5x4xf64>", "[0] x [0] contract [2] x [2]",
          "tensor<2x3x5xf64>"),
      dot("tensor<3x2x4xf64>", "tensor<4x2x5xf64>", "[1] x [1] contract [2] x [0]",
          "tensor<2x3x5xf64>"),
      dot("tensor<2x3x4x5xf64>", "tensor<5x4x6xf64>", "[] x [] contract [2, 3] x [1, 0]",
          "tensor<2x3x6xf64>"),
      dot("tensor<3x4xf64>", "tensor<5xf64>", "[] x [] contract [] x []", "tensor<3x4x5xf64>"),
      dot("tensor<4xf64>", "tensor<4xf64>", "[] x [] contract [0] x [0]", "tensor<f64>"),
  };
  // The second group and the last one have no rows, and the last row is in no group.
  const std::string ends = "%ends = graph.constant dense<[2, 2, 5, 5]> : tensor<4xi32>\n";
  cases.push_back({"%x: tensor<6x4xf64>, %w: tensor<4x4x3xf64>",
                   ends + "%y = graph.grouped_matmul %x, %w, %ends : tensor<6x4xf64>, "
                          "tensor<4x4x3xf64>, tensor<4xi32> -> tensor<6x3xf64>",
                   "tensor<6x3xf64>"});
  cases.push_back({"%x: tensor<6x4xf64>, %z: tensor<6x3xf64>",
                   ends + "%y = graph.grouped_weight_grad %x, %z, %ends : tensor<6x4xf64>, "
                          "tensor<6x3xf64>, tensor<4xi32> -> tensor<4x4x3xf64>",
                   "tensor<4x4x3xf64>"});
  auto conv = [&](const std::string &data, const std::string &weight, const std::string &result,
                  const char *strides, const char *dilations, const char *low, const char *high,
                  int groups) {
    std::string attributes =
        std::string(" {strides = array<i64: ") + strides +
        ">, dilations = array<i64: " + dilations + ">, pads_low = array<i64: " + low +
        ">, pads_high = array<i64: " + high + ">, groups = " + std::to_string(groups) + " : i64}";
    cases.push_back(
        {"%x: " + data + ", %w: " + weight,
         "%y = graph.conv %x, %w" + attributes + " : " + data + ", " + weight + " -> " + result,
         result});
  };
  conv("tensor<2x3x5x5xf64>", "tensor<2x3x3x3xf64>", "tensor<2x2x5x5xf64>", "1, 1", "1, 1", "1, 1",
       "1, 1", 1);
  conv("tensor<1x2x6x5xf64>", "tensor<3x2x2x3xf64>", "tensor<1x3x3x2xf64>", "2, 2", "1, 1", "0, 1",
       "1, 0", 1);
  conv("tensor<1x4x7xf64>", "tensor<6x2x2xf64>", "tensor<1x6x4xf64>", "1", "3", "0", "0", 2);
  for (const char *kind : {"max", "average"})
    for (const char *flag : {"", ", count_padding"})
      cases.push_back({"%x: tensor<2x2x5x5xf64>",
                       std::string("%y = graph.pool ") + kind +
                           " %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, dilations "
                           "= array<i64: 1, 1>, "
                           "pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 1>" +
                           flag + "} : tensor<2x2x5x5xf64> -> tensor<2x2x3x3xf64>",
                       "tensor<2x2x3x3xf64>"});
  return cases;
}

std::vector<OpCase> movement() {
  return {
      {"%x: tensor<3x4xf64>", "%y = graph.reshape %x : tensor<3x4xf64> -> tensor<2x6xf64>",
       "tensor<2x6xf64>"},
      {"%x: tensor<2x3x4xf64>",
       "%y = graph.transpose %x by [2, 0, 1] : tensor<2x3x4xf64> -> tensor<4x2x3xf64>",
       "tensor<4x2x3xf64>"},
      {"%x: tensor<3xf64>", "%y = graph.broadcast %x to [1] : tensor<3xf64> -> tensor<2x3x4xf64>",
       "tensor<2x3x4xf64>"},
      {"%x: tensor<3x2xf64>",
       "%y = graph.broadcast %x to [2, 0] : tensor<3x2xf64> -> tensor<2x4x3xf64>",
       "tensor<2x4x3xf64>"},
      {"%x: tensor<f64>", "%y = graph.broadcast %x to [] : tensor<f64> -> tensor<2x3xf64>",
       "tensor<2x3xf64>"},
      {"%x: tensor<3x7xf64>",
       "%y = graph.slice %x dim 1 from 1 step 2 : tensor<3x7xf64> -> tensor<3x3xf64>",
       "tensor<3x3xf64>"},
      {"%x: tensor<3x4xf64>", "%y = graph.pad %x dim 0 low 1 : tensor<3x4xf64> -> tensor<5x4xf64>",
       "tensor<5x4xf64>"},
      {"%x: tensor<3x4xf64>",
       "%y = graph.pad %x dim 1 low 2 {interior = 1 : i64, value = 3.0 : f64} : tensor<3x4xf64> -> "
       "tensor<3x10xf64>",
       "tensor<3x10xf64>"},
      {"%x: tensor<3x2xf64>, %z: tensor<3x4xf64>",
       "%y = graph.concat %x, %z, %x dim 1 : tensor<3x2xf64>, tensor<3x4xf64>, tensor<3x2xf64> -> "
       "tensor<3x8xf64>",
       "tensor<3x8xf64>"},
      {"%x: tensor<3x4xf64>", "%y = graph.reverse %x dim 1 : tensor<3x4xf64>", kMatrix},
  };
}

std::vector<OpCase> reduction() {
  std::vector<OpCase> cases;
  for (const char *kind : {"sum", "max", "min", "prod"})
    for (auto [dims, result] :
         {std::pair("[1]", "tensor<2x4xf64>"), std::pair("[0, 2]", "tensor<3xf64>"),
          std::pair("[0, 1, 2]", "tensor<f64>")})
      cases.push_back({"%x: tensor<2x3x4xf64>",
                       std::string("%y = graph.reduce ") + kind + " %x over " + dims +
                           " : tensor<2x3x4xf64> -> " + result,
                       result, -2, 2});
  return cases;
}

// A gather or scatter of 2x5 indices, or 5 in each batch, on a table of 4 rows.
std::vector<OpCase> indexing() {
  std::vector<OpCase> cases;
  auto gather = [&](const std::string &table, const std::string &indices, const std::string &rows,
                    const char *where) {
    cases.push_back({"%t: " + table + ", %i: " + indices,
                     "%y = graph.gather %t at %i dim " + std::string(where) + " : " + table + ", " +
                         indices + " -> " + rows,
                     rows, -1, 5});
  };
  auto scatter = [&](const std::string &table, const std::string &indices, const std::string &rows,
                     const char *where) {
    for (const char *kind : {"sum", "max", "min", "prod"})
      cases.push_back({"%u: " + rows + ", %i: " + indices,
                       "%z = graph.scatter " + std::string(kind) + " %u at %i dim " + where +
                           " : " + rows + ", " + indices + " -> " + table + "\n" + finite(table),
                       table, -1, 5});
  };
  gather("tensor<4x3xf64>", "tensor<2x5xi64>", "tensor<2x5x3xf64>", "0");
  gather("tensor<3x4xf64>", "tensor<5xi32>", "tensor<3x5xf64>", "1");
  gather("tensor<2x4x3xf64>", "tensor<2x5xi64>", "tensor<2x5x3xf64>", "1 {batch = 1 : i64}");
  gather("tensor<2x3x4x2xf64>", "tensor<2x5xi64>", "tensor<2x3x5x2xf64>", "2 {batch = 1 : i64}");
  gather("tensor<2x3x4xf64>", "tensor<2x3x5xi64>", "tensor<2x3x5xf64>", "2 {batch = 2 : i64}");
  scatter("tensor<4x3xf64>", "tensor<2x5xi64>", "tensor<2x5x3xf64>", "0");
  scatter("tensor<3x4xf64>", "tensor<5xi32>", "tensor<3x5xf64>", "1");
  scatter("tensor<2x3x4x2xf64>", "tensor<2x5xi64>", "tensor<2x3x5x2xf64>", "2 {batch = 1 : i64}");
  scatter("tensor<2x3x4xf64>", "tensor<2x3x5xi64>", "tensor<2x3x5xf64>", "2 {batch = 2 : i64}");
  // A product of 2, 0 and 2, by the 0.
  cases.push_back(
      {"%x: tensor<1x2xf64>, %i: tensor<3xi64>",
       R"(%p = graph.pad %x dim 0 low 1 {value = 2.0 : f64} : tensor<1x2xf64> -> tensor<3x2xf64>
                      %y = graph.scatter prod %p at %i dim 0 : tensor<3x2xf64>, tensor<3xi64> -> tensor<4x2xf64>)",
       "tensor<4x2xf64>", 0, 0});
  return cases;
}

std::vector<OpCase> sequence() {
  const std::string cube = "tensor<2x3x4xf64>";
  std::vector<OpCase> cases;
  for (const char *dim : {"0", "1", "2"}) {
    for (const char *kind : {"sum", "max", "min", "prod"})
      cases.push_back({"%x: " + cube,
                       std::string("%y = graph.scan ") + kind + " %x dim " + dim + " : " + cube,
                       cube, -2, 2});
    for (const char *order : {"", " {descending}"})
      cases.push_back({"%x: " + cube,
                       std::string("%y, %i = graph.sort %x dim ") + dim + order + " : " + cube,
                       cube, -2, 2});
  }
  // Products of 2, 0 and 2, by the 0.
  cases.push_back(
      {"%x: tensor<3x1xf64>",
       R"(%p = graph.pad %x dim 1 low 1 {value = 2.0 : f64} : tensor<3x1xf64> -> tensor<3x3xf64>
                      %y = graph.scan prod %p dim 1 : tensor<3x3xf64>)",
       "tensor<3x3xf64>", 0, 0});
  return cases;
}

std::vector<OpCase> normalization() {
  const std::string cube = "tensor<2x3x4xf64>";
  std::vector<OpCase> cases;
  for (const char *op : {"softmax", "log_softmax"})
    for (const char *dim : {"0", "2"})
      cases.push_back({"%x: " + cube,
                       std::string("%y = graph.") + op + " %x dim " + dim + " : " + cube, cube, -2,
                       2});
  for (const std::string scale : {"tensor<4xf64>", "tensor<3x4xf64>"}) {
    cases.push_back({"%x: " + cube + ", %s: " + scale + ", %b: " + scale,
                     "%y = graph.layer_norm %x, %s, %b {epsilon = 1.0e-3 : f64} : " + cube + ", " +
                         scale + ", " + scale,
                     cube, -2, 2});
    cases.push_back({"%x: " + cube + ", %s: " + scale,
                     "%y = graph.rms_norm %x, %s {epsilon = 1.0e-3 : f64} : " + cube + ", " + scale,
                     cube, -2, 2});
  }
  for (const std::string data : {"tensor<4x3xf64>", "tensor<2x3x2x2xf64>"})
    cases.push_back(
        {"%x: " + data +
             ", %s: tensor<3xf64>, %b: tensor<3xf64>, %m: tensor<3xf64>, %v: tensor<3xf64>",
         "%y, %nm, %nv = graph.batch_norm %x, %s, %b running %m, %v {epsilon = 1.0e-3 : f64, "
         "momentum = "
         "0.1 : f64} : " +
             data + ", tensor<3xf64>",
         data, -2, 2});
  return cases;
}

// What an attention has besides query, key and value.
struct Extras {
  std::string bias, mask; // shapes, or empty
  std::string attributes; // ", name = value"
  bool seed = false;
};

// The arguments, types and syntax of the optional operands.
struct Operands {
  std::string args, types, syntax;

  void add(const std::string &keyword, const std::string &name, const std::string &type) {
    args += ", " + name + ": " + type, types += ", " + type;
    syntax += (keyword.empty() ? ", " : " " + keyword + " ") + name;
  }
  void add(const Extras &extras) {
    if (!extras.bias.empty())
      add("bias", "%b", "tensor<" + extras.bias + "xf64>");
    if (!extras.mask.empty())
      add("mask", "%m", "tensor<" + extras.mask + "xi1>");
    if (extras.seed)
      add("seed", "%s", "tensor<i64>");
  }
};

// Types of query, key, value, the result and its log-sum-exp.
struct AttentionTypes {
  std::string q, k, v, y, lse;
};

OpCase attends(const AttentionTypes &types, const Extras &extras) {
  Operands operands{"%q: " + types.q, types.q, "%q"};
  operands.add("", "%k", types.k);
  operands.add("", "%v", types.v);
  operands.add(extras);
  return {operands.args,
          "%y, %lse = graph.attention " + operands.syntax + " {scale = 0.7 : f64" +
              extras.attributes + "} : (" + operands.types + ") -> (" + types.y + ", " + types.lse +
              ")",
          types.y};
}

// The gradient of the same attention, with respect to the bias too if `ofBias`.
OpCase attendsBackward(const AttentionTypes &types, const Extras &extras, bool ofBias = false) {
  Operands operands{"%q: " + types.q, types.q, "%q"};
  operands.add("", "%k", types.k);
  operands.add("", "%v", types.v);
  operands.add("", "%o", types.y);
  operands.add("", "%l", types.lse);
  operands.add("", "%dy", types.y);
  operands.add(extras);
  return {operands.args,
          std::string("%y, %dk, %dv") + (ofBias ? ", %db" : "") + " = graph.attention_grad " +
              operands.syntax + " {scale = 0.7 : f64" + extras.attributes + "} : (" +
              operands.types + ") -> (" + types.q + ", " + types.k + ", " + types.v +
              (ofBias ? ", tensor<" + extras.bias + "xf64>" : "") + ")",
          types.q};
}

const AttentionTypes kEqualHeads = {"tensor<2x4x3x6xf64>", "tensor<2x4x3x6xf64>",
                                    "tensor<2x4x3x6xf64>", "tensor<2x4x3x6xf64>",
                                    "tensor<2x4x3xf64>"};
const AttentionTypes kGroups = {"tensor<2x4x3x6xf64>", "tensor<2x2x5x6xf64>", "tensor<2x2x5x4xf64>",
                                "tensor<2x4x3x4xf64>", "tensor<2x4x3xf64>"};
const AttentionTypes kOneGroup = {"tensor<4x6x3xf64>", "tensor<1x5x3xf64>", "tensor<1x5x2xf64>",
                                  "tensor<4x6x2xf64>", "tensor<4x6xf64>"};
const AttentionTypes kCube = {"tensor<3x4x6xf64>", "tensor<3x4x6xf64>", "tensor<3x4x6xf64>",
                              "tensor<3x4x6xf64>", "tensor<3x4xf64>"};

// Every form of mask, bias and dropout, repeated along dims or not.
std::vector<std::pair<AttentionTypes, Extras>> attentionForms() {
  return {
      {kEqualHeads, {"", "", ""}},
      {kEqualHeads, {"", "", ", causal"}},
      {kGroups, {"2x4x3x5", "", ", causal"}},
      {kGroups, {"2x4x3x5", "2x4x3x5", ", safe"}},
      {kGroups, {"", "2x4x3x5", ", fill = -2.0 : f64"}},
      {kGroups, {"2x4x3x5", "2x4x3x5", ", causal, fill = -2.0 : f64"}},
      {kGroups, {"1x4x3x1", "2x1x1x5", ", safe"}},
      {kGroups, {"1x1x1x5", "1x1x3x5", ", fill = -2.0 : f64"}},
      {kGroups, {"1x1x1x1", "1x1x3x1", ", fill = -2.0 : f64"}},
      {kOneGroup, {"4x1x5", "", ", causal"}},
      {kCube, {"3x4x4", "", ""}},
      {kCube, {"", "", ", dropout = 0.25 : f64"}},
      {kCube, {"", "", ", dropout = 0.25 : f64", true}},
      {kGroups, {"2x4x3x5", "2x4x3x5", ", safe, dropout = 0.5 : f64", true}},
      {kGroups, {"", "2x1x1x5", ", causal, fill = -2.0 : f64, dropout = 0.5 : f64", true}},
  };
}

std::vector<OpCase> attentionGradients() {
  std::vector<OpCase> cases;
  for (auto [types, extras] : attentionForms()) {
    if (size_t safe = extras.attributes.find(", safe"); safe != std::string::npos)
      extras.attributes.erase(safe, 6);
    if (!extras.seed)
      if (size_t rate = extras.attributes.find(", dropout"); rate != std::string::npos)
        extras.attributes.erase(rate);
    cases.push_back(attendsBackward(types, extras));
    if (!extras.bias.empty())
      cases.push_back(attendsBackward(types, extras, true));
  }
  return cases;
}

std::vector<OpCase> attention() {
  const std::string q = kEqualHeads.q;
  std::vector<OpCase> cases;
  for (const auto &[types, extras] : attentionForms())
    cases.push_back(attends(types, extras));
  for (const char *attributes : {"", " {interleaved}"})
    cases.push_back({"%x: " + q + ", %c: " + q + ", %s: " + q,
                     std::string("%y = graph.rotary %x, %c, %s") + attributes + " : " + q, q});
  return cases;
}

std::vector<OpCase> lossesAndStructure() {
  return {
      {"%x: tensor<6x4xf64>, %l: tensor<6xi64>",
       "%y = graph.softmax_cross_entropy %x, %l : tensor<6x4xf64>, tensor<6xi64> -> tensor<f64>",
       "tensor<f64>", 0, 4},
      {"%x: tensor<2x3x4xf64>, %l: tensor<2x3xi64>",
       "%y = graph.softmax_cross_entropy %x, %l {ignore_index = 1 : i64} : tensor<2x3x4xf64>, "
       "tensor<2x3xi64> -> "
       "tensor<f64>",
       "tensor<f64>", 0, 4},
      {"%x: tensor<3x4xf64>", "%y = graph.transfer %x from 0 to 1 : tensor<3x4xf64>", kMatrix},
      {"%x: tensor<3x4xf64>", "%y = graph.accumulate %x count 2 : tensor<3x4xf64>", kMatrix},
  };
}

std::vector<OpCase> truthValuesAndIntegers() {
  std::vector<OpCase> cases;
  for (const char *op : {"and", "or", "xor"})
    cases.push_back({"%x: tensor<3x4xi1>, %z: tensor<3x4xi1>",
                     std::string("%y = graph.") + op + " %x, %z : tensor<3x4xi1>",
                     "tensor<3x4xi1>"});
  cases.push_back({"%x: tensor<3x4xi1>", "%y = graph.not %x : tensor<3x4xi1>", "tensor<3x4xi1>"});
  for (const std::string type : {"tensor<3x4xi32>", "tensor<3x4xui8>", "tensor<3x4xui32>"}) {
    for (const char *op :
         {"and", "or", "xor", "shift_left", "shift_right", "mul", "div", "rem", "max", "min"})
      cases.push_back({"%x: " + type + ", %z: " + type,
                       std::string("%y = graph.") + op + " %x, %z : " + type, type, -4, 4});
    for (const char *op : {"not", "abs"})
      cases.push_back(
          {"%x: " + type, std::string("%y = graph.") + op + " %x : " + type, type, -4, 4});
    cases.push_back({"%x: " + type + ", %z: " + type, "%y = graph.compare lt %x, %z : " + type,
                     "tensor<3x4xi1>", -4, 4});
    for (const std::string to : {"tensor<3x4xf32>", "tensor<3x4xi64>", "tensor<3x4xi8>"}) {
      cases.push_back({"%x: " + type, "%y = graph.cast %x : " + type + " -> " + to, to, -4, 4});
      cases.push_back({"%x: " + to, "%y = graph.cast %x : " + to + " -> " + type, type, -4, 4});
    }
  }
  cases.push_back({"%x: tensor<3x4xi64>, %k: tensor<3x4xi64>",
                   "%y = graph.random %x, %k : tensor<3x4xi64> -> tensor<3x4xf32>",
                   "tensor<3x4xf32>", 0, 4});
  for (const char *predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
    cases.push_back({"%x: tensor<3x4xi32>, %z: tensor<3x4xi32>",
                     std::string("%y = graph.compare ") + predicate + " %x, %z : tensor<3x4xi32>",
                     "tensor<3x4xi1>", -2, 2});
  return cases;
}

std::vector<OpCase> sources() {
  return {
      {"", "%y = graph.constant dense<[1.0, 2.0]> : tensor<2xf64>", "tensor<2xf64>"},
      {"", "%y = graph.constant dense<3.0> : tensor<4xf64>", "tensor<4xf64>"},
      {"", "%y = graph.iota dim 1 : tensor<3x4xi64>", "tensor<3x4xi64>"},
      {"", R"(%y = graph.sizes ["3", "4"] {divisor = "2"} : tensor<2xf64>)", "tensor<2xf64>"},
  };
}

// A convolution and its two gradients, each a product of the other two tensors.
std::vector<OpCase> convolutions() {
  const std::string window =
      " {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 0>, "
      "pads_high = array<i64: 0, 1>, groups = 1 : i64}";
  const std::string data = "tensor<2x4x5x4xf64>", weight = "tensor<6x4x3x2xf64>",
                    out = "tensor<2x6x2x4xf64>", fewer = "tensor<2x6x1x2xf64>"; // windows
  return {
      {"%x: " + data + ", %w: " + weight,
       "%y = graph.conv %x, %w" + window + " : " + data + ", " + weight + " -> " + out, out},
      {"%g: " + out + ", %w: " + weight,
       "%y = graph.conv_input_grad %g, %w" + window + " : " + out + ", " + weight + " -> " + data,
       data},
      {"%g: " + out + ", %x: " + data,
       "%y = graph.conv_weight_grad %g, %x" + window + " : " + out + ", " + data + " -> " + weight,
       weight},
      {"%g: " + fewer + ", %w: " + weight,
       "%y = graph.conv_input_grad %g, %w" + window + " : " + fewer + ", " + weight + " -> " + data,
       data},
      {"%g: " + fewer + ", %x: " + data,
       "%y = graph.conv_weight_grad %g, %x" + window + " : " + fewer + ", " + data + " -> " +
           weight,
       weight},
  };
}

std::vector<OpCase> poolGradients() {
  const std::string window =
      " {kernel = array<i64: 2, 2>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, "
      "pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>}";
  const std::string data = "tensor<2x4x5x4xf64>", pooled = "tensor<2x4x2x3xf64>";
  std::vector<OpCase> cases;
  for (const char *kind : {"max", "average"})
    cases.push_back({"%g: " + pooled + ", %x: " + data,
                     std::string("%y = graph.pool_grad ") + kind + " %g, %x" + window + " : " +
                         pooled + ", " + data + " -> " + data,
                     data});
  return cases;
}

std::vector<OpCase> fusions() {
  return {
      {"%x: tensor<6x4xf64>, %b: tensor<4xf64>",
       R"(%y = graph.fusion (%a = %x : tensor<6x4xf64>, %c = %b : tensor<4xf64>) -> (tensor<6xf64>) {
                %d = graph.broadcast %c to [1] : tensor<4xf64> -> tensor<6x4xf64>
                %e = graph.add %a, %d : tensor<6x4xf64>
                %f = graph.reduce sum %e over [1] : tensor<6x4xf64> -> tensor<6xf64>
                graph.yield %f : tensor<6xf64>
              })",
       "tensor<6xf64>"}};
}

// Identities that mark where gradients stop, and where a region computes in f32.
std::vector<OpCase> marks() {
  return {{"%x: tensor<3x4xf64>", "%y = graph.stop_gradient %x : tensor<3x4xf64>", kMatrix},
          {"%x: tensor<3x4xf32>", "%y = graph.enter_f32 %x : tensor<3x4xf32>", "tensor<3x4xf32>"},
          {"%x: tensor<3x4xf32>", "%y = graph.leave_f32 %x : tensor<3x4xf32>", "tensor<3x4xf32>"}};
}

} // namespace

std::vector<OpCase> differentiableCases() {
  std::vector<OpCase> cases;
  for (auto family : {elementwise, contraction, convolutions, movement, reduction, indexing,
                      sequence, normalization, attention, lossesAndStructure})
    for (OpCase &c : family())
      cases.push_back(std::move(c));
  return cases;
}

std::vector<OpCase> allCases() {
  std::vector<OpCase> cases = differentiableCases();
  for (auto family :
       {truthValuesAndIntegers, sources, poolGradients, attentionGradients, fusions, marks})
    for (OpCase &c : family())
      cases.push_back(std::move(c));
  return cases;
}

} // namespace cleave::test

// The messages of ONNX operators, each at a node that calls for it.
#include "test/unit/onnx/RunModel.h"
#include "test/unit/onnx/SmallModel.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <sstream>

namespace cleave::onnx {
namespace {

// A node as text: `Op operand operand … -> outputs; attribute=value attribute=value`, for example
// `Split f[4] {2,2} -> 2; axis=0`. An operand is a model input (f, d, i, u or b for float32,
// float64, int64, uint8 and bool, with dims), an int64 constant of one dim ({1,2}) or without dims
// (#3), or `_` for one that is left out. `ms.Op` is of the domain com.microsoft, `ml.Op` of
// ai.onnx.ml. An attribute is an
// integer, a number with a point, a word, or a list of integers ([1,2]).
class NodeText {
public:
  explicit NodeText(const std::string &text, int64_t opset) {
    model_ = emptyModel();
    model_.opsets = {{"", opset}, {"com.microsoft", 1}, {"ai.onnx.ml", 3}};
    std::istringstream words(text);
    std::string word;
    words >> node_.op;
    if (node_.op.starts_with("ms.")) {
      node_.domain = "com.microsoft";
      node_.op.erase(0, 3);
    }
    if (node_.op.starts_with("ml.")) {
      node_.domain = "ai.onnx.ml";
      node_.op.erase(0, 3);
    }
    int outputs = 1;
    while (words >> word) {
      bool isLast = word.ends_with(';');
      if (isLast)
        word.pop_back();
      if (word == "->")
        words >> outputs;
      else if (!word.empty() && word.find('=') == std::string::npos)
        addOperand(word);
      else if (!word.empty())
        addAttribute(word);
    }
    node_.outputs = {"y"};
    for (int i = 1; i < outputs; ++i)
      node_.outputs.push_back("y" + std::to_string(i));
    model_.graph.nodes = {node_};
    model_.graph.outputs = {tensorInfo("y", 1, {2})};
  }

  const Model &model() const { return model_; }

private:
  static std::vector<int64_t> numbers(std::string list) {
    std::vector<int64_t> out;
    std::istringstream items(list.substr(1, list.size() - 2));
    for (std::string item; std::getline(items, item, ',');)
      out.push_back(std::stoll(item));
    return out;
  }

  void addConstant(const std::string &name, std::vector<int64_t> dims,
                   const std::vector<int64_t> &values) {
    StoredTensor tensor;
    tensor.name = name;
    tensor.dataType = 7;
    tensor.dims = std::move(dims);
    tensor.decoded.assign(reinterpret_cast<const char *>(values.data()),
                          values.size() * sizeof(int64_t));
    model_.graph.initializers.push_back(std::move(tensor));
  }

  void addOperand(const std::string &word) {
    static const std::map<char, int32_t> kTypes = {
        {'f', 1}, {'d', 11}, {'i', 7}, {'b', 9}, {'u', 2}};
    std::string name = word == "_" ? "" : "x" + std::to_string(node_.inputs.size());
    if (word[0] == '{')
      addConstant(name, {static_cast<int64_t>(numbers(word).size())}, numbers(word));
    else if (word[0] == '#')
      addConstant(name, {}, {std::stoll(word.substr(1))});
    else if (word != "_")
      model_.graph.inputs.push_back(tensorInfo(name, kTypes.at(word[0]), numbers(word.substr(1))));
    node_.inputs.push_back(name);
  }

  void addAttribute(const std::string &word) {
    size_t at = word.find('=');
    std::string name = word.substr(0, at), value = word.substr(at + 1);
    Attribute attribute = stringAttribute(name, value);
    if (value[0] == '[') {
      attribute.type = AttributeType::Ints;
      attribute.integers = numbers(value);
    } else if (value.find_first_not_of("-0123456789") == std::string::npos) {
      attribute = integerAttribute(name, std::stoll(value));
    } else if (value.find_first_not_of("-.0123456789") == std::string::npos) {
      attribute.type = AttributeType::Float;
      attribute.number = std::stof(value);
    }
    node_.attributes.push_back(std::move(attribute));
  }

  Model model_;
  Node node_;
};

struct Refusal {
  const char *node;
  const char *message; // a part of the message
  int64_t opset = 20;
};

void check(const std::vector<Refusal> &refusals) {
  for (const Refusal &refusal : refusals) {
    INFO(refusal.node);
    SmallModel file(NodeText(refusal.node, refusal.opset).model());
    Status status = importModel(file.path(), {}).status;
    CHECK(status.kind() == StatusKind::UserError);
    CHECK_THAT(status.message(), Catch::Contains(refusal.message));
  }
}

TEST_CASE("attributes with an unknown word name the words that are known") {
  check({
      {"Gelu f[4]; approximate=fast",
       "attribute 'approximate' is 'fast', expected 'none' or 'tanh'"},
      {"BitShift u[4] u[4]; direction=UP", "attribute 'direction' is 'UP', expected LEFT or RIGHT"},
      {"ScatterElements f[4] i[4] f[4]; reduction=avg",
       "attribute 'reduction' is 'avg', expected none, add, mul, max or min"},
      {"SoftmaxCrossEntropyLoss f[4,5] i[4]; reduction=max",
       "attribute 'reduction' is 'max', expected none, sum or mean"},
      {"AveragePool f[1,1,4]; kernel_shape=[2] auto_pad=BOTH",
       "attribute 'auto_pad' is 'BOTH', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER"},
      {"LSTM f[4,1,2] f[1,12,2] f[1,12,3] -> 1; direction=back hidden_size=3",
       "attribute 'direction' is 'back', expected forward, reverse or bidirectional"},
      {"GridSample f[1,1,4,4] f[1,4,4,2]; mode=round",
       "attribute 'mode' is 'round', expected nearest, linear or cubic"},
      {"GridSample f[1,1,4,4] f[1,4,4,2]; padding_mode=wrap",
       "attribute 'padding_mode' is 'wrap', expected zeros, border or reflection"},
      {"Pad f[4] {1,1}; mode=mirror",
       "attribute 'mode' is 'mirror', expected constant, reflect, edge or wrap"},
  });
}

TEST_CASE("attributes that an operator needs are asked for") {
  check({
      {"Einsum f[2,3]", "attribute 'equation' is missing"},
      {"MaxPool f[1,1,4]", "attribute 'kernel_shape' is missing"},
      {"RandomNormal", "attribute 'shape' is missing"},
      {"Unsqueeze f[4]", "the axes are missing", 11},
      {"Resize f[1,1,4,4]", "needs either scales or sizes"},
      {"MaxPool f[1,1,4]; kernel_shape=[2] pads=[1]",
       "attribute 'pads' has 1 entries, expected two per spatial dim"},
      {"Mod f[4] f[4]", "has floating-point operands, which needs the attribute fmod=1"},
  });
}

TEST_CASE("numbers of pieces, pads and dims must fit") {
  check({
      {"Split f[4] {1,1,2} -> 2", "has 2 outputs for 3 pieces"},
      {"Split f[4] -> 2; num_outputs=3", "has 2 outputs, but num_outputs is 3"},
      {"Split f[5] -> 2", "cuts a dim of size 5 into 2 equal pieces", 13},
      {"Split f[4] {1,1} -> 2", "cuts dim 0 of size 4 into pieces of [1, 1], which are 2"},
      {"Pad f[4] {1,1,1}", "has 3 pads for 1 dims, expected twice as many"},
      {"Transpose f[2,3]; perm=[0,0]", "attribute 'perm' [0, 0] is not a permutation of 2 dims"},
      {"Compress f[4] b[5]; axis=0", "depend"},
      {"Squeeze f[2,3] {0}", "drops dim 0 of size 2, expected size 1"},
      {"Tile f[2,3] {2}", "has 1 repeats for 2 dims"},
      {"Slice f[4] {0} {4} {0} {0}", "has a step of 0"},
      {"Expand f[2,3] {4,3}", "cannot broadcast the shapes"},
      {"Reshape f[2,3] {4,4}", "the shape [4, 4]"},
      {"Gemm f[2,3] f[4,5]", "multiplies shapes [2, 3] and [4, 5]"},
      {"Gemm f[2,3,4] f[4,5]", "multiplies shapes [2, 3, 4] and [4, 5], expected 2 dims each"},
      {"Det f[2,3]", "expected square ones"},
      {"DepthToSpace f[1,4,2]; blocksize=2", "blocks of 2: the channels do not fit"},
      {"Conv f[1,2,4] f[2,3,2]", "in 1 groups: the channels do not fit"},
      {"Conv f[1,2,4] f[2,2,2,2]", "expected equally many dims, at least 3"},
      {"Conv f[1,2,4] f[2,2,2]; strides=[1,1]", "has 2 entries, expected 1"},
      {"Concat f[2,3] f[2]; axis=0", "dims"},
      {"GatherElements f[2,3] i[2]", "dims"},
      {"OneHot i[4] #0 f[2]", "0"},
      {"Range f[] f[] f[]", "known"},
      {"CumSum f[4] {0,0}", "2 elements, expected 1"},
      {"ConstantOfShape {2000000000,2000000000}", "memory"},
  });
}

TEST_CASE("operands of the wrong type are refused") {
  check({
      {"And f[4] f[4]", "has operands of float32, expected bool"},
      {"Not f[4]", "expected bool"},
      {"Gather f[4] f[4]", "expected integers"},
      {"Add b[4] b[4]", "has operands of bool, expected numbers"},
      {"Where f[4] f[4] f[4]", "expected bool"},
      {"Add f[4] d[4]", "float"},
      {"Relu", "has 0 inputs, expected 1"},
      {"SequenceAt f[4] #0", "input 0 is not a sequence"},
      {"StringConcat f[4] f[4]", "input 0 has numbers, expected strings"},
      {"TfIdfVectorizer i[4]; mode=IDFTF max_gram_length=1 min_gram_length=1 max_skip_count=0 "
       "ngram_counts=[0] ngram_indexes=[0] pool_int64s=[1]",
       "attribute 'mode' is 'IDFTF', expected TF, IDF or TFIDF"},
  });
}

TEST_CASE("networks of unusual sizes are refused") {
  check({
      {"LpNormalization f[2,3]; p=3", "has a norm of power 3, expected 1 or 2"},
      {"RNN f[4,1,2] f[1,3,2] f[1,3,3]; hidden_size=3 direction=sideways",
       "expected forward, reverse or bidirectional"},
      {"Multinomial f[4]; sample_size=2",
       "has logits [4] and 2 samples, expected [lines, classes] and at least 1"},
      {"AffineGrid f[1,2,3] {1,1}", "size"},
      {"Col2Im f[1,4,4] {2,2} {0,1}", "expected positive sizes"},
      {"MelWeightMatrix #0 #16 #8000 #0 #4000", "has 0 mel bins, a DFT of 16 and a rate of 8000"},
      {"MelWeightMatrix #4 #16 #8000 f[] f[]", "the lower edge (input 3) depends on the input"},
      {"CenterCropPad f[4] {2,2}", "has 1 axes and 2 sizes, expected as many"},
      {"STFT f[1,16] #0 f[4]", "expected"},
      {"GlobalLpPool f[1,1,4]; p=0", "expected at least 1"},
      {"BatchNormalization f[2,3] f[4] f[4] f[4] f[4]", "expected one number per channel"},
      {"ms.MatMulNBits f[2,16] u[4,1,8] f[4]; K=16 N=4 bits=4 block_size=0",
       "has a weight of 4 by 16 in blocks of 0"},
      {"ms.Attention f[1,4,8] f[8,20]; num_heads=2", "features"},
      {"ms.MultiHeadAttention f[1,4,8]; num_heads=3",
       "export it with separate queries, keys and values"},
      {"ms.EmbedLayerNormalization i[1,4] _ f[5,4] f[5,4] _ f[4] f[4]; mask_index_type=2",
       "attribute 'mask_index_type' is 2, expected 0 or 1"},
  });
}

TEST_CASE("tables of operators fit their operands") {
  check({
      {"TfIdfVectorizer i[4]; mode=TF max_gram_length=1 min_gram_length=1 max_skip_count=0 "
       "ngram_counts=[0,5] ngram_indexes=[0] pool_int64s=[1]",
       "attribute 'ngram_counts' does not fit a pool of 1"},
      {"TfIdfVectorizer i[4]; mode=TF max_gram_length=1 min_gram_length=1 max_skip_count=0 "
       "ngram_counts=[0] ngram_indexes=[0,1] pool_int64s=[1]",
       "has 2 'ngram_indexes' for 1 n-grams, or one below 0"},
      {"TfIdfVectorizer f[4]; mode=TF max_gram_length=1 min_gram_length=1 max_skip_count=0 "
       "ngram_counts=[0] ngram_indexes=[0]",
       "has no pool of its operand's type"},
      {"ml.LabelEncoder i[4]; keys_int64s=[1,2] values_int64s=[1]",
       "has no keys and values, or different numbers of both"},
      {"ml.LabelEncoder f[4]; keys_int64s=[1,2] values_int64s=[1,3]",
       "has keys of another type than its operand"},
  });
}

TEST_CASE("operators on regions and grids state the shapes that they need") {
  check({
      {"RoiAlign f[1,1,4,4] f[1,4] i[1]; mode=min sampling_ratio=2",
       "has the mode 'min' and the coordinates 'half_pixel', expected avg or max"},
      {"RoiAlign f[1,1,4,4] f[1,4] i[1]",
       "(sampling_ratio 0), which depends on data; export it with sampling_ratio=2, say"},
      {"GridSample f[1,1,1,1,1,1,1,1] f[1,1,1,1,1,1,1,6]", "samples 6 dims, expected at most 5"},
      {"AffineGrid f[1,2,2] {1,1,4,4}", "has theta [1, 2, 2] for 2 dims, expected [n, 2, 3]"},
      {"AffineGrid f[1,2,3] {1,1,0,4}", "has the sizes [0, 4], expected at least 1 each"},
      {"AffineGrid f[1,2,3] {1,1,100000,100000}",
       "makes a grid of the sizes [100000, 100000], expected smaller ones"},
      {"AffineGrid f[1,2,3] {1,1}", "has a size of 2 numbers, expected [n, c, …]"},
      {"Col2Im f[1,5,4] {3,3} {2,2}", "has columns [1, 5, 4], expected [n, a multiple of 4, 4]"},
      {"Col2Im f[1,4,4] {3,3} {2}", "has a window of 1 numbers for 2 dims"},
      {"STFT f[2,3,4,1] #1 f[4] #4", "expected [batch, time] and positive numbers"},
      {"STFT f[1,3,1] #1 f[4] #4", "has a signal of 3 elements, expected at least a frame of 4"},
      {"MelWeightMatrix #4 #16 #8000 #0 #90000", "of a spectrum of 9"},
      {"Pad f[4] {-3,-3}", "cuts more off dim 0 than its size 4"},
      {"Compress f[4] {1,0,1,0,1}", "condition"},
  });
}

TEST_CASE("recurrent networks state what they know") {
  check({
      {"LSTM f[4,1,2] f[1,12,2] f[1,12,3] -> 1; hidden_size=3 activations=Sine", "activations"},
      {"LinearAttention f[1,2,4] f[1,2,4] f[1,2,4]; update_rule=sum q_num_heads=2 kv_num_heads=2",
       "LinearAttention", 24},
      {"Attention f[1,4,8] f[1,4,8] f[1,4,8]; q_num_heads=3 kv_num_heads=2", "heads", 23},
      {"Attention f[1,2,4,8] f[1,2,4,8] f[1,2,4,8]; softmax_precision=7",
       "attribute 'softmax_precision' is 7, expected a floating-point type", 23},
      {"SplitToSequence f[4] #0", "cuts a dim into pieces of less than 1 element"},
  });
}

// A model of nodes over the input x, float32[2].
std::string saidOf(std::vector<Node> nodes, const std::string &output,
                   std::vector<ValueInfo> inputs = {tensorInfo("x", 1, {2})}) {
  Model model = emptyModel();
  model.graph.inputs = std::move(inputs);
  model.graph.nodes = std::move(nodes);
  model.graph.outputs = {tensorInfo(output, 1, {2})};
  SmallModel file(model);
  Status status = importModel(file.path(), {}).status;
  CHECK(status.kind() == StatusKind::UserError);
  return status.message();
}

TEST_CASE("names of a graph are defined once, and before they are used") {
  CHECK_THAT(saidOf({makeNode("Neg", {"x"}, {"y"}), makeNode("Abs", {"x"}, {"y"})}, "y"),
             Catch::Contains("'y' is defined twice: by node 'y' (Abs) and by node 'y' (Neg); names "
                             "must be unique"));
  CHECK_THAT(saidOf({makeNode("Neg", {"x"}, {"x"})}, "x"),
             Catch::Contains("and by an input or initializer; names must be unique"));
  CHECK_THAT(saidOf({makeNode("Neg", {"z"}, {"y"})}, "y"),
             Catch::Contains("node 'y' (Neg) reads 'z', which nothing defines"));
  CHECK_THAT(saidOf({makeNode("Neg", {"x"}, {"y"})}, "z"),
             Catch::Contains("the model's output 'z' is computed by no node"));
  CHECK_THAT(saidOf({makeNode("Add", {"x", "b"}, {"a"}), makeNode("Neg", {"a"}, {"b"})}, "a"),
             Catch::Contains("the graph has a cycle: each of these nodes waits for another one: "
                             "node 'a' (Add), node 'b' (Neg)"));
  CHECK_THAT(saidOf({}, "y", {tensorInfo("", 1, {2})}), Catch::Contains("without a name"));
}

TEST_CASE("sequences are not tensors") {
  CHECK_THAT(
      saidOf({makeNode("SequenceConstruct", {"x"}, {"s"}), makeNode("Neg", {"s"}, {"y"})}, "y"),
      Catch::Contains("input 0 is a sequence, expected a tensor"));
  CHECK_THAT(saidOf({makeNode("SequenceEmpty", {}, {"s"}),
                     makeNode("ConcatFromSequence", {"s"}, {"y"}, {integerAttribute("axis", 0)})},
                    "y"),
             Catch::Contains("joins an empty sequence"));
  CHECK_THAT(
      saidOf({makeNode("SequenceEmpty", {}, {"s"}), makeNode("SequenceAt", {"s", "i"}, {"y"})}, "y",
             {tensorInfo("x", 1, {2}), tensorInfo("i", 7, {})}),
      Catch::Contains("the position (input 1) depends on the input 'i'"));
}

TEST_CASE("the format's gradient needs its names") {
  Node node = makeNode("Gradient", {"x"}, {"y"});
  node.domain = "ai.onnx.preview.training";
  Model model = emptyModel();
  model.opsets["ai.onnx.preview.training"] = 1;
  model.graph.inputs = {tensorInfo("x", 1, {2})};
  model.graph.outputs = {tensorInfo("y", 1, {2})};
  model.graph.nodes = {node};
  CHECK_THAT(importModel(SmallModel(model).path(), {}).status.message(),
             Catch::Contains("has no attributes 'xs' and 'y', which say what is differentiated by "
                             "what"));
  model.graph.nodes[0].attributes = {stringsAttribute("xs", {"x"}), stringAttribute("y", "x")};
  CHECK_THAT(importModel(SmallModel(model).path(), {}).status.message(),
             Catch::Contains("asks for a gradient, which this tool cannot make"));
}

} // namespace
} // namespace cleave::onnx

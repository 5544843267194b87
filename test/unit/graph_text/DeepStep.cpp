#include "test/unit/graph_text/DeepStep.h"

#include "runtime/base/Concat.h"

namespace cleave::test {

namespace {

class DeepStep {
public:
  DeepStep(int64_t layers, int64_t batch, int64_t width)
      : layers_(layers), values_(concat("tensor<", batch, "x", width, "xf32>")),
        weights_(concat("tensor<", width, "x", width, "xf32>")) {}

  std::string text() const {
    std::string arguments, types, results, body;
    for (int64_t i = 0; i < layers_; ++i) {
      const std::string name = concat("graph.name = \"w", i, "\"");
      arguments += concat(", %w", i, ": ", weights_, " {graph.role = \"parameter\", ", name, "}");
      types += concat(", ", weights_, " {graph.role = \"parameter\", ", name,
                      ", graph.alias = ", i + 1, " : i64}");
      results += concat(", %n", i);
      body += forward(i);
    }
    body += loss();
    for (int64_t i = layers_; i-- > 0;)
      body += backward(i);
    std::string returned;
    for (int64_t i = 0; i < layers_; ++i)
      returned += ", " + weights_;
    return concat("func.func @step(%x0: ", values_, " {graph.role = \"input\", graph.name = \"x\"}",
                  arguments, ") -> (tensor<f32> {graph.role = \"loss\", graph.name = \"loss\"}",
                  types, ") {\n", body, "return %l", results, " : tensor<f32>", returned, "\n}\n");
  }

private:
  std::string product(const std::string &result, const std::string &a, const std::string &b,
                      int contractA, int contractB, const std::string &type) const {
    const std::string &right = b[1] == 'w' ? weights_ : values_;
    return concat(result, " = graph.dot_general ", a, ", ", b, " batch [] x [] contract [",
                  contractA, "] x [", contractB, "] : ", values_, ", ", right, " -> ", type, "\n");
  }
  std::string pair(const std::string &result, const std::string &op, const std::string &a,
                   const std::string &b, const std::string &type) const {
    return concat(result, " = graph.", op, " ", a, ", ", b, " : ", type, "\n");
  }

  std::string forward(int64_t i) const {
    return product(concat("%h", i), concat("%x", i), concat("%w", i), 1, 0, values_) +
           concat("%e", i, " = graph.exp %h", i, " : ", values_, "\n") +
           pair(concat("%x", i + 1), "add", concat("%x", i), concat("%e", i), values_);
  }

  std::string loss() const {
    const std::string last = concat("%x", layers_);
    return pair("%q", "mul", last, last, values_) +
           concat("%l = graph.reduce sum %q over [0, 1] : ", values_, " -> tensor<f32>\n") +
           concat("%two = graph.constant dense<2.0> : ", values_, "\n") +
           pair(concat("%d", layers_), "mul", last, "%two", values_);
  }

  std::string backward(int64_t i) const {
    const std::string gradient = concat("%d", i + 1), ofProduct = concat("%g", i);
    return pair(ofProduct, "mul", gradient, concat("%e", i), values_) +
           product(concat("%gw", i), concat("%x", i), ofProduct, 0, 0, weights_) +
           product(concat("%b", i), ofProduct, concat("%w", i), 1, 1, values_) +
           pair(concat("%d", i), "add", gradient, concat("%b", i), values_) +
           pair(concat("%n", i), "add", concat("%w", i), concat("%gw", i), weights_);
  }

  int64_t layers_;
  std::string values_, weights_; // types
};

} // namespace

std::string deepStep(int64_t layers, int64_t batch, int64_t width) {
  return DeepStep(layers, batch, width).text();
}

} // namespace cleave::test

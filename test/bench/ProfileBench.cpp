// How long a profile takes, by the number of nodes: stacks of GPT-2's layers and wide random
// graphs, with numbers and with symbols, for inference and for training; beside it what reading the
// ONNX file alone takes. CPU seconds. Each profile is checked: it counts the parameters that the
// file has.
#include "compiler/frontend/onnx/file/ModelWriter.h"
#include "compiler/profile/Profile.h"
#include "compiler/zoo/Builder.h"
#include "compiler/zoo/Layers.h"
#include "compiler/zoo/Zoo.h"
#include "dialects/graph/Step.h"
#include "passes/driver/Compile.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

using namespace cleave;

namespace {

constexpr int64_t kWidth = 64;

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// A network of about `nodes` nodes in which every value is an operand of any later one: a pool of
// 64 tensors, of which each step replaces one by what it computes from that and any other one.
onnx::Model randomGraph(int64_t nodes) {
  zoo::Builder b("random", {});
  std::mt19937 random(1);
  std::vector<zoo::Value> pool(
      64, b.input("x", ElementType::F32, {"batch", "seq", std::to_string(kWidth)}));
  for (int64_t made = 0, layer = 0; made < nodes; ++layer) {
    zoo::Value &a = pool[random() % pool.size()];
    const zoo::Value &other = pool[random() % pool.size()];
    std::string name = "layers." + std::to_string(layer);
    switch (random() % 6) {
    case 0:
      a = b.add(a, other), made += 1;
      break;
    case 1:
      a = b.mul(b.op("Sigmoid", {a}), other), made += 2;
      break;
    case 2:
      a = b.add(linear(b, name, a, kWidth, kWidth), other), made += 4;
      break;
    case 3:
      a = layerNorm(b, name, b.add(a, other), kWidth), made += 2;
      break;
    case 4:
      a = gelu(b, b.op("Sub", {a, other})), made += 2;
      break;
    case 5: // [batch, seq, seq] in between
      a = b.matmul(b.op("Softmax", {b.matmul(a, b.transpose(other, {0, 2, 1}))},
                        {zoo::attribute("axis", -1)}),
                   a),
      made += 4;
    }
  }
  zoo::Value sum = pool[0];
  for (size_t i = 1; i < pool.size(); ++i)
    sum = b.add(sum, pool[i]);
  b.output("logits", sum, {"batch", "seq", std::to_string(kWidth)});
  return b.finish();
}

onnx::Model deepGraph(int64_t nodes) {
  Result<onnx::Model> one = zoo::build("gpt2", {{"layers", 1}}),
                      two = zoo::build("gpt2", {{"layers", 2}});
  auto perLayer = static_cast<int64_t>(two->graph.nodes.size() - one->graph.nodes.size());
  return *zoo::build("gpt2", {{"layers", std::max<int64_t>(1, nodes / perLayer)}});
}

// Fails the program where the profile is wrong.
double profileSeconds(const std::string &path, bool train, bool hasNumbers, int64_t parameters) {
  driver::CompileOptions options;
  options.model = path;
  options.keepSymbols = true;
  options.accumulate = 2;
  options.train = train;
  if (train)
    options.losses = {"softmax-cross-entropy:logits"};
  if (hasNumbers)
    options.symbols = {{"batch", 8}, {"seq", 512}};
  double begin = seconds();
  driver::Compilation compilation(options);
  Status status = driver::compileTo(compilation, train ? "train" : "forward");
  if (!status) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }
  profile::Profile found = profile::profileStep(graph::stepOf(compilation.module()));
  double spent = seconds() - begin;
  if (found.total.parameters != Polynomial(parameters)) {
    std::fprintf(stderr, "found %s parameters, expected %lld\n",
                 found.total.parameters.str().c_str(), static_cast<long long>(parameters));
    std::exit(1);
  }
  return spent;
}

void bench(const char *kind, const onnx::Model &model) {
  auto path = std::filesystem::temp_directory_path() /
              ("cleave-bench-" + std::to_string(::getpid()) + ".onnx");
  std::string bytes = onnx::writeModel(model);
  std::ofstream(path, std::ios::binary) << bytes;
  int64_t parameters = 0;
  for (const onnx::StoredTensor &tensor : model.graph.initializers)
    parameters += tensor.elementCount();
  double begin = seconds();
  size_t nodes = onnx::readModel(bytes, path.string()).graph.nodes.size();
  double reading = seconds() - begin;
  std::printf("%-8s %7zu %8.3f", kind, nodes, reading);
  for (bool train : {false, true})
    for (bool hasNumbers : {true, false}) {
      double spent = profileSeconds(path.string(), train, hasNumbers, parameters);
      std::printf("  %8.3f (%4.1f x)", spent, spent / reading);
      std::fflush(stdout);
    }
  std::printf("\n");
  std::filesystem::remove(path);
}

} // namespace

int main(int argc, char **argv) {
  int64_t most = argc > 1 ? std::atoll(argv[1]) : 100000;
  std::printf("CPU seconds (times those of reading alone)   inference:                          "
              "training:\n"
              "graph      nodes  reading  numbers            symbols            numbers            "
              "symbols\n");
  for (int64_t nodes = 1000; nodes <= most; nodes *= 10) {
    bench("deep", deepGraph(nodes));
    bench("random", randomGraph(nodes));
  }
}

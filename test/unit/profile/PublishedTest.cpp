// Multiply-accumulates of known networks against published numbers: those of Colossal-AI's counter
// for torchvision's networks in training mode, for a batch of 4000 images of 224 x 224, and its
// table of every module of a ViT-B/16.
#include "test/unit/profile/ZooProfile.h"

#include "compiler/profile/Tables.h"
#include "compiler/zoo/Builder.h"
#include "compiler/zoo/Layers.h"

#include <cmath>
#include <sstream>

namespace cleave::profile {
namespace {

constexpr int64_t kBatch = 4000;

// In training mode, where batch norms use the batch's statistics; without the loss, which has one
// MAC for each of 1000 classes, six for counting each label, and seven for the count.
int64_t forwardMacs(const std::string &name) {
  Profile profile = profileOf(zooModel(name), training({{"batch", kBatch}}));
  return number(profile.total.forwardMacs) - kBatch * (1000 + 6) - 7;
}

TEST_CASE("residual and dense networks have the published multiply-accumulates") {
  CHECK(forwardMacs("resnet18") == 7321522176000);
  CHECK(forwardMacs("densenet121") == 11718887424000);
  CHECK(forwardMacs("wide_resnet50_2") == 45957365760000);
}

TEST_CASE("VGG has the published multiply-accumulates except for dropout") {
  int64_t dropouts = 2 * (4096 + 4096); // a mask and a factor per element of both
  CHECK(forwardMacs("vgg11") + kBatch * dropouts == 30490748928000);
}

// The published number includes the biases of linear layers that PyTorch 1.12 added in a separate
// op, because the memory of the operands was not contiguous: those of the first layer for queries,
// keys and values, and the inner one of every MLP. It includes the factor of the scores as one of
// the queries.
TEST_CASE("ViT has the published multiply-accumulates except for biases and a scale") {
  int64_t tokens = 197, width = 768, layers = 12;
  int64_t biases = tokens * 3 * width + layers * tokens * 4 * width;
  int64_t scales = layers * tokens * width;
  CHECK(forwardMacs("vit_b_16") + kBatch * (biases + scales) == 70435619904000);
}

TEST_CASE("a convolution has the published multiply-accumulates") {
  zoo::Builder b("conv", {});
  zoo::Value x = b.input("x", ElementType::F32, {"batch", "3", "224", "224"});
  b.output("y", conv2d(b, "conv", x, 3, 2, {5}, true), {"batch", "2", "220", "220"});
  driver::CompileOptions options;
  options.symbols = {{"batch", kBatch}};
  CHECK(number(profileOf(b.finish(), options).total.forwardMacs) == 29040000000);
}

// A training step counts three times the FLOPs of its forward pass. Causal attention counts half
// and the head counts; the gather of embeddings does not. Published for sequences of 8192 tokens.
TEST_CASE("Llama 3 has the published FLOPs per token") {
  static constexpr int64_t kTokens = 8192;
  auto billionsPerToken = [](const std::string &name) {
    driver::CompileOptions options;
    options.symbols = {{"batch", 1}, {"seq", kTokens}};
    const Profile profile = profileOf(zooModel(name), options);
    return 3e-9 * double(number(profile.total.forwardFlops)) / kTokens;
  };
  CHECK(billionsPerToken("llama3-8b") == Approx(51.5).epsilon(.01));
  CHECK(billionsPerToken("llama3-70b") == Approx(449.2).epsilon(.01));
  CHECK(billionsPerToken("llama3-405b") == Approx(2524).epsilon(.01));
}

// -- the table of ViT-B/16 ------------------------------------------------------------------------

struct Published {
  std::string name;
  double forward, backward;
};

// `924.84 MFLOPs`.
double amount(const std::string &text) {
  std::istringstream in(text);
  double value;
  std::string unit;
  in >> value >> unit;
  double scale = unit[0] == 'G' ? 1e9 : unit[0] == 'M' ? 1e6 : unit[0] == 'k' ? 1e3 : 1;
  return value * scale;
}

std::vector<Published> publishedTable() {
  std::ifstream file(CLEAVE_SOURCE "/../shared/facts/vit_b16_batch8_fp32_profile.csv");
  std::vector<Published> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');)
      cells.push_back(cell);
    REQUIRE(cells.size() == 10);
    rows.push_back({cells[1], amount(cells[8]), amount(cells[9])});
  }
  return rows;
}

// Whether `shown` is the text of `found` with two decimals.
bool isShownAs(int64_t found, double shown) {
  double unit = shown >= 1e9 ? 1e9 : shown >= 1e6 ? 1e6 : shown >= 1e3 ? 1e3 : 1;
  return std::abs(static_cast<double>(found) - shown) <= 0.0051 * unit;
}

// The profile by the names of the table's rows.
class VitRows {
public:
  VitRows() : profile_(profileOf(zooModel("vit_b_16"), training({{"batch", 8}}))) {}

  // The rows of this module and its submodules whose kind contains `kind`.
  Amounts of(const std::string &module, const std::string &kind = "") const {
    Amounts costs;
    for (const Row &row : profile_.rows)
      if ((row.module == module || row.module.starts_with(module + ".")) &&
          row.kind.find(kind) != std::string::npos)
        costs += row.costs;
    return costs;
  }

  // The adds that are directly in a module, in order.
  Amounts add(const std::string &module, int index) const {
    for (const Row &row : profile_.rows)
      if (row.module == module && row.kind == "add" && index-- == 0)
        return row.costs;
    FAIL("no such add in " << module);
    return {};
  }

private:
  Profile profile_;
};

// `encoder_layers_encoder_layer_3_mlp_0` as the module's path.
std::string pathOf(const std::string &name) {
  size_t at = name.find("layer_") - std::string("encoder_").size();
  std::string rest = name.substr(at);
  size_t number = std::string("encoder_layer_").size();
  size_t end = rest.find('_', number);
  std::string part = rest.substr(end + 1);
  if (part.starts_with("mlp_"))
    part[3] = '.';
  return "encoder.layers." + rest.substr(0, end) + "." + part;
}

TEST_CASE("ViT-B/16 has the published multiply-accumulates module by module") {
  std::vector<Published> table = publishedTable();
  if (table.empty()) {
    WARN("skipped: ../shared/facts/vit_b16_batch8_fp32_profile.csv is not there");
    return;
  }
  VitRows rows;
  int compared = 0;
  int64_t batch = 8, classes = batch * 1000;
  for (const Published &row : table) {
    INFO(row.name);
    auto check = [&](const Amounts &costs) {
      ++compared;
      INFO(number(costs.forwardMacs) << " forward, published " << row.forward);
      CHECK(isShownAs(number(costs.forwardMacs), row.forward));
    };
    // For modules without products the published backward numbers are conventions. They exclude the
    // sums of a bias's gradient: one per element of the result.
    auto checkBackward = [&](const Amounts &costs, int64_t results) {
      int64_t found = number(costs.backwardMacs) - results;
      INFO(found << " backward, published " << row.backward);
      CHECK(isShownAs(found, row.backward));
    };
    if (row.name == "conv_proj") {
      check(rows.of("conv_proj"));
      checkBackward(rows.of("conv_proj"), batch * 196 * 768);
    } else if (row.name == "heads_head") { // whose row includes the loss
      Amounts costs = rows.of("heads.head");
      CHECK(isShownAs(number(costs.forwardMacs) - classes, row.forward));
      ++compared;
    } else if (row.name == "add") {
      check(rows.add("encoder", 0));
    } else if (row.name.starts_with("add_")) {
      int index = std::stoi(row.name.substr(4)) - 1;
      check(rows.add("encoder.layers.encoder_layer_" + std::to_string(index / 2), index % 2));
    } else if (row.name == "encoder_ln") {
      check(rows.of("encoder.ln"));
    } else if (row.name.find("mlp_1") != std::string::npos) {
      std::string mlp = pathOf(row.name);
      check(rows.of(mlp.substr(0, mlp.size() - 2), "gelu"));
    } else if (row.name.ends_with("mlp_0") || row.name.ends_with("mlp_3")) {
      check(rows.of(pathOf(row.name)));
      checkBackward(rows.of(pathOf(row.name)),
                    batch * 197 * (row.name.ends_with("mlp_0") ? 3072 : 768));
    } else if (row.name.find("_ln_") != std::string::npos || row.name.ends_with("self_attention")) {
      check(rows.of(pathOf(row.name)));
    } else {
      CHECK(row.forward == 0); // moves data, or is a dropout of 0
    }
  }
  CHECK(compared == 4 + 12 * 8);
}

} // namespace
} // namespace cleave::profile

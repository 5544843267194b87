// The pickle reader: contents of models, and refusals by name.
#include "compiler/frontend/torch/Pickle.h"
#include "compiler/frontend/emit/Failure.h"
#include "test/unit/torch/ZipWriter.h"

#include <catch2/catch.hpp>

#include <random>

namespace cleave::torch {
namespace {

using Kind = Node::Kind;

Pickle read(const std::string &body) { return readPickle(pickled(body), "data.pkl", "data/"); }

std::string complaint(const std::string &bytes) {
  try {
    readPickle(bytes, "data.pkl", "data/");
  } catch (const emit::Failure &failure) {
    return failure.status.message();
  }
  return "";
}

TEST_CASE("literals, lists and dictionaries are read as plain data") {
  std::string numbers("](K\x05J\xfe\xff\xff\xffG\x3f\xe0\0\0\0\0\0\0", 18);
  Pickle pickle = read(numbers + text("hi") + "N\x88}(" + text("k") + "K\x01ue");
  const std::vector<NodeId> &items = pickle[pickle.root].items;
  REQUIRE(items.size() == 7);
  CHECK(pickle[items[0]].integer == 5);
  CHECK(pickle[items[1]].integer == -2);
  CHECK(pickle[items[2]].number == 0.5);
  CHECK(pickle[items[3]].text == "hi");
  CHECK(pickle[items[4]].kind == Kind::None);
  CHECK(pickle[items[5]].kind == Kind::Bool);
  CHECK(pickle[items[6]].items.size() == 2);
}

TEST_CASE("a tensor is a window of an entry") {
  Pickle pickle = read(floats("3", 12, 2, {2, 5}, {5, 1}));
  REQUIRE(pickle[pickle.root].kind == Kind::Tensor);
  const StridedTensor &tensor = pickle.tensors[pickle[pickle.root].integer];
  CHECK(tensor.entry == "data/3");
  CHECK(tensor.element == ElementType::F32);
  CHECK(tensor.offset == 2);
  CHECK(tensor.dims == std::vector<int64_t>{2, 5});
  CHECK(tensor.storageElements == 12);
}

TEST_CASE("a tensor that leaves its storage, or has impossible sizes, is refused") {
  CHECK(complaint(pickled(floats("0", 12, 3, {2, 5}, {5, 1}))).find("reaches element 12") !=
        std::string::npos);
  CHECK(complaint(pickled(floats("0", 12, 0, {-2}, {1}))).find("no tensor can have") !=
        std::string::npos);
  CHECK(complaint(pickled(floats("0", 12, 0, {1 << 30, 1 << 30}, {0, 0})))
            .find("no tensor can have") != std::string::npos);
  CHECK(complaint(pickled(floats("0", 12, 0, {2, 2}, {1}))).find("1 strides") != std::string::npos);
}

TEST_CASE("a constructor that models do not need is refused by name") {
  CHECK(complaint(pickled(global("posix", "system") + tuple({text("true")}) + "R"))
            .find("'posix.system'") != std::string::npos);
  CHECK(complaint(pickled(global("torch.nn.modules.linear", "Linear") + ")\x81"))
            .find("torch.jit.script") != std::string::npos);
}

TEST_CASE("a tensor of the table is referred to by its number") {
  std::vector<StridedTensor> table(2);
  table[1].entry = "tensors/1";
  auto readTable = [&](int number) {
    return readPickle(pickled(global("torch.jit._pickle", "build_tensor_from_id") +
                              tuple({integer(number)}) + "R"),
                      "attributes.pkl", "", table);
  };
  Pickle pickle = readTable(1);
  REQUIRE(pickle[pickle.root].kind == Kind::Tensor);
  CHECK(pickle.tensors[pickle[pickle.root].integer].entry == "tensors/1");
  for (int number : {-1, 2})
    CHECK_THROWS_AS(readTable(number), emit::Failure);
}

TEST_CASE("a quantized tensor is read, but has no elements to compute with") {
  std::string storage = tuple({text("storage"), global("torch", "QUInt8Storage"), text("3"),
                               text("cpu"), integer(4)}) +
                        "Q";
  Pickle pickle = read(
      global("torch._utils", "_rebuild_qtensor") +
      tuple({storage, integer(0), tuple({integer(4)}), tuple({integer(1)}),
             tuple({global("torch", "per_channel_affine"), "N", "N", integer(0)}), "\x88", "N"}) +
      "R");
  REQUIRE(pickle[pickle.root].kind == Kind::Tensor);
  const StridedTensor &tensor = pickle.tensors[pickle[pickle.root].integer];
  CHECK(tensor.requiresGrad);
  try {
    elementOf(tensor, "fc.weight");
    FAIL("expected a failure");
  } catch (const emit::Failure &failure) {
    CHECK(failure.status.message().find(
              "'fc.weight' is a tensor of quint8; quantized models are not supported") == 0);
  }
}

TEST_CASE("objects that contain themselves, and unbounded nesting, are refused") {
  CHECK(complaint(pickled(std::string("]q\0h\0a", 6))).find("contains itself") !=
        std::string::npos);
  std::string deep(300, ']');
  deep += std::string(299, 'a');
  CHECK(complaint(pickled(deep)).find("nested") != std::string::npos);
}

TEST_CASE("a pickle must not repeat strings and lists out of proportion to its size") {
  std::string object = global("__torch__", std::string(1000, 'a')) + "q" + std::string(1, '\0');
  std::string again = "h" + std::string(1, '\0') + ")\x81";
  std::string many = "(" + object;
  for (int i = 0; i < 20000; ++i)
    many += again;
  CHECK(complaint(pickled(many + "t")).find("stands for more than") != std::string::npos);
}

TEST_CASE("a truncated pickle, or one of a text protocol, is refused") {
  std::string good = pickled(floats("3", 12, 2, {2, 5}, {5, 1}));
  for (size_t size = 0; size < good.size(); ++size)
    CHECK_FALSE(complaint(good.substr(0, size)).empty());
  CHECK(complaint("(lp0\n.").find("protocol") != std::string::npos);
}

TEST_CASE("flipped bits in a pickle crash nothing") {
  std::string good = pickled("]" + floats("3", 12, 2, {2, 5}, {5, 1}) + "a" + text("x") + "a");
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 1 + round % 3; ++i)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    complaint(bytes);
  }
}

} // namespace
} // namespace cleave::torch

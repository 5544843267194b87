// Quantized models: tensors, packed weights and operators are all refused with the same advice.
#include "test/unit/torchscript/ImportFile.h"

#include <catch2/catch.hpp>

namespace cleave::torchscript {
namespace {

const char *const kRefusal =
    "; quantized models are not supported, expected a model of floating-point numbers: export "
    "the float model, before its quantization";

// A tensor of four qint8 with one scale.
std::string quantized() {
  using namespace torch;
  std::string storage = tuple({text("storage"), global("torch", "QInt8Storage"), text("of_w"),
                               text("cpu"), integer(4)}) +
                        "Q";
  std::string scale = std::string("G\x3f\xe0\0\0\0\0\0\0", 9);
  return global("torch._utils", "_rebuild_qtensor") +
         tuple({storage, integer(0), tuple({integer(4)}), tuple({integer(1)}),
                tuple({global("torch", "per_tensor_affine"), scale, integer(0)}), "\x89",
                global("collections", "OrderedDict") + ")R"}) +
         "R";
}

std::string object(const std::string &module, const std::string &name, const std::string &state) {
  return torch::global(module, name) + ")\x81" + state + "b";
}

TEST_CASE("a quantized tensor is refused by its name, before inputs are asked for") {
  ArchiveFile file;
  file.buffers = {"w"};
  file.moreAttributes = torch::text("first") + quantized();
  file.lines = "    return x\n";
  has(complaint(file, {}), std::string("is a tensor of qint8") + kRefusal);
  file.listsBuffers = false;
  has(complaint(file, {}), std::string("'first' is a tensor of qint8") + kRefusal);
}

TEST_CASE("packed weights are refused by the name of the attribute") {
  ArchiveFile file;
  std::string packed = object("__torch__.torch.classes.quantized", "LinearPackedParamsBase",
                              torch::tuple({quantized(), "N"}));
  file.functions = "class LinearPackedParams(Module):\n  __parameters__ = []\n";
  std::string inner = object("__torch__.m", "LinearPackedParams",
                             "}(" + torch::text("_packed_params") + packed + "u");
  file.moreAttributes = torch::text("fc") + inner;
  file.lines = "    return x\n";
  has(complaint(file), std::string("'fc._packed_params' holds packed weights "
                                   "(__torch__.torch.classes.quantized.LinearPackedParamsBase)") +
                           kRefusal);
  file.moreAttributes =
      torch::text("cell") + object("__torch__.torch.classes.rnn", "CellParamsBase", ")");
  has(complaint(file), "'cell' holds packed weights");
  file.moreAttributes = torch::text("odd") + object("__torch__.m", "Odd", ")");
  has(complaint(file), "a state of its own kind");
}

TEST_CASE("a float module in the folder of quantized ones is no quantized model") {
  ArchiveFile file;
  file.otherCode = "class FloatFunctional(Module):\n  __parameters__ = []\n  __buffers__ = []\n";
  file.moreAttributes = torch::text("sum") + object("__torch__.other", "FloatFunctional", "}");
  file.lines = "    return torch.neg(x)\n";
  CHECK(import(file.write()).status.message() == "");
}

TEST_CASE("an operator on quantized numbers is refused with its place") {
  for (const char *call :
       {"ops.quantized.linear_dynamic(x, x)", "torch.quantize_per_tensor(x, 0.1, 0, 12)",
        "torch.dequantize(x)", "torch.frobnicate(ops.quantized.relu6(x))"}) {
    ArchiveFile file;
    file.lines = std::string("    return ") + call + "\n";
    has(complaint(file), std::string("(code/__torch__/m.py:5)") + kRefusal);
  }
}

} // namespace
} // namespace cleave::torchscript

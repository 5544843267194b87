// Every message of operators and of the language, at a program that calls for it. The input x is
// float32[2,3] and t is a Tensor of int64.
#include "test/unit/torchscript/ImportFile.h"

namespace cleave::torchscript {
namespace {

struct Refusal {
  const char *program; // an expression, or lines of forward
  const char *message; // a part of the message
};

std::string saidOf(const std::string &program) {
  ArchiveFile file;
  bool isLines = program.starts_with("    ");
  file.lines = isLines ? program : "    return " + program + "\n";
  return complaint(file, {"x=float32[2,3]"});
}

void check(const std::vector<Refusal> &refusals) {
  for (const Refusal &refusal : refusals) {
    INFO(refusal.program);
    has(saidOf(refusal.program), refusal.message);
  }
}

TEST_CASE("pieces of tensors that do not exist are refused") {
  check({
      {"torch.select(x, 0, 2)", "takes element 2 of dim 0 of [2, 3]"},
      {"torch.select(x, 0, -3)", "takes element -3 of dim 0 of [2, 3]"},
      {"torch.select(torch.sum(x), 0, 0)", "names a dim ('dim') of a tensor without dims"},
      {"torch.slice(torch.sum(x), 0, 0, 1)", "names a dim ('dim') of a tensor without dims"},
      {"torch.slice(x, 0, 0, 1, 0)", "step"},
      {"torch.split(torch.sum(x), 1)", "names a dim ('dim') of a tensor without dims"},
      {"torch.split(x, 0)", "cuts a dim of size 2 into pieces of 0"},
      {"torch.split_with_sizes(x, [1, 1], 1)", "cuts a dim of size 3 into pieces of [1, 1]"},
      {"torch.chunk(x, 0)", "cuts into 0 pieces"},
      {"torch.tensor_split(x, 0)", "cuts into 0 pieces"},
      {"torch.tensor_split(torch.expand(torch.unsqueeze(x, 0), [6000, 2, 3]), 5000)",
       "cuts into 5000 pieces"},
      {"torch.unfold(x, 1, 4, 1)", "has windows of 4 elements in a dim of size 3"},
      {"torch.unfold(x, 1, 2, 0)", "has windows of 2 elements every 0"},
  });
}

TEST_CASE("dims that do not exist are refused") {
  check({
      {"torch.diagonal(x, 0, 1, 1)", "takes the diagonal of dim 1 with itself"},
      {"torch.diag_embed(x, 0, 1, 1)", "makes a diagonal of [2, 3] in the dims 1 and 1"},
      {"torch.flatten(x, 1, 0)", "flattens from dim 1 to dim 0"},
      {"torch.unflatten(x, 1, [2, -1])", "cuts a dim of size 3 into"},
      {"torch.movedim(x, [0, 0], [0, 1])", "names a dim twice"},
      {"torch.sum(x, [0, 0])", "names a dim twice"},
      {"torch.rot90(x, 1, [0])", "turns in the dims [0], expected two"},
      {"torch.roll(x, [1, 1], [0])", "has 2 shifts for 1 dims"},
      {"torch.diff(x, 300)", "takes differences 300 times, expected 0 to 256"},
      {"torch.unsqueeze(x, 4)", "dim 4 is out of range"},
      {"torch.squeeze(x, 2)", "dim 2 is out of range for 2 dims"},
      {"torch.index_select(torch.sum(x), 1, torch.zeros([1]))", "dim"},
      {"torch.constant_pad_nd(x, [1, 1, 1, 1, 1, 1])", "has 6 pads for 2 dims"},
      {"torch.pad(x, [1, 1], \"wrap\")", "pads by 'wrap', expected constant, replicate, reflect or "
                                         "circular"},
      {"torch.pixel_unshuffle(torch.unsqueeze(x, 0), 2)", "shuffles [1, 2, 3] by 2"},
      {"torch.channel_shuffle(torch.unsqueeze(x, 0), 3)", "shuffles [1, 2, 3] in 3 groups"},
      {"torch.layer_norm(x, [4])", "normalises the last dims [4] of [2, 3]"},
      {"torch.permute(x, [0, 0])", "permutes 2 dims by [0, 0]"},
      {"torch.repeat(x, [2])", "repeats"},
      {"torch.transpose(x, 0, 5)", "out of range for 2 dims"},
      {"torch.size(torch.sum(x), 0)", "dim"},
      {"torch.len(torch.sum(x))", "asks for the length of a tensor without dims"},
  });
}

TEST_CASE("words that an operator does not know are refused") {
  check({
      {"torch.gelu(x, approximate=\"sigmoid\")",
       "approximates by 'sigmoid', expected none or tanh"},
      {"torch.div(x, x, rounding_mode=\"up\")", "rounds by 'up', expected floor or trunc"},
      {"torch.bitwise_and(x, x)", "works on the bits of floating-point numbers"},
      {"torch.conv1d(torch.unsqueeze(x, 0), torch.unsqueeze(x, 0), None, [1], \"full\")",
       "pads by 'full', expected valid or same"},
      {"torch.upsample_nearest1d(torch.unsqueeze(x, 0), [0])", "asks for images of size 0"},
      {"torch.upsample_nearest1d(torch.unsqueeze(x, 0), None, None)",
       "has neither output_size nor scale_factors"},
      {"torch.affine_grid_generator(torch.unsqueeze(x, 0), [1, 2], False)",
       "has 2 sizes, expected at least 3"},
      {"torch.grid_sampler(x, x, 3, 0, False)", "has the modes 3 and 0, expected 0 to 2"},
      {"torch.lstm_cell(x, [x], x, x)", "has 1 states, expected 2"},
      {"torch.arange(3, 0)", "counts in the wrong direction"},
      {"torch.arange(0., 1e30, 1.)", "counts to"},
      {"torch.arange(0, 3, 0)", "0"},
      {"torch.tensor([[1, 2], [3]])", "has lists of different lengths in one dim"},
      {"torch.tensor([[], []])", "has a list without numbers in a list"},
      {"torch.max_pool2d(torch.unsqueeze(x, 0), [2, 2, 2])", "entries"},
      {"torch.cdist(x, x, -1.)", "has a norm of power -1, expected at least 0"},
  });
}

TEST_CASE("indices that do not fit are refused") {
  check({
      {"torch.index(x, [torch.tensor([0]), torch.tensor([0]), torch.tensor([0])])",
       "has 3 indices for 2 dims"},
      {"torch.index(x, [torch.to(x, 0)])",
       "chooses elements by a mask of uint8; make it one of bools"},
      {"torch.index(x, [torch.gt(x, 0)])", "chooses elements by bools"},
      {"torch.index(x, [None])", "has no indices"},
      {"torch.index_put(x, [torch.gt(x, 0)], torch.arange(6.))",
       "writes different values where a mask says; use torch.where"},
  });
}

TEST_CASE("products of tensors that do not fit are refused") {
  check({
      {"torch.matmul(x, x)",
       "multiplies shapes [2, 3] and [2, 3]: dim 1 of size 3 and dim 0 of size 2 should be equal"},
      {"torch.einsum(\"ij,jk,kl\", [x, x])", "has more operands than there are inputs"},
      {"torch.einsum(\"ij\", [x, x])", "has 1 operands for 2 inputs"},
      {"torch.einsum(\"i1\", [x])", "equation 'i1' names dims by digits, expected letters"},
      {"torch.einsum(\"i*\", [x])", "has the operand 'i*', expected letters"},
      {"torch.einsum(\"ij,ij->ik\", [x, x])", "has the result 'ik', expected different letters"},
      {"torch.einsum(\"ij,ji->i\", [x, x])", "for dims of size"},
      {"torch.einsum(\"ii->i\", [x])", "uses 'i' for dims of size 2 and 3"},
      {"torch.linear(x, torch.unsqueeze(x, 0))", "expected 2 dims"},
      {"torch.conv1d(x, x)", "has data [2, 3], expected at least 3 dims"},
      {"torch.conv1d(torch.unsqueeze(x, 0), torch.unsqueeze(x, 0), None, [1], [0], [1], 5)",
       "in 5 groups: the channels do not fit"},
      {"torch.view(x, [4, 4])", "the shape [4, 4]"},
      {"torch.cat([x, torch.sum(x, [1])], 0)", "dims"},
  });
}

TEST_CASE("what the language does not have is refused") {
  check({
      {"    return y\n", "'y' has no value here"},
      {"    a = [1, 2]\n    return torch.add(x, a[2])\n", "takes element 2 of a list of 2"},
      {"    a = 3\n    return torch.add(x, a[0])\n", "takes an element of "},
      {"    a = 3\n    a[0] = 1\n    return x\n", "sets an element of "},
      {"    a = 3\n    a.b = 1\n    return x\n", "sets the attribute 'b' of "},
      {"    a = 3\n    return torch.add(x, a.b)\n", "takes the attribute 'b' of "},
      {"    a, b = 3\n    return x\n", "to 2 names"},
      {"    for i in 3:\n      pass\n    return x\n", "expected a range or a list"},
      {"    for i in range(0, 3, 0):\n      pass\n    return x\n", "a range has a step of 0"},
      {"    while True:\n      pass\n    return x\n", "this loop runs more than 100000 times"},
      {"    return __torch__.n.f(x)\n", "'__torch__.n.f' is nothing that the archive has"},
      {"    return (self).other(x)\n", "other"},
      {"    a = {\"k\": 1}\n    return torch.add(x, a[[1]])\n", "among the keys of a dictionary"},
      {"    a = torch.pow(2, 65)\n    return torch.add(x, a)\n",
       "raises an integer to the power of 65"},
      {"    return torch.add_(other=x, self=x)\n", "with names only, expected what it writes to"},
  });
}

TEST_CASE("functions are called with the arguments that they have") {
  ArchiveFile file;
  file.functions = "def helper(a: Tensor, b: Tensor) -> Tensor:\n  return torch.add(a, b)\n";
  file.lines = "    return __torch__.m.helper(x)\n";
  has(complaint(file), "'helper' is called without its argument 'b'");
  file.lines = "    return __torch__.m.helper(x, x, x)\n";
  has(complaint(file), "'helper' is called with 3 arguments, expected at most 2");
  file.functions = "def helper(a: Tensor) -> Tensor:\n  return __torch__.m.helper(a)\n";
  file.lines = "    return __torch__.m.helper(x)\n";
  has(complaint(file), "calls are nested too deeply; does a function call itself without end?");
}

TEST_CASE("inputs that are no tensors get values") {
  ArchiveFile file;
  file.forward = "  def forward(self: __torch__.m.Net, x: Tensor, n: int) -> Tensor:\n";
  file.lines = "    return torch.mul(x, n)\n";
  has(complaint(file),
      "input 'n' needs a value: give --input n=VALUE, or --input n.0=TYPE[DIM,...]");
  frontend::ImportOptions options;
  options.values["n"] = {1, 2};
  has(import(file.write(), {"x=float32[4]"}, options).status.message(),
      "--value n=…: the input is one int");
  options.values["n"] = {3};
  CHECK(import(file.write(), {"x=float32[4]"}, options).status.message() == "");
  options.symbols["batch"] = 8;
  has(import(file.write(), {"x=float32[4]"}, options).status.message(),
      "--set batch=8: no --input names the symbol 'batch'; they name none");
  file.forward = "  def forward(self: __torch__.m.Net, x: Tensor, n: int=[1]) -> Tensor:\n";
  has(complaint(file), "input 'n' has a default that is no number; give --input n=VALUE");
}

TEST_CASE("archives without a program are refused") {
  ArchiveFile file;
  file.forward = "  def backward(self: __torch__.m.Net, x: Tensor) -> Tensor:\n";
  file.lines = "    return x\n";
  has(complaint(file), "the model's class 'Net' has no method 'forward'");
  torch::ZipWriter weights;
  weights.add("m/data.pkl", torch::pickled("}"));
  weights.add("m/version", "3\n");
  has(import(file.write(weights.finish())).status.message(),
      "the archive has weights but no program; save both with torch.export.save");
  torch::ZipWriter big;
  big.add("m/code/__torch__/m.py", "");
  big.add("m/byteorder", "big");
  has(import(file.write(big.finish())).status.message(), "written on a big-endian machine");
  torch::ZipWriter list;
  list.add("m/code/__torch__/m.py", "");
  list.add("m/data.pkl", torch::pickled("]"));
  has(import(file.write(list.finish())).status.message(),
      "data.pkl holds no module; save the model again");
}

} // namespace
} // namespace cleave::torchscript

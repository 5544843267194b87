// Archives of version 1: programs that begin with an operator set, and the layout with model.json.
#include "test/unit/torchscript/ImportFile.h"

#include <catch2/catch.hpp>

namespace cleave::torchscript {
namespace {

// A program as PyTorch 1.4 writes it.
ArchiveFile versionOne() {
  ArchiveFile file;
  file.begin = "op_version_set = 1\nimport __torch__.other\n";
  file.version = "1\n";
  file.listsBuffers = false;
  return file;
}

TEST_CASE("a program that begins with an operator set and imports is read") {
  ArchiveFile file = versionOne();
  file.parameters = {"w"};
  file.otherCode =
      "op_version_set = 1\ndef twice(t: Tensor) -> Tensor:\n  return torch.mul(t, 2)\n";
  file.lines = "    return torch.add(__torch__.other.twice(x, ), self.w, alpha=1)\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.arguments == Names{"input x", "parameter w"});
  CHECK(result.count("graph.mul ") == 1);
}

TEST_CASE("tensors of a module that lists no buffers are buffers, unless they are parameters") {
  ArchiveFile file = versionOne();
  file.parameters = {"w"};
  file.buffers = {"seen"};
  file.lines = "    seen = self.seen\n    _0 = torch.add_(seen, 1)\n"
               "    return torch.add(torch.add(x, seen), self.w)\n";
  Result result = import(file.write());
  REQUIRE(result.status.message() == "");
  CHECK(result.arguments == Names{"input x", "parameter w", "state seen"});
}

TEST_CASE("the quotient of integers is truncated before version 4, that of floats never") {
  ArchiveFile file = versionOne();
  file.lines = "    return torch.div(x, 2)\n";
  Result integers = import(file.write(), {"x=int64[4]"});
  REQUIRE(integers.status.message() == "");
  has(integers.ir, "-> tensor<4xi64>");
  has(import(file.path, {"x=float32[4]"}).ir, "-> tensor<4xf32>");
  file.version = "4\n";
  has(import(file.write(), {"x=int64[4]"}).ir, "-> tensor<4xf32>");
  file.versionEntry = ".data/version";
  file.version = "3\n";
  has(import(file.write(), {"x=int64[4]"}).ir, "-> tensor<4xi64>");
}

TEST_CASE("torch.full of an integer makes floats before version 5") {
  ArchiveFile file = versionOne();
  file.lines = "    return torch.add(x, torch.full([4], 1, dtype=None, layout=None))\n";
  has(import(file.write(), {"x=int64[4]"}).ir, "-> tensor<4xf32>");
  file.version = "5\n";
  has(import(file.write(), {"x=int64[4]"}).ir, "-> tensor<4xi64>");
}

// A model as PyTorch 1.0 to 1.3 write it: a linear layer in a module, with a buffer, a constant and
// attributes.
struct ModelJsonFile : ArchiveFile {
  std::string layer = R"({"name":"fc","torchscriptArena":{"key":"code/net_fc.py"},"parameters":[
    {"isBuffer":false,"tensorId":"0","name":"weight"},{"isBuffer":true,"tensorId":"1","name":"seen"}],
    "attributes":[{"type":"float","name":"scale","id":"1"},{"type":"Optional[int]","name":"none","id":"-1"}]})";
  std::string tensors = R"(
    {"dims":["4","4"],"offset":"0","strides":["4","1"],"requiresGrad":true,"dataType":"FLOAT",
     "data":{"key":"tensors/0"},"device":"cpu"},
    {"dims":["4"],"strides":["1"],"requiresGrad":false,"dataType":"FLOAT","data":{"key":"tensors/1"}},
    {"dataType":"INT64","data":{"key":"tensors/2"},"device":"cpu"})";
  std::string protoVersion = "5", more;

  const std::string &writeOld() {
    torch::ZipWriter zip;
    zip.add("net/version", "1\n");
    zip.add("net/code/net.py",
            "op_version_set = 1\ndef forward(self,\n    x: Tensor) -> Tensor:\n"
            "  y = (self.fc).forward(x, )\n"
            "  return torch.add(__torch__.shop.twice(y, ), CONSTANTS.c2, alpha=1)\n");
    zip.add("net/code/net_fc.py",
            "op_version_set = 1\ndef forward(self,\n    x: Tensor) -> Tensor:\n"
            "  _0 = torch.add_(self.seen, 1)\n"
            "  y = torch.matmul(x, torch.t(self.weight))\n"
            "  return torch.mul(torch.add(y, getattr(self, \"seen\")), self.scale)\n");
    zip.add("net/libs/__torch__/shop.py",
            "op_version_set = 1\ndef twice(t: Tensor) -> Tensor:\n  return torch.mul(t, 2)\n");
    zip.add("net/attributes.pkl",
            torch::pickled("(" + torch::global("torch.jit._pickle", "build_tensor_from_id") + "(" +
                           torch::integer(1) + "tRG" + std::string("\x3f\xe0\0\0\0\0\0\0", 8) +
                           "t"));
    zip.add("net/tensors/0", std::string(64, '\0'));
    zip.add("net/tensors/1", std::string(16, '\0'));
    zip.add("net/tensors/2", std::string(8, '\0'));
    zip.add("net/model.json",
            R"({"protoVersion":")" + protoVersion +
                R"(","mainModule":{"name":"net","optimize":true,"torchscriptArena":
        {"key":"code/net.py"},"submodules":[)" +
                layer + "]" + more + R"(},"producerName":"pytorch","tensors":[)" + tensors + "]}");
    bytes = zip.finish();
    return write(bytes);
  }
  std::string saysOld() { return import(writeOld()).status.message(); }
};

TEST_CASE("a model with a model.json has its parameters, buffers, attributes and constants") {
  ModelJsonFile file;
  Result result = import(file.writeOld(), {"x=float32[2,4]"});
  REQUIRE(result.status.message() == "");
  CHECK(result.arguments == Names{"input x", "parameter fc.weight", "state fc.seen"});
  CHECK(result.results == Names{"output 0", "state fc.seen"});
  CHECK(result.count("graph.frozen") == 0); // the weight asks for gradients
  has(result.ir, "5.000000e-01");           // the attribute `scale`
}

TEST_CASE("an attribute of a model.json may be a tensor of its table") {
  ModelJsonFile file;
  file.layer = R"({"name":"fc","torchscriptArena":{"key":"code/net_fc.py"},"parameters":[
    {"tensorId":"0","name":"weight"}],"attributes":[{"type":"Tensor","name":"seen","id":"0"},
    {"type":"float","name":"scale","id":"1"}]})";
  Result result = import(file.writeOld(), {"x=float32[2,4]"});
  REQUIRE(result.status.message() == "");
  CHECK(result.arguments == Names{"input x", "parameter fc.weight", "state fc.seen"});
}

TEST_CASE("an inconsistent model.json is refused") {
  auto said = [](auto change) {
    ModelJsonFile file;
    change(file);
    return file.saysOld();
  };
  auto replaced = [&](std::string ModelJsonFile::*part, const char *from, const char *to) {
    return said([&](ModelJsonFile &file) {
      std::string &text = file.*part;
      text.replace(text.find(from), std::string(from).size(), to);
    });
  };
  has(said([](ModelJsonFile &file) { file.protoVersion = "6"; }), "found protoVersion 6");
  has(said([](ModelJsonFile &file) { file.tensors += "]"; }), "found no JSON");
  has(replaced(&ModelJsonFile::tensors, "[\"4\",\"4\"]", "4"), "found number in 'dims'");
  has(replaced(&ModelJsonFile::tensors, "\"4\",\"4\"", "\"-4\",\"4\""), "no tensor can have");
  has(replaced(&ModelJsonFile::tensors, "tensors/1", "tensors/7"), "'tensors/7' of 'fc.seen'");
  has(replaced(&ModelJsonFile::layer, "\"1\",\"name\":\"seen\"", "\"9\",\"name\":\"seen\""),
      "found tensor 9 for 'seen' in a table of 3");
  has(replaced(&ModelJsonFile::layer, "\"id\":\"1\"", "\"id\":\"5\""), "found value 5 for 'scale'");
  has(replaced(&ModelJsonFile::layer, "net_fc.py", "gone.py"), "no 'code/gone.py'");
  has(said([](ModelJsonFile &file) { file.layer += "," + file.layer; }), "twice");
}

TEST_CASE("a module of a model.json that restores itself is refused with the way out") {
  ModelJsonFile file;
  file.more = ",\"getStateAttributeId\":\"0\"";
  std::string text = file.saysOld();
  has(text, "the module 'net' restores itself by __setstate__");
  has(text, "torch.jit.save(torch.jit.load(FILE), FILE)");
}

TEST_CASE("a quantized tensor of a model.json is refused by its name") {
  ModelJsonFile file;
  file.tensors.replace(file.tensors.find("FLOAT"), 5, "INT8\",\"isQuantized\":true,\"x\":\"");
  has(file.saysOld(), "'fc.weight' is a tensor of qint8; quantized models are not supported");
}

} // namespace
} // namespace cleave::torchscript

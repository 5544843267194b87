// PTX of every pattern and type for all targets; where there is a ptxas (CLEAVE_PTXAS, CUDA_HOME or
// PATH), it is assembled: registers, spills and shared memory stay within the recorded limits.
#include "passes/codegen/gpu/Ptx.h"
#include "passes/codegen/gpu/GpuCodegen.h"
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <unistd.h>

using namespace cleave;
using test::CompiledKernel;

namespace {

struct Pattern {
  std::string name;
  int registers; // per thread, the most that any type takes on any target
  std::string text;
  int rows, columns;
  std::vector<std::string> types = {"f32", "bf16", "f16"};
  std::map<int, int> inPlace = {};
  int spillBytes = 0;
  std::vector<int> transposed = {};
};

// The results of the op %r.
std::string valuesOf(int count) {
  std::string values = count == 1 ? "%r" : "%r#0";
  for (int i = 1; i < count; ++i)
    values += ", %r#" + std::to_string(i);
  return values;
}
std::string countOf(int count) { return count == 1 ? "" : ":" + std::to_string(count); }

// A function of one group of two matrices, a row and a number.
std::string group(const std::string &body, const std::string &results, int count = 1) {
  return "func.func @f(%x: tensor<NxMxT>, %y: tensor<NxMxT>, %w: tensor<MxT>, %t: tensor<T>) -> (" +
         results + ") {\n%r" + countOf(count) +
         " = graph.fusion (%a = %x : tensor<NxMxT>, %b = %y : tensor<NxMxT>, %c = %w : "
         "tensor<MxT>, %s = %t : tensor<T>) -> (" +
         results + ") {\n" + body + "\n}\nreturn " + valuesOf(count) + " : " + results + "\n}";
}

std::string op(const std::string &arguments, const std::string &text, const std::string &results,
               int count = 1) {
  return "func.func @f(" + arguments + ") -> (" + results + ") {\n%r" + countOf(count) + " = " +
         text + "\nreturn " + valuesOf(count) + " : " + results + "\n}";
}

const std::string kMatrix = "tensor<NxMxT>";

const std::string kGelu = group(R"(
  %cb = graph.broadcast %c to [1] : tensor<MxT> -> tensor<NxMxT>
  %z = graph.add %a, %cb : tensor<NxMxT>
  %h = graph.constant dense<0.707> : tensor<NxMxT>
  %u = graph.mul %z, %h : tensor<NxMxT>
  %e = graph.erf %u : tensor<NxMxT>
  %o = graph.mul %e, %z : tensor<NxMxT>
  graph.yield %o : tensor<NxMxT>)",
                                kMatrix);

const std::string kNorm = group(R"(
  %z = graph.add %a, %b : tensor<NxMxT>
  %q = graph.mul %z, %z : tensor<NxMxT>
  %v = graph.reduce sum %q over [1] : tensor<NxMxT> -> tensor<NxT>
  %p = graph.constant dense<1.0> : tensor<NxT>
  %ve = graph.add %v, %p : tensor<NxT>
  %i = graph.rsqrt %ve : tensor<NxT>
  %ib = graph.broadcast %i to [0] : tensor<NxT> -> tensor<NxMxT>
  %n = graph.mul %z, %ib : tensor<NxMxT>
  %cb = graph.broadcast %c to [1] : tensor<MxT> -> tensor<NxMxT>
  %o = graph.mul %n, %cb : tensor<NxMxT>
  graph.yield %o, %i : tensor<NxMxT>, tensor<NxT>)",
                                "tensor<NxMxT>, tensor<NxT>", 2);

const std::string kSoftmax = group(R"(
  %m = graph.reduce max %a over [1] : tensor<NxMxT> -> tensor<NxT>
  %mb = graph.broadcast %m to [0] : tensor<NxT> -> tensor<NxMxT>
  %d = graph.sub %a, %mb : tensor<NxMxT>
  %e = graph.exp %d : tensor<NxMxT>
  %v = graph.reduce sum %e over [1] : tensor<NxMxT> -> tensor<NxT>
  %vb = graph.broadcast %v to [0] : tensor<NxT> -> tensor<NxMxT>
  %q = graph.div %e, %vb : tensor<NxMxT>
  graph.yield %q : tensor<NxMxT>)",
                                   kMatrix);

const std::string kColumns = group(R"(
  %p = graph.mul %a, %b : tensor<NxMxT>
  %u = graph.reduce sum %p over [0] : tensor<NxMxT> -> tensor<MxT>
  %v = graph.reduce max %a over [0] : tensor<NxMxT> -> tensor<MxT>
  graph.yield %u, %v : tensor<MxT>, tensor<MxT>)",
                                   "tensor<MxT>, tensor<MxT>", 2);

// Elements with the sums of their columns, and of rows.
const std::string kBesideColumns = group(R"(
  %cb = graph.broadcast %c to [1] : tensor<MxT> -> tensor<NxMxT>
  %z = graph.add %a, %cb : tensor<NxMxT>
  %e = graph.erf %z : tensor<NxMxT>
  %o = graph.mul %e, %b : tensor<NxMxT>
  %u = graph.reduce sum %o over [0] : tensor<NxMxT> -> tensor<MxT>
  graph.yield %o, %u : tensor<NxMxT>, tensor<MxT>)",
                                         "tensor<NxMxT>, tensor<MxT>", 2);
const std::string kSweep = group(R"(
  %p = graph.mul %a, %b : tensor<NxMxT>
  %u = graph.reduce sum %p over [1] : tensor<NxMxT> -> tensor<NxT>
  %ub = graph.broadcast %u to [0] : tensor<NxT> -> tensor<NxMxT>
  %o = graph.sub %p, %ub : tensor<NxMxT>
  %v = graph.reduce sum %p over [0] : tensor<NxMxT> -> tensor<MxT>
  %q = graph.reduce sum %o over [0] : tensor<NxMxT> -> tensor<MxT>
  graph.yield %o, %v, %q : tensor<NxMxT>, tensor<MxT>, tensor<MxT>)",
                                 "tensor<NxMxT>, tensor<MxT>, tensor<MxT>", 3);

const std::string kTotal = group(R"(
  %p = graph.mul %a, %a : tensor<NxMxT>
  %u = graph.reduce sum %p over [0, 1] : tensor<NxMxT> -> tensor<T>
  graph.yield %u : tensor<T>)",
                                 "tensor<T>");

const std::string kTranspose = group(R"(
  %u = graph.transpose %a by [1, 0] : tensor<NxMxT> -> tensor<MxNxT>
  graph.yield %u : tensor<MxNxT>)",
                                     "tensor<MxNxT>");

// A step with momentum in place, whose correction is a power in double precision.
const std::string kUpdate = group(R"(
  %k = graph.constant dense<0.9> : tensor<T>
  %kt = graph.pow %k, %s : tensor<T>
  %kb = graph.broadcast %kt to [] : tensor<T> -> tensor<NxMxT>
  %m = graph.mul %b, %kb : tensor<NxMxT>
  %n = graph.add %m, %a : tensor<NxMxT>
  %q = graph.sqrt %n : tensor<NxMxT>
  %o = graph.div %a, %q : tensor<NxMxT>
  graph.yield %o, %n : tensor<NxMxT>, tensor<NxMxT>)",
                                  "tensor<NxMxT>, tensor<NxMxT>", 2);

const std::string kWindow =
    "{kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, "
    "pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>}";

// Doubles and integers.
std::vector<Pattern> widePatterns() {
  return {
      {"norm of doubles", 48, kNorm, 64, 1024, {"f64"}},
      {"wide column sums", 48, kColumns, 4096, 768, {"f64", "i32", "i64"}},
      {"wide total", 32, kTotal, 64, 1024, {"f64", "i32", "i64"}},
      {"wide transpose", 24, kTranspose, 512, 512, {"f64", "i64", "ui8"}},
      {"wide gather",
       16,
       op("%x: tensor<NxMxT>, %i: tensor<128xi64>",
          "graph.gather %x at %i dim 0 : tensor<NxMxT>, tensor<128xi64> -> tensor<128xMxT>",
          "tensor<128xMxT>"),
       1000,
       64,
       {"f64", "i64"}},
      {"wide scan",
       36,
       op("%x: " + kMatrix, "graph.scan sum %x dim 1 : " + kMatrix, kMatrix),
       64,
       64,
       {"f64", "i32", "i64"}},
  };
}

// Attention in grouped heads. In 16-bit floats it has matrix instructions.
std::vector<Pattern> attentionPatterns() {
  const std::string heads = "tensor<1x8xNxMxT>", groups = "tensor<1x2xNxMxT>",
                    rows = "tensor<1x8xNxf32>", all = heads + ", " + groups + ", " + groups;
  const std::string forward = op("%q: " + heads + ", %k: " + groups + ", %v: " + groups,
                                 "graph.attention %q, %k, %v {causal, scale = 0.1 : f64} : (" +
                                     all + ") -> (" + heads + ", " + rows + ")",
                                 heads + ", " + rows, 2);
  const std::string gradient =
      op("%q: " + heads + ", %k: " + groups + ", %v: " + groups + ", %y: " + heads +
             ", %l: " + rows + ", %g: " + heads,
         "graph.attention_grad %q, %k, %v, %y, %l, %g {causal, scale = 0.1 : f64} : (" + all +
             ", " + heads + ", " + rows + ", " + heads + ") -> (" + all + ")",
         all, 3);
  return {
      {"attention of narrow heads", 128, forward, 4096, 64, {"bf16"}},
      {"attention", 184, forward, 4096, 128},
      {"attention of wide heads", 255, forward, 4096, 256, {"bf16"}},
      {"gradient of narrow heads", 168, gradient, 4096, 64, {"bf16"}, {}, /*spillBytes=*/40},
      {"gradient", 255, gradient, 4096, 128, {"f32", "bf16", "f16"}, {}, /*spillBytes=*/100},
      {"gradient of wide heads", 255, gradient, 4096, 256, {"bf16"}, {}, /*spillBytes=*/1220},
  };
}

// Grouped products of 8 groups, with weights as they lie and transposed, and their gradient.
// Two blocks of 128 registers and 40 KiB share a multiprocessor.
std::vector<Pattern> groupedPatterns() {
  const std::string ends = "tensor<8xi32>", weights = "tensor<8xMxMxT>",
                    types = kMatrix + ", " + weights + ", " + ends,
                    arguments = "%x: " + kMatrix + ", %w: " + weights + ", %e: " + ends;
  const std::string product =
      op(arguments, "graph.grouped_matmul %x, %w, %e : " + types + " -> " + kMatrix, kMatrix);
  const std::string gradient = op("%x: " + kMatrix + ", %y: " + kMatrix + ", %e: " + ends,
                                  "graph.grouped_weight_grad %x, %y, %e : " + kMatrix + ", " +
                                      kMatrix + ", " + ends + " -> " + weights,
                                  weights);
  return {
      {"grouped product", 128, product, 8192, 4096},
      {"grouped product of transposed weights",
       128,
       product,
       8192,
       4096,
       {"f32", "bf16", "f16"},
       {},
       0,
       {1}},
      {"grouped product of odd rows", 128, product, 8191, 4095},
      {"grouped gradient of weights", 128, gradient, 8192, 4096},
  };
}

// Direct convolutions of images of 8 channels by windows of 3 x 3, and their gradients.
std::vector<Pattern> convolutionPatterns() {
  const std::string image = "tensor<4x8xNxMxT>", weight = "tensor<16x8x3x3xT>",
                    result = "tensor<4x16x32x32xT>";
  const std::string window =
      " {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, "
      "pads_high = array<i64: 1, 1>, groups = 1 : i64, graph.direct} : ";
  auto conv = [&](const std::string &name, const std::string &a, const std::string &b,
                  const std::string &to) {
    return op("%a: " + a + ", %b: " + b, name + " %a, %b" + window + a + ", " + b + " -> " + to,
              to);
  };
  const std::vector<std::string> types = {"f32", "bf16", "f64"};
  return {
      {"convolution", 40, conv("graph.conv", image, weight, result), 64, 64, types},
      {"convolution, gradient of the input", 48,
       conv("graph.conv_input_grad", result, weight, image), 64, 64, types},
      {"convolution, gradient of the weight", 40,
       conv("graph.conv_weight_grad", result, image, weight), 64, 64, types},
  };
}

std::vector<Pattern> patterns() {
  const std::string image = "tensor<4x8xNxMxT>", half = "tensor<4x8x32x32xT>";
  return {
      {"gelu", 48, kGelu, 64, 4096},
      {"gelu of odd rows", 32, kGelu, 64, 4095},
      {"norm of short rows", 32, kNorm, 512, 64},
      {"norm of rows in registers", 36, kNorm, 64, 4096},
      {"softmax in registers", 40, kSoftmax, 64, 4096},
      {"softmax of long rows", 40, kSoftmax, 64, 50257},
      {"column sums", 64, kColumns, 4096, 768},
      {"elements beside column sums", 64, kBesideColumns, 4096, 768},
      {"rows beside column sums", 96, kSweep, 64, 1024},
      {"total", 32, kTotal, 64, 1024},
      {"transpose", 24, kTranspose, 512, 512},
      {"update in place", 40, kUpdate, 512, 512, {"f32", "bf16", "f16"}, {{0, 0}, {1, 1}}},
      {"select",
       32,
       op("%x: tensor<NxMxi1>, %y: tensor<NxMxT>",
          "graph.fusion (%a = %x : tensor<NxMxi1>, %b = %y : tensor<NxMxT>) -> (tensor<NxMxT>) {\n"
          "%z = graph.constant dense<0> : tensor<NxMxT>\n"
          "%q = graph.select %a, %b, %z : tensor<NxMxi1>, tensor<NxMxT>\n"
          "graph.yield %q : tensor<NxMxT>\n}",
          kMatrix),
       64,
       256,
       {"i64", "i1", "ui8"}},
      {"gather", 16,
       op("%x: tensor<NxMxT>, %i: tensor<128xi64>",
          "graph.gather %x at %i dim 0 : tensor<NxMxT>, tensor<128xi64> -> tensor<128xMxT>",
          "tensor<128xMxT>"),
       1000, 64},
      {"scatter", 24,
       op("%x: tensor<128xMxT>, %i: tensor<128xi64>",
          "graph.scatter sum %x at %i dim 0 : tensor<128xMxT>, tensor<128xi64> -> tensor<NxMxT>",
          kMatrix),
       1000, 64},
      {"scan", 36, op("%x: " + kMatrix, "graph.scan sum %x dim 1 : " + kMatrix, kMatrix), 64, 64},
      {"sort",
       40,
       op("%x: " + kMatrix, "graph.sort %x dim 1 : " + kMatrix, kMatrix + ", tensor<NxMxi64>", 2),
       64,
       64,
       {"f32", "bf16", "f16"},
       {},
       /*spillBytes=*/16},
      {"pool", 32,
       op("%x: " + image, "graph.pool max %x " + kWindow + " : " + image + " -> " + half, half), 64,
       64},
      {"pool gradient", 40,
       op("%g: " + half + ", %x: " + image,
          "graph.pool_grad max %g, %x " + kWindow + " : " + half + ", " + image + " -> " + image,
          image),
       64, 64},
  };
}

codegen::GpuModule compile(const Pattern &pattern, const std::string &type,
                           const std::string &target) {
  test::KernelCase testCase;
  testCase.text = test::sized(test::ofType(pattern.text, type), pattern.rows, pattern.columns);
  testCase.inPlace = pattern.inPlace;
  testCase.transposed = pattern.transposed;
  std::unique_ptr<CompiledKernel> kernel = CompiledKernel::build(testCase);
  REQUIRE(kernel);
  Result<codegen::GpuModule> module = codegen::compileForGpu({kernel->op()}, target);
  INFO(module.status().message());
  REQUIRE(module.isOk());
  return std::move(*module);
}

// The assembler, or an empty path.
std::string findPtxas() {
  if (const char *given = std::getenv("CLEAVE_PTXAS"))
    return given;
  if (const char *home = std::getenv("CUDA_HOME"))
    if (std::string path = std::string(home) + "/bin/ptxas"; std::filesystem::exists(path))
      return path;
  std::stringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::filesystem::exists(folder + "/ptxas"))
      return folder + "/ptxas";
  return "";
}

// What ptxas says about a module of one kernel.
struct Assembled {
  std::string text;
  int registers = -1, spills = -1, sharedBytes = 0;
  bool isKnownTarget() const { return text.find("not defined for option") == std::string::npos; }
};

int numberBefore(const std::string &text, const std::string &pattern, int missing) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? std::stoi(match[1]) : missing;
}

Assembled assemble(const std::string &ptxas, const codegen::GpuModule &module) {
  std::string path =
      std::filesystem::temp_directory_path() / ("cleave-" + std::to_string(getpid()) + ".ptx");
  std::ofstream(path) << module.ptx;
  std::string command =
      "'" + ptxas + "' -v -arch=" + module.target + " -o /dev/null '" + path + "' 2>&1";
  Assembled result;
  if (FILE *pipe = popen(command.c_str(), "r")) {
    for (char line[512]; std::fgets(line, sizeof line, pipe);)
      result.text += line;
    pclose(pipe);
  }
  std::filesystem::remove(path);
  result.registers = numberBefore(result.text, "Used (\\d+) registers", -1);
  result.spills = numberBefore(result.text, "(\\d+) bytes spill stores", -1);
  result.sharedBytes = numberBefore(result.text, "(\\d+) bytes smem", 0);
  return result;
}

// Makes the PTX of the patterns for all targets, and assembles it.
void checkPtx(const std::vector<Pattern> &all) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    WARN("no ptxas in CLEAVE_PTXAS, CUDA_HOME or PATH: PTX is made but not assembled");
  for (const codegen::GpuTarget &target : codegen::gpuTargets())
    for (const Pattern &pattern : all) {
      int most = 0, spilled = 0;
      for (const std::string &type : pattern.types) {
        INFO(pattern.name << " of " << type << " for " << target.name);
        codegen::GpuModule module = compile(pattern, type, target.name);
        const codegen::Launch &launch = module.functions.front().launch;
        CHECK(module.ptx.find(".target " + target.name) != std::string::npos);
        CHECK(module.ptx.find(".entry " + module.functions.front().symbol) != std::string::npos);
        CHECK(module.ptx.find("__nv_") == std::string::npos);
        CHECK(module.ptx.find("\tatom.") == std::string::npos); // results that depend on timing
        CHECK(module.ptx.find("\tred.") == std::string::npos);
        CHECK(launch.sharedBytes <= 48 << 10); // more is not given to a kernel unasked
        CHECK((launch.blocks > 0 && launch.threads > 0 && launch.threads <= 1024));
        if (ptxas.empty())
          continue;
        Assembled assembled = assemble(ptxas, module);
        if (!assembled.isKnownTarget()) {
          WARN(ptxas << " does not know " << target.name);
          ptxas.clear();
          continue;
        }
        INFO(assembled.text);
        CHECK(assembled.registers > 0);
        CHECK((assembled.spills >= 0 && assembled.spills <= pattern.spillBytes));
        CHECK(assembled.sharedBytes >= launch.sharedBytes);
        CHECK(assembled.sharedBytes <= launch.sharedBytes + 1024); // sm_90 and later reserve some
        most = std::max(most, assembled.registers);
        spilled = std::max(spilled, assembled.spills);
      }
      if (std::getenv("CLEAVE_SHOW"))
        std::printf("%-28s %-7s %3d registers, %d bytes spilled\n", pattern.name.c_str(),
                    target.name.c_str(), most, spilled);
      INFO(pattern.name << " for " << target.name);
      CHECK(most <= pattern.registers);
    }
}

} // namespace

TEST_CASE("PTX of every pattern is made for all targets and assembles within its limits") {
  checkPtx(patterns());
  checkPtx(widePatterns());
  checkPtx(convolutionPatterns());
}

TEST_CASE("PTX of attention is made for all targets and assembles within its limits") {
  checkPtx(attentionPatterns());
}

TEST_CASE("PTX of grouped products is made for all targets and assembles within its limits") {
  checkPtx(groupedPatterns());
}

TEST_CASE("long rows and whole lines are read 16 bytes at a time") {
  for (const Pattern &pattern : patterns())
    if (pattern.name == "gelu" || pattern.name == "softmax in registers")
      for (const char *type : {"f32", "bf16"}) {
        std::string ptx = compile(pattern, type, "sm_90").ptx;
        INFO(pattern.name << " of " << type << "\n" << ptx);
        CHECK(std::regex_search(ptx, std::regex("ld\\.global(\\.nc)?\\.v4\\.[bf]32")));
        CHECK(std::regex_search(ptx, std::regex("st\\.global\\.v4\\.[bf]32")));
      }
}

TEST_CASE("bf16 values are cast by words") {
  for (const Pattern &pattern : patterns())
    if (pattern.name == "elements beside column sums") {
      std::string ptx = compile(pattern, "bf16", "sm_90").ptx;
      INFO(ptx);
      CHECK(ptx.find("cvt.f32.bf16") == std::string::npos);
      CHECK(ptx.find("cvt.rn.bf16x2.f32") != std::string::npos);
    }
}

TEST_CASE(
    "products and sums that end in 16 bits are multiply-adds, and those of f32 stay as written") {
  const Pattern pattern{"products and sums", 0,
                        group(R"(
  %p = graph.mul %a, %b : tensor<NxMxT>
  %q = graph.add %p, %a : tensor<NxMxT>
  graph.yield %q : tensor<NxMxT>)",
                              kMatrix),
                        64, 64};
  CHECK(compile(pattern, "bf16", "sm_90").ptx.find("fma.rn.f32") != std::string::npos);
  CHECK(compile(pattern, "f32", "sm_90").ptx.find("fma.rn.f32") == std::string::npos);
}

TEST_CASE("a sum of bf16 that is only rounded is computed in bf16") {
  const Pattern pattern{
      "sum", 0,
      group("%q = graph.add %a, %b : tensor<NxMxT>\ngraph.yield %q : tensor<NxMxT>", kMatrix), 64,
      64};
  std::string ptx = compile(pattern, "bf16", "sm_90").ptx;
  INFO(ptx);
  CHECK(ptx.find("bf16x2") != std::string::npos);
  CHECK(ptx.find("f32") == std::string::npos);
}

TEST_CASE("elements of a row with a tail are loaded before they wait for the scalar of the row") {
  const std::string text =
      "func.func @f(%x: tensor<NxMxT>, %y: tensor<NxT>) -> (tensor<NxMxT>) {\n"
      "%r = graph.fusion (%a = %x : tensor<NxMxT>, %b = %y : tensor<NxT>) -> (tensor<NxMxT>) {\n"
      "%c = graph.broadcast %b to [0] : tensor<NxT> -> tensor<NxMxT>\n"
      "%o = graph.mul %a, %c : tensor<NxMxT>\n"
      "graph.yield %o : tensor<NxMxT>\n}\nreturn %r : tensor<NxMxT>\n}";
  test::KernelCase testCase;
  testCase.text = test::sized(test::ofType(text, "f32"), 64, 63);
  testCase.pitch = 64;
  std::unique_ptr<CompiledKernel> kernel = CompiledKernel::build(testCase);
  REQUIRE(kernel);
  Result<codegen::GpuModule> module = codegen::compileForGpu({kernel->op()}, "sm_90");
  REQUIRE(module.isOk());
  INFO(module->ptx);
  CHECK(module->ptx.find("ld.global.nc.v4.b32") < module->ptx.find("ld.global.nc.b32"));
}

TEST_CASE("a sweep over rows loads the next row before the one barrier of its own") {
  for (const Pattern &pattern : patterns()) {
    if (pattern.name != "rows beside column sums")
      continue;
    std::string ptx = compile(pattern, "bf16", "sm_90").ptx;
    INFO(ptx);
    const size_t barrier = ptx.find("bar.sync");
    REQUIRE(barrier != std::string::npos);
    CHECK(ptx.rfind("bar.sync") == barrier);
    const std::regex load("ld\\.global");
    const auto count = std::distance(std::sregex_iterator(ptx.begin(), ptx.end(), load), {});
    CHECK(count == 4); // the first row's, and the next row's, of two operands
    CHECK(ptx.rfind("ld.global") < barrier);
  }
}

TEST_CASE("attention of 16-bit floats has matrix instructions and reads 16 bytes at a time") {
  for (const Pattern &pattern : attentionPatterns()) {
    if (pattern.columns != 128)
      continue;
    for (const char *type : {"f32", "bf16", "f16"}) {
      std::string ptx = compile(pattern, type, "sm_80").ptx;
      INFO(pattern.name << " of " << type);
      const bool isNarrow = type != std::string("f32");
      const std::string product = isNarrow ? "mma.sync.aligned.m16n8k16.row.col.f32." +
                                                 (type + ("." + std::string(type))) + ".f32"
                                           : "mma.sync";
      CHECK((ptx.find(product) != std::string::npos) == isNarrow);
      CHECK((ptx.find("ldmatrix.sync") != std::string::npos) == isNarrow);
      CHECK((!isNarrow || std::regex_search(ptx, std::regex("ld\\.global(\\.nc)?\\.v4"))));
    }
  }
}

TEST_CASE("an unknown target is refused") {
  Result<codegen::GpuModule> module = codegen::compileForGpu({}, "sm_12");
  REQUIRE(!module.isOk());
  CHECK(module.status().message() ==
        "unknown GPU target 'sm_12'; did you mean sm_80, sm_90 or sm_100?");
}

TEST_CASE("a function without code for GPUs is refused with a way out") {
  std::string text = op("%x: " + kMatrix,
                        "graph.fusion (%a = %x : tensor<NxMxT>) -> (tensor<NxMxT>) {\n"
                        "%q = graph.tanh %a : tensor<NxMxT>\ngraph.yield %q : tensor<NxMxT>\n}",
                        kMatrix);
  auto kernel = CompiledKernel::build({test::sized(test::ofType(text, "f64"), 2, 2)});
  REQUIRE(kernel);
  Result<codegen::GpuModule> module = codegen::compileForGpu({kernel->op()}, "sm_80");
  REQUIRE(!module.isOk());
  CHECK(module.status().kind() == StatusKind::UserError);
  CHECK(module.status().message().find("computes tanh of f64") != std::string::npos);
}

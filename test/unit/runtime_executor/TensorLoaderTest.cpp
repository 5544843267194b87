// Loading of a rank's block from every kind of source, permuted, converted and padded, and
// detection of changed and missing files.
#include "runtime/executor/TensorLoader.h"
#include "runtime/base/Sha256.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>
#include <vector>

using namespace cleave;
using namespace cleave::executor;
using Catch::Matchers::Contains;

namespace {

// A temporary model file with 10 arbitrary bytes and then 0, 1, 2, … as f32.
class ModelFile {
public:
  explicit ModelFile(int count) : path_("loader-test." + std::to_string(::getpid()) + ".bin") {
    std::ofstream file(path_, std::ios::binary);
    file << "0123456789";
    for (int i = 0; i < count; ++i) {
      float value = float(i);
      file.write(reinterpret_cast<const char *>(&value), 4);
    }
  }
  ~ModelFile() { std::remove(path_.c_str()); }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

// Four ranks on one axis, one parameter sharded on its first dim.
plan::Plan planFor(const ModelFile &model, std::vector<int64_t> shape) {
  plan::Plan plan;
  plan.add_mesh()->set_size(4);
  plan::Tensor *tensor = plan.add_tensors();
  tensor->set_name("w"), tensor->set_dtype(plan::F32), tensor->set_role(plan::PARAMETER);
  int64_t bytes = 4;
  for (int64_t size : shape) {
    tensor->add_shape(size), tensor->add_sharding();
    bytes *= size;
  }
  if (!shape.empty())
    tensor->mutable_sharding(0)->add_axes(0);
  plan::FileSlice *slice = tensor->mutable_source()->mutable_file();
  slice->set_offset(10), slice->set_bytes(uint64_t(bytes)), slice->set_dtype(plan::F32);
  plan.mutable_source()->set_path(model.path());
  return plan;
}

std::vector<float> loaded(const plan::Plan &plan, uint32_t rank, size_t count) {
  std::vector<float> values(count, -1);
  TensorLoader loader(plan, "");
  Status status = loader.load(plan.tensors(0), rank, values.data());
  INFO(status.message());
  REQUIRE(status);
  return values;
}

} // namespace

TEST_CASE("a rank reads its rows of a file, the last ones padded with zeros") {
  ModelFile model(14);
  plan::Plan plan = planFor(model, {7, 2});
  CHECK(loaded(plan, 0, 4) == std::vector<float>{0, 1, 2, 3});
  CHECK(loaded(plan, 3, 4) == std::vector<float>{12, 13, 0, 0});
}

TEST_CASE("a transposed tensor is read by columns") {
  ModelFile model(12);
  plan::Plan plan = planFor(model, {4, 3}); // stored as 3 x 4
  plan.mutable_tensors(0)->mutable_source()->add_permutation(1);
  plan.mutable_tensors(0)->mutable_source()->add_permutation(0);
  CHECK(loaded(plan, 1, 3) == std::vector<float>{1, 5, 9});
}

TEST_CASE("with a permutation of three dims, dim i of the tensor is dim permutation[i] of the "
          "stored tensor") {
  ModelFile model(24);
  plan::Plan plan = planFor(model, {4, 2, 3}); // stored as 2 x 3 x 4
  for (uint32_t dim : {2, 0, 1})
    plan.mutable_tensors(0)->mutable_source()->add_permutation(dim);
  CHECK(loaded(plan, 2, 6) == std::vector<float>{2, 6, 10, 14, 18, 22});
}

TEST_CASE("inline data, constants and scalars are loaded") {
  ModelFile model(1);
  plan::Plan plan = planFor(model, {5});
  SECTION("inline data") {
    float values[] = {1, 2, 3, 4, 5};
    plan.mutable_tensors(0)->mutable_source()->set_inline_data(values, sizeof values);
    CHECK(loaded(plan, 2, 2) == std::vector<float>{5, 0});
  }
  SECTION("a constant with zeros as padding") {
    plan.mutable_tensors(0)->mutable_source()->set_fill(0.25);
    CHECK(loaded(plan, 0, 2) == std::vector<float>{0.25, 0.25});
    CHECK(loaded(plan, 2, 2) == std::vector<float>{0.25, 0});
    CHECK(loaded(plan, 3, 2) == std::vector<float>{0, 0});
  }
  SECTION("an integer constant") {
    plan.mutable_tensors(0)->set_dtype(plan::I64);
    plan.mutable_tensors(0)->mutable_source()->set_fill(-3);
    std::vector<int64_t> values(2);
    REQUIRE(TensorLoader(plan, "").load(plan.tensors(0), 0, values.data()));
    CHECK(values == std::vector<int64_t>{-3, -3});
  }
  SECTION("a scalar") {
    plan::Plan scalar = planFor(model, {});
    CHECK(loaded(scalar, 1, 1) == std::vector<float>{0});
  }
}

TEST_CASE("values stored in another dtype are converted") {
  ModelFile model(4);
  plan::Plan plan = planFor(model, {4});
  plan.mutable_tensors(0)->set_dtype(plan::F64);
  std::vector<double> value(1);
  REQUIRE(TensorLoader(plan, "").load(plan.tensors(0), 3, value.data()));
  CHECK(value[0] == 3);
}

TEST_CASE("external data are in the folder of the model file, also if another one is given") {
  ModelFile model(4);
  plan::Plan plan = planFor(model, {4});
  plan.mutable_tensors(0)->mutable_source()->mutable_file()->set_path(model.path());
  plan.mutable_source()->set_path("/elsewhere/model.onnx");
  std::vector<float> value(1);
  Status missing = TensorLoader(plan, "").load(plan.tensors(0), 3, value.data());
  CHECK(missing.exitCode() == 1);
  CHECK_THAT(missing.message(), Contains("tensor 'w'") && Contains("/elsewhere/loader-test"));
  CHECK(TensorLoader(plan, "./model.onnx").load(plan.tensors(0), 3, value.data()));
}

TEST_CASE("external data outside of the model's folder are refused") {
  ModelFile model(4);
  plan::Plan plan = planFor(model, {4});
  for (const char *path : {"/etc/hostname", "../elsewhere.bin", "a/../../elsewhere.bin"}) {
    plan.mutable_tensors(0)->mutable_source()->mutable_file()->set_path(path);
    for (const char *selected : {"", "./model.onnx"}) {
      std::vector<float> value(1);
      Status status = TensorLoader(plan, selected).load(plan.tensors(0), 3, value.data());
      CHECK(status.exitCode() == 1);
      CHECK_THAT(status.message(), Contains(path) && Contains("outside"));
    }
  }
}

TEST_CASE("a file that ends before the end of the tensor is reported with both sizes") {
  ModelFile model(3);
  plan::Plan plan = planFor(model, {4});
  std::vector<float> value(1);
  Status status = TensorLoader(plan, "").load(plan.tensors(0), 0, value.data());
  CHECK(status.exitCode() == 1);
  CHECK_THAT(status.message(), Contains("has 22 bytes and is too short: expected at least 26"));
}

TEST_CASE("a model file that is missing or has changed is reported") {
  ModelFile model(4);
  plan::Plan plan = planFor(model, {4});
  plan.mutable_source()->set_bytes(26);
  plan.mutable_source()->set_sha256(*sha256OfFile(model.path()));
  CHECK(TensorLoader(plan, "").checkModel(true));
  SECTION("another size") {
    plan.mutable_source()->set_bytes(27);
    CHECK_THAT(TensorLoader(plan, "").checkModel(false).message(),
               Contains("has changed since the plan was made: 26 bytes, were 27"));
  }
  SECTION("another content") {
    plan.mutable_source()->set_sha256(sha256("other"));
    CHECK(TensorLoader(plan, "").checkModel(false));
    Status status = TensorLoader(plan, "").checkModel(true);
    CHECK(status.exitCode() == 1);
    CHECK_THAT(status.message(), Contains("its content differs"));
  }
  SECTION("missing") {
    CHECK_THAT(TensorLoader(plan, "nowhere.onnx").checkModel(true).message(),
               Contains("cannot read model file 'nowhere.onnx'") && Contains("--model"));
  }
  SECTION("missing but not needed") {
    plan.mutable_tensors(0)->mutable_source()->set_fill(1);
    CHECK(TensorLoader(plan, "nowhere.onnx").checkModel(true));
  }
}

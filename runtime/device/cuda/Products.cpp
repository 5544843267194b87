// Products by cuBLASLt. See Parts.h.
//
// cuBLASLt has column-major matrices with one batch dim. A product whose result is row-major is
// computed as the transposed product of the transposed operands. Batch dims that cannot be merged
// into one become several calls; so do long odd extents of 16-bit products, see wholeChunks().
#include "runtime/base/MatmulDims.h"
#include "runtime/device/cuda/Parts.h"
#include "runtime/device/cuda/ProductAlgorithm.h"

#include <algorithm>
#include <optional>

namespace cleave::device {
namespace {

// A matrix in memory: sizes, and strides in elements.
struct Matrix {
  const char *data;
  int64_t rows, columns, rowStride, columnStride, batchStride;
  DType dtype;

  Matrix transposed() const {
    return {data, columns, rows, columnStride, rowStride, batchStride, dtype};
  }
};

// One call: out = a b, per batch index; out += a b if it accumulates. `bias` is null or has an
// element of the type of `out` for each column of `out`, or for each row after byColumns(), which
// is added to the whole column or row.
struct Product {
  Matrix a, b, out;
  int64_t batch;
  bool accumulates;
  const char *bias;
};

std::string stridesText(const Matrix &m) {
  return concat(m.rows, 'x', m.columns, " with strides ", m.rowStride, " and ", m.columnStride);
}

// How cuBLASLt sees a matrix: as it lies by columns, or transposed.
struct Stored {
  uint64_t rows, columns;
  int64_t ld;
  int32_t operation;
};

// Nothing if neither rows nor columns are contiguous. Strides of dims of size 1 have no meaning.
std::optional<Stored> storedAs(const Matrix &m) {
  bool byColumns = m.rows == 1 || m.rowStride == 1, byRows = m.columns == 1 || m.columnStride == 1;
  int64_t columnLd = m.columns == 1 ? m.rows : m.columnStride;
  int64_t rowLd = m.rows == 1 ? m.columns : m.rowStride;
  if (byColumns && columnLd >= m.rows)
    return Stored{uint64_t(m.rows), uint64_t(m.columns), columnLd, blas::kOpN};
  if (byRows && rowLd >= m.columns)
    return Stored{uint64_t(m.columns), uint64_t(m.rows), rowLd, blas::kOpT};
  return std::nullopt;
}

std::optional<int> blasType(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return blas::kF32;
  case DType::F64:
    return blas::kF64;
  case DType::F16:
    return blas::kF16;
  case DType::BF16:
    return blas::kBF16;
  default:
    return std::nullopt;
  }
}

// The largest power of two, at most 256, that divides the addresses of all the batch's matrices.
uint32_t alignmentOf(const Matrix &m) {
  uint64_t bits = uint64_t(reinterpret_cast<uintptr_t>(m.data)) |
                  uint64_t(m.batchStride * byteSize(m.dtype)) | 256;
  return uint32_t(bits & (~bits + 1));
}

// Owns the library's description of a product, and runs it.
class ProductAction : public Action {
public:
  ProductAction(const CudaContext &context, const blas::BlasTable &table, blas::Handle handle,
                const Product &product, const plan::Matmul &matmul, Workspace workspace)
      : context_(context), table_(table), handle_(handle), stream_(context.stream()),
        product_(product), workspace_(workspace), isDouble_(product.a.dtype == DType::F64),
        compute_(isDouble_       ? blas::kCompute64F
                 : matmul.tf32() ? blas::kComputeTF32
                                 : blas::kCompute32F),
        betaDouble_(product.accumulates ? 1 : 0), betaFloat_(product.accumulates ? 1 : 0) {}
  ~ProductAction() override {
    for (blas::Layout layout : {a_, b_, out_})
      if (layout)
        table_.matrixLayoutDestroy(layout);
    if (desc_)
      table_.matmulDescDestroy(desc_);
  }

  Status prepare() {
    auto a = storedAs(product_.a), b = storedAs(product_.b), out = storedAs(product_.out);
    if (!a || !b || !out)
      return Status::userError("cuBLASLt needs contiguous rows or columns; found ",
                               stridesText(product_.a), " by ", stridesText(product_.b),
                               ", result ", stridesText(product_.out));
    CLEAVE_TRY(
        check(table_.matmulDescCreate(&desc_, compute_, isDouble_ ? blas::kF64 : blas::kF32)));
    CLEAVE_TRY(check(table_.matmulDescSetAttribute(desc_, blas::kDescTransA, &a->operation,
                                                   sizeof a->operation)));
    CLEAVE_TRY(check(table_.matmulDescSetAttribute(desc_, blas::kDescTransB, &b->operation,
                                                   sizeof b->operation)));
    CLEAVE_TRY(setBias());
    CLEAVE_TRY(createLayout(a_, product_.a, *a));
    CLEAVE_TRY(createLayout(b_, product_.b, *b));
    CLEAVE_TRY(createLayout(out_, product_.out, *out));
    return chooseAlgorithm();
  }

  Status run() override {
    const void *alpha = isDouble_ ? static_cast<const void *>(&alphaDouble_) : &alphaFloat_;
    const void *beta = isDouble_ ? static_cast<const void *>(&betaDouble_) : &betaFloat_;
    void *out = const_cast<char *>(product_.out.data);
    int error =
        table_.matmul(handle_, desc_, alpha, product_.a.data, a_, product_.b.data, b_, beta, out,
                      out_, out, out_, &algorithm_, workspace_.address, workspace_.bytes, stream_);
    return error == blas::kSuccess
               ? Status::ok()
               : Status::defect("cuBLASLt failed with status ", error,
                                "; an earlier instruction may be the cause; set "
                                "CLEAVE_CHECK_KERNELS=wait to find it");
  }

private:
  static Status check(int error) {
    return error == blas::kSuccess
               ? Status::ok()
               : Status::defect("cuBLASLt refuses a description: status ", error);
  }

  // The library adds the bias to the columns of a result that lies by columns.
  Status setBias() {
    if (!product_.bias)
      return Status::ok();
    const int32_t epilogue = blas::kEpilogueBias;
    CLEAVE_TRY(check(
        table_.matmulDescSetAttribute(desc_, blas::kDescEpilogue, &epilogue, sizeof epilogue)));
    return check(table_.matmulDescSetAttribute(desc_, blas::kDescBiasPointer, &product_.bias,
                                               sizeof product_.bias));
  }

  Status createLayout(blas::Layout &layout, const Matrix &matrix, const Stored &stored) {
    CLEAVE_TRY(check(table_.matrixLayoutCreate(&layout, *blasType(matrix.dtype), stored.rows,
                                               stored.columns, stored.ld)));
    int32_t count = int32_t(product_.batch);
    CLEAVE_TRY(check(
        table_.matrixLayoutSetAttribute(layout, blas::kLayoutBatchCount, &count, sizeof count)));
    return check(table_.matrixLayoutSetAttribute(layout, blas::kLayoutBatchStride,
                                                 &matrix.batchStride, sizeof matrix.batchStride));
  }

  Status chooseAlgorithm() {
    blas::Preference preference = nullptr;
    CLEAVE_TRY(check(table_.matmulPreferenceCreate(&preference)));
    Status status = setPreference(preference);
    std::vector<blas::HeuristicResult> proposed(kProposedAlgorithms);
    int found = 0, error = 0;
    if (status)
      error = table_.matmulAlgoGetHeuristic(handle_, desc_, a_, b_, out_, out_, preference,
                                            kProposedAlgorithms, proposed.data(), &found);
    table_.matmulPreferenceDestroy(preference);
    CLEAVE_TRY(status);
    const int state = error || found == 0 ? error : proposed[0].state;
    proposed.resize(error ? 0 : size_t(found));
    std::erase_if(proposed, [&](const blas::HeuristicResult &result) {
      return result.state != blas::kSuccess || result.workspaceBytes > workspace_.bytes;
    });
    if (proposed.empty())
      return Status::userError("cuBLASLt has no algorithm for ", stridesText(product_.a), " by ",
                               stridesText(product_.b), " in ", name(product_.a.dtype), " with ",
                               workspace_.bytes, " bytes of workspace (status ", state, ")");
    algorithm_ = proposed[device::chooseAlgorithm(table_, proposed)].algorithm;
    return Status::ok();
  }

  Status setPreference(blas::Preference preference) const {
    auto set = [&](int attribute, auto value) {
      return check(
          table_.matmulPreferenceSetAttribute(preference, attribute, &value, sizeof value));
    };
    CLEAVE_TRY(set(blas::kPreferenceWorkspace, uint64_t(workspace_.bytes)));
    CLEAVE_TRY(set(blas::kPreferenceAlignmentA, alignmentOf(product_.a)));
    CLEAVE_TRY(set(blas::kPreferenceAlignmentB, alignmentOf(product_.b)));
    CLEAVE_TRY(set(blas::kPreferenceAlignmentC, alignmentOf(product_.out)));
    return set(blas::kPreferenceAlignmentD, alignmentOf(product_.out));
  }

  const CudaContext &context_;
  const blas::BlasTable &table_;
  blas::Handle handle_;
  driver::Stream stream_;
  Product product_;
  Workspace workspace_;
  bool isDouble_;
  int compute_; // the type in which factors are multiplied and added up
  double alphaDouble_ = 1, betaDouble_;
  float alphaFloat_ = 1, betaFloat_;
  blas::Desc desc_ = nullptr;
  blas::Layout a_ = nullptr, b_ = nullptr, out_ = nullptr;
  blas::Algorithm algorithm_ = {};
};

// Runs one action after the other.
class SequenceAction : public Action {
public:
  explicit SequenceAction(std::vector<std::unique_ptr<Action>> actions)
      : actions_(std::move(actions)) {}
  Status run() override {
    for (const std::unique_ptr<Action> &action : actions_)
      CLEAVE_TRY(action->run());
    return Status::ok();
  }

private:
  std::vector<std::unique_ptr<Action>> actions_;
};

// The product of each index of the batch dims, the last of which is one strided batch.
std::vector<Product> productsOf(const plan::Matmul &matmul, const MatmulOperands &operands) {
  std::vector<MatmulDim> dims;
  for (int i = 0; i < matmul.batch_size(); ++i)
    dims.push_back({matmul.batch(i), matmul.lhs().strides(i), matmul.rhs().strides(i),
                    matmul.out().strides(i)});
  dims = mergeDims(dims);
  int at = matmul.batch_size();
  MatmulDim rows{matmul.m(), matmul.lhs().strides(at), 0, matmul.out().strides(at)};
  // Batch dims without a stride in rhs become rows.
  for (; !dims.empty() && areMergeable(dims.back(), rows); dims.pop_back())
    rows.size *= dims.back().size;
  MatmulDim inner{1, 0, 0, 0};
  if (!dims.empty()) {
    inner = dims.back();
    dims.pop_back();
  }
  auto start = [](const void *data, DType dtype, int64_t offset) {
    return static_cast<const char *>(data) + offset * byteSize(dtype);
  };
  std::vector<Product> products{
      {{start(operands.lhs, operands.dtype, matmul.lhs().offset()), rows.size, matmul.k(), rows.lhs,
        matmul.lhs().strides(at + 1), inner.lhs, operands.dtype},
       {start(operands.rhs, operands.dtype, matmul.rhs().offset()), matmul.k(), matmul.n(),
        matmul.rhs().strides(at), matmul.rhs().strides(at + 1), inner.rhs, operands.dtype},
       {start(operands.out, operands.outDtype, matmul.out().offset()), rows.size, matmul.n(),
        rows.out, matmul.out().strides(at + 1), inner.out, operands.outDtype},
       inner.size,
       matmul.accumulate(),
       static_cast<const char *>(operands.bias)}};
  for (const MatmulDim &dim : dims) {
    std::vector<Product> more;
    for (const Product &product : products)
      for (int64_t i = 0; i < dim.size; ++i) {
        more.push_back(product);
        more.back().a.data += i * dim.lhs * byteSize(operands.dtype);
        more.back().b.data += i * dim.rhs * byteSize(operands.dtype);
        more.back().out.data += i * dim.out * byteSize(operands.outDtype);
      }
    products = std::move(more);
  }
  return products;
}

// The product with a result that lies by columns. A product with a bias is always transposed.
Product byColumns(const Product &product) {
  auto out = storedAs(product.out);
  if (!product.bias && (!out || out->operation == blas::kOpN))
    return product;
  return {product.b.transposed(), product.a.transposed(), product.out.transposed(),
          product.batch,          product.accumulates,    product.bias};
}

Matrix rowsOf(Matrix m, int64_t begin, int64_t count) {
  m.data += begin * m.rowStride * byteSize(m.dtype);
  m.rows = count;
  return m;
}

Matrix columnsOf(const Matrix &m, int64_t begin, int64_t count) {
  return rowsOf(m.transposed(), begin, count).transposed();
}

// Elements in 16 bytes of a 16-bit type, and the least number that is worth two calls; as in
// cost::rowPitch().
constexpr int64_t kChunk = 8, kLong = 512;

// Whether a dim of this extent and stride lies in runs of consecutive 16-bit elements that begin
// at multiples of 16 bytes, but are no such multiple long. `other` is the stride of the other dim.
bool isOdd(DType dtype, int64_t extent, int64_t stride, int64_t other) {
  return byteSize(dtype) == 2 && stride == 1 && extent >= kLong && extent % kChunk != 0 &&
         other % kChunk == 0;
}

// A product that comes from byColumns(), in parts whose long extents are multiples of 16 bytes, but
// for the last few elements. cuBLASLt chooses kernels by extents, too: on an H200, a product over
// 50257 elements takes seven times as long as one over 50256, although their rows lie 50304
// elements apart.
std::vector<Product> wholeChunks(const Product &p) {
  auto whole = [](int64_t extent) { return extent / kChunk * kChunk; };
  auto both = [](const Product &first, const Product &second) {
    std::vector<Product> parts = wholeChunks(first), more = wholeChunks(second);
    parts.insert(parts.end(), more.begin(), more.end());
    return parts;
  };
  const int64_t m = p.out.rows, n = p.out.columns, k = p.a.columns;
  if (isOdd(p.a.dtype, m, p.a.rowStride, p.a.columnStride) ||
      isOdd(p.out.dtype, m, p.out.rowStride, p.out.columnStride)) {
    auto part = [&](int64_t begin, int64_t count) {
      return Product{rowsOf(p.a, begin, count),
                     p.b,
                     rowsOf(p.out, begin, count),
                     p.batch,
                     p.accumulates,
                     p.bias ? p.bias + begin * byteSize(p.out.dtype) : nullptr};
    };
    return both(part(0, whole(m)), part(whole(m), m % kChunk));
  }
  if (isOdd(p.b.dtype, n, p.b.columnStride, p.b.rowStride) ||
      isOdd(p.out.dtype, n, p.out.columnStride, p.out.rowStride)) {
    auto part = [&](int64_t begin, int64_t count) {
      return Product{p.a,
                     columnsOf(p.b, begin, count),
                     columnsOf(p.out, begin, count),
                     p.batch,
                     p.accumulates,
                     p.bias};
    };
    return both(part(0, whole(n)), part(whole(n), n % kChunk));
  }
  if (isOdd(p.a.dtype, k, p.a.columnStride, p.a.rowStride) ||
      isOdd(p.b.dtype, k, p.b.rowStride, p.b.columnStride)) {
    auto part = [&](int64_t begin, int64_t count, bool accumulates, const char *bias) {
      return Product{columnsOf(p.a, begin, count),
                     rowsOf(p.b, begin, count),
                     p.out,
                     p.batch,
                     accumulates,
                     bias};
    };
    // The few terms come first: a small sum is rounded in between.
    return both(part(whole(k), k % kChunk, p.accumulates, nullptr),
                part(0, whole(k), true, p.bias));
  }
  return {p};
}

} // namespace

BlasProducts::~BlasProducts() {
  if (handle_)
    table_->destroy(handle_);
}

Status BlasProducts::open() {
  if (handle_)
    return Status::ok();
  CLEAVE_TRY_ASSIGN(table_, load_());
  int error = table_->create(&handle_);
  return error == blas::kSuccess ? Status::ok()
                                 : Status::defect("cuBLASLt does not start: status ", error);
}

PreparedAction BlasProducts::prepare(const plan::Matmul &matmul, const MatmulOperands &operands) {
  int64_t elements = matmul.m() * matmul.n();
  for (int64_t size : matmul.batch())
    elements *= size;
  if (elements == 0 || (matmul.k() == 0 && matmul.accumulate() && !operands.bias))
    return PreparedAction(std::make_unique<NoAction>());
  if (matmul.k() == 0)
    return Status::userError("a product over a dim without elements, which cuBLASLt has not");
  if (!blasType(operands.dtype) || !blasType(operands.outDtype))
    return Status::userError("a product of ", name(operands.dtype), " to ", name(operands.outDtype),
                             ", expected f32, f64, bf16 or f16; cuBLASLt has no other");
  CLEAVE_TRY(open());
  std::vector<std::unique_ptr<Action>> actions;
  for (const Product &product : productsOf(matmul, operands))
    for (const Product &part : wholeChunks(byColumns(product))) {
      auto action = std::make_unique<ProductAction>(context_, *table_, handle_, part, matmul,
                                                    operands.workspace);
      CLEAVE_TRY(action->prepare());
      actions.push_back(std::move(action));
    }
  if (actions.size() == 1)
    return PreparedAction(std::move(actions[0]));
  return PreparedAction(std::make_unique<SequenceAction>(std::move(actions)));
}

} // namespace cleave::device

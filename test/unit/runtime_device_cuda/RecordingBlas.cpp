// cuBLASLt's functions. See RecordingDriver.h.
#include "runtime/base/Concat.h"
#include "runtime/base/Float16.h"
#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <cstring>

namespace cleave::test {
namespace {

using namespace device::blas;

Recorder &the() { return *Recorder::current(); }

// What the opaque handles point to.
struct LayoutFacts {
  int type;
  uint64_t rows, columns;
  int64_t ld;
  int32_t batch = 1;
  int64_t batchStride = 0;
};
struct DescFacts {
  int compute;
  int32_t transA = kOpN, transB = kOpN;
  int32_t epilogue = 1;       // CUBLASLT_EPILOGUE_DEFAULT
  const void *bias = nullptr; // one element per row of the result
};
struct PreferenceFacts {
  uint64_t workspace = 0;
};

const LayoutFacts &factsOf(Layout layout) { return *reinterpret_cast<LayoutFacts *>(layout); }

int64_t sizeOf(int type) { return type == kF64 ? 8 : type == kF32 ? 4 : 2; }

// The bytes from the first to the last element of all matrices of a layout.
DeviceAccess accessOf(const void *data, const LayoutFacts &m, bool writes) {
  int64_t elements =
      (m.batch - 1) * m.batchStride + int64_t(m.columns - 1) * m.ld + int64_t(m.rows);
  return {data, uint64_t(elements * sizeOf(m.type)), writes};
}

template <typename Facts, typename Handle> int make(Handle *handle, Facts facts) {
  *handle = reinterpret_cast<Handle>(new Facts(facts));
  return kSuccess;
}

int setLayout(Layout layout, int attribute, const void *value, size_t bytes) {
  auto &facts = *reinterpret_cast<LayoutFacts *>(layout);
  if (attribute == kLayoutBatchCount && bytes == 4)
    std::memcpy(&facts.batch, value, bytes);
  else if (attribute == kLayoutBatchStride && bytes == 8)
    std::memcpy(&facts.batchStride, value, bytes);
  else
    the().fault(concat("sets attribute ", attribute, " of a layout to ", bytes, " bytes"));
  return kSuccess;
}

int setDesc(Desc desc, int attribute, const void *value, size_t bytes) {
  auto &facts = *reinterpret_cast<DescFacts *>(desc);
  auto set = [&](auto &fact) {
    if (bytes == sizeof fact)
      std::memcpy(&fact, value, bytes);
    else
      the().fault(concat("sets attribute ", attribute, " of a product to ", bytes, " bytes"));
  };
  if (attribute == kDescTransA)
    set(facts.transA);
  else if (attribute == kDescTransB)
    set(facts.transB);
  else if (attribute == kDescEpilogue)
    set(facts.epilogue);
  else if (attribute == kDescBiasPointer)
    set(facts.bias);
  else
    the().fault(concat("sets the unknown attribute ", attribute, " of a product"));
  return kSuccess;
}

// Sizes must agree, and a leading dimension must hold a column.
void checkProduct(const DescFacts &desc, const LayoutFacts &a, const LayoutFacts &b,
                  const LayoutFacts &d) {
  uint64_t m = desc.transA ? a.columns : a.rows, k = desc.transA ? a.rows : a.columns;
  uint64_t kOfB = desc.transB ? b.columns : b.rows, n = desc.transB ? b.rows : b.columns;
  if (k != kOfB || m != d.rows || n != d.columns)
    the().fault(concat("a product of ", m, 'x', k, " by ", kOfB, 'x', n, " gives ", d.rows, 'x',
                       d.columns));
  const int expected = a.type == kF64 ? kCompute64F : kCompute32F;
  if (desc.compute != expected && (desc.compute != kComputeTF32 || a.type != kF32))
    the().fault(concat("multiplies type ", a.type, " in compute type ", desc.compute));
  if ((desc.epilogue == kEpilogueBias) != (desc.bias != nullptr))
    the().fault(
        concat("has the epilogue ", desc.epilogue, " and ", desc.bias ? "a" : "no", " bias"));
  for (const LayoutFacts *layout : {&a, &b, &d})
    if (layout->ld < int64_t(layout->rows) || layout->batch != d.batch)
      the().fault("a matrix has overlapping columns, or another batch than the result");
}

// An operand as this process sees it.
struct Operand {
  char *data;
  LayoutFacts layout;
  float at(uint64_t row, uint64_t column) const {
    const char *element = data + place(row, column);
    float wide;
    uint16_t half;
    std::memcpy(&wide, element, layout.type == kF32 ? 4 : 0);
    std::memcpy(&half, element, 2);
    return layout.type == kF32 ? wide : layout.type == kBF16 ? fromBF16(half) : fromF16(half);
  }
  void set(uint64_t row, uint64_t column, float value) const {
    const uint16_t half = layout.type == kBF16 ? toBF16(value) : toF16(value);
    std::memcpy(data + place(row, column),
                layout.type == kF32 ? static_cast<const void *>(&value) : &half,
                size_t(sizeOf(layout.type)));
  }

private:
  size_t place(uint64_t row, uint64_t column) const {
    return size_t((int64_t(column) * layout.ld + int64_t(row)) * sizeOf(layout.type));
  }
};

// d = a b + beta d + bias, of one batch index. `bias` is a column, or has no data.
void multiply(const DescFacts &desc, const Operand &a, const Operand &b, float beta,
              const Operand &bias, const Operand &d) {
  const uint64_t depth = desc.transA ? a.layout.rows : a.layout.columns;
  for (uint64_t row = 0; row < d.layout.rows; ++row)
    for (uint64_t column = 0; column < d.layout.columns; ++column) {
      float sum = beta == 0 ? 0 : beta * d.at(row, column);
      for (uint64_t k = 0; k < depth; ++k)
        sum += (desc.transA ? a.at(k, row) : a.at(row, k)) *
               (desc.transB ? b.at(column, k) : b.at(k, column));
      d.set(row, column, bias.data ? sum + bias.at(row, 0) : sum);
    }
}

int heuristic(Handle, Desc desc, Layout a, Layout b, Layout c, Layout d, Preference preference, int,
              HeuristicResult *results, int *found) {
  checkProduct(*reinterpret_cast<DescFacts *>(desc), factsOf(a), factsOf(b), factsOf(d));
  if (c != d)
    the().fault("a product adds to another matrix than its result");
  *results = {};
  // All of the workspace, so that its use is checked.
  results->workspaceBytes = reinterpret_cast<PreferenceFacts *>(preference)->workspace;
  *found = 1;
  return kSuccess;
}

int matmul(Handle, Desc desc, const void *, const void *a, Layout aLayout, const void *b,
           Layout bLayout, const void *beta, const void *, Layout, void *d, Layout dLayout,
           const Algorithm *, void *workspace, size_t bytes, device::driver::Stream stream) {
  const auto &facts = *reinterpret_cast<DescFacts *>(desc);
  the().count(facts.compute == kComputeTF32 ? "matmul in tf32" : "matmul");
  checkProduct(facts, factsOf(aLayout), factsOf(bLayout), factsOf(dLayout));
  if (!beta)
    the().fault("a product without a scale of its result");
  the().checkWorkspace(workspace);
  auto operand = [](const void *data, Layout layout) {
    return Operand{the().viewOf(reinterpret_cast<uint64_t>(data)), factsOf(layout)};
  };
  const LayoutFacts column{factsOf(dLayout).type, factsOf(dLayout).rows, 1, 0};
  const Operand bias{facts.bias ? the().viewOf(reinterpret_cast<uint64_t>(facts.bias)) : nullptr,
                     column};
  std::function<void()> run;
  if (the().multiplies && beta)
    run = [facts, beta = *static_cast<const float *>(beta), a = operand(a, aLayout),
           b = operand(b, bLayout), bias,
           d = operand(d, dLayout)] { multiply(facts, a, b, beta, bias, d); };
  std::vector<DeviceAccess> accesses{accessOf(a, factsOf(aLayout), false),
                                     accessOf(b, factsOf(bLayout), false),
                                     {workspace, bytes, true},
                                     accessOf(d, factsOf(dLayout), true)};
  if (facts.bias)
    accesses.push_back(accessOf(facts.bias, bias.layout, false));
  the().enqueue(stream, {"a product", std::move(accesses), std::move(run)});
  return kSuccess;
}

} // namespace

const BlasTable &recordingBlas() {
  static const BlasTable table{
      .create = [](Handle *h) { return *h = static_cast<Handle>(the().create("cuBLASLt")), 0; },
      .destroy = [](Handle h) { return the().destroy("cuBLASLt", h), 0; },
      .getVersion = [] { return size_t(130000); },
      .matrixLayoutCreate =
          [](Layout *layout, int type, uint64_t rows, uint64_t columns, int64_t ld) {
            return make(layout, LayoutFacts{type, rows, columns, ld});
          },
      .matrixLayoutSetAttribute = setLayout,
      .matrixLayoutDestroy = [](Layout l) { return delete reinterpret_cast<LayoutFacts *>(l), 0; },
      .matmulDescCreate = [](Desc *desc, int compute,
                             int) { return make(desc, DescFacts{compute}); },
      .matmulDescSetAttribute = setDesc,
      .matmulDescDestroy = [](Desc d) { return delete reinterpret_cast<DescFacts *>(d), 0; },
      .matmulPreferenceCreate = [](Preference *p) { return make(p, PreferenceFacts{}); },
      .matmulPreferenceSetAttribute =
          [](Preference p, int attribute, const void *value, size_t bytes) {
            if (attribute == kPreferenceWorkspace)
              std::memcpy(&reinterpret_cast<PreferenceFacts *>(p)->workspace, value, bytes);
            return 0;
          },
      .matmulPreferenceDestroy =
          [](Preference p) { return delete reinterpret_cast<PreferenceFacts *>(p), 0; },
      .matmulAlgoGetHeuristic = heuristic,
      .matmulAlgoConfigGetAttribute = [](const Algorithm *, int, void *, size_t,
                                         size_t *) { return kNotSupported; },
      .matmul = matmul};
  return table;
}

} // namespace cleave::test

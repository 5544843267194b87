#include "passes/schedule/Bucket.h"

#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"

#include <set>

using namespace mlir;

namespace cleave::schedule {

namespace {

class Bucketing {
public:
  explicit Bucketing(func::FuncOp step) : body_(step.getBody().front()) {}

  void run() {
    llvm::MapVector<int64_t, SmallVector<mesh::AllReduceOp>> buckets; // members in program order
    for (mesh::AllReduceOp reduce : body_.getOps<mesh::AllReduceOp>())
      if (auto number = reduce->getAttrOfType<IntegerAttr>(mesh::kBucket))
        buckets[number.getInt()].push_back(reduce);
    for (auto &[number, members] : buckets)
      join(members);
    if (!buckets.empty())
      delayReaders();
  }

private:
  // Delays readers of early members until the bucket is complete, but no longer: of the ops whose
  // operands are computed, the first one in the old order comes next.
  void delayReaders() {
    std::vector<Operation *> ops, order;
    llvm::DenseMap<Operation *, int> number;
    for (Operation &op : body_.without_terminator()) {
      number[&op] = static_cast<int>(ops.size());
      ops.push_back(&op);
    }
    std::vector<int> waitsFor(ops.size(), 0); // operands that are still to be computed
    std::set<int> ready;
    for (auto [i, op] : llvm::enumerate(ops)) {
      waitsFor[i] = static_cast<int>(llvm::count_if(
          op->getOperands(), [](Value operand) { return operand.getDefiningOp() != nullptr; }));
      if (waitsFor[i] == 0)
        ready.insert(static_cast<int>(i));
    }
    while (!ready.empty()) {
      Operation *op = ops[*ready.begin()];
      ready.erase(ready.begin());
      order.push_back(op);
      for (OpOperand &use : op->getUses()) // an op that reads twice waited twice
        if (auto user = number.find(use.getOwner());
            user != number.end() && --waitsFor[user->second] == 0)
          ready.insert(user->second);
    }
    for (Operation *op : order)
      op->moveBefore(body_.getTerminator());
  }

  // Replaces the members by one op at the place of the last one.
  static void join(ArrayRef<mesh::AllReduceOp> members) {
    mesh::AllReduceOp last = members.back();
    SmallVector<Value> operands, results;
    SmallVector<Location> locations;
    for (mesh::AllReduceOp member : members) {
      llvm::append_range(operands, member.getOperands());
      llvm::append_range(results, member.getResults());
      locations.push_back(member.getLoc());
    }
    OpBuilder b(last);
    auto joined =
        mesh::AllReduceOp::create(b, b.getFusedLoc(locations), ValueRange(operands).getTypes(),
                                  last.getKind(), operands, last.getAxes());
    joined->setDiscardableAttrs(last->getDiscardableAttrDictionary());
    joined->removeAttr(mesh::kBucket);
    for (auto [result, value] : llvm::zip(results, joined.getResults()))
      result.replaceAllUsesWith(value);
    for (mesh::AllReduceOp member : members)
      member.erase();
  }

  Block &body_;
};

} // namespace

void bucketReductions(func::FuncOp step) { Bucketing(step).run(); }

#define GEN_PASS_DECL_BUCKETPASS
#define GEN_PASS_DEF_BUCKETPASS
#include "passes/schedule/Passes.h.inc"

namespace {

struct BucketPass : impl::BucketPassBase<BucketPass> {
  using BucketPassBase::BucketPassBase;

  void runOnOperation() override {
    if (func::FuncOp step = graph::stepOf(getOperation()))
      bucketReductions(step);
  }
};

} // namespace

void registerBucketPass() { PassRegistration<BucketPass>(); }

} // namespace cleave::schedule

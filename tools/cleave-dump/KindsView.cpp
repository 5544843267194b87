// --kinds: predicted seconds, FLOPs and bytes of one step of rank 0, by kind of instruction.
#include "runtime/artifact/Verify.h"
#include "runtime/artifact/Work.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <map>

namespace cleave::dump {

namespace {

// The instructions of one kind, or all instructions, over one step.
struct Work {
  int64_t count = 0;
  double seconds = 0, flops = 0, bytes = 0;
  int64_t blocks = 0; // of the last launch

  void add(const Work &other) {
    count += other.count;
    seconds += other.seconds;
    flops += other.flops;
    bytes += other.bytes;
    blocks = other.blocks;
  }
};

class Kinds {
public:
  Kinds(const plan::Plan &plan, const plan::Program &program) : plan_(plan), program_(program) {
    for (int s = 0; s < program.segments_size(); ++s)
      for (const plan::Instruction &instruction : program.segments(s).instructions())
        add(instruction, static_cast<int64_t>(runsOf(program, s)));
  }

  std::string text() const {
    std::vector<std::pair<std::string, Work>> sorted(kinds_.begin(), kinds_.end());
    std::ranges::stable_sort(
        sorted, [](const auto &a, const auto &b) { return a.second.seconds > b.second.seconds; });
    sorted.emplace_back("all", all_);
    const bool isForGpus = plan_.device() == "cuda";
    std::vector<std::string> heads = {"instructions", ">per step", ">predicted", ">share",
                                      ">FLOPs",       ">bytes",    ">FLOP/s",    ">B/s"};
    if (isForGpus)
      heads.push_back(">blocks");
    Table table(heads);
    for (const auto &[kind, work] : sorted) {
      const double perSecond = work.seconds > 0 ? 1 / work.seconds : 0;
      std::vector<std::string> row = {
          kind,
          std::to_string(work.count),
          secondsText(work.seconds),
          percentText(all_.seconds > 0 ? work.seconds / all_.seconds : 0),
          work.flops > 0 ? countText(work.flops, "") : "",
          work.bytes > 0 ? bytesText(work.bytes) : "",
          work.flops * perSecond > 0 ? countText(work.flops * perSecond, "") : "",
          work.bytes * perSecond > 0 ? countText(work.bytes * perSecond, "") : ""};
      if (isForGpus)
        row.push_back(work.blocks > 0 ? std::to_string(work.blocks) : "");
      table.add(row);
    }
    return tableText(table);
  }

  // The FLOPs of products, the share of them with factors of 16 bits or tf32, and the seconds of
  // the products of all ranks at the peak rate of one device; empty without products.
  std::string productsText() const {
    if (products_ <= 0)
      return "";
    std::string text =
        concat(countText(products_, "FLOP"), " in products, ",
               percentText(shortProducts_ / products_), " with factors of 16 bits or tf32");
    if (plan_.predicted().peak_seconds() > 0)
      text += concat("; all ranks' at the peak rate of one device: ",
                     secondsText(plan_.predicted().peak_seconds()));
    return paragraph(text, 0);
  }

private:
  void add(const plan::Instruction &instruction, int64_t runs) {
    const double times = static_cast<double>(runs),
                 flops = times * artifact::flopsOf(program_, instruction);
    Work work{runs, times * instruction.seconds(), flops,
              times * artifact::bytesOf(plan_, program_, instruction)};
    if (instruction.has_launch())
      work.blocks =
          program_.kernels(static_cast<int>(instruction.launch().kernel())).grid().blocks();
    kinds_[artifact::workKind(program_, instruction)].add(work);
    work.blocks = 0;
    all_.add(work);
    if (!instruction.has_matmul() && !instruction.has_convolution() &&
        !instruction.has_attention() && !instruction.has_grouped_matmul())
      return;
    products_ += flops;
    shortProducts_ += artifact::hasShortFactors(program_, instruction) ? flops : 0;
  }

  const plan::Plan &plan_;
  const plan::Program &program_;
  std::map<std::string, Work> kinds_;
  Work all_;
  double products_ = 0, shortProducts_ = 0; // FLOPs
};

} // namespace

Result<std::string> kindsView(const plan::Plan &plan) {
  CLEAVE_TRY(artifact::verifyPlan(plan));
  const Kinds kinds(plan, programOf(plan, 0));
  return titled("Instructions of one step of rank 0, by kind") + "\n" + kinds.text() +
         kinds.productsText();
}

} // namespace cleave::dump

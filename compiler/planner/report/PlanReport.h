// PlanReport: the planner's decisions for one step, with their certificate and reasons, as plain
// data.
#pragma once

#include "compiler/planner/choices/Budget.h"
#include "compiler/planner/choices/Meshes.h"
#include "compiler/planner/network/PricedDecisions.h"

#include <string>
#include <vector>

namespace cleave::planner {

// Why one decision was made: its cost, and the next best choice.
struct Reason {
  std::string name;   // of the op or argument
  std::string kind;   // of the op (`graph.dot_general`), or the argument's role (`parameter`)
  std::string choice; // in words
  double seconds = 0; // per step, of the choice alone
  // The next best choice, all other decisions fixed and memory aside; empty if there is none.
  std::string alternative;
  double alternativeSeconds = 0; // by how much it would lengthen the step
  int64_t alternativeBytes = 0;  // that a rank would hold in addition at the peak
  std::string whyNone;           // if there is no alternative
  int op = -1;                   // the op, an index of StepModel::ops; -1: an argument
};

// The comparison with the next best choice: what it would add to a step, `+12.3 us: lives as [dp,
// _]`, or why there is none. A faster one says what memory it needs.
std::string comparisonText(const Reason &reason);

// A mesh that the planner tried.
struct TriedMesh {
  Mesh mesh;
  bool isPlanned = false; // there is a plan on it; otherwise `seconds` bound all plans on it
  double seconds = 0;     // 0: not known
  int64_t bytes = 0; // of that plan's program on one rank, or by the cost network; 0: not known
  std::string note;  // `chosen`, `does not fit`, …; may be empty
};
// `dp=2,tp=2: 12.3 ms`, or `…: at least 12.3 ms`, and the note.
std::string text(const TriedMesh &tried);

// One decision as a sentence with its reason and numbers (Remarks.h). Not part of the plan file.
struct PlanRemark {
  // `mesh`, `axis`, `bound`, `memory`, `pin`, `op`, `collective`, `kept`, `recompute`, or an
  // argument's role.
  std::string kind;
  std::string text = {};
  int op = -1;       // the op that it is about, an index of StepModel::ops; -1: none
  int argument = -1; // the argument that it is about; -1: none
};

// An op or argument that occupies memory at the peak.
struct Holder {
  std::string name;  // of the op or argument
  int64_t bytes = 0; // of one rank
};

// An op that recomputes one of the forward pass in the backward pass (RematPolicy.h).
struct RecomputedOp {
  std::string name;   // of the recomputed op
  int op = 0;         // its index in StepModel::ops
  double seconds = 0; // per step, with its layout changes
  int64_t bytes = 0;  // of its results on one rank, which are not kept
  double share = 0;   // of the step's clock, during which they are not
};

// Results of an op of the forward part that are kept for the backward part.
struct KeptValue {
  std::string name; // of the op
  int op = 0;       // its index in StepModel::ops
  Space space = Space::Device;
  int64_t bytes = 0;             // of the results that the backward part reads, on one rank
  double share = 0;              // of the step's clock, during which they are kept unread
  double recomputeSeconds = 0;   // per step, to recompute the op and its ancestors:
  int recomputedBefore = 0;      // the number of ancestors to recompute as well
  bool mayRecompute = true;      // isRecomputable()
  bool isPartRecomputed = false; // the op is recomputed for another result
};

// The decisions and their certificate. Seconds are per step, bytes per rank, both by the planner's
// model.
struct PlanReport : PricedDecisions {
  // No plan on any mesh tried is faster, by the same model: of all plans that the pins permit and
  // that consist of the choices of Choices.h and the layout changes of compiler/cost/Reshard.h.
  double boundSeconds = 0;
  double gap = 0; // (seconds - boundSeconds) / seconds
  // Choices of all ops and arguments that the planner did not look at one by one: the bound counts
  // each group of them as if it had the least seconds and bytes of any (Rest.h). 0: none.
  size_t unlistedChoices = 0;
  int64_t peakBytes = 0;                // of the program (PlannerOptions::memoryOf)
  int64_t arenaBytes = 0;               // the memory that holds its buffers, at least the peak
  int64_t hostBytes = 0, fileBytes = 0; // of its values in other spaces
  int64_t modelledBytes = 0;            // the peak by the cost network, see Fit.h
  Budget budget = Budget::unlimited();
  double secondsPerByte = 0;  // saved by one more byte of budget, to first order
  bool isBinding = false;     // the fastest plan without a budget needs more
  std::vector<Holder> atPeak; // live at the peak, largest first
  std::string pin;            // Pins::name(); empty without pins
  std::vector<TriedMesh> meshesTried;
  std::vector<Reason> reasons;          // parameters first, then kinds of ops by cost
  std::vector<PlanRemark> remarks;      // every decision, see Remarks.h
  std::vector<RecomputedOp> recomputed; // in program order
  std::vector<KeptValue> kept;          // in program order
  double solveSeconds = 0;              // wall time; not compared, hashed or written
};

// All fields except solveSeconds, arenaBytes, hostBytes, fileBytes, modelledBytes, kept and
// holdings; layouts as lists of names.
std::string toJson(const PlanReport &plan, const StepModel &model);

} // namespace cleave::planner

// The base of all passes of cleave-opt.

#ifndef CLEAVE_PASS_BASE
#define CLEAVE_PASS_BASE

include "mlir/Pass/PassBase.td"

// A pass that `cleave-opt --FLAG` runs. Its flag is cleave-FOLDER-FILE, after the file with its
// algorithm, or cleave-FOLDER where folder and file have one name; test/lit/FOLDER has a test of
// that name. tools/dev/pass-reference.py writes docs/generated/passes.md from these records.
class Cleave_Pass<string flag, string op> : Pass<flag, op> {
  string before = ?; // precondition: what the pass relies on
  string after = ?;  // postcondition: what holds when it succeeds
}

#endif

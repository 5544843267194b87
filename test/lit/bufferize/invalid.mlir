// What cannot become a program.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-bufferize

// expected-error @below {{has no function @step to bufferize}}
module {
}

// Zigzag: an even share of a causal attention for every rank, whatever layout its operands have.
//
// With the queries in n blocks, in order, rank r sees about (2 r + 1) / (2 n) of the keys, and the
// last rank computes (2 n - 1) / n of the mean. In zigzag, rank r and the mirrored rank n - 1 - r
// exchange the second halves of their blocks before the attention, and those halves of the results
// after it. Rank r then computes the halves 2 r and 2 n - 1 - 2 r, numbered in order, which see as
// many keys together on every rank. Before and after the op, blocks are in order, so that no other
// op depends on the exchange.
#pragma once

#include "compiler/planner/choices/Choices.h"

namespace cleave::planner {

// The factor whose halves are exchanged: the queries of a causal attention with as many keys, split
// into equal blocks of an even number of queries, while every rank has all keys. Nothing if there
// is none.
std::optional<int> zigzagFactor(const Op &op, const FactorAxes &factors, const Mesh &mesh);

// The dim of an operand or result that consists of the factor, or -1. `dims`: its entry in the
// rule.
int dimOfFactor(const FactorRule::Dims &dims, int factor);

} // namespace cleave::planner

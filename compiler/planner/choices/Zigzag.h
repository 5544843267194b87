// Zigzag: an even share of a causal attention for every rank, whatever layout its operands have.
//
// Of n ranks that each hold a block of the queries, in order, rank r sees about (2 r + 1) / (2 n)
// of the keys, and the last rank computes (2 n - 1) / n of the mean. In zigzag, a rank exchanges
// the second half of its block with that of the mirrored rank n - 1 - r before the attention, and
// the halves of the results after it. It then has the halves 2 r and 2 n - 1 - 2 r of the 2 n
// halves in order, which see as many keys together on every rank. Layouts before and after the op
// are those of blocks in order, so that no other op depends on it.
#pragma once

#include "compiler/planner/choices/Choices.h"

namespace cleave::planner {

// The factor whose halves are exchanged: the queries of a causal attention with as many keys, split
// into equal blocks of an even number of queries, while every rank has all keys. Nothing if there
// is none.
std::optional<int> zigzagFactor(const Op &op, const FactorAxes &factors, const Mesh &mesh);

// The dim of a tensor that the factor is, or -1. `dims` are those of one operand or result of the
// rule.
int dimOfFactor(const FactorRule::Dims &dims, int factor);

} // namespace cleave::planner

// Compares gradients with central differences in double precision: the derivative of
// sum(weights * f(x)), for random weights, by every element of every float argument.
#pragma once

#include <string>

namespace cleave::test {

// `text`: a function of float64 arguments, drawn from [low, high). Its first result is
// differentiated.
void checkGradients(const std::string &text, double low, double high, unsigned seed);

} // namespace cleave::test

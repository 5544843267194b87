// See Recurrent.h. The inputs' products are made for all steps at once; what is left for each step
// is the product with the state.
#include "compiler/frontend/emit/Recurrent.h"

#include "compiler/frontend/emit/Activation.h"

namespace cleave::emit {

using namespace graph;

namespace {

const Activation kSigmoid = [](const Emitter &e, Value x) { return sigmoid(e, x); };
const Activation kTanh = [](const Emitter &e, Value x) { return e.unary<TanhOp>(x); };

// x[…, k] · w[n, k]
Value timesTransposed(const Emitter &e, Value x, Value w) {
  int64_t last = rankOf(x) - 1;
  return DotGeneralOp::create(e.b, e.loc, x, w, Ints{}, Ints{}, Ints{last}, Ints{1});
}

void expect(Value value, const Sizes &shape, const char *what) {
  if (value && shapeOf(value) != shape)
    fail("has ", what, " ", showShape(shapeOf(value)), ", expected ", showShape(shape));
}

// Common parts of all cells: projections, loop over time, state.
class Unroller {
public:
  Unroller(const Emitter &e, const RecurrentLayer &layer, int64_t gates)
      : e_(e), layer_(layer), gates_(gates) {
    check();
    projected_ = timesTransposed(e_, layer.input, layer.weight);
    if (layer.inputBias)
      projected_ = e_.add(projected_, e_.broadcast(layer.inputBias, shapeOf(projected_)));
    state_ = {e_.dim(layer.input, 1), hidden_};
    output_ = {state_[0], e_.dim(layer.recurrence, 1)};
    if (layer.lengths)
      lengths_ = e_.cast(layer.lengths, e_.b.getI64Type());
  }

  Value initial(Value given, const Sizes &shape) const {
    return given ? given : e_.splat(shape, elementOf(layer_.input), 0);
  }
  Value initialHidden() const { return initial(layer_.hidden, output_); }
  Value initialCell() const { return initial(layer_.cell, state_); }
  // The output of a step: the hidden state, projected if the layer has a projection.
  Value projectedState(Value h) const {
    return layer_.projection ? timesTransposed(e_, h, layer_.projection) : h;
  }

  // The rows of gate `number`: in the input products of a step, the recurrence, its bias.
  Value inputGate(int64_t step, int64_t number) const {
    Value row = e_.dropDim(e_.slice(projected_, 0, step, 1), 0);
    return e_.slice(row, 1, hidden_ * number, hidden_);
  }
  Value gateRows(Value weights, int64_t number) const {
    return weights ? e_.slice(weights, 0, hidden_ * number, hidden_) : Value();
  }
  // h R of one gate, with the recurrence's bias.
  Value recurrentGate(Value h, int64_t number) const {
    Value product = timesTransposed(e_, h, gateRows(layer_.recurrence, number));
    Value bias = gateRows(layer_.recurrentBias, number);
    return bias ? e_.add(product, e_.broadcast(bias, shapeOf(product))) : product;
  }
  // h R of all gates: [batch, G H].
  Value recurrentGates(Value h) const {
    Value product = timesTransposed(e_, h, layer_.recurrence);
    return layer_.recurrentBias
               ? e_.add(product, e_.broadcast(layer_.recurrentBias, shapeOf(product)))
               : product;
  }
  Value slicedGate(Value gates, int64_t number) const {
    return e_.slice(gates, 1, hidden_ * number, hidden_);
  }

  Value clipped(Value x) const {
    return layer_.clip ? e_.max(e_.min(x, *layer_.clip), -*layer_.clip) : x;
  }

  // Runs `next` (step, states -> states) over time; the first state is the output.
  RecurrentResult run(Values states,
                      const std::function<Values(int64_t, const Values &)> &next) const {
    Values outputs(steps_);
    for (int64_t i = 0; i < steps_; ++i) {
      int64_t step = layer_.backward ? steps_ - 1 - i : i;
      Values made = next(step, states);
      if (Value alive = isAlive(step)) {
        auto choose = [&](Value yes, Value no) {
          return e_.select(e_.broadcast(alive, shapeOf(yes)), yes, no);
        };
        outputs[step] = choose(made[0], e_.splat(made[0], 0));
        for (size_t s = 0; s < states.size(); ++s)
          states[s] = choose(made[s], states[s]);
      } else {
        outputs[step] = made[0];
        states = made;
      }
    }
    for (Value &output : outputs)
      output = e_.insertDim(output, 0);
    return {e_.concat(outputs, 0), states[0], states.size() > 1 ? states[1] : Value()};
  }

private:
  void check() {
    e_.checkFloat(layer_.input);
    if (rankOf(layer_.input) != 3 || rankOf(layer_.weight) != 2 || rankOf(layer_.recurrence) != 2)
      fail("has inputs ", showShape(shapeOf(layer_.input)), ", weights ",
           showShape(shapeOf(layer_.weight)), " and recurrent weights ",
           showShape(shapeOf(layer_.recurrence)), ", expected 3, 2 and 2 dims");
    steps_ = e_.number(e_.dim(layer_.input, 0), "number of time steps");
    if (steps_ < 1 || steps_ > 4096) // each is some ops
      fail("has ", steps_, " time steps, expected 1 to 4096");
    for (Value value : {layer_.weight, layer_.recurrence, layer_.projection, layer_.inputBias,
                        layer_.recurrentBias, layer_.hidden, layer_.cell})
      if (value)
        e_.checkSameType(layer_.input, value);
    Polynomial width = e_.dim(layer_.recurrence, 1); // size of the state
    if (layer_.projection && rankOf(layer_.projection) != 2)
      fail("has a projection ", showShape(shapeOf(layer_.projection)), ", expected 2 dims");
    Value square = layer_.projection ? layer_.projection : layer_.recurrence;
    hidden_ = e_.number(shapeOf(square).back(), "hidden size");
    Polynomial rows = Polynomial(gates_) * hidden_, batch = e_.dim(layer_.input, 1);
    expect(layer_.projection, {width, hidden_}, "a projection");
    expect(layer_.weight, {rows, e_.dim(layer_.input, 2)}, "weights");
    expect(layer_.recurrence, {rows, width}, "recurrent weights");
    expect(layer_.inputBias, {rows}, "biases");
    expect(layer_.recurrentBias, {rows}, "recurrent biases");
    expect(layer_.hidden, {batch, width}, "a first state");
    expect(layer_.cell, {batch, hidden_}, "a first cell");
    expect(layer_.lengths, {batch}, "sequence lengths");
  }

  // Whether each line of the batch still runs at a step: [batch, 1]; null if all always do.
  Value isAlive(int64_t step) const {
    if (!lengths_)
      return {};
    Value alive = e_.compare(Predicate::GT, lengths_, static_cast<double>(step));
    return e_.insertDim(alive, 1);
  }

  const Emitter &e_;
  const RecurrentLayer &layer_;
  int64_t gates_, steps_ = 0, hidden_ = 0;
  Value projected_, lengths_; // [steps, batch, G H]
  Sizes state_, output_;
};

Activation orDefault(const Activation &given, Activation usual) { return given ? given : usual; }

} // namespace

RecurrentResult lstm(const Emitter &e, const RecurrentLayer &layer, const LstmCell &cell) {
  Unroller u(e, layer, 4);
  Activation gate = orDefault(cell.gate, kSigmoid), candidate = orDefault(cell.candidate, kTanh),
             output = orDefault(cell.output, kTanh);
  auto [i, f, g, o] = cell.order;
  auto peephole = [&](Value x, int number, Value c) {
    Value weight = cell.peepholes[number];
    return weight ? e.add(x, e.mul(e.broadcast(weight, shapeOf(c)), c)) : x;
  };
  return u.run(
      {u.initialHidden(), u.initialCell()}, [&](int64_t step, const Values &states) -> Values {
        Value c = states[1], recurrent = u.recurrentGates(states[0]);
        auto sum = [&](int64_t number) {
          return e.add(u.inputGate(step, number), u.slicedGate(recurrent, number));
        };
        Value in = gate(e, u.clipped(peephole(sum(i), 0, c)));
        Value forget = cell.coupled ? e.sub(1, in) : gate(e, u.clipped(peephole(sum(f), 1, c)));
        Value news = candidate(e, u.clipped(sum(g)));
        Value next = e.add(e.mul(forget, c), e.mul(in, news));
        Value out = gate(e, u.clipped(peephole(sum(o), 2, next)));
        return {u.projectedState(e.mul(out, output(e, u.clipped(next)))), next};
      });
}

RecurrentResult gru(const Emitter &e, const RecurrentLayer &layer, const GruCell &cell) {
  Unroller u(e, layer, 3);
  Activation gate = orDefault(cell.gate, kSigmoid), candidate = orDefault(cell.candidate, kTanh);
  auto [r, z, n] = cell.order;
  return u.run({u.initialHidden()}, [&](int64_t step, const Values &states) -> Values {
    Value h = states[0], all = cell.resetAfter ? u.recurrentGates(h) : Value();
    auto recurrentOf = [&](int64_t number) {
      return all ? u.slicedGate(all, number) : u.recurrentGate(h, number);
    };
    auto gateOf = [&](int64_t number) {
      return gate(e, u.clipped(e.add(u.inputGate(step, number), recurrentOf(number))));
    };
    Value reset = gateOf(r), update = gateOf(z);
    Value recurrent = all ? e.mul(reset, recurrentOf(n)) : u.recurrentGate(e.mul(reset, h), n);
    Value news = candidate(e, u.clipped(e.add(u.inputGate(step, n), recurrent)));
    return {e.add(e.mul(e.sub(1, update), news), e.mul(update, h))};
  });
}

RecurrentResult rnn(const Emitter &e, const RecurrentLayer &layer, const Activation &activation) {
  Unroller u(e, layer, 1);
  Activation chosen = orDefault(activation, kTanh);
  return u.run({u.initialHidden()}, [&](int64_t step, const Values &states) -> Values {
    Value sum = e.add(u.inputGate(step, 0), u.recurrentGates(states[0]));
    return {chosen(e, u.clipped(sum))};
  });
}

} // namespace cleave::emit

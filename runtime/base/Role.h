// The roles of the tensors of a step and of the buffers of its program, with the numbers of
// runtime/artifact/program.proto, and the table of what each implies. Arguments and results of the
// step in IR, the planner's model, the program dialect and plans have these roles.
#pragma once

#include <cassert>
#include <optional>
#include <string_view>

namespace cleave {

enum class Role : int {
  Input = 1,
  Parameter = 2,
  State = 3,
  Constant = 4,
  Output = 5,
  Metric = 6,
  Activation = 7,
  Gradient = 8,
  Workspace = 9,
  Coordinates = 10,
  Hyperparameter = 11,
  // In the IR of a step only; storedAs() is the role in programs and plans.
  Label,
  Loss,
  Received, // a value of another pipeline stage
  Sent,     // a value for another pipeline stage
};

// The properties of a role.
struct RoleFacts {
  Role role;
  std::string_view name; // in IR and for people: `input`
  bool isOfArgument;     // an argument of the step may have it
  bool isOfResult;       // a result of the step may have it
  bool isPersistent;     // a buffer of it is allocated and keeps its content from step to step
  bool isWritten;        // programs may write to a buffer of it
};

// All roles; those of arguments and those of results in the order in which messages list them.
inline constexpr RoleFacts kRoles[] = {
    {Role::Output, "output", false, true, false, true},
    {Role::Loss, "loss", false, true, false, true},
    {Role::Metric, "metric", false, true, false, true},
    {Role::Sent, "sent", false, true, false, true},
    {Role::Input, "input", true, false, false, true},
    {Role::Label, "label", true, false, false, true},
    {Role::Received, "received", true, false, false, true},
    {Role::Parameter, "parameter", true, true, true, true},
    {Role::State, "state", true, true, true, true},
    {Role::Constant, "constant", true, false, true, false},
    {Role::Hyperparameter, "hyperparameter", true, false, true, false},
    {Role::Activation, "activation", false, false, false, true},
    {Role::Gradient, "gradient", false, false, false, true},
    {Role::Workspace, "workspace", false, false, false, true},
    {Role::Coordinates, "coordinates", false, false, true, false},
};

// The properties of a role.
constexpr const RoleFacts &factsOf(Role role) {
  for (const RoleFacts &facts : kRoles)
    if (facts.role == role)
      return facts;
  assert(false && "the number of the role is not that of a role");
  return kRoles[0];
}

// The role with this name, if there is one.
constexpr std::optional<Role> roleNamed(std::string_view name) {
  for (const RoleFacts &facts : kRoles)
    if (facts.name == name)
      return facts.role;
  return std::nullopt;
}

// Columns of the table. Nothing has the empty name.
constexpr std::string_view name(Role role) { return factsOf(role).name; }
constexpr std::string_view name(std::optional<Role> role) { return role ? name(*role) : ""; }
constexpr bool isPersistent(Role role) { return factsOf(role).isPersistent; }

// The role in programs and plans: a label is an input, the loss a metric, and what stages pass to
// each other an activation.
constexpr Role storedAs(Role role) {
  switch (role) {
  case Role::Label:
    return Role::Input;
  case Role::Loss:
    return Role::Metric;
  case Role::Received:
  case Role::Sent:
    return Role::Activation;
  default:
    return role;
  }
}

// The role whose number in program.proto is `number`, if there is one.
constexpr std::optional<Role> roleFromNumber(int number) {
  for (const RoleFacts &facts : kRoles)
    if (static_cast<int>(facts.role) == number && storedAs(facts.role) == facts.role)
      return facts.role;
  return std::nullopt;
}

} // namespace cleave

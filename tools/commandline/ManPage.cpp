// The man page of a tool.
#include "tools/commandline/CommandLine.h"
#include "tools/commandline/Describe.h"
#include "tools/commandline/OptionValues.h"

#include <cctype>

namespace cleave {
namespace {

// Text that troff prints as it is. A line that begins with a dot or an apostrophe would be a
// request.
std::string plain(const std::string &text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += "\\&";
    out += c == '\\'  ? "\\e"
           : c == '-' ? "\\-"
           : c == '|' ? "|\\:" // a line may end here
                      : std::string(1, c);
  }
  return out;
}

std::string bold(const std::string &text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string &text) { return "\\fI" + plain(text) + "\\fR"; }

// The description up to its first sentence, as the index of man pages shows it: `executes a plan`.
std::string purposeOf(const CLI::App &app) {
  std::string text = app.get_description();
  text = text.substr(0, std::min(text.find(". "), text.find(".\n")));
  if (text.ends_with("."))
    text.pop_back();
  if (!text.empty())
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string synopsis(const CLI::App &app) {
  std::string text = ".B " + plain(app.get_name()) + "\n[\\fIOPTION\\fR]...";
  for (const CLI::Option *option : shownOptions(app)) {
    if (!option->get_positional())
      continue;
    const std::string name = italic(option->get_name(true)) + (isRepeatable(*option) ? "..." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text + (commandsOf(app).empty() ? "\n" : " " + italic("COMMAND") + " ...\n");
}

// Facts that the help lacks: the default, and options that this one needs or excludes.
std::string conditionsOf(const CLI::Option &option) {
  std::string text;
  auto list = [&](const char *head, const std::set<CLI::Option *> &others) {
    std::set<std::string> names; // in an order that does not depend on addresses
    for (const CLI::Option *other : others)
      names.insert(other->get_name());
    for (const std::string &name : names)
      text += (name == *names.begin() ? head : ", ") + bold(name);
    text += names.empty() ? "" : ".";
  };
  if (!option.get_default_str().empty())
    text += " Default: " + plain(option.get_default_str()) + ".";
  list(" Needs ", option.get_needs());
  list(" Not with ", option.get_excludes());
  return text;
}

std::string entry(const CLI::Option &option) {
  std::string head;
  for (const std::string &name : namesOf(option))
    head += (head.empty() ? "" : ", ") + bold(name);
  if (head.empty())
    head = italic(option.get_name(true));
  else if (needsValue(option) && !option.get_type_name().empty())
    head += " " + italic(option.get_type_name());
  if (isRepeatable(option))
    head += " ...";
  std::string help = plain(option.get_description());
  if (!help.empty() && !help.ends_with("."))
    help += ".";
  return ".TP\n" + head + "\n" + help + conditionsOf(option) + "\n";
}

std::string commandList(const CLI::App &app) {
  std::string text;
  for (const CLI::App *command : commandsOf(app))
    text += (text.empty() ? ".SH COMMANDS\n" : "") + (".TP\n" + bold(command->get_name())) + "\n" +
            plain(command->get_description()) + ".\n";
  return text;
}

} // namespace

std::string manPage(const CLI::App &app) {
  std::string upper = app.get_name();
  for (char &c : upper)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text = concat(".TH ", plain(upper), " 1 \"\" \"Cleave ", version(), "\" Cleave\n");
  text += ".SH NAME\n" + plain(app.get_name()) + " \\- " + plain(purposeOf(app)) + "\n";
  text += ".SH SYNOPSIS\n" + synopsis(app);
  text += ".SH DESCRIPTION\n" + plain(app.get_description()) + "\n" + commandList(app);
  for (const std::string &group : app.get_groups()) {
    std::string entries;
    for (const CLI::Option *option : shownOptions(app))
      if (option->get_group() == group)
        entries += entry(*option);
    if (!entries.empty())
      text += (group == "Options" ? ".SH OPTIONS\n" : ".SS " + plain(group) + "\n") + entries;
  }
  text += ".SH EXIT STATUS\n"
          "0: done; 1: the user\\(aqs mistake, or bad input; 2: no feasible plan; "
          "3: a lost rank or device; 4: a defect of Cleave.\n.SH SEE ALSO\n";
  std::string others = commandsOf(app).empty() ? "\\fBcleave\\fR(1)" : "";
  for (const CLI::App *command : commandsOf(app))
    others += (others.empty() ? "" : ", ") + bold("cleave-" + command->get_name()) + "(1)";
  return text + others + "\n";
}

} // namespace cleave

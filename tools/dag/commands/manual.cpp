// `dag man`: manual pages, made of the tree of commands.

#include <filesystem>
#include <fstream>
#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/command_tree.hpp"
#include "tools/dag/commands.hpp"

namespace dag::tool {
namespace {

/// The statuses of libdag/client/exit_status.hpp, with their meaning.
constexpr struct {
  ExitStatus status;
  const char* meaning;
} statuses[] = {
    {exit_ok, "success"},
    {exit_work_failed, "the work failed"},
    {exit_usage, "wrong command line"},
    {exit_unreachable, "the cluster cannot be reached"},
    {exit_infeasible, "the graph or the configuration is invalid, or cannot be satisfied"},
    {exit_unknown, "no such job, task, node or file"},
    {exit_not_allowed, "not allowed"},
    {exit_timed_out, "timed out"},
    {exit_cluster_lost, "the cluster was lost while the command waited"},
    {exit_interrupted, "interrupted"},
};

/// As text of roff: dashes as they are typed, and nothing that begins a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string name_of(const Command& command) {
  std::string name = "dag";
  for (const std::string& word : command.path) name += "-" + word;
  return name;
}

std::string typed(const Command& command) {
  std::string text = "dag";
  for (const std::string& word : command.path) text += " " + word;
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string synopsis(const Command& command) {
  std::string text = "\\fB" + roff(typed(command)) + "\\fR [\\fIoptions\\fR]";
  for (const CLI::Option* option : command.app->get_options()) {
    if (!option->get_lnames().empty() || !option->get_snames().empty()) continue;
    const std::string name = "\\fI" + roff(option->get_name()) + "\\fR";
    text += option->get_required() ? " " + name : " [" + name + "]";
    if (option->get_items_expected_max() > 1) text += "...";
  }
  if (!command.app->get_subcommands({}).empty()) text += " \\fIcommand\\fR";
  return text;
}

std::string option_term(const CLI::Option& option) {
  std::string term;
  const auto add = [&](const std::string& name) {
    term += (term.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  };
  for (const std::string& name : option.get_snames()) add("-" + name);
  for (const std::string& name : option.get_lnames()) add("--" + name);
  if (term.empty()) return "\\fI" + roff(option.get_name()) + "\\fR";
  if (option.get_type_size_max() > 0) term += " \\fI" + roff(option.get_type_name()) + "\\fR";
  return term;
}

std::string page(const Command& command, const std::string& version) {
  const CLI::App& app = *command.app;
  std::string text = ".TH " + upper(roff(name_of(command))) + " 1 \"\" \"dag " + roff(version) + "\"\n";
  text += ".SH NAME\n" + roff(name_of(command)) + " \\- " + roff(app.get_description()) + "\n";
  text += ".SH SYNOPSIS\n" + synopsis(command) + "\n";
  const auto below = app.get_subcommands({});
  if (!below.empty()) {
    text += ".SH COMMANDS\n";
    for (const CLI::App* one : below)
      text += ".TP\n\\fB" + roff(name_of(command)) + "\\-" + roff(one->get_name()) + "\\fR(1)\n" +
              roff(one->get_description()) + "\n";
  }
  text += ".SH OPTIONS\n";
  for (const CLI::Option* option : app.get_options())
    text += ".TP\n" + option_term(*option) + "\n" + roff(option->get_description()) + "\n";
  if (!app.get_footer().empty()) {
    text += ".SH NOTES\n";
    for (const char c : roff(app.get_footer())) text += c == '\n' ? "\n.br\n" : std::string(1, c);
    text += "\n";
  }
  if (const auto found = examples().find(name_of(command)); found != examples().end()) {
    text += ".SH EXAMPLES\n.nf\n";
    for (const std::string& line : found->second) text += roff(line) + "\n";
    text += ".fi\n";
  }
  text += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : statuses)
    text += ".TP\n" + std::to_string(status) + "\n" + std::string(meaning) + "\n";
  if (!command.path.empty()) text += ".SH SEE ALSO\n\\fBdag\\fR(1)\n";
  return text;
}

int write_pages(const std::map<std::string, std::string>& pages, const std::string& directory) {
  std::filesystem::create_directories(directory);
  for (const auto& [name, text] : pages) {
    std::ofstream file(std::filesystem::path(directory) / name);
    file << text;
    if (!file.flush())
      throw Failure({ErrorCode::configuration_invalid, "cannot write " + directory + "/" + name});
  }
  return exit_ok;
}

}  // namespace

std::map<std::string, std::string> manual(const CLI::App& app, const std::string& version) {
  std::map<std::string, std::string> pages;
  for (const Command& command : commands_of(app)) pages[name_of(command) + ".1"] = page(command, version);
  return pages;
}

void add_man(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("man", "write the manual pages of all commands");
  const auto directory = std::make_shared<std::string>();
  command->add_option("DIRECTORY", *directory, "the output directory; man -l FILE shows a page")->required();
  command->callback([=, &app, &chosen] {
    chosen = [=, &app] { return write_pages(manual(app, DAG_VERSION), *directory); };
  });
}

}  // namespace dag::tool

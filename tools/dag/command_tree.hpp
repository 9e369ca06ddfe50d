#pragma once
// Completion for shells and manual pages, made from the tree of commands itself, so that they never differ
// from `--help`.

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dag::tool {

/// A command with those above it: {"node", "list"}. The program itself: {}.
struct Command {
  std::vector<std::string> path;
  const CLI::App* app = nullptr;
};
/// All commands, the program first, each before those below it.
std::vector<Command> commands_of(const CLI::App& app);

/// A script for "bash", "zsh" or "fish" that completes commands and flags, and file names where a value is to
/// follow. Empty: that shell is not known.
std::string completion(const CLI::App& app, std::string_view shell);

/// By the name of its page ("dag-node-list"): command lines of each command, as people type them.
const std::map<std::string, std::vector<std::string>>& examples();

/// By file name ("dag-node-list.1"): a page of man(7) for each command.
std::map<std::string, std::string> manual(const CLI::App& app, const std::string& version);

}  // namespace dag::tool

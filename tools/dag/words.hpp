#pragma once
// Explains a wrong command line to people: names the first word that no command knows, and the nearest known
// one. CLI11 says only that something is missing or left over.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace dag::tool {

/// CLI11 takes a word such as `[a,b]` for a list and drops the brackets. Words behind `--` are another
/// program's: they are marked for it, and the option that takes them takes the mark off again.
std::vector<std::string> with_brackets_kept(std::vector<std::string> words);
CLI::Option* takes_words_as_they_are(CLI::Option* option);

/// The command that these words name: {"node", "list"}. Null: there is none.
const CLI::App* command_named(const CLI::App& app, const std::vector<std::string>& words);

/// The text of the command's --help.
std::string help_of(const CLI::App& command);

/// Follows the words down the tree of commands to the first one that is not known there. Empty: all are
/// known, and something else is wrong.
std::optional<std::string> unknown_word(const CLI::App& app, const std::vector<std::string>& words);

/// The full message for a command line that cannot be parsed; `reason` is CLI11's text.
std::string wrong_use(const CLI::App& app, const std::vector<std::string>& words, const std::string& reason);

}  // namespace dag::tool

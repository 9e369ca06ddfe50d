#include "tools/dag/words.hpp"

#include <algorithm>

#include "libdag/client/nearest.hpp"
#include "tools/dag/options.hpp"

namespace dag::tool {
namespace {

using Words = std::vector<std::string>;

Words commands_below(const CLI::App& app) {
  Words names;
  for (const CLI::App* below : app.get_subcommands({})) names.push_back(below->get_name());
  return names;
}

const CLI::App* below(const CLI::App& app, const std::string& word) {
  for (const CLI::App* one : app.get_subcommands({})) {
    if (one->get_name() == word) return one;
  }
  return nullptr;
}

Words names_of_flags(const CLI::App& app) {
  Words flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

/// How many words have a place there instead of a name.
std::size_t places_of(const CLI::App& app) {
  std::size_t places = 0;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) places += static_cast<std::size_t>(option->get_items_expected_max());
  }
  return places;
}

std::string meant_by(const std::string& typed, const Words& known, const std::string& before) {
  const auto meant = detail::nearest(typed, {known.begin(), known.end()});
  return meant && *meant != typed ? "; did you mean '" + before + std::string(*meant) + "'?" : "";
}

/// `dag node`, as it was typed.
std::string path_of(const CLI::App& app) {
  const CLI::App* above = app.get_parent();
  return (above == nullptr ? "" : path_of(*above) + " ") + app.get_name();
}

std::string listed_words(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// A flag without the value that is glued to it: --limit=3, -n3.
std::string flag_in(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

bool is_flag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

}  // namespace

static constexpr char kept = '\x1e';

std::vector<std::string> with_brackets_kept(std::vector<std::string> words) {
  for (auto word = std::find(words.begin(), words.end(), "--"); word != words.end(); ++word) {
    if (word->size() > 1 && word->front() == '[' && word->back() == ']') word->insert(word->begin(), kept);
  }
  return words;
}

CLI::Option* takes_words_as_they_are(CLI::Option* option) {
  return option->transform([](std::string word) {
    if (!word.empty() && word.front() == kept) word.erase(0, 1);
    return word;
  });
}

const CLI::App* command_named(const CLI::App& app, const Words& words) {
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    at = below(*at, word);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string help_of(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  return command.get_formatter()->make_help(
      &command, above == nullptr ? command.get_name() : path_of(command), CLI::AppFormatMode::Normal);
}

std::optional<std::string> unknown_word(const CLI::App& app, const Words& words) {
  const CLI::App* at = &app;
  std::size_t taken = 0;  // Words that had a place.
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") break;
    const std::string where = path_of(*at);
    if (is_flag(word)) {
      const std::string flag = flag_in(word);
      const CLI::Option* option = at->get_option_no_throw(flag);
      if (option == nullptr)
        return where + ": there is no option '" + shown(flag) + "'" + meant_by(flag, names_of_flags(*at), "");
      if (option->get_items_expected_max() > 0 && flag == word) ++i;  // The next word is the option's value.
      continue;
    }
    if (const CLI::App* one = below(*at, word)) {
      at = one;
      continue;
    }
    if (const Words commands = commands_below(*at); !commands.empty()) {
      const std::string meant = meant_by(word, commands, where + " ");
      return where + ": there is no command '" + shown(word) + "'" +
             (meant.empty() && at != &app ? "; it has " + listed_words(commands) : meant);
    }
    const std::size_t places = places_of(*at);
    if (++taken > places) {
      return where + " takes " +
             (places == 0   ? "no argument beside its options"
              : places == 1 ? "one argument"
                            : std::to_string(places) + " arguments") +
             ": what is '" + shown(word) + "'?";
    }
    if (at->get_positionals_at_end()) break;  // Further words are another program's.
  }
  return std::nullopt;
}

std::string wrong_use(const CLI::App& app, const Words& words, const std::string& reason) {
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    if (const CLI::App* one = below(*at, word)) at = one;
  }
  const std::string where = path_of(*at);
  std::string what;
  // "Could not convert: --limit = -1"
  constexpr std::string_view not_converted = "Could not convert: ";
  if (const auto equals = reason.find(" = "); reason.starts_with(not_converted) && equals != reason.npos) {
    what = where + ": " + reason.substr(not_converted.size(), equals - not_converted.size()) +
           " does not take '" + reason.substr(equals + 3) + "': it is no number, or too large or small";
  } else if (const auto unknown = unknown_word(app, words)) {
    what = *unknown;
  } else if (const Words commands = commands_below(*at); !commands.empty()) {
    what = where + " needs a command: " + listed_words(commands);
  } else {
    what = where + ": " + reason;
  }
  return what + "\nsee: " + where + " --help\n";
}

}  // namespace dag::tool

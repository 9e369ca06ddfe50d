// `dag completion`: scripts for shells, made of the tree of commands.

#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/command_tree.hpp"
#include "tools/dag/commands.hpp"

namespace dag::tool {
namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words, std::string_view between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

struct Flag {
  Words written;  ///< "-v", "--verbose"
  std::string about;
  bool has_value = false;
};
std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    Flag flag;
    for (const std::string& name : option->get_snames()) flag.written.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag.written.push_back("--" + name);
    if (flag.written.empty()) continue;  // It has a place instead of a name.
    flag.about = option->get_description();
    flag.has_value = option->get_type_size_max() > 0;
    flags.push_back(std::move(flag));
  }
  return flags;
}

Words names_below(const CLI::App& app) {
  Words names;
  for (const CLI::App* below : app.get_subcommands({})) names.push_back(below->get_name());
  return names;
}

Words words_of(const CLI::App& app) {
  Words words = names_below(app);
  for (const Flag& flag : flags_of(app)) words.insert(words.end(), flag.written.begin(), flag.written.end());
  return words;
}

/// bash and zsh, which differ in where the words are and where the answer goes. Behind `--` stands the
/// command line of something else.
std::string with_cases(const CLI::App& app, const std::string& head, const std::string& tail) {
  std::string known, choices, valued;
  for (const Command& command : commands_of(app)) {
    const std::string path = joined(command.path);
    if (!path.empty()) known += (known.empty() ? "" : " | ") + ("'" + path + "'");
    choices += "    '" + path + "') words='" + joined(words_of(*command.app)) + "' ;;\n";
    Words with_value;
    for (const Flag& flag : flags_of(*command.app)) {
      if (flag.has_value) with_value.insert(with_value.end(), flag.written.begin(), flag.written.end());
    }
    for (const std::string& flag : with_value)
      valued += (valued.empty() ? "" : " | ") + ("'" + path + " " + flag + "'");
  }
  return head + "  local at='' word words='' previous=''\n" +
         "  for word in \"${before[@]}\"; do\n"
         "    [ \"$word\" = -- ] && return 1\n"
         "    case \"${at:+$at }$word\" in\n      " +
         known +
         ") at=\"${at:+$at }$word\" ;;\n"
         "    esac\n"
         "    previous=$word\n"
         "  done\n"
         "  case \"$at $previous\" in\n    " +
         valued +
         ") return 1 ;;\n"
         "  esac\n"
         "  case \"$at\" in\n" +
         choices + "  esac\n" + tail;
}

std::string for_bash(const CLI::App& app) {
  return with_cases(app,
                    "# bash completion of dag: source it, or put it into ~/.local/share/bash-completion/"
                    "completions/dag\n"
                    "_dag() {\n"
                    "  local before=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")\n",
                    "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
                    "}\n"
                    "complete -o default -F _dag dag\n");
}

std::string for_zsh(const CLI::App& app) {
  return with_cases(app,
                    "#compdef dag\n"
                    "# zsh completion of dag: put it as _dag into a directory of $fpath\n"
                    "_dag_words() {\n"
                    "  local -a before\n"
                    "  before=(\"${(@)words_typed[2,typed-1]}\")\n",
                    "  compadd -- ${=words}\n"
                    "}\n"
                    "_dag() {\n"
                    "  local -a words_typed\n"
                    "  words_typed=(\"${words[@]}\")\n"
                    "  local typed=$CURRENT\n"
                    "  _dag_words || _files\n"
                    "}\n"
                    "compdef _dag dag\n");
}

std::string quoted(std::string text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

std::string for_fish(const CLI::App& app) {
  std::string text = "# fish completion of dag: put it into ~/.config/fish/completions/dag.fish\n";
  for (const Command& command : commands_of(app)) {
    // Those below it are chosen as long as none of them was.
    std::string here = command.path.empty()
                           ? "__fish_use_subcommand"
                           : "__fish_seen_subcommand_from " + joined(command.path,
                                                                     "; and "
                                                                     "__fish_seen_subcommand_from ");
    const Words below = names_below(*command.app);
    if (!command.path.empty() && !below.empty())
      here += "; and not __fish_seen_subcommand_from " + joined(below);
    const std::string when = "complete -c dag -n " + quoted(here);
    for (const CLI::App* one : command.app->get_subcommands({}))
      text += when + " -f -a " + one->get_name() + " -d " + quoted(one->get_description()) + "\n";
    for (const Flag& flag : flags_of(*command.app)) {
      text += when;
      for (const std::string& name : flag.written)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      text += (flag.has_value ? " -r -d " : " -d ") + quoted(flag.about) + "\n";
    }
  }
  return text;
}

}  // namespace

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> all{{{}, &app}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const CLI::App* below : all[i].app->get_subcommands({})) {
      Words path = all[i].path;
      path.push_back(below->get_name());
      all.push_back({std::move(path), below});
    }
  }
  return all;
}

std::string completion(const CLI::App& app, std::string_view shell) {
  if (shell == "bash") return for_bash(app);
  if (shell == "zsh") return for_zsh(app);
  if (shell == "fish") return for_fish(app);
  return "";
}

void add_completion(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("completion", "print a script that completes commands and flags");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([=, &app, &chosen] {
    chosen = [=, &app] {
      std::cout << completion(app, *shell);
      return static_cast<int>(exit_ok);
    };
  });
}

}  // namespace dag::tool

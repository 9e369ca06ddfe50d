// `dag completion`: scripts for shells, made of the tree of commands.

#include <iostream>

#include <unistd.h>

#include "libdag/client/all_nodes.hpp"
#include "libdag/client/exit_status.hpp"
#include "tools/dag/command_tree.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/options.hpp"

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
    if (flag.written.empty()) continue;  // Such a word has a place instead of a name.
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

/// The kind of words to complete by: jobs, nodes, phases. Empty: there is none.
std::string known_words_of(const CLI::App& command, const CLI::Option& option) {
  if (option.check_lname("phase")) return "phases";
  if (option.get_positional() && option.get_name() == "node") return "nodes";
  // Where the rest belongs to another program, "job" is the file of one.
  const bool about_job = option.get_name() == "job" || option.get_name() == "what";
  return option.get_positional() && about_job && !command.get_positionals_at_end() ? "jobs" : "";
}

/// Kind of words that have a place there.
Words known_places(const CLI::App& command) {
  Words kinds;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    if (const std::string kind = known_words_of(command, *option); !kind.empty()) kinds.push_back(kind);
  }
  return kinds;
}

/// bash and zsh, which differ in where the words are and where the answer goes. Behind `--` stands the
/// command line of something else.
std::string with_cases(const CLI::App& app, const std::string& program, const std::string& head,
                       const std::string& tail) {
  const auto asked = [&](const std::string& kind) {
    return "$(" + program + " completion --words " + kind + " 2>/dev/null)";
  };
  std::string known, choices, valued, chosen_values;
  for (const Command& command : commands_of(app)) {
    const std::string path = joined(command.path);
    if (!path.empty()) known += (known.empty() ? "" : " | ") + ("'" + path + "'");
    choices += "    '" + path + "') words='" + joined(words_of(*command.app)) + "'";
    for (const std::string& kind : known_places(*command.app)) choices += "\" " + asked(kind) + "\"";
    choices += " ;;\n";
    for (const CLI::Option* option : command.app->get_options()) {
      if (const std::string kind = known_words_of(*command.app, *option);
          !kind.empty() && !option->get_positional())
        chosen_values += "    '" + path + " --" + option->get_lnames().front() + "') words=\"" + asked(kind) +
                         "\"; at=value ;;\n";
    }
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
         "  case \"$at $previous\" in\n" +
         chosen_values + "    " + valued +
         ") return 1 ;;\n"
         "  esac\n"
         "  case \"$at\" in\n" +
         choices + "  esac\n" + tail;
}

std::string for_bash(const CLI::App& app) {
  return with_cases(app, "\"${COMP_WORDS[0]}\"",
                    "# bash completion of dag: source it, or put it into ~/.local/share/bash-completion/"
                    "completions/dag\n"
                    "_dag() {\n"
                    "  local before=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")\n",
                    "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
                    "}\n"
                    "complete -o default -F _dag dag\n");
}

std::string for_zsh(const CLI::App& app) {
  return with_cases(app, "\"${words_typed[1]}\"",
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
    // Subcommands are offered as long as none of them was chosen.
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
    for (const std::string& kind : known_places(*command.app))
      text += when + " -f -a " + quoted("(dag completion --words " + kind + " 2>/dev/null)") + "\n";
    for (const Flag& flag : flags_of(*command.app)) {
      text += when;
      for (const std::string& name : flag.written)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (flag.written == Words{"--phase"}) text += " -f -a '(dag completion --words phases)'";
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

namespace {

/// The shell, and the person who types, wait for the words.
constexpr unsigned words_within_seconds = 2;

int print_words(const std::string& kind) {
  if (kind == "phases") {
    for (const JobPhase phase : {JobPhase::starting, JobPhase::running, JobPhase::finished, JobPhase::failed,
                                 JobPhase::cancelled, JobPhase::no_quorum, JobPhase::recovering})
      std::cout << name(phase) << '\n';
    return exit_ok;
  }
  alarm(words_within_seconds);
  const Options options;
  if (kind == "nodes") {
    for (const NodeInfo& node : connect(options)->nodes()) std::cout << to_string(node.life.process) << '\n';
    return exit_ok;
  }
  for (const JobInfo& job : detail::AllNodes(address_of(options)).look().jobs)
    std::cout << to_string(job.job) << '\n';
  std::cout << newest_word << '\n';
  return exit_ok;
}

}  // namespace

void add_completion(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("completion", "print a script that completes commands and flags");
  const auto shell = std::make_shared<std::string>();
  const auto words = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->add_option("--words", *words, "for scripts: print the known jobs, nodes or phases")
      ->check(CLI::IsMember({"jobs", "nodes", "phases"}));
  command->callback([=, &app, &chosen] {
    if (shell->empty() && words->empty()) throw CLI::RequiredError("SHELL");
    chosen = [=, &app] {
      if (!words->empty()) return print_words(*words);
      std::cout << completion(app, *shell);
      return static_cast<int>(exit_ok);
    };
  });
}

}  // namespace dag::tool

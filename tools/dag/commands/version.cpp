// `dag version`, `dag --version`, `dag help`.

#include <iostream>
#include <nlohmann/json.hpp>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/words.hpp"

namespace dag::tool {

void add_version(CLI::App& app, Chosen& chosen) {
  app.set_version_flag("--version", "dag " DAG_VERSION, "print the version");
  auto* command = app.add_subcommand("version", "print the version");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "as JSON");
  command->callback([=, &chosen] {
    chosen = [=] {
      if (*json) {
        std::cout << nlohmann::json{{"version", DAG_VERSION}}.dump() << '\n';
      } else {
        std::cout << "dag " << DAG_VERSION << '\n';
      }
      return static_cast<int>(exit_ok);
    };
  });
}

void add_help(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("help", "print the help of a command, as its --help does");
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("command", *words, "such as submit, or node list (default: all commands)");
  command->callback([=, &app, &chosen] {
    chosen = [=, &app] {
      const CLI::App* about = command_named(app, *words);
      if (about == nullptr) {
        std::cerr << wrong_use(app, *words, "");
        return static_cast<int>(exit_usage);
      }
      std::cout << help_of(*about);
      return static_cast<int>(exit_ok);
    };
  });
}

}  // namespace dag::tool

// `dag version`.

#include <iostream>
#include <nlohmann/json.hpp>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/commands.hpp"

namespace dag::tool {

void add_version(CLI::App& app, Chosen& chosen) {
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

}  // namespace dag::tool

// `dag config show`: the settings of a node that would be started here, and their sources. `dagd` prints
// them, since it reads them.

#include <memory>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/cluster/dagd.hpp"
#include "tools/dag/cluster/process.hpp"
#include "tools/dag/commands.hpp"

namespace dag::tool {
namespace {

int show(const std::string& form) {
  block_signals();
  const pid_t child = start({{dagd_program(), "--settings", form}, {}});
  const Waited waited = wait_for_child();
  if (waited.signal == 0) return waited.end.status;
  end_all({child}, std::chrono::milliseconds(1000));
  return exit_interrupted;
}

}  // namespace

void add_config(CLI::App& app, Chosen& chosen) {
  auto* config = app.add_subcommand("config", "show the settings of nodes");
  config->require_subcommand(1);
  auto* command = config->add_subcommand(
      "show", "print the settings that a dagd started here takes from files and variables, in TOML");
  const auto origin = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  auto* with_origin =
      command->add_flag("--origin", *origin, "print where each setting comes from: FILE:LINE or a variable");
  command->add_flag("--json", *json, "print JSON, with where each setting comes from")->excludes(with_origin);
  command->callback([=, &chosen] {
    chosen = [=] { return show(*json ? "json" : *origin ? "origin" : "toml"); };
  });
}

}  // namespace dag::tool

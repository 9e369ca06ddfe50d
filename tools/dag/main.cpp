// `dag`: the launcher. Data goes to stdout, messages to stderr; exit_status.hpp says what it ends with.

#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/nearest.hpp"
#include "tools/dag/commands.hpp"

namespace {

void suggest(const CLI::App& app, std::string_view typed) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const auto meant = dag::detail::nearest(typed, {names.begin(), names.end()});
  if (meant && *meant != typed) {
    std::cerr << "did you mean 'dag " << *meant << "'?\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs task graphs on libdag.", "dag");
  app.require_subcommand(1);
  dag::tool::Chosen chosen;
  dag::tool::add_up(app, chosen);
  dag::tool::add_submit(app, chosen);
  dag::tool::add_jobs(app, chosen);
  dag::tool::add_watch(app, chosen);
  dag::tool::add_logs(app, chosen);
  dag::tool::add_top(app, chosen);
  dag::tool::add_mem(app, chosen);
  dag::tool::add_node(app, chosen);
  dag::tool::add_run(app, chosen);
  dag::tool::add_exec(app, chosen);
  dag::tool::add_flow(app, chosen);
  dag::tool::add_graph(app, chosen);
  dag::tool::add_explain(app, chosen);
  dag::tool::add_history(app, chosen);
  dag::tool::add_report(app, chosen);
  dag::tool::add_trace(app, chosen);
  dag::tool::add_view(app, chosen);
  dag::tool::add_config(app, chosen);
  dag::tool::add_doctor(app, chosen);
  dag::tool::add_completion(app, chosen);
  dag::tool::add_man(app, chosen);
  dag::tool::add_version(app, chosen);
  try {
    app.parse(argc, argv);
    return chosen();
  } catch (const CLI::ParseError& error) {
    const bool wrong = app.exit(error) != 0;
    if (wrong && argc > 1 && argv[1][0] != '-') suggest(app, argv[1]);
    return wrong ? dag::exit_usage : dag::exit_ok;
  } catch (const dag::Failure& failure) {
    std::cerr << "dag: " << failure.what() << '\n';
    return dag::exit_status_of(failure.error().code);
  } catch (const std::exception& error) {
    std::cerr << "dag: " << error.what() << '\n';
    return dag::exit_work_failed;
  }
}

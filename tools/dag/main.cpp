// `dag`: the launcher. Data goes to stdout, messages to stderr; exit_status.hpp lists the exit statuses.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/warden/started_with.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/commands/work.hpp"
#include "tools/dag/words.hpp"

namespace {

/// The commands of `dag-inspect`: those that change neither jobs nor nodes.
constexpr std::string_view inspecting[] = {"ls",         "show",   "wait",    "watch", "logs",   "top",
                                           "result",     "mem",    "node",    "graph", "check",  "explain",
                                           "history",    "report", "trace",   "view",  "config", "doctor",
                                           "completion", "man",    "version", "help"};
constexpr std::string_view inspecting_nodes[] = {"list", "show", "probe"};

template <class Names>
void keep_only(CLI::App& app, const Names& names) {
  for (CLI::App* command : app.get_subcommands({})) {
    if (std::find(std::begin(names), std::end(names), command->get_name()) == std::end(names))
      app.remove_subcommand(command);
  }
}

int run(int argc, char** argv) {
  const bool inspects = std::filesystem::path(argv[0]).filename() == "dag-inspect";
  CLI::App app(
      inspects ? "Looks at jobs and nodes of libdag, and changes nothing." : "Runs task graphs on libdag.",
      inspects ? "dag-inspect" : "dag");
  app.require_subcommand(1);
  dag::tool::Chosen chosen;
  dag::tool::add_up(app, chosen);
  dag::tool::add_submit(app, chosen);
  dag::tool::add_jobs(app, chosen);
  dag::tool::add_watch(app, chosen);
  dag::tool::add_result(app, chosen);
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
  dag::tool::add_check(app, chosen);
  dag::tool::add_config(app, chosen);
  dag::tool::add_doctor(app, chosen);
  dag::tool::add_completion(app, chosen);
  dag::tool::add_man(app, chosen);
  dag::tool::add_version(app, chosen);
  dag::tool::add_help(app, chosen);
  if (inspects) {
    keep_only(app, inspecting);
    keep_only(*app.get_subcommand("node"), inspecting_nodes);
  }
  if (argc == 1) {
    std::cout << dag::tool::help_of(app);
    return dag::exit_ok;
  }
  try {
    std::vector<std::string> words = dag::tool::with_brackets_kept({argv + 1, argv + argc});
    std::reverse(words.begin(), words.end());  // As CLI11 has them.
    app.parse(std::move(words));
    return chosen();
  } catch (const CLI::ParseError& error) {
    // Help and version, which were asked for, come this way, too.
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << dag::tool::wrong_use(app, {argv + 1, argv + argc}, error.what());
    return dag::exit_usage;
  } catch (const dag::Failure& failure) {
    std::cerr << "dag: " << failure.what() << '\n';
    return dag::exit_status_of(failure.error().code);
  } catch (const std::exception& error) {
    std::cerr << "dag: " << error.what() << '\n';
    return dag::exit_work_failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  dag::put_right_what_we_were_started_with();
  dag::tool::serve_if_started_by_node();
  dag::heed_closed_pipes();
  return dag::checked_output("dag", run(argc, argv));
}

#pragma once
// The commands of `dag`, one file each. A command adds itself to the command line; when chosen, it runs and
// returns its exit status.

#include <CLI/CLI.hpp>
#include <functional>

namespace dag::tool {

/// Set by the command that the user chose.
using Chosen = std::function<int()>;

void add_run(CLI::App& app, Chosen& chosen);
void add_exec(CLI::App& app, Chosen& chosen);
void add_flow(CLI::App& app, Chosen& chosen);
void add_up(CLI::App& app, Chosen& chosen);  // up, join, down
void add_submit(CLI::App& app, Chosen& chosen);
void add_jobs(CLI::App& app, Chosen& chosen);  // ls, show, cancel, retry, wait
void add_watch(CLI::App& app, Chosen& chosen);
void add_result(CLI::App& app, Chosen& chosen);
void add_logs(CLI::App& app, Chosen& chosen);
void add_mem(CLI::App& app, Chosen& chosen);
void add_top(CLI::App& app, Chosen& chosen);
void add_node(CLI::App& app, Chosen& chosen);
void add_explain(CLI::App& app, Chosen& chosen);
void add_history(CLI::App& app, Chosen& chosen);
void add_report(CLI::App& app, Chosen& chosen);
void add_trace(CLI::App& app, Chosen& chosen);
void add_view(CLI::App& app, Chosen& chosen);
void add_check(CLI::App& app, Chosen& chosen);
void add_config(CLI::App& app, Chosen& chosen);
void add_doctor(CLI::App& app, Chosen& chosen);
void add_graph(CLI::App& app, Chosen& chosen);
void add_completion(CLI::App& app, Chosen& chosen);
void add_man(CLI::App& app, Chosen& chosen);
void add_version(CLI::App& app, Chosen& chosen);  // and --version
void add_help(CLI::App& app, Chosen& chosen);

}  // namespace dag::tool

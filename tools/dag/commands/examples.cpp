// Examples of each command, for manual pages and --help.

#include "tools/dag/command_tree.hpp"

namespace dag::tool {

const std::map<std::string, std::vector<std::string>>& examples() {
  static const std::map<std::string, std::vector<std::string>> all{
      {"dag", {R"(dag up --nodes 3)", R"(dag submit --watch ./hello)", R"(dag down)"}},
      {"dag-up",
       {"eval \"$(dag up --nodes 3)\"", R"(dag up --nodes 3 --data ~/jobs)",
        R"(dag up --nodes 3 --port-base 7100)"}},
      {"dag-join", {R"(dag join 127.0.0.1:7100)"}},
      {"dag-down", {R"(dag down)"}},
      {"dag-submit",
       {R"(dag submit ./hello)", R"(dag submit --watch ./train -- --steps 100)",
        R"(dag submit --dry-run ./train)"}},
      {"dag-ls", {R"(dag ls --failed)", R"(dag ls --phase running --json)"}},
      {"dag-show", {R"(dag show job7)", R"(dag show last --json)"}},
      {"dag-cancel", {R"(dag cancel job7)"}},
      {"dag-retry", {R"(dag retry --failed job7)", R"(dag retry job7)"}},
      {"dag-wait", {R"(dag wait job7 --timeout 5m)"}},
      {"dag-watch", {R"(dag watch last)", R"(dag watch job7 --every 2s)"}},
      {"dag-result", {R"(dag result last)", R"(dag result job7/total -o total.bin)"}},
      {"dag-logs", {R"(dag logs -f last)", R"(dag logs job7/train --tail 100)"}},
      {"dag-top", {R"(dag top --every 2s)", R"(dag top --once --json)"}},
      {"dag-mem", {R"(dag mem job7)"}},
      {"dag-node", {R"(dag node list)", R"(dag node drain n1)"}},
      {"dag-node-list", {R"(dag node list --json)"}},
      {"dag-node-show", {R"(dag node show n1)"}},
      {"dag-node-probe", {R"(dag node probe --times 100)"}},
      {"dag-node-drain", {R"(dag node drain n1 --timeout 5m)"}},
      {"dag-node-undrain", {R"(dag node undrain n1)"}},
      {"dag-node-stop", {R"(dag node stop n1)"}},
      {"dag-run", {R"(dag run -n 3 ./hello)", R"(dag run -n 2 --isolate ./train -- --steps 100)"}},
      {"dag-exec",
       {R"(dag exec --array 1-100 -- ./simulate.sh)",
        R"(dag exec --attempts 3 -- curl -fO https://example.org/data)"}},
      {"dag-flow", {R"(dag flow pipeline.toml)", R"(dag flow recorded.json --scale 0.1)"}},
      {"dag-graph", {R"(dag graph -o graph.svg ./hello)", R"(dag graph -o graph.json job7)"}},
      {"dag-check", {R"(dag check pipeline.toml)", R"(dag check ./train)"}},
      {"dag-explain", {R"(dag explain job7)", R"(dag explain job7/train)", R"(dag explain n1)"}},
      {"dag-history",
       {R"(dag history)", R"(dag history job7 --failed)", R"(dag history job7 --save record)"}},
      {"dag-report", {R"(dag report job7)", R"(dag report job7 -o report.html)"}},
      {"dag-trace", {R"(dag trace job7 -o trace.json)"}},
      {"dag-view", {R"(dag view ~/jobs --job job7)"}},
      {"dag-config", {R"(dag config show --origin)"}},
      {"dag-config-show", {R"(dag config show --origin)"}},
      {"dag-doctor", {R"(dag doctor --data ~/jobs)"}},
      {"dag-completion", {R"(dag completion bash > ~/.local/share/bash-completion/completions/dag)"}},
      {"dag-man", {R"(dag man ~/.local/share/man/man1)"}},
      {"dag-version", {R"(dag version --json)"}},
      {"dag-help", {R"(dag help node drain)"}},
  };
  return all;
}

}  // namespace dag::tool

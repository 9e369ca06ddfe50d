// G17: many nodes, in virtual time.

#include <algorithm>

#include "tools/bench/commands.hpp"

namespace dag::bench {

Section scale(Settings& settings) {
  Section section{"scale", ""};
  section.explained =
      "Tier V: the machines of real processes in virtual time, at the pace of one host per node (`dag-sim "
      "scale`; "
      "its figures are in tools/sim/world.hpp). 16 lanes each, two columns per lane, tasks of 100 µs, 50 "
      "steps. How "
      "busy all lanes are from the first task to the last. Beside it what the busiest process carries of "
      "control "
      "bytes and messages, as a multiple of an even share; how busy its thread for them is; and how large "
      "the graph "
      "is that one process has to send to all others before, which is in neither. One run: virtual time "
      "repeats "
      "itself.";
  for (const std::string pattern : {"stencil", "chains", "random"}) {
    for (const int nodes : settings.quick ? std::vector<int>{2} : std::vector<int>{2, 16, 64, 256}) {
      const std::string workload = pattern + ", " + std::to_string(nodes) + " nodes";
      settings.say(workload);
      const Answer answer =
          ask_program({"dag-sim", "scale", "--pattern", pattern, "--nodes", std::to_string(nodes), "--steps",
                       settings.quick ? "5" : "50", "--json"},
                      std::chrono::seconds(600));
      Series series{std::string(libdag), {answer.number("efficiency") * 100}};
      const double bytes = answer.number("bytes_share") * nodes;
      const double messages = answer.number("messages_share") * nodes;
      series.part("bytes").values = {bytes};
      series.part("messages").values = {messages};
      series.part("thread, %").values = {answer.number("control_busy") * 100};
      series.part("graph, MB").values = {answer.number("graph_bytes") / 1e6};
      section.rows.push_back({workload, "% busy", {std::move(series)}});
      section.verdicts.push_back(
          {"G17", workload, "≥ 90 % busy", 90, answer.number("efficiency") * 100, false});
      section.verdicts.push_back(
          {"G17", workload + ", busiest process", "≤ 2 × even share", 2, std::max(bytes, messages)});
    }
  }
  return section;
}

}  // namespace dag::bench

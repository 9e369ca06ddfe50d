#include "libdag/story/report_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "libdag/graph/text.hpp"

namespace dag::detail {
namespace {

constexpr std::size_t lanes_drawn_max = 64;
constexpr std::size_t rows_max = 200;
constexpr double plot_width = 960, lane_height = 14, use_height = 120;

constexpr const char* style = R"(<style>
:root{color-scheme:light dark;--ink:#1b1f24;--quiet:#57606a;--ground:#fff;--line:#d0d7de;--bar:#0a58a6;--soft:#dce9f5;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--quiet:#9aa4af;--ground:#0f1318;--line:#30363d;--bar:#6cb0f2;--soft:#1c2a3a;--bad:#ff8a80}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:64rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}p{margin:.3rem 0}
table{border-collapse:collapse;width:100%}caption{text-align:left;color:var(--quiet);padding-top:.5rem}
th,td{text-align:left;padding:.2rem .7rem .2rem 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.box{overflow-x:auto}.quiet{color:var(--quiet)}.bad{color:var(--bad)}
svg{display:block;width:100%;height:auto;background:var(--soft)}
.axis{display:flex;justify-content:space-between;color:var(--quiet);font-size:.8rem;margin:0}.use,.on{fill:var(--bar)}
.part{display:flex;align-items:center;gap:.6rem}.part i{display:block;height:.7rem;background:var(--bar)}
.scale{flex:1;background:var(--soft)}
</style>
)";

double seconds(Duration span) { return std::chrono::duration<double>(span).count(); }

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string percent(Duration part, Duration whole) {
  return whole <= Duration{0} ? "–" : number(100 * seconds(part) / seconds(whole)) + " %";
}

struct Cell {
  std::string html;
  bool is_number = false;
};
Cell text(const std::string& of) { return {xml_text(of)}; }
Cell count(std::uint64_t of) { return {std::to_string(of), true}; }
Cell span(Duration of) { return {text_of(of), true}; }

std::string table(const std::string& caption, const std::vector<Cell>& heads,
                  const std::vector<std::vector<Cell>>& rows) {
  const auto row = [](const std::vector<Cell>& cells, const std::string& kind) {
    std::string html = "<tr>";
    for (const Cell& cell : cells)
      html += "<" + kind + (kind == "th" ? " scope=\"col\"" : "") + (cell.is_number ? " class=\"n\">" : ">") +
              cell.html + "</" + kind + ">";
    return html + "</tr>\n";
  };
  std::string html = "<div class=\"box\"><table><caption>" + xml_text(caption) + "</caption><thead>" +
                     row(heads, "th") + "</thead><tbody>\n";
  for (const auto& one : rows) html += row(one, "td");
  return html + "</tbody></table></div>\n";
}

/// A bar for each, with its part of all of them.
std::string parts(const std::string& caption, const std::vector<std::pair<std::string, Duration>>& all) {
  Duration sum{0};
  for (const auto& [name, one] : all) sum += one;
  std::vector<std::vector<Cell>> rows;
  for (const auto& [name, one] : all) {
    const double share = sum > Duration{0} ? 100 * seconds(one) / seconds(sum) : 0;
    rows.push_back({text(name),
                    span(one),
                    {percent(one, sum), true},
                    {"<div class=\"part\"><div class=\"scale\"><i style=\"width:" + number(share) +
                     "%\"></i></div></div>"}});
  }
  return table(caption,
               {{"Cause"}, {"Time", true}, {"Share", true}, {"<span class=\"quiet\">0 to 100 %</span>"}},
               rows);
}

std::string rectangle(double x, double y, double width, double height, const std::string& more) {
  return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) + "\" height=\"" +
         number(height) + "\" " + more + "/>";
}

/// How much of all lanes was busy, over time.
std::string use_picture(const Timeline& timeline) {
  const std::size_t columns = timeline.window.columns;
  const double wide = plot_width / static_cast<double>(std::max<std::size_t>(columns, 1));
  std::string points = "0," + number(use_height);
  for (std::size_t column = 0; column < columns; ++column) {
    double busy = 0;
    for (const TimelineLane& lane : timeline.lanes) {
      if (column < lane.column_busy.size()) busy += lane.column_busy[column];
    }
    const double part = busy / static_cast<double>(std::max<std::size_t>(timeline.lanes.size(), 1));
    const std::string height = number(use_height * (1 - part));
    points += " " + number(static_cast<double>(column) * wide) + "," + height + " " +
              number(static_cast<double>(column + 1) * wide) + "," + height;
  }
  points += " " + number(plot_width) + "," + number(use_height);
  return "<svg viewBox=\"0 0 " + number(plot_width) + " " + number(use_height) +
         "\" role=\"img\" aria-label=\"Share of lanes that were busy, over time\"><polygon class=\"use\" "
         "points=\"" +
         points +
         "\"/></svg>\n<p class=\"axis\"><span>0 s</span><span>busy lanes over time; below: each "
         "lane</span><span>" +
         text_of(timeline.span) + "</span></p>\n";
}

/// A row for each lane: the darker, the busier. Neighbours that look alike are one piece.
std::string lanes_picture(const Timeline& timeline) {
  const std::size_t lanes = std::min(timeline.lanes.size(), lanes_drawn_max);
  const double wide = plot_width / static_cast<double>(std::max<std::size_t>(timeline.window.columns, 1));
  std::string html = "<svg viewBox=\"0 0 " + number(plot_width) + " " +
                     number(lane_height * static_cast<double>(lanes)) +
                     "\" role=\"img\" aria-label=\"When each lane was busy\">";
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::vector<double>& busy = timeline.lanes[lane].column_busy;
    for (std::size_t from = 0, to = 0; from < busy.size(); from = to) {
      const auto shade = [&](std::size_t at) { return std::lround(busy[at] * 10); };
      for (to = from + 1; to < busy.size() && shade(to) == shade(from);) ++to;
      if (shade(from) == 0) continue;
      html +=
          rectangle(static_cast<double>(from) * wide, lane_height * static_cast<double>(lane) + 1,
                    static_cast<double>(to - from) * wide, lane_height - 2,
                    "class=\"on\" fill-opacity=\"" + number(static_cast<double>(shade(from)) / 10) + "\"");
    }
  }
  html += "</svg>\n";
  if (timeline.lanes.size() > lanes)
    html += "<p class=\"quiet\">The first " + std::to_string(lanes) + " of " +
            std::to_string(timeline.lanes.size()) + " lanes.</p>\n";
  return html;
}

std::string beyond(std::size_t rows, const char* what) {
  if (rows <= rows_max) return {};
  return "<p class=\"quiet\">And " + std::to_string(rows - rows_max) + " more " + what +
         "; <code>dag report --json</code> has all.</p>\n";
}

std::string waiting_part(const JobReport& report) {
  if (!report.waiting) return {};
  const Waiting& waits = *report.waiting;
  std::string html = "<h2>Waiting</h2>\n" +
                     parts("Waiting time of all tasks together", {{"dependencies", waits.dependencies},
                                                                  {"no free lane", waits.resources},
                                                                  {"lane free elsewhere", waits.queue},
                                                                  {"transfer", waits.transfer},
                                                                  {"retries", waits.retry},
                                                                  {"dispatch", waits.other}});
  html += "<p>Idle lane time: " + text_of(waits.idle) + ". Tasks were ready during " +
          text_of(waits.idle_while_ready) + " of it. Spread over nodes: " + text_of(waits.idle_scattered) +
          ".</p>\n";
  if (report.scheduled && report.with_one_more)
    html += "<p>Best schedule (estimate): " + text_of(*report.scheduled) + " on " +
            std::to_string(report.lanes.size()) + " lanes, " + text_of(*report.with_one_more) + " on " +
            std::to_string(report.lanes.size() + 1) + ".</p>\n";
  return html;
}

std::string classes_part(const JobReport& report) {
  std::vector<std::vector<Cell>> rows;
  for (std::size_t i = 0; i < std::min(report.classes.size(), rows_max); ++i) {
    const ClassReport& one = report.classes[i];
    rows.push_back({text(one.name),
                    count(one.runs),
                    count(one.failed),
                    span(one.total),
                    {percent(one.total, report.busy), true},
                    span(one.median),
                    span(one.p99),
                    span(one.longest)});
  }
  return "<h2>Tasks</h2>\n" +
         table("By name, the longest total first",
               {{"Name"},
                {"Runs", true},
                {"Failed", true},
                {"Total", true},
                {"Share", true},
                {"Median", true},
                {"p99", true},
                {"Longest", true}},
               rows) +
         beyond(report.classes.size(), "names");
}

std::string path_part(const JobReport& report) {
  if (!report.path || report.path->tasks == 0) return {};
  std::vector<std::vector<Cell>> rows;
  for (std::size_t i = 0; i < std::min(report.path->classes.size(), rows_max); ++i) {
    const PathReport::Class& one = report.path->classes[i];
    rows.push_back({text(one.name), count(one.tasks), span(one.total)});
  }
  return "<h2>Critical path</h2>\n<p>" + std::to_string(report.path->tasks) + " tasks, " +
         text_of(report.path->length) + ", " + percent(report.path->length, report.span) +
         " of the job's time: no number of lanes makes the job shorter.</p>\n" +
         table("Its tasks by name", {{"Name"}, {"Tasks", true}, {"Total", true}}, rows);
}

std::string stragglers_part(const JobReport& report) {
  if (report.stragglers.empty()) return {};
  std::vector<std::vector<Cell>> rows;
  for (const Straggler& one : report.stragglers)
    rows.push_back({text(one.name + " (" + to_string(one.task) + ")"), text(to_string(one.place)),
                    span(one.ran), span(one.median)});
  std::string html =
      "<h2>Stragglers</h2>\n" + table("Runs more than " + std::to_string(straggler_times) +
                                          " times as long as the median of their name",
                                      {{"Task"}, {"Lane"}, {"Ran", true}, {"Median", true}}, rows);
  if (report.stragglers_beyond > 0)
    html += "<p class=\"quiet\">And " + std::to_string(report.stragglers_beyond) + " more.</p>\n";
  return html;
}

std::string lanes_part(const JobReport& report, const Timeline& timeline) {
  std::vector<std::vector<Cell>> rows;
  for (std::size_t i = 0; i < std::min(report.lanes.size(), rows_max); ++i) {
    const LaneReport& lane = report.lanes[i];
    rows.push_back({text(to_string(lane.lane)),
                    count(lane.runs),
                    span(lane.busy),
                    {percent(lane.busy, report.span), true}});
  }
  return "<h2>Lanes</h2>\n" + use_picture(timeline) + lanes_picture(timeline) +
         table("In the order of the picture", {{"Lane"}, {"Runs", true}, {"Busy", true}, {"Share", true}},
               rows) +
         beyond(report.lanes.size(), "lanes");
}

}  // namespace

std::string report_page(const JobReport& report, const Timeline& timeline, JobId job,
                        const std::vector<std::string>& notices) {
  const Duration capacity = report.span * static_cast<Duration::rep>(report.lanes.size());
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
      to_string(job) + ": report</title>\n" + style + "</head><body>\n<h1>" + to_string(job) + "</h1>\n<p>" +
      std::to_string(report.tasks) + " tasks, " + std::to_string(report.runs) + " runs on " +
      std::to_string(report.lanes.size()) + " lanes in " + text_of(report.span) + "; lanes busy " +
      percent(report.busy, capacity) + ".</p>\n";
  if (report.again > Duration{0})
    html += "<p>" + text_of(report.again) +
            " went into failed and repeated runs; failures retried: " + std::to_string(report.retries) +
            ", attempts lost: " + std::to_string(report.losses) +
            ", process crashes: " + std::to_string(report.crashes) + ".</p>\n";
  if (report.unrun.others > 0)
    html += "<p>" + std::to_string(report.unrun.others) + " more tasks settled without a run.</p>\n";
  if (report.unrun.finished > 0)
    html += "<p class=\"bad\">" + std::to_string(report.unrun.finished) +
            " more tasks finished without a recorded run: a journal is missing, or dropped records.</p>\n";
  if (report.delays > 0)
    html += "<p>Scheduling delay: median " + text_of(report.delay_median) + ", p99 " +
            text_of(report.delay_p99) + " (" + std::to_string(report.delays) +
            " tasks with predecessors).</p>\n";
  for (const std::string& notice : notices) html += "<p class=\"bad\">" + xml_text(notice) + "</p>\n";
  html += lanes_part(report, timeline) + path_part(report) + waiting_part(report) + classes_part(report) +
          stragglers_part(report);
  return html + "</body></html>\n";
}

}  // namespace dag::detail

// The page of a report: complete in itself, and whatever tasks are called it stays a page.
#include "libdag/story/report_page.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

TEST_CASE("a page has the numbers of its report, and loads nothing") {
  JobReport report;
  report.runs = report.tasks = 3;
  report.unrun = {.finished = 1, .others = 2};
  report.span = 2s;
  report.busy = 3s;
  report.classes = {{"<script>alert(1)</script>&\"", 3, 1, 3, 3s, 1s, 1s, 1s}};
  report.lanes = {{{{0x10001}, 0}, 2, 2s}, {{{0x10002}, 1}, 1, 1s}};
  report.waiting = Waiting{3s, 1s, 0s, 0s, 0s, 1s, 500ms};
  report.scheduled = 2s;
  report.with_one_more = 1s;
  report.stragglers = {{{0, 5}, "train", {{0x10001}, 0}, 9s, 1s}};
  report.path = PathReport{2s, 2, 2s, {{"train", 2, 2s}}};
  Timeline timeline;
  timeline.span = 2s;
  timeline.window.columns = 4;
  timeline.lanes = {{{{0x10001}, 0}, 2, 2s, {1, 1, 1, 1}, {0, 0, 0, 0}},
                    {{{0x10002}, 1}, 1, 1s, {0, 0.5, 0.5, 1}, {}}};
  const std::string page = report_page(report, timeline, JobId{7}, {"<b>torn</b>"});
  CHECK_THAT(page, Catch::StartsWith("<!doctype html>") && Catch::EndsWith("</html>\n"));
  CHECK_THAT(page, !Catch::Contains("<script") && !Catch::Contains("http://") &&
                       !Catch::Contains("https://") && !Catch::Contains("<b>torn"));
  for (const char* part : {"&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;", "75.00 %",
                           "lane free elsewhere", "2 more tasks settled without a run",
                           "1 more tasks finished", "Best schedule (estimate): ", "train (5)", "n1/w1",
                           "&lt;b&gt;torn", "Share of lanes that were busy", "fill-opacity=\"0.50\""}) {
    CHECK_THAT(page, Catch::Contains(part));
  }
  // Opened elements are closed.
  for (const char* element : {"table", "svg", "tr", "div", "p", "h2", "body"}) {
    const auto times = [&](const std::string& text) {
      std::size_t count = 0;
      for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) ++count;
      return count;
    };
    INFO(element);
    const std::string name = element;
    CHECK(times("<" + name + ">") + times("<" + name + " ") == times("</" + name + ">"));
  }
}

TEST_CASE("of a job in which nothing ran there is a page, too") {
  const std::string page = report_page({}, {}, JobId{7}, {});
  CHECK_THAT(page, Catch::Contains("0 tasks, 0 runs") && Catch::EndsWith("</html>\n"));
}

#include "examples/train_gpt/plot.hpp"

#include <catch2/catch.hpp>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>

using namespace gpt;

namespace {

/// Enough of XML to catch what goes wrong in practice: tags nest, attributes are quoted, '&' starts an
/// entity.
std::string complaint(std::string_view xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size();) {
    if (xml[at] == '&' && xml.substr(at, 12).find(';') == std::string_view::npos) return "bare &";
    if (xml[at] == '>') return "bare >";
    if (xml[at] != '<') {
      ++at;
      continue;
    }
    const std::size_t end = xml.find('>', at);
    if (end == std::string_view::npos) return "a tag does not end";
    std::string_view tag = xml.substr(at + 1, end - at - 1);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0)
      return "an open quote in <" + std::string(tag) + ">";
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (name[0] == '/') {
      if (open.empty() || "/" + open.back() != name) return "<" + name + "> closes nothing";
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

}  // namespace

TEST_CASE("train_gpt: the plot is well-formed and holds both curves, whatever the losses") {
  Plot plot{"loss of <gpt> & \"friends\"\x01", {}, {}};
  for (int step = 0; step < 40; ++step) plot.training.push_back({step + 1.0, 5.5 * std::exp(-step / 20.0)});
  plot.validation = {{10, 4.0}, {20, 3.0}};
  const std::string svg = to_svg(plot);
  CHECK(complaint(svg) == "");
  CHECK_THAT(svg, Catch::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK_THAT(svg, Catch::Contains("loss of &lt;gpt&gt; &amp; &quot;friends&quot;<"));
  CHECK_THAT(svg,
             Catch::Contains(">training<") && Catch::Contains(">validation<") && Catch::Contains(">step<"));
  CHECK_THAT(svg, !Catch::Contains("nan") && !Catch::Contains("inf"));

  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::vector<PlotPoint>& points : {std::vector<PlotPoint>{},
                                               {{1, 2}},
                                               {{1, 2}, {2, 2}},
                                               {{1, std::nan("")}, {2, infinity}, {3, 1e-9}},
                                               {{5e6, 1e9}}}) {
    const std::string other = to_svg({"", points, {}});
    CHECK(complaint(other) == "");
    CHECK_THAT(other, !Catch::Contains("nan") && !Catch::Contains("inf"));
  }
  CHECK_THAT(to_svg({"", {}, {}}), Catch::Contains("no losses yet"));
}

TEST_CASE("train_gpt: ticks are round numbers that cover the range") {
  CHECK(ticks({0.0, 40.0, 8}) == std::vector<double>{0, 5, 10, 15, 20, 25, 30, 35, 40});
  CHECK(ticks({2.6, 5.55, 6}).front() == Approx(2.5));
  CHECK(ticks({2.6, 5.55, 6}).back() == Approx(6.0));
  for (const TickRange& range :
       {TickRange{0, 1e-6, 5}, TickRange{1e5, 1e5, 5}, TickRange{-3, 17, 6}, TickRange{0, 1, 1}}) {
    const std::vector<double> at = ticks(range);
    CHECK(at.size() >= 2);
    CHECK(at.size() <= 14);
    CHECK(at.front() <= range.from + 1e-12);
    CHECK(at.back() >= range.to - 1e-12);
  }
}

#include "nodes/http/metrics_text.hpp"

#include <charconv>
#include <cmath>

#include "libdag/graph/text.hpp"

namespace dag::web {
namespace {

std::string written(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return {digits, end};
}

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : printable(std::string(text))) {
    if (c == '\\' || c == '"') all += '\\';
    all += c == '\n' ? ' ' : c;
  }
  return all;
}

}  // namespace

void MetricsText::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  head_ = "# HELP " + name_ + " " + std::string(help) + "\n# TYPE " + name_ + " " + std::string(type) + "\n";
}

void MetricsText::begin_family() {
  text_ += head_;
  head_.clear();
}

void MetricsText::add(double value, const Labels& labels) {
  begin_family();
  line("", value, labels);
}

void MetricsText::add_summary(std::uint64_t count, double sum, const Labels& labels) {
  begin_family();
  line("_sum", sum, labels);
  line("_count", static_cast<double>(count), labels);
}

void MetricsText::line(std::string_view suffix, double value, const Labels& labels) {
  text_ += name_;
  text_ += suffix;
  const char* before = "{";
  for (const auto& [label, of] : labels) {
    text_ += before;
    text_ += label;
    text_ += "=\"" + escaped(of) + '"';
    before = ",";
  }
  text_ += labels.empty() ? " " : "} ";
  text_ += written(value) + '\n';
}

void MetricsText::histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                            std::span<const std::uint64_t> counts, double sum) {
  family(name, "histogram", help);
  begin_family();
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    line("_bucket", static_cast<double>(below), {{"le", i < bounds.size() ? written(bounds[i]) : "+Inf"}});
  }
  line("_sum", sum, {});
  line("_count", static_cast<double>(below), {});
}

}  // namespace dag::web

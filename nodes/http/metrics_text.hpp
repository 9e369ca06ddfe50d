#pragma once
// Prometheus's text format, version 0.0.4. Decides the format, not the set of
// metrics.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dag::web {

class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  // A family, then its values. One without values is left out.
  void gauge(std::string_view name, std::string_view help) { family(name, "gauge", help); }
  /// The name ends with _total.
  void counter(std::string_view name, std::string_view help) { family(name, "counter", help); }
  void add(double value, const Labels& labels = {});
  void summary(std::string_view name, std::string_view help) { family(name, "summary", help); }
  /// The number of observations, and their sum.
  void add_summary(std::uint64_t count, double sum, const Labels& labels = {});

  /// A family of one value. `counts`: observations of at most bounds[i] and more than bounds[i - 1]; the last
  /// one, which has no bound, those of more than all.
  void histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                 std::span<const std::uint64_t> counts, double sum);

  const std::string& text() const { return text_; }

 private:
  void family(std::string_view name, std::string_view type, std::string_view help);
  void begin_family();
  void line(std::string_view suffix, double value, const Labels& labels);

  std::string name_, head_;  ///< of the family that is open
  std::string text_;
};

/// The content type of a page of metrics.
inline constexpr std::string_view metrics_type = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace dag::web

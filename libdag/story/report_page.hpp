#pragma once
// A report as a page: a self-contained file that a browser opens without a net. Each picture has its numbers
// beside it.

#include <string>
#include <vector>

#include "libdag/story/report.hpp"
#include "libdag/story/timeline.hpp"

namespace dag::detail {

/// Columns of the page's timeline.
inline constexpr std::size_t report_page_columns = 240;

/// `notices`: gaps of the journals.
std::string report_page(const JobReport& report, const Timeline& timeline, JobId job,
                        const std::vector<std::string>& notices);

}  // namespace dag::detail

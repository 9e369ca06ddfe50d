#pragma once
// A report as a page of its own: one file, with what it needs in it, that a browser opens without a net. Each
// picture has its numbers beside it.

#include <string>
#include <vector>

#include "libdag/story/report.hpp"
#include "libdag/story/timeline.hpp"

namespace dag::detail {

/// Of the timeline that it wants.
inline constexpr std::size_t report_page_columns = 240;

/// `notices`: what could not be read.
std::string report_page(const JobReport& report, const Timeline& timeline, JobId job,
                        const std::vector<std::string>& notices);

}  // namespace dag::detail

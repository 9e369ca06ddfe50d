#pragma once
// Requests of `dag submit` to the job it starts, in environment variables: only to summarise its graph, or to
// end as soon as a cluster has the job.

#include <functional>
#include <string>

#include "dag/detail/fragment.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/result.hpp"

namespace dag::detail {

/// Summary of a graph, for people or (`as_json`) programs: tasks, edges, and the critical path where
/// durations are stated. The fragment has passed the checks.
std::string summary(const Fragment& fragment, const std::string& title, bool as_json);

/// If DAG_SUBMITTED is the number of an open pipe: writes there, once, that this program submits a job. The
/// parent process tells jobs from other programs by that.
void say_submitted();

/// If DAG_DRY_RUN is set (`json`: for programs): checks the graph, asks whether the cluster would accept the
/// job, prints the graph's summary and ends the process with 0, or with 4 and the reason. Otherwise does
/// nothing.
void end_if_dry_run(const Fragment& fragment, const std::string& title,
                    const std::function<Status()>& possible);

/// If DAG_DETACH is set (`json`: for programs) and the job runs in the cluster at DAG_ADDRESS: prints its id
/// and ends the process with 0. Otherwise does nothing.
void end_if_detached(JobId job);

}  // namespace dag::detail

#pragma once
// What `dag submit` asks of the job it starts, by variables of the environment: only to look at its graph, or
// to end as soon as a cluster has the job.

#include <functional>
#include <string>

#include "dag/detail/fragment.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/result.hpp"

namespace dag::detail {

/// What the graph comes to, for people or (`as_json`) programs: tasks, edges, and the critical path where
/// durations are stated. The fragment has passed the checks.
std::string summary(const Fragment& fragment, const std::string& title, bool as_json);

/// When DAG_SUBMITTED is the number of an open pipe: says there, once, that this program submits a job.
/// Whoever started it tells a job from other programs by that.
void say_submitted();

/// When DAG_DRY_RUN is set (`json`: for programs): checks the graph, asks whether the cluster would accept
/// the job, prints the graph's summary and ends the process with 0, or with 4 and the reason. Otherwise does
/// nothing.
void end_if_dry_run(const Fragment& fragment, const std::string& title,
                    const std::function<Status()>& possible);

/// When DAG_DETACH is set (`json`: for programs) and the job runs in the cluster at DAG_ADDRESS: prints its
/// id and ends the process with 0. Otherwise does nothing.
void end_if_detached(JobId job);

}  // namespace dag::detail

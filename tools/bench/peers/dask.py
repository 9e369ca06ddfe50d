#!/usr/bin/python3
"""Dask distributed: two worker processes of one thread each, Task Bench's stencil_1d with empty tasks.

Answers like every peer (peer.hpp), and knows one pattern: it is here to show the order of magnitude of a central
scheduler.
"""

import json
import sys
import time


def task(step, point, inputs):
    """Leaves its name, after a look at whose names its inputs carry."""
    if step > 0 and any(before_step != step - 1 or abs(before - point) > 1 for before_step, before in inputs):
        raise RuntimeError("a task got the input of another one")
    return (step, point)


def stencil(steps, width, run):
    """The graph; keys name the run, since Dask answers from memory what it has computed before."""

    def name(step, point):
        return f"task-{run}-{step}-{point}"

    graph = {}
    for step in range(steps):
        for point in range(width):
            before = range(max(0, point - 1), min(point + 2, width)) if step > 0 else ()
            graph[name(step, point)] = (task, step, point, [name(step - 1, one) for one in before])
    return graph, [name(steps - 1, point) for point in range(width)]


def main():
    if len(sys.argv) < 2 or len(sys.argv) % 2:
        sys.exit(f"usage: {sys.argv[0]} WORKLOAD [--option value]...")
    options = {name[2:]: value for name, value in zip(sys.argv[2::2], sys.argv[3::2])}
    if sys.argv[1] != "patterns" or options.get("pattern") != "stencil_1d" or options.get("iterations") != "0":
        sys.exit("this peer has empty stencils only")
    steps, width = int(options["steps"]), int(options["width"])
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                      host="127.0.0.1", silence_logs=40) as cluster, Client(cluster) as client:
        for run in range(2):  # The first one warms up.
            start = time.monotonic()
            graph, last = stencil(steps if run else 3, width, run)
            left = client.get(graph, last)
            total = time.monotonic() - start
        if left != [(steps - 1, point) for point in range(width)]:
            sys.exit("another result than the graph's")
    print(json.dumps({"total@0": total}))


if __name__ == "__main__":
    main()

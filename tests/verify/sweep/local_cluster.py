"""A Dask cluster of this machine as a process of its own, to be scaled, asked and killed.

Prints its address; then answers each line on standard input with one on standard output.
"""

import json
import logging
import sys

import dask
from distributed import LocalCluster


def main() -> None:
    workers, threads, *preload = sys.argv[1:]
    # Two workers that die with a chunk are enough, of four by default.
    dask.config.set({"distributed.scheduler.allowed-failures": 1})
    cluster = LocalCluster(
        n_workers=int(workers),
        threads_per_worker=int(threads),
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
        preload=preload,
    )
    say(cluster.scheduler_address)
    for line in sys.stdin:
        request, *count = line.split()
        if request == "scale":
            cluster.scale(int(*count))
        if request == "keep":  # also when Dask gives up workers that die too soon
            cluster.adapt(minimum=int(*count), maximum=int(*count), interval="500ms")
        say(
            {
                "tasks": len(cluster.scheduler.tasks),
                "pids": [worker.pid for worker in cluster.scheduler.workers.values()],
                "addresses": list(cluster.scheduler.workers),
            }
        )


def say(answer: object) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

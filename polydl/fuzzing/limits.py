"""Limits of processor time, which a busy machine does not use up as it does those of the clock."""

from __future__ import annotations

import math
import resource


def limit_processor_seconds(seconds: float) -> None:
    """Let this process use so many seconds of processor time from now on; then SIGXCPU ends it.

    The limit is taken anew with each call. Processes that this one starts from now on have one as large, at least.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    limit = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))

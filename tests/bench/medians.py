"""What many runs of some commands come to: medians of the rounds, and of the ratios of each round."""

import statistics


def times(costs, others):
    """How many times the processor time of the others these cost: the median of the pairs."""
    pairs = zip(costs, others, strict=True)
    return statistics.median(one.processor / max(other.processor, 1e-6) for one, other in pairs)


def rows(costs, modules):
    """Medians of each, and how many times as much as the first it costs; the status of one that failed."""
    first, *_ = costs.values()
    return [
        {
            "name": name,
            "processor_ms": round(1000 * statistics.median(one.processor for one in each), 1),
            "wall_ms": round(1000 * statistics.median(one.time for one in each), 1),
            "memory_mib": round(statistics.median(one.memory for one in each), 1),
            "times": None if each is first else round(times(each, first), 2),
            "status": next((one.status for one in each if one.failed), None),
            "modules": modules.get(name),
        }
        for name, each in costs.items()
    ]


def written(table):
    """A table for whoever waits for it."""
    lines = [f"\n{table['title']}, medians of {table['rounds']}"]
    for row in table["rows"]:
        more = "" if row["times"] is None else f"   {row['times']:5.2f} times the processor time"
        more += "" if row["status"] is None else f"   exit status {row['status']}"
        more += "" if row["modules"] is None else f"   {row['modules']} modules"
        lines.append(
            f"  {row['name']:40} {row['processor_ms']:8.1f} ms processor"
            f" {row['wall_ms']:8.1f} ms {row['memory_mib']:6.1f} MiB{more}"
        )
    return "\n".join(lines)

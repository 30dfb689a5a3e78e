"""The first line of what a run says."""


def first_line(text):
    """Its words."""
    return text.splitlines()[0].partition(" | ")[0]


def perfdata(text):
    """Its numbers with their limits, by label."""
    items = text.splitlines()[0].partition(" | ")[2].split()
    return dict(item.split("=") for item in items)

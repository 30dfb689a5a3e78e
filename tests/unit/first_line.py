"""The first line of what a run says."""


def first_line(text):
    """Its words."""
    return text.splitlines()[0].partition(" | ")[0]


def perfdata(text):
    """Its numbers with their limits, by label."""
    items = text.splitlines()[0].partition(" | ")[2].split()
    return dict(item.split("=") for item in items)


def sentence(text):
    """What is wrong first, "WHAT: NEXT STEP", with the whole step: the first line may have a part of it."""
    what, _, step = first_line(text).partition(" - ")[2].partition(" - ")
    below = [line for line in text.splitlines()[1:] if line.startswith("  ")]
    whole = [line.removeprefix("  next step: ") for line in below if line.startswith("  next step: ")]
    step = whole[0] if whole else step
    return f"{what}: {step}" if step else what

"""What a run says is wrong first, with its whole next step."""


def sentence(text):
    """Give it as "WHAT: NEXT STEP": the first line may have only a part of the step."""
    first, *below = text.splitlines()
    what, _, step = first.partition(" | ")[0].partition(" - ")[2].partition(" - ")
    head = "  next step: "
    step = next((line.removeprefix(head) for line in below if line.startswith(head)), step)
    return f"{what}: {step}" if step else what

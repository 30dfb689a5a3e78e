"""The highest rate that is sustained: higher while it is, lower while it is not, then between the two.

Rates are rungs, each STEP times the one below. A rung is tried until two more trials say of it that it is
sustained than that it is not, or the other way round: one trial has bad luck or good. One that stays
undecided is too high.
"""

STEP = 1.05
SURE = 2  # trials more on one side than on the other
UNDECIDED = 4  # trials of a rung, after which it counts as not sustained unless they agree
TRIALS = 10  # of one command, at most


def rate(guess, rung):
    """Checks a second; rung 0 is the guess."""
    return guess * STEP**rung


def margin(trials):
    """How many trials more say that it is sustained than that it is not, which it is not if they disagree."""
    found = sum(1 if trial.sustained else -1 for trial in trials)
    return -SURE if len(trials) >= UNDECIDED and abs(found) < SURE else found


def highest(tried):
    """The highest rung that is sustained by what was tried, the Trials by rung; None: none is."""
    return max((rung for rung, trials in tried.items() if margin(trials) > 0), default=None)


def told(tried):
    """The last trial of the highest rung that was sustained; of the lowest, if none is."""
    found = highest(tried)
    trials = tried[min(tried) if found is None else found]
    return next((trial for trial in reversed(trials) if trial.sustained), trials[-1])


def is_sure(tried):
    """Whether trials agree on the highest rung and on the next."""
    low = highest(tried)
    return low is not None and margin(tried[low]) >= SURE and margin(tried.get(low + 1, ())) <= -SURE


def following(tried):
    """The rung to try next; None: the highest that is sustained is known, or it took too long."""
    if not tried:
        return 0
    if sum(map(len, tried.values())) >= TRIALS:
        return None
    low, top, bottom = highest(tried), max(tried), min(tried)
    stride = len(tried)  # wider and wider
    if low is None:
        return bottom if margin(tried[bottom]) == 0 else bottom - stride
    broken = [rung for rung, trials in tried.items() if rung > low and margin(trials) < 0]
    if not broken:
        return top if top > low else low + stride
    high = min(broken)
    if high - low > 1:
        return (low + high) // 2
    return next((rung for rung in (low, high) if abs(margin(tried[rung])) < SURE), None)

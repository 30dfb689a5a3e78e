"""Whether a change made a difference: what a plugin reported before it, beside what it reports after it.

The method of "Optimizing your MySQL Tuning Methodology": a hypothesis, one change, and then the primary
measure first. If that is worse, the experiment has failed, whatever else is better.
"""

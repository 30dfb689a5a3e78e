"""All thread pools and connection pools of a JVM at one look: who is blocked, what that means, what to do.

In the order of the road: `options` (what may be asked for, and default thresholds), `probe` (one run, step by
step: start reading here), `queries` and `collect` (which MBeans are asked, and what they show), `model` (a
pool and its numbers), `diagnosis` (what is wrong, and the rules of why), `messages` (words and numbers for
it). `declared` has the labels of the perfdata. `families` declares where which server keeps its numbers, and
what a block in which pool means, as data: the next server is a few more lines there.
"""

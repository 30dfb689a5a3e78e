"""Bonded network interfaces: whether each has all its links, in the mode that was meant.

In the order of the road: `options`, `probe` (one run, step by step, and what is kept for the next run: start
reading here), `model` (a bond and its links, as the kernel describes them), `diagnosis` (what is wrong),
`messages` (words and numbers for it). `declared` has the labels of the perfdata.
"""

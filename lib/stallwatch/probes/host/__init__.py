"""What a host does: processors, disks, memory, swapping, network.

In the order of the road: `options`, `probe` (one run, step by step: start reading here), `collect` (what the
kernel counts, of which disks), `model` (what that is between two looks), `diagnosis` (what is wrong),
`messages` (words and numbers for it). `declared` has the labels of the perfdata.
"""

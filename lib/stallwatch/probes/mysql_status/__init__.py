"""Every number of SHOW GLOBAL STATUS: what counts up as rates, what is at its limit, what is unusual.

In the order of the road: `options` (what may be asked for), `selection` (which numbers and ranges the user
chose), `probe` (one run, step by step, and the numbers that it shows: start reading here), `collect` (what a
server and its reference are asked), `model` (what that is), `kinds` (which variables count up), `sets` (what
numbers mean, and their limits), `diagnosis` (what is judged, and what lasts), `reference` (what differs from
another server). `declared` has the labels of the perfdata.
"""

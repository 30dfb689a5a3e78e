"""Every number of SHOW GLOBAL STATUS: what counts up as rates, what stands at its limit, what is unusual.

In the order of the road: `options` (what may be asked for), `probe` (one run, step by step: start reading
here), `selection` (which numbers the user chose), `collect` (what a server and its reference are asked),
`model` (what that is), `kinds` (which variables count up), `sets` (what numbers mean, and their limits),
`diagnosis` (what is judged, and what lasts), `reference` (what differs from another server), `messages`
(words and numbers for it). `declared` has the labels of the perfdata.
"""

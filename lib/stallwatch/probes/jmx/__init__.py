"""Attributes of MBeans as quantities: numbers to judge, text to match, what changed between two runs.

In the order of the road: `options` and `arguments` (what may be asked for, and what that means), `probe`
(one run, step by step: start reading here), `collect` with `reader`, `values`, `scale`, `moments` and
`changes` (what each bean shows), `model` (what a quantity is, and what it is called), `diagnosis` (what may
have been meant by what is not there), `messages` (words and numbers for it). `declared` has labels, services
and panels. `listing` shows all that there is to ask for.
"""

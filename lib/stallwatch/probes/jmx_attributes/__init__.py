"""Attributes of MBeans as quantities: numbers to judge, text to match, what changed between two runs.

`quantity` is what was asked for; `reader` has the values; `sample` is what one bean says, by way of `path`,
`numbers`, `scale`, `changes` and `renamed`; `look` gathers the samples of a quantity, `telling` makes
readings of them, named by `naming`; `missing` and `near` explain what is not there.
"""

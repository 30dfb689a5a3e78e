"""All thread pools and connection pools of a JVM at one look: who is blocked, what that means, what to do.

`families` declares where which server keeps its numbers and `meanings` what a block in which pool means, both
pure data: the next server is a few more lines there. `finding` finds the pools of a JVM, `pool` is one of
them, `judging` says which of its numbers count, `words` what there is to say; `look` does it all once.
"""

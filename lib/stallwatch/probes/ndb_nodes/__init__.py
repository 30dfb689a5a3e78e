"""The data nodes of a cluster: who is up, who is not and what that means, and how they are.

``look`` begins: it has the order of things. Who is there comes first, and is told whatever fails later::

    presence            asks who is there, and puts together:
        status              what each node is: up, starting, stopping, missing
        management          what the management server says of those that do not answer
        groups              which nodes hold the same data
    telling, advice     say it

Then one subject after the other, the most important first; each may fail, or be left out where time is
short (``subjects``)::

    restarts, configuration, arbitrator, transporters, threads, certificates, overview (the table of -v)

``clocks`` know how long something has lasted, ``counting`` what was counted since the last look.
"""

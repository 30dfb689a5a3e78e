"""What the probes of NDB Cluster share that read ndbinfo: `queries`, `cluster`, what both need of an account.

Facts of ndbinfo are of the 9.7.2 source and of a real cluster of that version, unless said otherwise.
"""

"""Bonded network interfaces: modes, links, LACP, and what has happened to them between runs."""

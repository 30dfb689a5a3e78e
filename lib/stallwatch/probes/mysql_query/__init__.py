"""Asking a server one query many times, as an application would: does it answer, how fast, and what?"""

"""Comes to its end without having looked at anything.

Expected: inconclusive
"""

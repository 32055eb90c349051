"""Learners: how a trace becomes lessons and how lessons become operations on a playbook."""

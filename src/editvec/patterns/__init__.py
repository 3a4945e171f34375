"""Recurring edits of a history: group and name them, learn rules from them, find and edit the remaining matches."""

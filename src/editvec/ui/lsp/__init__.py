"""The language server: suggestions, due patterns and their edits, in editors."""

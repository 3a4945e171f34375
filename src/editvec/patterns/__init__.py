"""The edits that a history keeps making: grouping, naming, learning them and finding where they are due."""

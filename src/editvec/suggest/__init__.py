"""Find where else an edit belongs, and what should stand there."""

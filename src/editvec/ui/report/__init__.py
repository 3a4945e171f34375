"""What a person looks at. Everything that comes from an edit is escaped."""

"""What people look at: reports, pages and served pages. Everything that comes from an edit is escaped."""

"""Reports, drawings and local web pages. Everything that comes from an edit is escaped."""

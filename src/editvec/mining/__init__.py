"""Mining: turns the git history of a repository into edits, by recipes that filter and deduplicate them."""

"""Reports, maps and drawings as HTML, SVG, PNG and SARIF. Everything that comes from an edit is escaped."""

"""Edit → Example → Batch, and the order in which training sees them."""

"""Edit encoders, neural editors, and the models that combine them."""

"""Edit encoders and neural editors, and the models that hold them."""

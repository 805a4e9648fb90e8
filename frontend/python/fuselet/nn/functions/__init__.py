"""Functions of nn.functional that are long enough for a file of their own family; `nn/functional.py` joins them."""

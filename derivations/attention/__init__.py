"""Attention maps other than softmax, and how far softmax reaches beyond them."""

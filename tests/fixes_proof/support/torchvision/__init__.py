"""Stands in for torchvision, which the tests do not install: the bytes of a file are the image."""

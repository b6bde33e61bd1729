"""Check Pallas TPU kernels for every order of their steps."""

"""Networks that rank, trained with PyTorch: the extra `toprank[torch]`."""

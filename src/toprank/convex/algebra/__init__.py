"""What the minimisers share: designs, row systems, Newton's method, kernels as features."""

"""The list: who stands where and why, which groups are within the budget, and all there is to say of it."""

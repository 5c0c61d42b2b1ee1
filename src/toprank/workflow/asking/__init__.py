"""What the user wants: a statistic, a budget, a ranker, demands on it; checked before any work is done."""

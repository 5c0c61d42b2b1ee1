"""The p-norm push and RankBoost: Newton's method and boosting."""

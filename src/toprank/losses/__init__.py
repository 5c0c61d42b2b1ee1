"""Convex stand-ins for rank statistics: functions of scores and labels, never of features."""

"""Mixed-integer programs: as published, ours, and the solvers behind them."""

"""Signs and sums without rounding: whole numbers, and floats where rounding cannot matter."""

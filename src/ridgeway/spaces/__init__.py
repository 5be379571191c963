"""Where experiments can be made: boxes with constraints, steps and categories, and pools of points of any size."""

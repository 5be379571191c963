"""The paper's tables and figures, and what stands beside them: ``ridgeway reproduce``.

Each table is a list of *cells* (:mod:`ridgeway.experiments.cells`), each with its own seed, saved as soon as
it is finished.
"""

"""``rw.fit`` and the :class:`Belief` it returns: predictions, the embedding, diagnostics, files and summaries."""

"""The ways a list comes about: of a table in memory, of files in passes, of a saved model over a stream."""

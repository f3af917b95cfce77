"""Nodes of a cluster that compile and time: an executor on Dask's ``distributed`` (the extra ``polydl[cluster]``)."""

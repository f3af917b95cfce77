"""From a nest to its fastest variant: the stages of ``polydl optimize``, joined in ``optimize.py``."""

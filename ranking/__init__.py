"""Which variant first: rankers order candidates by their working sets and predicted work.

The contract is ``polydl.contracts.Ranker`` over ``polydl.contracts.Candidate``.
"""

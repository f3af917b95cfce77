"""What plug-ins are written against: values of matrix products, candidates, and the protocols of their parts."""

from polydl.contracts.microkernel import (
    Ability,
    CallArguments,
    EmittedSite,
    FormulaConstants,
    GemmShape,
    GemmSite,
    Microkernel,
    Requirement,
    StridePattern,
)
from polydl.contracts.ranking import Calls, Candidate, MeasuredNest, Outlook, Ranker, TrainedRanker, Trainer

__all__ = [
    "Ability",
    "CallArguments",
    "Calls",
    "Candidate",
    "EmittedSite",
    "FormulaConstants",
    "GemmShape",
    "GemmSite",
    "MeasuredNest",
    "Microkernel",
    "Outlook",
    "Ranker",
    "Requirement",
    "StridePattern",
    "TrainedRanker",
    "Trainer",
]

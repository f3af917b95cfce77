"""What rewrites are for, in words that pins, picks and rankers go by; a plug-in may have others of its own.

When a rewrite is proposed, and for what, is its ``polydl.rewrite_contract.Phase``.
"""

from __future__ import annotations

# Statements of different nests put into the same loops.
FUSION = "fusion"
# Loops made rectangular.
PADDING = "padding"
# Operands of products made elements of arrays.
OPERANDS = "operands"
# Arrays or loops that lie otherwise, for the sake of a microkernel.
LAYOUT = "layout"
# Operands copied into another layout.
PACKING = "packing"
# Products computed in fewer multiplications, which rounds in another way.
BILINEAR = "bilinear"
# Products of blocks that are cut up once more: how they are cut says most of what there is to say of a variant.
RECURSIVE = "recursive"
# Other orders of all statements that share an outermost loop.
SCHEDULING = "scheduling"

"""What rewrites are for, in words that picks and rankers go by; a plug-in may have others of its own."""

from __future__ import annotations

# Statements of different nests put into the same loops.
FUSION = "fusion"
# Loops made rectangular. All statements that can be padded are, and other rewrites are tried after that as well.
PADDING = "padding"
# Operands of products made elements of arrays. All statements for which that is proposed get it, and other rewrites are
# tried after that as well.
OPERANDS = "operands"
# Arrays or loops that lie otherwise, for the sake of a microkernel.
LAYOUT = "layout"
# Operands copied into another layout.
PACKING = "packing"
# Products computed in fewer multiplications, which rounds in another way.
BILINEAR = "bilinear"
# Products of blocks that are cut up once more: how they are cut says most of what there is to say of a variant.
RECURSIVE = "recursive"
# Other orders of all statements that share an outermost loop, which need not have their loops to themselves.
SCHEDULING = "scheduling"

"""Failures in files: the C, the variant, and what it takes to try them again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from polydl.errors import OptionError
from polydl.fuzzing.examine import Failure
from polydl.fuzzing.generator import Case, Conditions
from polydl.ir.variant import Variant
from polydl.system.files import reason_of, text_of, write_atomically
from polydl.variant_json import variant_from_json

SOURCE, STEPS, DESCRIPTION = "nest.c", "variant.json", "finding.json"


@dataclass(frozen=True)
class Finding:
    """A failure with the case in which it was seen, made smaller if there was time."""

    case: Case
    failure: Failure
    #: whether the case was made smaller
    reduced: bool


def write(finding: Finding, directory: Path, compiler: Mapping[str, Any]) -> Path:
    """Write a finding to a folder of its own in the directory; the path of its description.

    ``compiler`` has the command and the flags of the variants' compiler.
    """
    case, failure = finding.case, finding.failure
    # One nest may fail in several ways of one kind.
    signature = hashlib.sha256(failure.signature.encode()).hexdigest()[:8]
    folder = directory / f"{case.name.replace(':', '-')}-{failure.kind}-{signature}"
    source, steps, description = (folder / name for name in (SOURCE, STEPS, DESCRIPTION))
    write_atomically(source, case.text)
    defines = [f"-D {name}={value}" for name, value in case.defines.items()]
    command = None
    if failure.variant is not None:
        write_atomically(steps, json.dumps(failure.variant.to_json(), indent=2) + "\n")
        options = [*defines, f"--variant {STEPS}", f"--microkernel {case.conditions.microkernel}"]
        options.append(f"--numerics {case.conditions.numerics}")
        command = f"polydl optimize {SOURCE} {' '.join(options)} --threads {case.conditions.threads}"
    document = {
        "name": case.name,
        "kind": failure.kind,
        "signature": failure.signature,
        "message": failure.message,
        "nest": case.kind,
        "defines": dict(case.defines),
        "conditions": asdict(case.conditions),
        "reduced": finding.reduced,
        "steps": None if failure.variant is None else failure.variant.to_json(),
        "compiler": dict(compiler),
        "replay": f"polydl fuzz --replay {description}",
        "optimize": command,
    }
    write_atomically(description, json.dumps(document, indent=2) + "\n")
    return description


def read(path: Path) -> tuple[Case, tuple[Variant, ...], dict[str, Any]]:
    """The case and the variant of a finding, and its description. Raises OptionError."""
    try:
        document = json.loads(text_of(path))
        text = text_of(path.parent / SOURCE)
        conditions = document["conditions"]
        case = Case(
            document["name"],
            document["nest"],
            text,
            {str(name): int(value) for name, value in document["defines"].items()},
            Conditions(**{**conditions, "cache_bytes": tuple(conditions["cache_bytes"])}),
        )
        steps = document["steps"]
        return case, () if steps is None else (variant_from_json(steps),), document
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OptionError(
            f"no finding can be read: {reason_of(error)}",
            file=str(path),
            remedy=f"name a {DESCRIPTION} that `polydl fuzz` wrote",
        ) from None

"""From a schedule to C."""

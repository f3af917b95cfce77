"""What this machine can do, measured once: its speeds, and those of each microkernel."""

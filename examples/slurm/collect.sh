#!/bin/bash
# A job array in which every task measures its share of some nests, alone on a node of one type:
#   sbatch --array=1-8 collect.sh --suite resnet
# then, when all tasks have ended:
#   polydl records merge records/*
#SBATCH --job-name=polydl-collect
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --time=03:00:00
set -euo pipefail

task=${SLURM_ARRAY_TASK_ID:?submit it as a job array, with --array=1-N}
# The parts are numbered from 1 whatever the array begins with.
part=$((task - ${SLURM_ARRAY_TASK_MIN:-1} + 1))
records=${POLYDL_RECORDS:-records}/$part

# A task that was killed goes on where it was, since what its records hold is not measured again.
exec polydl collect "$@" --shard "$part/${SLURM_ARRAY_TASK_COUNT:?}" --records "$records"

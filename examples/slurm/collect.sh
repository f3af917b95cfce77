#!/bin/bash
# A job array in which every task measures its share of some nests, alone on a node of one type:
#   sbatch --array=1-8 collect.sh --suite resnet
# One task that was killed, of such an array of eight:
#   POLYDL_PARTS=8 sbatch --array=3 collect.sh --suite resnet
# When all tasks have ended:
#   polydl records merge records/*
#SBATCH --job-name=polydl-collect
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --time=03:00:00
set -euo pipefail

part=${SLURM_ARRAY_TASK_ID:?submit it as a job array, with --array=1-N}
count=${SLURM_ARRAY_TASK_COUNT:?}
parts=${POLYDL_PARTS:-$count}
# Tasks that are submitted again don't tell of how many they are a part.
if [[ -z ${POLYDL_PARTS:-} && ($count == 1 || $SLURM_ARRAY_TASK_MIN-$SLURM_ARRAY_TASK_MAX != "1-$count") ]]; then
    echo "tasks $SLURM_ARRAY_TASK_MIN to $SLURM_ARRAY_TASK_MAX are no array of 1-N: set POLYDL_PARTS to N" >&2
    exit 2
fi
records=${POLYDL_RECORDS:-records}/$part

# A task that was killed goes on where it was, since what its records hold is not measured again.
exec polydl collect "$@" --shard "$part/$parts" --records "$records"

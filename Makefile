# polydl from a fresh clone: `make optimize` shows the main job, `make install` brings the command, `make test` runs the
# tests.
# Everything that is installed goes into .venv, except Debian packages, which need root.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help optimize install check test test-slow test-all bench polybench bench-analysis lint types format schema man clean FORCE

SOURCE ?= examples/conv.c
# Innermost first, such as 32K,1M,36608K; without any, those of the machine.
CACHE_SIZES ?=
SUITE ?= resnet
THREADS ?= 1

BIN := .venv/bin
# One more than there are processors, since tests wait for what they start and stop.
PYTEST := $(BIN)/pytest --numprocesses $(shell expr $$(nproc) + 1) --dist worksteal
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
FOLDERS := variants microkernels ranking fusion
# Of these files, what needs no compiler.
CHECKED := $(addprefix tests/test_,$(addsuffix .py,\
	apply decision_tree decisions drawn_steps first_cache fuzzing golden imports lazy_imports learned_rankers legality loop_ir \
	machine_constants names nest_decisions parallel_loops passes_accumulators passes_common_values \
	passes_epilogue passes_next_tiles passes_private_arrays passes_scalar_replacement passes_sums passes_threads \
	passes_unroll picks pins plugin_rewrite ranking registry rewrites substitution))
BUILT_FROM := pyproject.toml CMakeLists.txt $(wildcard polydl/native/*.[ch] polydl/native/*.cmake)
INSTALLED := .venv/installed
INSTALLED_DEV := .venv/installed-dev
INSTALLED_BENCH := .venv/installed-bench
INSTALLED_ALL := .venv/installed-all
EVERYTHING := .[dev,bench,train,cluster,onnx]
# polydl ships none of it; its licence is in the folder.
POLYBENCH := build/polybench
POLYBENCH_URL := https://github.com/MatthiasJReisinger/PolyBenchC-4.2.1
POLYBENCH_COMMIT := 3e872547cef7e5c9909422ef1e6af03cf4e56072
# A user-wide pip setting must not send packages outside of .venv.
export PIP_USER := 0
# Without its bytecode, each process of polydl takes 0.8 s longer to start; the tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

optimize: $(INSTALLED) ## install what is missing, then optimize SOURCE (for CACHE_SIZES in place of this machine's)
	$(BIN)/polydl optimize $(SOURCE)$(if $(CACHE_SIZES), --cache-sizes $(CACHE_SIZES))

install: $(INSTALLED) ## install what is missing: the command is .venv/bin/polydl then

# None of these tests waits for what it starts.
check: $(INSTALLED_DEV) ## the tests that take seconds and need no compiler
	$(PYTEST) --numprocesses $$(nproc) -m "not native and not slow" $(CHECKED)

test: $(INSTALLED_DEV) ## install what is missing, then run the tests but the slow ones
	$(PYTEST) -m "not slow"

test-slow: $(INSTALLED_DEV) ## the slow tests alone
	$(PYTEST) -m slow

test-all: $(INSTALLED_ALL) ## install peers, clang and TensorFlow too, fetch PolyBench, then run all tests; a skipped one fails
	@$(MAKE) --silent $(POLYBENCH) || echo "PolyBench could not be fetched: its tests are skipped"
	$(PYTEST) --complete $$(test -d $(POLYBENCH) || echo --without-polybench)

bench: $(INSTALLED_BENCH) $(if $(filter polybench,$(SUITE)),$(POLYBENCH)) ## compare with oneDNN, PyTorch and others on SUITE, with THREADS
	$(BIN)/polydl bench --suite $(SUITE) --threads $(THREADS)

polybench: $(POLYBENCH) ## fetch PolyBench/C 4.2.1, the suite polybench of bench

bench-analysis: $(INSTALLED_DEV) ## time per variant, growth and memory of the reuse analysis
	$(BIN)/python -m experiments.analysis_benchmark --figure docs/figures/analysis-speed.svg

lint: $(INSTALLED_DEV) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED_DEV) build/typed ## mypy --strict over the package and the tests
	$(BIN)/mypy -p polydl $(patsubst tests/%.py,-m %,$(wildcard tests/*.py))

format: $(INSTALLED_DEV) ## rewrite the sources as ruff formats them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

schema: $(INSTALLED) ## write the steps' part of docs/optimize.schema.json anew
	$(BIN)/python -m polydl.step_schema docs/optimize.schema.json

man: $(INSTALLED_DEV) ## manual pages of all commands, from what --help says, to where man looks for them
	@mkdir -p .venv/share/man/man1
	$(BIN)/python .ci/manual_pages.py .venv/share/man/man1

clean: ## remove everything that was built or installed here
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(POLYBENCH):
	@rm -rf $@.unfinished && mkdir -p $(@D)
	GIT_TERMINAL_PROMPT=0 git clone --quiet $(POLYBENCH_URL) $@.unfinished
	git -C $@.unfinished checkout --quiet $(POLYBENCH_COMMIT)
	@mv $@.unfinished $@

# The folders at the root are one package only once installed; this is a picture of it for mypy.
build/typed: FORCE
	@mkdir -p $@/polydl && find $@/polydl -xtype l -delete
	@ln -sfn $(CURDIR)/polydl/* $(addprefix $(CURDIR)/,$(FOLDERS)) $@/polydl/

# The build back-end lists the folders' parents in the .pth file, which would make every folder
# beside this one importable; its finder, the first line, does not need them.
define install
$(PIP) --editable '$(1)'
@sed -i '/^import /!d' .venv/lib/python*/site-packages/_editable_skbc_polydl.pth
@touch $@
endef

$(INSTALLED): $(BUILT_FROM)
	@.ci/prepare
	$(call install,.)

$(INSTALLED_DEV): $(INSTALLED)
	$(call install,.[dev])

$(INSTALLED_BENCH): $(INSTALLED)
	$(call install,.[bench])

$(INSTALLED_ALL): $(INSTALLED)
	@.ci/prepare everything
	$(call install,$(EVERYTHING))

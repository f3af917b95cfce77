.PHONY: lint types
BIN := .venv/bin
FOLDERS := variants microkernels ranking fusion

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

build/typed: FORCE
	@mkdir -p $@/polydl && find $@/polydl -xtype l -delete
	@ln -sfn $(CURDIR)/polydl/* $(addprefix $(CURDIR)/,$(FOLDERS)) $@/polydl/

types: build/typed
	$(BIN)/mypy -p polydl

FORCE:

# Every target may be given arguments: make test ARGS='./facts -run Digest', make proof M01 M02, make mutants M01.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

ARGS :=
ID :=

# The words after `proof` and `mutants` are claims, not targets.
TARGETS := help demo crash bench test check proof mutants generate tidb
FIRST := $(firstword $(MAKECMDGOALS))
ifneq (,$(filter $(FIRST),proof mutants))
  IDS := $(filter-out $(TARGETS),$(MAKECMDGOALS)) $(ID)
  ifneq (,$(filter-out $(TARGETS),$(MAKECMDGOALS)))
    .PHONY: $(filter-out $(TARGETS),$(MAKECMDGOALS))
    $(filter-out $(TARGETS),$(MAKECMDGOALS)): ; @:
  endif
else
  IDS := $(ID)
endif

.PHONY: $(TARGETS)

help: ## this list
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	while IFS='|' read -r name what; do printf '  make %-9s %s\n' "$$name" "$$what"; done

tidb: ## build the pinned tidb-server into the user's cache, once (10 to 15 minutes, 6 GB of disk)
	@go -C cmd/tidb run . $(ARGS)

test: ## every test of every module under the race detector, kept as the record that `make proof` judges
	@go -C tools run ./record $(ARGS)

check: ## formatting, vet, house rules, generated files
	@unformatted=$$(git ls-files -z --cached --others --exclude-standard '*.go' | \
	  { xargs -0 -r ls -d 2>/dev/null || true; } | xargs -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w on them):"; echo "$$unformatted"; exit 1; fi
	@for module in . tools cmd/tidb; do \
	  if [ -n "$$(git ls-files --cached --others --exclude-standard "$$module/*.go")" ]; then \
	    echo "go vet in $$module"; go -C $$module vet ./...; \
	  fi; \
	done
	@echo "house rules"; go test -count=1 ./proptest/house $(ARGS)

proof: ## which promises of the spec are proved: make proof [ID...]
	@go -C tools run ./proof $(ARGS) $(IDS)

mutants: ## break each promise on purpose; its proof must fail: make mutants [ID...]
	@go -C tools run ./mutants $(ARGS) $(IDS)

generate: ## write every generated file again
	@go generate ./...

demo: ## the main job on real payloads, with the daemon killed twice: make demo [ARGS='--json --keep --plant-double --plant-disorder']
	@go run ./examples/demo $(ARGS)

crash: ## comes with issue 8
	@echo "crash: comes with issue 8"

bench: ## measure a workload on a fresh store: make bench ARGS='--workload w1-hot --n 2000 --json'
	@mkdir -p bin && go build -o bin/connector ./cmd/connector && bin/connector bench $(ARGS)

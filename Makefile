# Each target works on a fresh clone with nothing but Python and make; a second call is fast.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
WORKERS ?= 2
# One thread a process: the test workers already fill the cores, and ratios stay comparable.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test coverage mutants lint bench bench-history bench-exact bench-gaps bench-long-lists bench-mip bench-push bench-threads bench-at-top bench-trees bench-networks bench-heldout bench-scale bench-cluster dist docs gallery screenshots test-minimum nightly nightly-exact reproduce clean help
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(PIP_INSTALL) -e ".[skops]"
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(PIP_INSTALL) -e ".[test,lint]"
	@touch $@ $(VENV)/.core

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	$(PIP_INSTALL) -e ".[bench]"
	@touch $@ $(VENV)/.core

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(PIP_INSTALL) -e ".[docs]"
	@touch $@

$(VENV)/.release: pyproject.toml | $(VENV)/bin/python
	$(PIP_INSTALL) -e ".[release]"
	@touch $@

demo: $(VENV)/.core ## rank the embedded example; leaves ranked.csv and model.skops
	$(BIN)/toprank rank --budget 50 --out ranked.csv --model model.skops

# Networks are tested where PyTorch is there: `.venv/bin/pip install torch==2.13.0 safetensors`, the build for the CPU.
test: $(VENV)/.dev ## the test suite, doctests included; what passes only when tried again is named at the end
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --reruns 1 -rR

lint: $(VENV)/.dev ## style, types, layers, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/codespell

# Lines of compiled kernels cannot be seen, and run as plain Python (NUMBA_DISABLE_JIT) they would take days: functions
# under @njit are left out of the figure; `make mutants` is for them. So are tests that press Ctrl-C: pressed while a line is
# being counted it leaves coverage's own lock shut, and the run would wait forever.
coverage: $(VENV)/.dev ## lines and branches that the test suite runs, compiled kernels apart; COVERED=PATH for a part
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -p no:cacheprovider --reruns 1 --ignore tests/test_interrupts.py --cov --cov-report= $(COVERED)
	$(BIN)/coverage report --ignore-errors --sort=cover
	@for folder in src/toprank/*/; do \
	  echo "$$(basename $$folder): $$($(BIN)/coverage report --ignore-errors --include="$$folder*" --format=total) %"; done

MUTANTS ?= 200
mutants: $(VENV)/.dev ## whether the tests notice one wrong sign or number in the kernels of statistics and exact; MUTANTS=200
	$(BIN)/python tests/mutants.py statistics --mutants $(MUTANTS)
	$(BIN)/python tests/mutants.py exact --mutants $(MUTANTS)

# The oldest versions of direct dependencies that pyproject.toml allows, in an environment of their own, where their
# kernels are kept as well: `make test` may run at the same time.
test-minimum: $(VENV)/.release ## the test suite with the oldest dependencies that are allowed
	$(BIN)/uv venv -q --allow-existing --python $(BIN)/python $(VENV)-minimum
	$(BIN)/uv pip install -q --python $(VENV)-minimum/bin/python --resolution lowest-direct -e ".[test]"
	NUMBA_CACHE_DIR=$(abspath $(VENV)-minimum/kernels) $(VENV)-minimum/bin/python -m pytest -q -n $(WORKERS) --dist worksteal --reruns 1 -rR

nightly: $(VENV)/.dev nightly-exact ## slow proofs, figures from the papers, every configuration and every example
	TOPRANK_EXAMPLES=all $(BIN)/python -m pytest -q -n $(WORKERS) -m "slow or hypothesis"

PROBLEMS ?= 100000
nightly-exact: $(VENV)/.dev ## hostile exact problems against rational enumeration; PROBLEMS=100000
	$(BIN)/python tests/nightly_exact.py --problems $(PROBLEMS) --processes 2

bench: $(VENV)/.bench ## each statistic at a million rows and over many queries, as ratios to other packages'
	$(BIN)/python benchmarks/bench_statistics.py

bench-exact: $(VENV)/.dev ## what the exact search proves and how fast; data from TOPRANK_DATA
	$(BIN)/python benchmarks/bench_exact.py

bench-gaps: $(VENV)/.dev ## gaps over time beside HiGHS and SCIP, kept and drawn; data from TOPRANK_DATA
	$(BIN)/python benchmarks/bench_gaps.py measure

bench-long-lists: $(VENV)/.dev ## proofs on stacks of five scores over 100,000 rows: gap over time, memory; data from TOPRANK_DATA
	$(BIN)/python benchmarks/bench_long_lists.py

bench-mip: $(VENV)/.dev ## the papers' program, ours and the search beside each other; data from TOPRANK_DATA
	$(BIN)/python benchmarks/bench_mip.py

bench-push: $(VENV)/.dev ## the convex rankers as ratios to LogisticRegression; data from TOPRANK_DATA
	$(BIN)/python benchmarks/bench_push_all.py

bench-threads: $(VENV)/.dev ## threads of the convex rankers and the ensemble, quiet and beside a busy process; data from TOPRANK_DATA
	$(BIN)/python benchmarks/bench_push_threads.py

bench-at-top: $(VENV)/.dev ## AccuracyAtTop beside LogisticRegression, and its growth; data from TOPRANK_DATA
	$(BIN)/python benchmarks/bench_at_top.py

bench-trees: $(VENV)/.bench ## trees, forests and boosting beside others', held out and in seconds; data from TOPRANK_DATA
	$(BIN)/python benchmarks/bench_trees.py held-out
	$(BIN)/python benchmarks/bench_trees.py table --page docs/trees.md
	$(BIN)/python benchmarks/bench_trees.py times --page docs/trees.md
	$(BIN)/python benchmarks/bench_trees_posterior.py --page docs/trees.md --figure docs/images/trees_posterior.png

NETWORKS ?= ../networks.jsonl
bench-networks: $(VENV)/.bench ## networks beside others, held out, and seconds of an epoch; needs torch; resumable; data from TOPRANK_DATA
	$(BIN)/python benchmarks/bench_networks.py held-out --out $(NETWORKS)
	$(BIN)/python benchmarks/bench_networks.py table --out $(NETWORKS) --page docs/networks.md
	$(BIN)/python benchmarks/bench_networks.py epoch --page docs/networks.md

# Every cell is kept here, outside the repository; a second call goes on where the first stopped.
HELDOUT ?= benchmarks/heldout.jsonl
bench-heldout: $(VENV)/.bench ## hits on unseen halves beside other packages', hours, resumable; HELDOUT=FILE; data from TOPRANK_DATA
	$(BIN)/python benchmarks/bench_heldout.py --results $(HELDOUT) --page docs/heldout.md

bench-history: $(VENV)/.core ## time and peak memory of the main things, added to those kept; docs/speed.md
	$(BIN)/python benchmarks/bench_history.py measure
	$(BIN)/python benchmarks/bench_history.py page

bench-scale: $(VENV)/.bench ## rows beyond memory: 50 million scored beside pandas and DuckDB, 20 million learned with memory capped, growth
	$(PIP_INSTALL) -e ".[cluster]"
	$(BIN)/python benchmarks/bench_scale.py best
	$(BIN)/python benchmarks/bench_scale.py learn
	$(BIN)/python benchmarks/bench_scale.py growth

bench-cluster: $(VENV)/.bench ## a proof on two threads and two processes, what an errand costs, hundreds of workers simulated; data from TOPRANK_DATA
	$(PIP_INSTALL) -e ".[cluster]"
	$(BIN)/python benchmarks/bench_shared_proof.py overhead
	$(BIN)/python benchmarks/bench_shared_proof.py measure --record errands.json
	$(BIN)/python benchmarks/bench_shared_proof.py simulate --record errands.json
	rm errands.json

reproduce: $(VENV)/.core ## the papers' tables, ours beside theirs; goes on where it stopped; data from TOPRANK_DATA
	$(BIN)/toprank reproduce --docs docs/reproduction.md

screenshots: $(VENV)/.dev ## the pictures of the report page in the docs; needs chromium
	$(BIN)/python docs/screenshots.py

dist: $(VENV)/.release ## wheel and source distribution in dist/, tried in a clean environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	if [ -x $(BIN)/cffconvert ]; then $(BIN)/cffconvert --validate; else echo "cffconvert does not run on this Python: CITATION.cff is not checked"; fi
	$(BIN)/python .ci/check_dist.py dist

docs: $(VENV)/.docs ## the HTML documentation, in docs/_build/html
	$(BIN)/python -m sphinx -q -W -j $(WORKERS) -b html docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html
	@echo "docs/_build/html/index.html"

gallery: $(VENV)/.core ## what the stories of the gallery print and draw, and their page
	$(BIN)/python docs/make_gallery.py
	$(BIN)/python docs/make_proof_figures.py

clean: ## remove the virtual environment and everything built
	rm -rf $(VENV) $(VENV)-minimum dist docs/_build .pytest_cache .mypy_cache .ruff_cache ranked.csv model.skops
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The front door of the project. `make help` lists what it can do.

SHELL := /bin/bash
export PATH := $(PATH):$(HOME)/.cargo/bin

# All that is tested is built with the official MongoDB driver, ublk and the fixtures, which a plain build leaves out.
TESTED := --features mongodb-driver,fixtures,ublk

.DEFAULT_GOAL := help
.PHONY: help demo dist site test test-kernel needs fmt lint tidy check check-newer check-mysql toy papers papers-check duckdb clean-demo ready built

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## build, run the quick memory sweep on SQLite, write record and report, print the table
	cargo build --release
	scripts/demo.sh release full

dist: ## build the files of a release into dist/: binaries, their symbols, archives, a Debian package, a Python wheel, checksums
	cargo xtask dist

site: ## make the documentation's site in target/site; needs mdBook
	cargo xtask site

# The build of the tests lints too: one build instead of two.
test: LINT := --lint
test: fmt ready check toy papers-check ## everything a change must pass, in the order of cost; the build of the tests lints

# Installing is mostly waiting. Only the compiler must be there before anything is built.
ready:
	@command -v cc >/dev/null || $(MAKE) --no-print-directory needs
	@$(MAKE) --no-print-directory needs & needs=$$!; \
	$(MAKE) --no-print-directory LINT="$(LINT)" tidy built; status=$$?; \
	wait $$needs || status=$$?; exit $$status

built:
	cargo xtask test --no-run $(LINT) $(TESTED)

needs: ## install what the tests need (Debian and Ubuntu as root), else say what is missing
	scripts/install-test-needs.sh

fmt: ## fail when a file is not formatted; engines are declared by a macro, where cargo does not look
	cargo fmt --all -- --check
	rustfmt --edition 2024 --check crates/engine/src/engines/*/mod.rs

lint: ## compiler and clippy warnings are errors, tests and benches included
	cargo clippy --workspace --all-targets $(TESTED) -- -D warnings

tidy: ## the project's own rules: imports, lengths, pages, words
	cargo xtask tidy

check: ## all tests, side by side where they do not disturb each other; T-SQL by Microsoft's parser, where it can be fetched
	cargo xtask test $(LINT) $(TESTED)

check-newer: needs ## all tests, those of `check-mysql` too, on the newer PostgreSQL and MariaDB that `needs` unpacks; half an hour; no part of `test`
	PATH="$$(scripts/server-needs.sh --path)" cargo xtask test $(TESTED)

check-mysql: ## the long tests of MySQL alone, which `check` runs too; fails where no MySQL is found
	scripts/server-needs.sh mysql
	PROOFLOAD_REQUIRE_MYSQL=1 cargo xtask test --ignored=mysql $(TESTED)

toy: built ## the demo's study at toy size, with the binary of the tests
	scripts/demo.sh debug toy

papers: needs duckdb ## repeat the five published studies and write docs/papers.md from their records; at most 90 min
	cargo xtask papers

papers-check: ## docs/papers.md is what its signed records give, with the binary of the tests
	cargo xtask papers check "program=$${CARGO_TARGET_DIR:-target}/debug/proofload"

test-kernel: ## caches of the kernel, control groups of version 2, reflinks, netem and ublk in a virtual machine (Debian as root; 40 min); no part of `test`
	scripts/install-kernel-needs.sh "$${CARGO_TARGET_DIR:-target}/kernel-package"
	cargo xtask kernel

duckdb: ## fetch DuckDB's library into the user's data folder; studies and tests of DuckDB use it from there
	scripts/duckdb.sh

clean-demo: ## remove what earlier demos wrote
	rm -rf demo

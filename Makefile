# SPDX-License-Identifier: MIT
# A thin front door: Meson builds, tools/ does the rest. Every target but `check` installs the Debian packages it lacks.
BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
JOBS ?= 1

.PHONY: help run build check test test-all test-engines mutants portable bench fuzz install format docs clean

help:
	@echo 'make run           build, and answer for a bundled sample: an 8B model on an 8 GB card'
	@echo 'make build         build into $(BUILD)/'
	@echo 'make check         the loop during work: one build, static checks, unit tests, command line; offline, installs nothing'
	@echo 'make test          sets everything up: these, documentation, logs, sanitizers; the last line counts them'
	@echo 'make test-all      every check that needs no GPU: these with clang, clang-tidy, fuzzing, llama.cpp and PyTorch'
	@echo 'make test-engines  the engines alone, every program of tests/engine; downloads some gigabytes;'
	@echo '                  RESUME=FILE: not those programs of the field that it lists as passed'
	@echo 'make mutants       small mistakes in a copy of the source: prints those that no test notices; JOBS=2, ONLY=text'
	@echo 'make portable      compile what needs no Linux for WebAssembly, Windows and macOS; downloads a compiler'
	@echo 'make bench         speed: bills per second, start to verdict, other readers beside it'
	@echo 'make fuzz          each fuzzer for FUZZ_SECONDS ($(FUZZ_SECONDS)) seconds'
	@echo 'make install       to PREFIX ($(PREFIX)) under DESTDIR'
	@echo 'make format        clang-format over all C files'
	@echo 'make docs          write into README.md and docs/ what their examples print now'
	@echo 'make clean         remove what was built'

run:
	@sh tools/run.sh $(BUILD)

build:
	@sh tools/build.sh $(BUILD)

check:
	@BUILD=$(BUILD) sh tools/test.sh check

test:
	@sh tools/test.sh test

test-all:
	@sh tools/test.sh all

test-engines:
	@PLIM_RESUME='$(abspath $(RESUME))' sh tools/test-engines.sh

mutants:
	@sh tools/install-packages.sh test
	@python3 tests/mutants/run.py --jobs $(JOBS) --only '$(ONLY)'

portable:
	@sh tools/portable.sh $(BUILD)

bench:
	@sh tools/bench.sh $(BUILD)

fuzz:
	@sh tools/fuzz.sh $(FUZZ_SECONDS)

install:
	@sh tools/build.sh $(BUILD) -Dprefix=$(PREFIX)
	meson install -C $(BUILD) --no-rebuild

format:
	@sh tools/install-packages.sh format
	@sh tools/format.sh -i

docs:
	@sh tools/docs.sh $(BUILD)

clean:
	rm -rf build build-*

# Heddle. `make help` lists what there is. BUILD=dir builds elsewhere.
BUILD ?= build
PREFIX ?= /usr/local
CC ?= gcc
PACKAGES = glib-2.0 json-glib-1.0 libxxhash libxml-2.0
DEBIAN_PACKAGES = gcc libc6-dev make pkg-config libglib2.0-dev libjson-glib-dev libxxhash-dev libxml2-dev libcmocka-dev
WARNINGS = -Wall -Wextra -Werror -Wswitch-enum -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
CFLAGS ?= -O2 -g
JAX ?= 0.7.0 0.10.2
JAX_ALL ?= 0.7.0 0.7.2 0.8.3 0.9.2 0.10.2
# Asked for once, when first used: `make deps test` installs pkg-config before anything is compiled.
PACKAGE_CFLAGS = $(eval PACKAGE_CFLAGS := $$(shell pkg-config --cflags $(PACKAGES)))$(PACKAGE_CFLAGS)
PACKAGE_LIBS = $(eval PACKAGE_LIBS := $$(shell pkg-config --libs $(PACKAGES)))$(PACKAGE_LIBS)
BASE_CFLAGS = -std=gnu11 -fno-omit-frame-pointer -fwrapv -ffp-contract=off -D_GNU_SOURCE -MMD -MP $(WARNINGS) $(PACKAGE_CFLAGS) -Ikernels
BASE_LIBS = $(PACKAGE_LIBS) -lm -pthread -ldl -Wl,--export-dynamic-symbol=__sanitizer_cov_trace_pc     # modules call it

# Who may include whom: a folder, or one file, and what it may include. `make tidy` holds everybody to it.
define LAYERS
model              : model
kernels            : model kernels
checker/facts      : model checker/facts
checker/run        : model checker/facts checker/run
checker/proof      : model checker/facts checker/proof
checker/enumerate  : model checker/facts checker/run checker/enumerate
checker/classes    : model checker/facts checker/run checker/proof/prove.h checker/classes
checker/sample     : model checker/facts checker/run checker/proof/prove.h checker/sample
checker/explain    : model checker/facts checker/run checker/explain
checker/check      : model checker/facts checker/run checker/proof/prove.h checker/enumerate/enumerate.h checker/classes/classes.h checker/sample checker/explain checker/check
checker/report     : model checker/facts checker/run checker/check checker/report
checker/advise     : model checker/facts checker/run checker/proof/prove.h checker/check checker/report checker/advise
checker/command    : model checker/facts checker/run checker/check checker/sample/strategy.h checker/report checker/advise checker/command
checker/main.c     : model kernels checker
tests/support      : model kernels checker tests/support
tests              : model kernels checker tests/support
tests/differential : model kernels checker tests/support tests/differential
endef
export LAYERS

# Kernels that are not linked into the checker: a folder is one module.
MODULES := cases inputs jax patterns windows
SOURCES := $(sort $(wildcard model/*.c kernels/*.c kernels/*/*.c checker/*.c checker/*/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
MODULE_FILES := $(MODULES:%=$(BUILD)/lib/heddle/%.so)
objects_of = $(filter $(BUILD)/kernels/$1/%,$(OBJECTS))
MODULE_OBJECTS := $(foreach m,$(MODULES),$(call objects_of,$m))
TEST_SOURCES := $(sort $(wildcard tests/unit/*.c tests/differential/*.c tests/cli/*.c))
TESTS := $(patsubst %.c,$(BUILD)/%,$(filter $(addsuffix /test_%,tests/unit tests/differential tests/cli),$(TEST_SOURCES)))
TEST_SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(TESTS:$(BUILD)/%=%.c),$(TEST_SOURCES)) $(sort $(wildcard tests/support/*.c)))
# All cores of this machine; with deps among the goals everything else waits for it.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
FIRST = $(filter deps,$(MAKECMDGOALS))

all: $(BUILD)/heddle $(MODULE_FILES)             ## builds $(BUILD)/heddle (the default)

# V=1 shows the commands of compiler and linker.
SAY = $(if $(V),,@echo "  $1 $@";)
$(BUILD)/%.o: %.c | $(FIRST)
	@mkdir -p $(@D)
	$(call SAY,compile)$(CC) $(BASE_CFLAGS) $(CFLAGS) -c $< -o $@

$(BUILD)/checker/check/installed.o: BASE_CFLAGS += -DHEDDLE_PREFIX='"$(PREFIX)"'

# The page of --html, a file that can be read and tried alone, and the schema of --json, as strings of C.
INCLUDED = $(BUILD)/checker/report/page.inc $(BUILD)/checker/report/schema.inc
$(BUILD)/checker/report/page.inc: checker/report/page.html
$(BUILD)/checker/report/schema.inc: checker/report/heddle-report.schema.json
$(INCLUDED):
	@mkdir -p $(@D)
	@sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $< > $@

$(BUILD)/checker/report/html.o $(BUILD)/checker/report/schema.o: $(INCLUDED)
$(BUILD)/checker/report/html.o $(BUILD)/checker/report/schema.o: BASE_CFLAGS += -I$(BUILD)/checker/report

# The headers of kernels, where the program looks for them first.
$(BUILD)/include:
	@mkdir -p $(@D)
	ln -sfn $(CURDIR)/kernels $@

$(BUILD)/share/heddle/heddle.gdb: checker/command/heddle.gdb
	@mkdir -p $(@D)
	ln -sfn $(CURDIR)/$< $@

.SECONDEXPANSION:
$(MODULE_OBJECTS): BASE_CFLAGS += -fPIC
$(MODULE_FILES): $(BUILD)/lib/heddle/%.so: $$(call objects_of,$$*)
	@mkdir -p $(@D)
	$(call SAY,link   )$(CC) $(CFLAGS) -shared $^ -o $@ -lm

$(BUILD)/heddle: $(filter-out $(MODULE_OBJECTS),$(OBJECTS)) | $(MODULE_FILES) $(BUILD)/include $(BUILD)/share/heddle/heddle.gdb
	$(call SAY,link   )$(CC) $(CFLAGS) $^ -o $@ $(BASE_LIBS)

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(TEST_SUPPORT) $(filter-out $(BUILD)/checker/main.o,$(OBJECTS))
	$(LINK_TEST)

# Unit tests are linked with modules that assert their invariants after each operation: model/sane.h.
SANE := $(shell grep -l '\<SANE' $(filter model/% checker/%,$(SOURCES)))
$(SANE:%.c=$(BUILD)/sane/%.o): $(BUILD)/sane/%.o: %.c | $(FIRST)
	@mkdir -p $(@D)
	$(call SAY,compile)$(CC) $(BASE_CFLAGS) $(CFLAGS) -DHEDDLE_SANE -c $< -o $@

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(TEST_SUPPORT) $(SANE:%.c=$(BUILD)/sane/%.o) \
                       $(filter-out $(BUILD)/checker/main.o $(SANE:%.c=$(BUILD)/%.o),$(OBJECTS))
	$(LINK_TEST)

LINK_TEST = $(call SAY,link   )$(CC) $(CFLAGS) $^ -o $@ $(BASE_LIBS) $(shell pkg-config --libs cmocka)

deps:                                           ## installs the Debian packages that are missing, showing the command
	@missing=; python3 -c 'import ensurepip, venv' 2>/dev/null || missing=' python3-venv'; for p in $(DEBIAN_PACKAGES); do \
	    dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	    sudo=; [ "$$(id -u)" -eq 0 ] || sudo=sudo; \
	    echo "$$sudo apt-get update && $$sudo apt-get install -y --no-install-recommends$$missing"; \
	    $$sudo apt-get update -q && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -q -y --no-install-recommends $$missing; \
	fi

demo: all                                       ## checks the documentation's kernels, right and wrong, and shows one report
	@tests/cli/demo $(BUILD)/heddle

# A suite runs again when its program, the checker or a file that it reads has changed. Each keeps what it printed, and how long it took.
SLOW_FIRST = test_differential test_canaries test_minimise test_sample test_replay test_entry_barrier test_classes_random test_cli test_patterns test_outputs \
             test_foreign_files test_cases test_classes test_whatif test_kernels test_jax
TEST_FILES := $(wildcard tests/support/kernels/* tests/cli/golden/* kernels/*.c kernels/*/*.[ch])
slow_first = $(call named,$(SLOW_FIRST)) $(filter-out $(call named,$(SLOW_FIRST)),$1)
named = $(foreach suite,$1,$(or $(filter %/$(suite),$(TESTS)),$(if $(TESTS),$(error no suite is called $(suite)))))
QUICK = test_golden test_prove test_enumerate test_step test_store test_view test_region test_tile test_dtype \
        test_mesh test_rng test_fault test_coro test_execution test_edit test_kernel_api test_kernel_faults test_options \
        test_report

$(BUILD)/tests/%.passed: $(BUILD)/tests/% $(BUILD)/heddle $(TEST_FILES)
	@begun=$$(date +%s); if HEDDLE=$(BUILD)/heddle XDG_CACHE_HOME=$(abspath $(BUILD))/cache $< > $<.log 2>&1; then passed=; touch $@; else passed='FAILED '; fi; \
	printf '  %-7s %s (%d s)\n' "$${passed:-passed}" $(notdir $<) $$(($$(date +%s) - begun)); \
	[ -z "$$passed" ] || { cat $<.log; exit 1; }

# Says what failed, and counts: `N passed, N failed` are tests, not suites.
define RUN_SUITES
@+$(MAKE) -ks --no-print-directory $1 || failed=1; \
cat $(1:.passed=.log) | awk '/^\[  FAILED  \] [a-z_0-9]+$$/ && !seen[$$0]++ { print; bad++ } /^\[       OK \]/ { good++ } \
    /^[0-9].* in [0-9.]+s/ { for (i = 2; i <= NF; i++) { if ($$i ~ /^passed/) good += $$(i - 1); if ($$i ~ /^(failed|error)/) bad += $$(i - 1) } } \
    END { printf "%d passed, %d failed\n", good, bad }'; [ -z "$$failed" ]
endef

test: all $(TESTS)                              ## builds and runs all tests; suites of which nothing changed are not run again
	$(call RUN_SUITES,$(patsubst %,%.passed,$(call slow_first,$(TESTS))))

quick: all $(call named,$(QUICK))                     ## the fast suites alone
	$(call RUN_SUITES,$(patsubst %,%.passed,$(call named,$(QUICK))))

# A handful of the Python package's tests, of the package as pip installs it, with the newest JAX: a suite like the others.
SMOKE = $(BUILD)/tests/exporter/smoke
EXPORTER_FILES := $(wildcard $(addprefix kernels/exporter/,setup.py pyproject.toml README.md heddle_pallas/*.py heddle_pallas/*/*.py) tests/exporter/*.py)

$(SMOKE): $(EXPORTER_FILES)
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nHEDDLE=%s exec python3 tests/exporter/drift.py --smoke %s\n' \
	    $(abspath $(BUILD)/heddle) '$(BUILD)/jax $(lastword $(JAX))' > $@ && chmod +x $@

exporter-smoke: all $(SMOKE)                    ## installs the Python package with one JAX, and tries it
	$(call RUN_SUITES,$(SMOKE).passed)

ci: all $(TESTS) $(SMOKE)                       ## what a change must pass: test and exporter-smoke
	$(call RUN_SUITES,$(patsubst %,%.passed,$(SMOKE) $(call slow_first,$(TESTS))))

exporter-test: all                              ## tests the Python package, with the oldest and the newest JAX (JAX=0.10.2: one of them)
	HEDDLE=$(abspath $(BUILD)/heddle) python3 tests/exporter/drift.py $(BUILD)/jax $(JAX)

exporter-versions: all                          ## the same with each minor version, as a table: kernels/exporter/VERSIONS.md
	HEDDLE=$(abspath $(BUILD)/heddle) python3 tests/exporter/drift.py --table kernels/exporter/VERSIONS.md $(BUILD)/jax $(JAX_ALL)

asan: | $(FIRST)                                ## the tests again, with address and undefined-behaviour sanitizers
	$(MAKE) BUILD=$(BUILD)/asan CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all" test

corpus: all                                     ## every built-in program by both searches, as a table; the schedules of its faults
	@tests/cli/corpus $(BUILD)/heddle
	@tests/cli/corpus_replays $(BUILD)/heddle

bench: all $(BUILD)/tests/bench/bench_enumerate $(BUILD)/tests/bench/bench_classes                 ## proofs, inputs, enumeration beside SPIN, classes
	@tests/bench/proofs $(BUILD)/heddle
	@tests/bench/inputs $(BUILD)/heddle
	@tests/bench/spin $(BUILD)/tests/bench/bench_enumerate
	@$(BUILD)/tests/bench/bench_classes

# SAMPLE and SEED pick from all mutants: the same ones each time. Compare two measurements: tests/bench/mutants --compare.
mutants: all                                    ## one-line mistakes in right kernels: does the report name cause and undo? (SAMPLE=200 SEED=1)
	@python3 tests/bench/mutants $(BUILD)/heddle --output $(BUILD)/mutants.json $(SAMPLE:%=--sample %) $(SEED:%=--seed %)

wrong-forms: all                                ## the wrong programs that come with it: is the cause named, the repair offered? as a table
	@python3 tests/bench/mutants/wrong_forms.py $(BUILD)/heddle --output $(BUILD)/wrong-forms.json

browser-test: all                               ## the page of --html in a headless browser (needs chromium)
	@tests/cli/browser $(BUILD)/heddle

limits: all                                     ## how well --memory, --time and Ctrl-C hold, as tables (some minutes)
	@tests/bench/limits $(BUILD)/heddle

SOAK = test_differential test_view_bytes test_foreign_schedules test_foreign_checkpoints
soak: all $(call named,$(SOAK) test_sample test_classes)      ## random programs decided several ways: 20000 with conflicts, then more for SOAK_SECONDS=600; large samples; views; changed files
	@for suite in $(call named,$(SOAK)); do SOAK_SECONDS=$(or $(SOAK_SECONDS),600) $$suite || exit 1; done
	HEDDLE=$(BUILD)/heddle SOAK_SECONDS=1 $(call named,test_sample)
	SOAK_SECONDS=1 $(call named,test_classes)

tidy:                                           ## layers, include order, names, lengths of lines, functions and files
	@awk -f tests/support/tidy.awk $(sort $(wildcard $(foreach d,model kernels kernels/* checker checker/* tests/*,$d/*.c $d/*.h)))

install: all                                    ## PREFIX=/usr/local, DESTDIR= for packagers
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin include/heddle lib/heddle lib/pkgconfig share/man/man1 share/bash-completion/completions share/heddle)
	install -m 755 $(BUILD)/heddle $(DESTDIR)$(PREFIX)/bin/heddle
	install -m 644 $(MODULE_FILES) $(DESTDIR)$(PREFIX)/lib/heddle/
	install -m 644 $$($(CC) -MM kernels/pallas/pallas.h | tr ' ' '\n' | grep '\.h$$') $(DESTDIR)$(PREFIX)/include/heddle/
	install -m 644 checker/command/heddle.gdb $(DESTDIR)$(PREFIX)/share/heddle/
	$(BUILD)/heddle --schema > $(DESTDIR)$(PREFIX)/share/heddle/heddle-report.schema.json
	$(BUILD)/heddle --man > $(DESTDIR)$(PREFIX)/share/man/man1/heddle.1
	$(BUILD)/heddle --completion > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/heddle
	{ echo 'prefix=$(PREFIX)'; echo; echo 'Name: heddle'; echo 'Description: headers of kernels for the heddle checker'; \
	  echo "Version: $$($(BUILD)/heddle --version | cut -d' ' -f2)"; echo 'Cflags: -I$${prefix}/include'; } \
	  > $(DESTDIR)$(PREFIX)/lib/pkgconfig/heddle.pc

clean:                                          ## removes $(BUILD)
	rm -rf $(BUILD)

help:                                           ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | sed 's/$$(BUILD)/$(subst /,\/,$(BUILD))/' | expand -t 14

.PHONY: all deps demo test quick ci corpus exporter-smoke exporter-test exporter-versions browser-test asan limits soak bench mutants wrong-forms tidy install clean help
.SECONDARY: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/*/*.c))     # made on the way to a test; all else that is missing is made again
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

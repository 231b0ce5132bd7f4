# SPDX-License-Identifier: GPL-2.0-only
#
# profil: execution time profiles by the kernel. "make help" lists the targets.

O := build
export PROFIL_TOP := $(CURDIR)

# Build the module for the newest kernel, unless KDIR names the build tree of
# another one.
KDIR ?= $(lastword $(sort $(wildcard /lib/modules/*/build)))
debug_tree := $(O)/debug-kernel

W ?= 1

all: module lib examples tools tests

help:
	@echo 'make            build the module, the library, the tools, the'
	@echo '                examples and the tests'
	@echo 'make demo       set up, build, profile real programs in a guest'
	@echo 'make demo-fallback   the same for the library without the module,'
	@echo '                on this machine'
	@echo 'make test       set up, build, and run all tests, on both clocks'
	@echo 'make test ONLY=NAME'
	@echo '                run one step (style, unit, prohist, fuzz, guest,'
	@echo '                profil, ...) or one test program'
	@echo 'make test-debug run the tests on a kernel with sanitizers (25'
	@echo '                minutes, and 10 to build that kernel first)'
	@echo 'make test-long  run hundreds of hostile processes beside an'
	@echo '                innocent one'
	@echo 'make test-viewers   open the output of prohist in browsers and other'
	@echo '                programs that "make test" does not install'
	@echo 'make fuzz       run the fuzzers for FUZZ_SECONDS (default: 30)'
	@echo 'make setup      install missing packages (Debian 12); demo and'
	@echo '                test do this, too'
	@echo 'make bench      compare cost, accuracy and scaling with other'
	@echo '                profilers in guests (18 minutes)'
	@echo 'make bench-quick'
	@echo '                run a shorter bench (5 minutes)'
	@echo 'make images     generate the picture and report of the README'
	@echo 'make symcheck   compare the symbols that the module imports with'
	@echo '                module/symbols'
	@echo 'make sparse     check the module with sparse'
	@echo 'make checkpatch check the style of all C files and shell scripts'
	@echo 'make install    install the library and the tools; DESTDIR and'
	@echo '                prefix set the place'
	@echo 'make clean      remove all products except the debug kernel'
	@echo
	@echo 'KDIR=DIR        build the module for the kernel whose build tree'
	@echo '                is DIR; now $(KDIR)'

setup:
	@selftests/bin/setup

# --- the module: a tree of links for each kernel keeps the sources clean, and
# the modules for several kernels apart

# Not "make kernelrelease": with Debian's headers, it prints the wrong release.
release = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' \
		$(1)/include/generated/utsrelease.h)
module_tree = $(CURDIR)/$(O)/module/$(call release,$(1))

sources := $(addprefix $(CURDIR)/, Kbuild module uapi)

# $(call build_module,KERNEL TREE,MODULE TREE,ARGUMENTS,SOURCES); the +, because
# make does not notice that the recipe calls make
define build_module
	@test -e '$(1)/Makefile' || { \
		echo "no kernel headers in '$(1)': run 'make setup'" >&2; \
		exit 1; }
	@mkdir -p '$(2)'
	@find '$(2)' -xtype l -delete
	@cp -rsf $(4) '$(2)'
	+$(MAKE) -C '$(1)' M='$(2)' W=$(W) $(3) modules
endef

module:
	$(call build_module,$(KDIR),$(call module_tree,$(KDIR)),,$(sources))

sparse:
	$(call build_module,$(KDIR),$(call module_tree,$(KDIR)),C=2,$(sources))

symcheck: module
	@selftests/bin/symcheck $(call module_tree,$(KDIR))/module/profil.ko

checkpatch:
	@selftests/bin/checkpatch

# --- everything else

lib:
	$(MAKE) -C lib O=$(CURDIR)/$(O) libs

examples: lib
	$(MAKE) -C lib O=$(CURDIR)/$(O) examples

tools:
	$(MAKE) -C tools O=$(CURDIR)/$(O)

# A module that one test loads; without kernel headers, it is not built and the
# test is skipped.
refuse_tree = $(CURDIR)/$(O)/selftests/refuse/$(call release,$(1))
refuse_sources := $(wildcard $(CURDIR)/selftests/refuse/*)

refuse:
	$(call build_module,$(KDIR),$(call refuse_tree,$(KDIR)),,$(refuse_sources))

tests: lib tools $(if $(wildcard $(KDIR)/Makefile),refuse)
	$(MAKE) -C selftests O=$(CURDIR)/$(O)

demo: setup
	$(MAKE) -s module examples tests
	@selftests/bin/demo

demo-fallback: setup
	@command -v gcl > /dev/null || apt-get install -y gcl > /dev/null
	$(MAKE) -s examples tests
	@selftests/bin/demo-fallback

test: setup
	@selftests/bin/test $(ONLY:%=-o %)

test-debug: setup
	@selftests/vm/debug-kernel
	@selftests/bin/test $(ONLY:%=-o %) debug

test-long: setup
	@$(MAKE) -s module lib tests
	@selftests/vm/run -t 1800 -m 2048 -- selftests/bin/suite \
		build/selftests/long

# Node.js may also come from elsewhere, with a npm of its own
viewers := chromium bolt-16 python3-jsonschema $(if $(shell command -v npm),,npm)

test-viewers:
	@selftests/bin/setup with $(viewers)
	@$(MAKE) -s -C selftests/viewers O=$(CURDIR)/$(O) run $(if $(ONLY), \
		TESTS='$(notdir $(wildcard selftests/viewers/$(ONLY)*))')

images: setup
	@$(MAKE) -s module tools
	@Documentation/images/make

fuzz: setup
	@$(MAKE) -s -C selftests/host/unit O=$(CURDIR)/$(O) fuzz

bench bench-quick:
	@bench/setup
	@$(MAKE) -s module lib tools bench-programs
	@bench/run $(@:bench-%=%)

bench-programs: lib bench-floor
	$(MAKE) -C bench O=$(CURDIR)/$(O)

floor_tree = $(CURDIR)/$(O)/bench/floor/$(call release,$(KDIR))

bench-floor:
	$(call build_module,$(KDIR),$(floor_tree),,$(wildcard $(CURDIR)/bench/floor/*))

debug-module:
	$(call build_module,$(CURDIR)/$(debug_tree),$(call module_tree,$(debug_tree)),,$(sources))
	$(call build_module,$(CURDIR)/$(debug_tree),$(call refuse_tree,$(debug_tree)),,$(refuse_sources))

install: lib tools
	$(MAKE) -C lib O=$(CURDIR)/$(O) install
	$(MAKE) -C tools O=$(CURDIR)/$(O) install

clean:
	rm -rf $(O)

.PHONY: all help setup module sparse symcheck checkpatch lib examples tools \
	refuse tests demo demo-fallback test test-debug test-long test-viewers \
	images fuzz bench bench-quick \
	bench-programs bench-floor debug-module install clean

# SPDX-License-Identifier: GPL-2.0-only
#
# profil: execution time profiles by the kernel. "make help" tells more.

O := build
export PROFIL_TOP := $(CURDIR)

# The module is built for the newest kernel that the guest can boot, unless
# KDIR names another kernel's build tree.
KDIR ?= $(lastword $(sort $(wildcard /lib/modules/*/build)))
debug_tree := $(O)/debug-kernel

W ?= 1

all: module lib examples tools tests

help:
	@echo 'make            build the module, the library, the tools,'
	@echo '                examples and tests'
	@echo 'make demo       set up, build, and profile real programs in a guest'
	@echo 'make test       set up, build, and run every test, on both clocks'
	@echo 'make test-debug the same on a kernel with sanitizers: 25 minutes, and'
	@echo '                10 more to build it first'
	@echo 'make fuzz       the fuzzers of the pure code alone, for a minute or'
	@echo '                FUZZ_SECONDS'
	@echo 'make setup      install what Debian 12 lacks; demo and test do it too'
	@echo 'make bench      measure cost, truth and scale beside other profilers'
	@echo '                in guests: 18 minutes; bench-quick: 5'
	@echo 'make symcheck   compare what the module imports with module/symbols'
	@echo 'make sparse     check the module with sparse'
	@echo 'make checkpatch check the style of everything'
	@echo 'make install    install library and tools; heeds DESTDIR and prefix'
	@echo 'make clean      remove what was built, but for the debug kernel'
	@echo
	@echo 'KDIR=DIR        build the module for the kernel whose build tree'
	@echo '                this is; now $(KDIR)'

setup:
	@selftests/setup

# --- the module: a tree of links for each kernel, so that the sources stay
# clean and modules for several kernels stay side by side

# Not "make kernelrelease", which Debian's headers answer wrong.
release = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' \
		$(1)/include/generated/utsrelease.h)
module_tree = $(CURDIR)/$(O)/module/$(call release,$(1))

sources := $(addprefix $(CURDIR)/, Kbuild module uapi)

# $(call build_module,KERNEL TREE,MODULE TREE,ARGUMENTS,SOURCES)
define build_module
	@test -e '$(1)/Makefile' || { \
		echo "no kernel headers at '$(1)': run 'make setup'" >&2; \
		exit 1; }
	@mkdir -p '$(2)'
	@find '$(2)' -xtype l -delete
	@cp -rsf $(4) '$(2)'
	$(MAKE) -C '$(1)' M='$(2)' W=$(W) $(3) modules
endef

module:
	$(call build_module,$(KDIR),$(call module_tree,$(KDIR)),,$(sources))

sparse:
	$(call build_module,$(KDIR),$(call module_tree,$(KDIR)),C=2,$(sources))

symcheck: module
	@selftests/symcheck $(call module_tree,$(KDIR))/module/profil.ko

checkpatch:
	@selftests/checkpatch

# --- everything else

lib:
	$(MAKE) -C lib O=$(CURDIR)/$(O) libs

examples: lib
	$(MAKE) -C lib O=$(CURDIR)/$(O) examples

tools:
	$(MAKE) -C tools O=$(CURDIR)/$(O)

tests: lib tools
	$(MAKE) -C selftests O=$(CURDIR)/$(O)

demo: setup
	$(MAKE) -s module examples tests
	@selftests/demo

test: setup
	@selftests/test

test-debug: setup
	@selftests/vm/debug-kernel
	@selftests/test debug

fuzz: setup
	@$(MAKE) -s -C selftests/unit O=$(CURDIR)/$(O) fuzz

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

install: lib tools
	$(MAKE) -C lib O=$(CURDIR)/$(O) install
	$(MAKE) -C tools O=$(CURDIR)/$(O) install

clean:
	rm -rf $(O)

.PHONY: all help setup module sparse symcheck checkpatch lib examples tools \
	tests demo test test-debug fuzz bench bench-quick bench-programs \
	bench-floor debug-module install clean

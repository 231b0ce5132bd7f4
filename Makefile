# SPDX-License-Identifier: GPL-2.0-only
#
# profil: execution time profiles by the kernel. "make help" lists the targets.

O := build

include common.mk

override O := $(abspath $(O))
# Not for the kernel's Makefile, which has an O of its own
MAKEOVERRIDES := $(filter-out O=%,$(MAKEOVERRIDES))
export PROFIL_TOP := $(CURDIR)

# The build tree of the kernel to build the module for: of the running one if
# its headers are installed, otherwise of the newest that has headers.
modules := /lib/modules
trees := $(patsubst %/Makefile,%,$(wildcard $(modules)/*/build/Makefile))
KDIR := $(or $(KDIR),$(filter $(modules)/$(shell uname -r)/%,$(trees)), \
	     $(shell printf '%s\n' $(trees) | sort -V | tail -n 1))

all: needs
	+@$(MAKE) O=$(O) module lib tools

# Names everything that is missing at once.
needs:
	+@$(MAKE) -s -k O=$(O) headers

headers: kernel-headers tools-headers

help:
	@echo 'make            build what "make install" installs: the module, the'
	@echo '                library and the tools'
	@echo 'make examples   build the programs of lib/examples'
	@echo 'make demo       set up, build, profile real programs in a guest'
	@echo 'make demo-fallback   the same for the library without the module,'
	@echo '                on this machine'
	@echo 'make test       set up, build, and run all tests, on both clocks'
	@echo 'make test-more  test what surrounds them: installation and removal,'
	@echo '                signatures, patches of a kernel, other compilers, the'
	@echo '                commands of the documents, and the guest itself (three'
	@echo '                minutes after "make test")'
	@echo 'make test ONLY=NAME'
	@echo '                run one step (style, unit, prohist, fuzz, guest,'
	@echo '                profil, install, ...) or one test program'
	@echo 'make test-debug run the tests on a kernel with sanitizers (25'
	@echo '                minutes, and 10 to build that kernel first)'
	@echo 'make test-debug-rt  the same on one with PREEMPT_RT'
	@echo 'make test-kcsan the same on one that finds data races (10 minutes to'
	@echo '                build)'
	@echo 'make test-coverage  run the tests on a kernel that counts how often'
	@echo '                each line of the module is executed, and print'
	@echo '                those that are not'
	@echo 'make test-cfi   run the tests on a kernel that checks indirect calls;'
	@echo '                clang builds it, and the module (10 minutes to build)'
	@echo 'make test-matrix    run the tests on kernels of Debian from 5.10 to'
	@echo '                7.2, also with PREEMPT_RT and for arm64 and riscv64,'
	@echo '                and write the results to testing.rst (as root; three'
	@echo '                hours); ONLY=6.12-rt selects one kernel, ONLY=arm64'
	@echo '                those for arm64'
	@echo 'make test-long  attack an innocent user in all ways that we know,'
	@echo '                watch thousands of programs, and delay each function'
	@echo '                of the module (30 minutes)'
	@echo 'make soak HOURS=H'
	@echo '                do everything at once for H hours (default: 4); with'
	@echo '                KERNEL=debug on the kernel of test-debug'
	@echo 'make test-large     measure what prohist needs for files of 50 MB'
	@echo 'make test-fleet have twenty machines (network namespaces) push to one'
	@echo '                store, with two cut off, and Prometheus scrape one of'
	@echo '                them (as root; ten minutes)'
	@echo 'make test-viewers   open the output of prohist in browsers and other'
	@echo '                programs that "make test" does not install'
	@echo 'make test-install   install, upgrade and purge the Debian packages on'
	@echo '                plain systems of Debian 12 and 13, in a guest'
	@echo '                (as root; an hour or more; "make test" omits it)'
	@echo 'make fuzz       run the fuzzers for FUZZ_SECONDS (default: 20)'
	@echo 'make setup      install missing packages (Debian 12); demo and'
	@echo '                test do this, too'
	@echo 'make bench      compare cost, accuracy and scaling with other'
	@echo '                profilers in guests (23 minutes)'
	@echo 'make bench-quick'
	@echo '                run a shorter bench (5 minutes)'
	@echo 'make bench-locks'
	@echo '                print for how long the locks of the module are held, on a'
	@echo '                kernel that measures it (10 minutes to build)'
	@echo 'make images     generate the pictures, and the report of the README'
	@echo 'make symcheck   compare the symbols that the module imports with'
	@echo '                module/symbols'
	@echo 'make sparse     check the module with sparse'
	@echo 'make checkpatch check the style of all C files and shell scripts'
	@echo 'make clean      remove all products except built kernels'
	@echo
	@echo 'make install    install what "make" builds, for one kernel'
	@echo 'make install-user'
	@echo '                install all of that except the module'
	@echo 'make modules_install'
	@echo '                install the module, for one kernel'
	@echo 'make dkms-install'
	@echo '                have DKMS build and install the module for the'
	@echo '                running kernel, and for each one installed later'
	@echo 'make sign       sign the module with the key KEY and the certificate'
	@echo '                CERT (default: the ones of DKMS)'
	@echo 'make uninstall  remove everything that these have installed'
	@echo 'make patches TREE=DIR'
	@echo '                write patches that add profil to the kernel whose'
	@echo '                source is in DIR to build/patches'
	@echo 'make test-patches'
	@echo '                check them, by default for the source of Debian: build'
	@echo '                and boot kernels with profil as a module and built in'
	@echo '                (40 minutes)'
	@echo 'make deb        build Debian packages of the last commit in a chroot,'
	@echo '                and check, install and purge them there; SUITE=NAME'
	@echo '                selects the release (default: bookworm)'
	@echo
	@echo 'KDIR=DIR        build the module for the kernel whose build tree'
	@echo '                is DIR (default: $(KDIR))'
	@echo 'O=DIR           build in DIR (default: build); not for tests'
	@echo 'prefix=DIR      install below DIR (default: /usr/local)'
	@echo 'DESTDIR=DIR     install into DIR, as a package, without depmod and'
	@echo '                dkms'
	@echo 'W=1             build the module with more warnings'

setup:
	@selftests/bin/setup

# --- the module: a tree of links for each kernel keeps the sources clean, and
# the modules for several kernels apart

# Not "make kernelrelease": with Debian's headers, it prints the wrong release.
release = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' \
		$(1)/include/generated/utsrelease.h)
module_tree = $(O)/module/$(call release,$(1))

sources := $(addprefix $(CURDIR)/, Kbuild module uapi)

# $(call build_module,KERNEL TREE,MODULE TREE,ARGUMENTS,SOURCES); the +, because
# make does not notice that the recipe calls make
define build_module
	@mkdir -p '$(2)'
	@find '$(2)' -xtype l -delete
	@cp -rsf $(4) '$(2)'
	+$(MAKE) -C '$(1)' M='$(2)' W=$(W) $(3) modules
endef

kernel-headers:
	@test -e '$(KDIR)/Makefile' || { \
		echo "profil: kernel headers are missing; install" \
			"linux-headers-$(shell uname -r), or set KDIR to the" \
			"build tree of another kernel" >&2; \
		exit 1; }

module: kernel-headers
	$(call build_module,$(KDIR),$(call module_tree,$(KDIR)),,$(sources))

sparse: kernel-headers
	$(call build_module,$(KDIR),$(call module_tree,$(KDIR)),C=2,$(sources))

symcheck: module
	@selftests/bin/symcheck $(call module_tree,$(KDIR))/module/profil.ko

checkpatch:
	@selftests/bin/checkpatch

# --- everything else

lib:
	$(MAKE) -C lib O=$(O) libs

examples: lib
	$(MAKE) -C lib O=$(O) examples

tools:
	$(MAKE) -C tools O=$(O)

tools-headers:
	@$(MAKE) -C tools O=$(O) headers

# Modules that tests load; without kernel headers, they are not built and the
# tests are skipped.
refuse_tree = $(O)/selftests/refuse/$(call release,$(1))
refuse_sources := $(wildcard $(CURDIR)/selftests/refuse/*)

refuse:
	$(call build_module,$(KDIR),$(call refuse_tree,$(KDIR)),,$(refuse_sources))

tests: lib tools $(if $(wildcard $(KDIR)/Makefile),refuse)
	$(MAKE) -C selftests O=$(O)

# The guest's kernel need not be the one that runs here.
with_warnings := demo soak test test-debug test-debug-rt test-kcsan test-coverage test-cfi \
	test-long test-viewers images bench bench-quick bench-locks
$(with_warnings) test-matrix: export KDIR = $(shell selftests/vm/run -p 2> /dev/null)
$(with_warnings): export W = 1

demo: setup
	$(MAKE) -s module tests
	@selftests/bin/demo

demo-fallback: setup
	@command -v gcl > /dev/null || apt-get install -y gcl > /dev/null
	$(MAKE) -s examples tests
	@selftests/bin/demo-fallback

test: setup
	@selftests/bin/test $(ONLY:%=-o %)

test-more: setup
	@selftests/bin/test $(ONLY:%=-o %) more

test-debug test-debug-rt test-kcsan: setup
	@selftests/vm/build-kernel $(@:test-%=%)
	@selftests/bin/test $(ONLY:%=-o %) $(@:test-%=%)

# Also shows the coverage if tests fail
test-coverage: setup
	@selftests/vm/build-kernel coverage
	@rm -rf $(O)/coverage
	@selftests/bin/test $(ONLY:%=-o %) coverage; status=$$?; \
	selftests/bin/coverage $(O)/coverage \
		$(call module_tree,$(O)/coverage-kernel)/module && exit $$status

test-cfi:
	@selftests/bin/setup with clang-16 lld-16 llvm-16
	@selftests/vm/build-kernel cfi
	@selftests/bin/test $(ONLY:%=-o %) cfi

test-matrix:
	@selftests/bin/setup with mmdebstrap debian-archive-keyring
	@selftests/bin/matrix $(ONLY)

test-long: setup
	@$(MAKE) -s module lib tests
	@selftests/vm/run -t 2400 -m 2048 -- selftests/bin/suite \
		build/selftests/long

# On a busy host or with sanitizers its last minute may take long
soak: HOURS := 4
soak: KERNEL := distro
soak: setup
	@[ $(KERNEL) = distro ] || selftests/vm/build-kernel $(KERNEL)
	@$(MAKE) -s $(patsubst distro-%,%,$(KERNEL)-module) lib tests
	@VM_ENV=SOAK_HOURS SOAK_HOURS=$(HOURS) selftests/vm/run -k $(KERNEL) \
		$(if $(filter debug%,$(KERNEL)),-l,-m 2048) \
		-t $$(awk 'BEGIN { printf "%d", $(HOURS) * 3600 + 3600 }') -- \
		build/selftests/long/soak

test-large: tools
	@mkdir -p $(O)/selftests/large
	@selftests/host/prohist/large.py $(O)/tools/prohist $(O)/selftests/large

test-fleet:
	@selftests/bin/setup with prometheus
	@$(MAKE) -s -C selftests/host/profil O=$(O) all
	@selftests/host/profil/fleet.py $(O)/selftests/host/profil

# Node.js may also come from elsewhere, with a npm of its own
viewers := chromium bolt-16 llvm python3-jsonschema $(if $(shell command -v npm),,npm)

test-viewers:
	@selftests/bin/setup with $(viewers)
	@$(MAKE) -s -C selftests/viewers O=$(O) run $(if $(ONLY), \
		TESTS='$(notdir $(wildcard selftests/viewers/$(ONLY)*))')

test-install:
	@selftests/bin/setup with mmdebstrap debian-archive-keyring e2fsprogs
	@selftests/install/run $(ONLY)

images:
	@selftests/bin/setup with dmsetup sqlite3
	@$(MAKE) -s module tools
	@Documentation/images/make

fuzz: setup
	@$(MAKE) -s -C selftests/host/unit O=$(O) fuzz

bench bench-quick:
	@bench/setup
	@$(MAKE) -s module lib tools bench-programs
	@bench/run $(@:bench-%=%)

bench-locks: setup
	@selftests/vm/build-kernel locks
	@$(MAKE) -s locks-module lib tests
	@selftests/vm/run -k locks -i -t 3600 -m 3072 -c no_hash_pointers -- \
		bench/locks $$(find build/selftests/icount -type f -perm -1)

bench-programs: lib bench-floor
	$(MAKE) -C bench O=$(O)

floor_tree = $(O)/bench/floor/$(call release,$(KDIR))

bench-floor:
	$(call build_module,$(KDIR),$(floor_tree),,$(wildcard $(CURDIR)/bench/floor/*))

# The module for a kernel that selftests/vm/build-kernel has built
cfi-module: export LLVM = -16
coverage-module: export GCOV_PROFILE = y
coverage-module: export KCOV_INSTRUMENT = y
%-module:
	$(call build_module,$(O)/$*-kernel,$(call module_tree,$(O)/$*-kernel),,$(sources))
	$(call build_module,$(O)/$*-kernel,$(call refuse_tree,$(O)/$*-kernel),,$(refuse_sources))

# --- installing

# These directories take the same files with any prefix that systemd and kmod
# search: /usr and /usr/local.
udevdir := $(prefix)/lib/udev/rules.d
modprobedir := $(prefix)/lib/modprobe.d
modulesloaddir := $(prefix)/lib/modules-load.d

in_udevdir := config/70-profil.rules
in_modprobedir := config/modprobe.d/profil.conf
in_modulesloaddir := config/modules-load.d/profil.conf
directories := udevdir modprobedir modulesloaddir

install: install-user modules_install

install-user: lib tools
	$(MAKE) -C lib O=$(O) install
	$(MAKE) -C tools O=$(O) install
	$(install_files)

# Not by Kbuild, which would keep the name of our directory in the path.
release_here = $(call release,$(KDIR))
updates = $(DESTDIR)/lib/modules/$(release_here)/updates

modules_install: module | $(filter sign,$(MAKECMDGOALS))
	$(INSTALL) -d '$(updates)'
	$(INSTALL) -m 644 $(call module_tree,$(KDIR))/module/profil.ko '$(updates)'
	$(if $(DESTDIR),,depmod $(release_here))

dkms_source := $(DESTDIR)/usr/src/profil-$(VERSION)
installed = $(wildcard $(DESTDIR)/lib/modules/*/updates/profil.ko)

# Remove what DKMS has of this version, unless it is the package's
define remove_dkms
	$(if $(DESTDIR),,@! dpkg -S '$(dkms_source)/dkms.conf' > /dev/null 2>&1 || { \
		echo "profil: profil-dkms is installed; remove that package" >&2; \
		exit 1; })
	$(if $(DESTDIR),,! dkms status profil/$(VERSION) 2> /dev/null | \
		grep -q . || dkms remove profil/$(VERSION) --all)
	rm -rf '$(dkms_source)'
endef

# DKMS keeps a module that modules_install has installed, and one that it has
# built from other sources of the same version.
dkms-install:
	$(if $(DESTDIR),,@command -v dkms > /dev/null || { \
		echo "profil: dkms is missing; install dkms" >&2; exit 1; })
	$(if $(DESTDIR),,@test -z '$(installed)' || { \
		echo "profil: $(installed) is in the way; run 'make uninstall'" >&2; \
		exit 1; })
	$(remove_dkms)
	$(INSTALL) -d '$(dkms_source)/module' '$(dkms_source)/uapi/linux'
	$(INSTALL) -m 644 dkms.conf Kbuild '$(dkms_source)'
	$(INSTALL) -m 644 $(wildcard module/*.[ch]) \
		module/Kbuild module/Makefile \
		'$(dkms_source)/module'
	$(INSTALL) -m 644 uapi/linux/profil.h '$(dkms_source)/uapi/linux'
	$(if $(DESTDIR),,dkms install profil/$(VERSION))

# The keys that DKMS signs with
KEY ?= /var/lib/dkms/mok.key
CERT ?= /var/lib/dkms/mok.pub
hash = $(or $(shell sed -n 's/^CONFIG_MODULE_SIG_HASH="\(.*\)"/\1/p' \
		$(KDIR)/.config),sha256)

sign: module
	@test -r '$(KEY)' -a -r '$(CERT)' || { \
		echo "profil: cannot read $(KEY) and $(CERT); see" \
			"Documentation/secure-boot.rst" >&2; \
		exit 1; }
	$(KDIR)/scripts/sign-file $(hash) '$(KEY)' '$(CERT)' \
		$(call module_tree,$(KDIR))/module/profil.ko

uninstall:
	$(MAKE) -C lib O=$(O) uninstall
	$(MAKE) -C tools O=$(O) uninstall
	$(uninstall_files)
	$(remove_dkms)
	rm -f $(installed)
	$(if $(DESTDIR),,$(foreach ko,$(installed), \
		depmod $(word 3,$(subst /, ,$(ko)))$(newline)))

deb:
	packaging/deb

patches:
	@packaging/patches '$(TREE)' '$(O)/patches'

test-patches:
	@selftests/bin/setup with python3-sphinx python3-yaml python3-ply \
		python3-git
	@packaging/test-patches $(TREE)

# Not all of O, which may have other files
products := *-arm64 *-kernel *-riscv64 bench bench.json deb examples go lib linux \
	    linux.new module patches selftests test tools viewers vm

clean:
	rm -rf $(addprefix $(O)/,$(products))
	rmdir --ignore-fail-on-non-empty $(O) 2> /dev/null || :

.PHONY: all needs headers kernel-headers tools-headers help setup module sparse \
	symcheck checkpatch lib examples tools refuse tests demo demo-fallback \
	soak test test-more test-debug test-debug-rt test-kcsan test-coverage test-cfi test-fleet test-large \
	test-long test-matrix test-viewers test-install images fuzz bench bench-quick bench-locks bench-programs \
	bench-floor install install-user modules_install \
	dkms-install sign uninstall deb patches test-patches clean

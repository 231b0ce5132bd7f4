#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# source.sh - fetch the source of a kernel from Debian; for scripts that source
# it and have say()
#
#   find_source SUITE SERIES	sets $deb, and $version, the upstream one
#   fetch_source TREE		downloads $deb and unpacks it into TREE

# A private state directory for apt, without installed packages, so that the
# system's package lists do not change
apt=$(mktemp -d) || exit 1
trap 'rm -rf "$apt" "${new-}"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

apt_options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list"
	-o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists"
	-o Dir::State::status=/dev/null -o "Dir::Cache=$apt/cache")
[ "$(id -u)" != 0 ] || apt_options+=(-o APT::Sandbox::User=root)

# Prints the URI of the archive of this machine's distribution
archive()
{
	local own
	own=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	# shellcheck disable=SC2016 # apt's names, not the shell's
	apt-get indextargets --no-release-info \
		--format '$(RELEASE) $(COMPONENT) $(CREATED_BY) $(REPO_URI)' |
		awk -v own="$own" '
			($1 == own || $1 ~ /^(old)?stable$/) &&
			$2 == "main" && $3 == "Packages" {
				print $4
				exit
			}'
}

uri=$(archive)

find_source()
{
	local keys=/usr/share/keyrings/debian-archive-keyring.gpg
	local package=linux-source-$2

	suite=$1
	[ -n "$uri" ] || {
		say "apt has no archive of this distribution:" \
			"check its sources.list" >&2
		exit 1
	}
	rm -rf "$apt/lists" "$apt/cache"
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	printf 'deb [signed-by=%s] %s %s main\n' $keys "$uri" "$1" \
		> "$apt/sources.list"
	apt-get "${apt_options[@]}" update || return
	version=$(apt-cache "${apt_options[@]}" show "$package" 2>/dev/null |
		sed -n 's/^Version: //p' | sort -V | tail -n 1)
	[ -n "$version" ] || return
	deb=$package=$version
	version=${version%%-*}
}

fetch_source()
{
	local tree=$1 status

	say "fetching $deb from $suite"
	new=$(mktemp -d "$tree.XXXXXX") || return
	(
		cd "$new" &&
			apt-get "${apt_options[@]}" download "$deb" &&
			dpkg-deb -x ./*.deb deb &&
			rm ./*.deb &&
			say "unpacking it" &&
			tar -xf deb/usr/src/linux-source-*.tar.* &&
			mv linux-source-* "$tree"
	)
	status=$?
	rm -rf "$new"
	return $status
}

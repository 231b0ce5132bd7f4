#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# push.sh DIR: see push.py.
exec "$(dirname "$0")/push.py" "$1"

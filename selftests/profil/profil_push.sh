#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# profil_push.sh: see profil_push.py. The kselftest framework runs a copy of this
# file in the build directory.
dir=$(dirname "$0")
[ -e "$dir/profil_push.py" ] || dir=$dir/../../selftests/profil
exec "$dir/profil_push.py"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# complete.bash LIBRARY WORD...: what bash offers for the last word of a command
# line, with bash-completion's LIBRARY. Words are split as bash does it: = is
# one by itself.

# shellcheck source=/dev/null
. "$1"
shift
_completion_loader "$1"

# What the command's completion function is told
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE=$*
COMP_LINE=${COMP_LINE// = /=}
export COMP_POINT=${#COMP_LINE}
read -ra command < <(complete -p "$1")
for ((i = 0; i < ${#command[@]}; i++)); do
	[ "${command[i]}" != -F ] || function=${command[i + 1]}
done
"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"

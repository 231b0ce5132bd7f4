#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# complete.bash LIBRARY WORD...: prints the completions that bash offers for the
# last word of a command line, with bash-completion's LIBRARY. Words are split
# as bash splits them: = is a word of its own.

# shellcheck source=/dev/null
. "$1"
shift
_completion_loader "$1"

# Variables that bash sets for the command's completion function
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

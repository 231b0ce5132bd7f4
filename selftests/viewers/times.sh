#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# times.sh - compares the speed of two programs, for the tests of readers that
# optimise programs.

# user_times PROGRAM PROGRAM ARGUMENT: prints the least user time of several runs
# of both, in turn
user_times()
{
	python3 - "$@" <<- 'END'
		import os, subprocess, sys
		least = {}
		for program in sys.argv[1:3] * 7:
		    before = os.times().children_user
		    subprocess.run([program, sys.argv[3]], check=True,
		                   stdout=subprocess.DEVNULL)
		    time = os.times().children_user - before
		    least[program] = min(time, least.get(program, time))
		print(*least.values())
	END
}

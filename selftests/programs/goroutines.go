// SPDX-License-Identifier: GPL-2.0-only

// goroutines does the work of workload's "threads" in goroutines: it spends CPU
// time in two functions, three quarters in one and a quarter in the other, and
// prints the sum in nanoseconds. Go has its own stacks, system calls and
// signals.
package main

import (
	"fmt"
	"os"
	"sync"
	"syscall"
)

//go:noinline
func often(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum ^= i
	}
	return
}

//go:noinline
func seldom(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum ^= i
	}
	return
}

func nanoseconds() int64 {
	var usage syscall.Rusage

	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	var group sync.WaitGroup

	before := nanoseconds()
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 4; j++ {
				often(12000000)
				seldom(4000000)
			}
		}()
	}
	group.Wait()
	fmt.Printf("all 0x1 0x2 %d 0x1\n", nanoseconds()-before)
	os.Exit(4)
}

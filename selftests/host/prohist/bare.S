/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bare.S - a function that is only in the exception table, followed by others
 * that are only in the symbol table: one with symbols at and in it, and two
 * without a size
 */
	.text
	.cfi_startproc
	.fill	64, 1, 0x90
	ret
	.cfi_endproc

	.macro	function name
	.balign	16
	.globl	\name
	.type	\name, @function
\name:
	.fill	32, 1, 0x90
	ret
	.size	\name, . - \name
	.endm

	function bare_one
	function bare_two
	function bare_outer

	.macro	symbol name, offset, size
	.type	\name, @function
	.set	\name, bare_outer + \offset
	.size	\name, \size
	.endm

	.weak	a_weak
	symbol a_weak, 0, 33
	symbol a_local, 0, 16
	symbol inner_local, 8, 8
	.globl	inner_global
	symbol inner_global, 16, 8

# Without a size: up to the next symbol, or the end of the section
	.balign	16
	.globl	unsized_one
	.type	unsized_one, @function
unsized_one:
	.fill	16, 1, 0x90
label_in_it:
	.fill	15, 1, 0x90
	ret
	.globl	unsized_two
unsized_two:
	.fill	31, 1, 0x90
	ret

	.section other, "ax", @progbits
label_elsewhere:
	.fill	32, 1, 0x90

	.section .note.GNU-stack, "", @progbits

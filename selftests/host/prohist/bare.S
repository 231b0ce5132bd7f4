/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bare.S - a function that is only in the exception table, followed by others
 * that are only in the symbol table, the last with symbols at and in it
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

	.section .note.GNU-stack, "", @progbits

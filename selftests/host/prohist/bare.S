/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bare.S - a function that is only in the exception table, followed by two that
 * are only in the symbol table
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

	.section .note.GNU-stack, "", @progbits

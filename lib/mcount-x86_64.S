/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * mcount-x86_64.S - stubs that functions compiled with -pg call
 *
 * Unlike in an ordinary call, the function's arguments are still in registers,
 * so the stubs save all general registers. Vector registers are safe, since
 * gmon_mcount() is compiled not to use them.
 *
 * A function calls mcount after it has set up its frame. It calls __fentry__
 * (-mfentry) as its first instruction, when its return address is on top of the
 * stack.
 *
 * To port mcount to another architecture, see "To change X" in
 * Documentation/glossary.rst.
 */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

	.macro	save register
	push	\register
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \register, 0
	.endm

	.macro	restore register
	pop	\register
	.cfi_adjust_cfa_offset -8
	.cfi_restore \register
	.endm

	.macro	save_all
	.irp	register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	save	%\register
	.endr
	.endm

	.macro	restore_all
	.irp	register, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
	restore	%\register
	.endr
	.endm

	.hidden	gmon_mcount
	.text

	.globl	_mcount
	.weak	mcount
	.type	_mcount, @function
	.type	mcount, @function
	.p2align 4
_mcount:
mcount:
	.cfi_startproc
	_CET_ENDBR
	save_all
	mov	8(%rbp), %rdi
	mov	72(%rsp), %rsi
	call	gmon_mcount
	restore_all
	ret
	.cfi_endproc
	.size	_mcount, . - _mcount
	.size	mcount, . - mcount

	.globl	__fentry__
	.type	__fentry__, @function
	.p2align 4
__fentry__:
	.cfi_startproc
	_CET_ENDBR
	save_all
	mov	80(%rsp), %rdi
	mov	72(%rsp), %rsi
	/* The ABI requires 16-byte alignment at calls */
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	gmon_mcount
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	restore_all
	ret
	.cfi_endproc
	.size	__fentry__, . - __fentry__

	.section .note.GNU-stack, "", @progbits

// SPDX-License-Identifier: GPL-2.0-only
/*
 * names.c - a library whose functions have mangled names
 *
 * No test runs it. The names are those of outer::inner(int) in C++, of
 * crate::work in Rust, of crate::old in Rust's first mangling scheme, and one
 * that repeats the last part eight times, six times over, and so demangles to
 * three million bytes. Those of templates are, with all their arguments,
 * int box::wrap<int>::get<char>(char) const,
 * box::wrap<int>::wrap(), box::operator int<int>() and
 * box::run<int>(int)::{lambda(int)#1}::operator()(int) const.
 */
int cpp(int n) __asm__("_ZN5outer5innerEi");
int rust(int n) __asm__("_RNvCskwGfYPst2Cb_5crate4work");
int old_rust(int n) __asm__("_ZN5crate3old17h0123456789abcdefE");
int long_rust(int n)
	__asm__("_RIC1aTuuETB3_B3_B3_B3_B3_B3_B3_B3_ETB7_B7_B7_B7_B7_B7_B7_B7_ETBx_Bx_Bx_Bx_Bx_Bx_Bx_Bx_ETBX_BX_BX_BX_BX_BX_BX_BX_ETB1n_B1n_B1n_B1n_B1n_B1n_B1n_B1n_ETB1N_B1N_B1N_B1N_B1N_B1N_B1N_B1N_EE");
int method(int n) __asm__("_ZNK3box4wrapIiE3getIcEEiT_");
int constructor(int n) __asm__("_ZN3box4wrapIiEC1Ev");
int conversion(int n) __asm__("_ZN3boxcvT_IiEEv");
int lambda(int n) __asm__("_ZZN3box3runIiEEiT_ENKUliE_clEi");
int versioned_2(int n);

int cpp(int n)
{
	return n + 1;
}

int rust(int n)
{
	return n * 3;
}

int old_rust(int n)
{
	return n ^ 5;
}

int long_rust(int n)
{
	return n / 7;
}

int method(int n)
{
	return n + 11;
}

int constructor(int n)
{
	return n + 13;
}

int conversion(int n)
{
	return n + 15;
}

int lambda(int n)
{
	return n + 17;
}

int versioned_2(int n)
{
	return n - 9;
}

__asm__(".symver versioned_2, versioned@@NAMES_2");

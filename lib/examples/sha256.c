// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * sha256.c - SHA-256 of FIPS 180-4, as work in the demo's own code
 */
#include <string.h>

#include "sha256.h"

#define BLOCK	64

static const uint32_t sha256_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int bits)
{
	return x >> bits | x << (32 - bits);
}

static void sha256_schedule(uint32_t w[64], const uint8_t *block)
{
	int i;

	for (i = 0; i < 16; i++, block += 4)
		w[i] = (uint32_t)block[0] << 24 | block[1] << 16 |
			block[2] << 8 | block[3];
	for (; i < 64; i++) {
		uint32_t a = w[i - 15];
		uint32_t b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] +
			(rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
			(rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

/*
 * In each round, the standard moves a to h on by one; this moves their indices
 * in s instead.
 */
#define S(n)	s[((n) - i) & 7]

static void sha256_round(uint32_t s[8], uint32_t addend, unsigned int i)
{
	uint32_t a = S(0), e = S(4);
	uint32_t t1 = S(7) + addend +
		(rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
		((e & S(5)) ^ (~e & S(6)));
	uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
		((a & S(1)) ^ (a & S(2)) ^ (S(1) & S(2)));

	S(3) += t1;
	S(7) = t1 + t2;
}

static void sha256_block(uint32_t hash[8], const uint8_t *block)
{
	uint32_t w[64], s[8];
	unsigned int i;

	sha256_schedule(w, block);
	memcpy(s, hash, sizeof(s));
	for (i = 0; i < 64; i++)
		sha256_round(s, sha256_constants[i] + w[i], i);
	for (i = 0; i < 8; i++)
		hash[i] += s[i];
}

/* Hash the remaining data and its length in bits, padded to blocks. */
static void sha256_end(uint32_t hash[8], const uint8_t *rest, size_t size)
{
	uint8_t last[2 * BLOCK] = { 0 };
	size_t left = size % BLOCK;
	size_t blocks = left < BLOCK - 8 ? 1 : 2;
	uint64_t bits = 8 * (uint64_t)size;
	int i;

	memcpy(last, rest, left);
	last[left] = 0x80;
	for (i = 1; i <= 8; i++, bits >>= 8)
		last[blocks * BLOCK - i] = bits;
	sha256_block(hash, last);
	if (blocks == 2)
		sha256_block(hash, last + BLOCK);
}

/**
 * sha256() - hash memory
 * @data: address
 * @size: size, in bytes
 * @digest: receives the hash
 */
void sha256(const void *data, size_t size, uint8_t digest[SHA256_BYTES])
{
	uint32_t hash[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	const uint8_t *block = data;
	size_t left;
	int i;

	for (left = size; left >= BLOCK; left -= BLOCK, block += BLOCK)
		sha256_block(hash, block);
	sha256_end(hash, block, size);
	for (i = 0; i < SHA256_BYTES; i++)
		digest[i] = hash[i / 4] >> (24 - i % 4 * 8);
}

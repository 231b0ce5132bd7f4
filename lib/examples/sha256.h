/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * sha256.h - SHA-256 of FIPS 180-4
 */
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES	32

void sha256(const void *data, size_t size, uint8_t digest[SHA256_BYTES]);

#endif /* SHA256_H */

#pragma once
#include <stddef.h>
#include <stdint.h>

// Here rather than in Swift, as builds for tests look at every page too, and do not optimise Swift.

static inline uint64_t petrel_rotated(uint64_t value, int bits) {
  return (value << bits) | (value >> (64 - bits));
}

static inline uint64_t petrel_word(const uint8_t *bytes) {
  uint64_t word;
  __builtin_memcpy(&word, bytes, 8);
  return word;
}

#define PETREL_PRIME_1 0x9E3779B185EBCA87ULL
#define PETREL_PRIME_2 0xC2B2AE3D27D4EB4FULL
#define PETREL_PRIME_3 0x165667B19E3779F9ULL
#define PETREL_PRIME_4 0x85EBCA77C2B2AE63ULL
#define PETREL_PRIME_5 0x27D4EB2F165667C5ULL

static inline uint64_t petrel_round(uint64_t lane, uint64_t word) {
  return petrel_rotated(lane + word * PETREL_PRIME_2, 31) * PETREL_PRIME_1;
}

// XXH64 (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), of a multiple of 8 bytes, on a
// machine whose words begin with their lowest byte.
static inline uint64_t petrel_checksum(const void *start, size_t count, uint64_t seed) {
  const uint8_t *bytes = (const uint8_t *)start;
  const uint8_t *end = bytes + count;
  uint64_t sum = seed + PETREL_PRIME_5;
  if (count >= 32) {
    uint64_t a = seed + PETREL_PRIME_1 + PETREL_PRIME_2, b = seed + PETREL_PRIME_2, c = seed,
             d = seed - PETREL_PRIME_1;
    for (; bytes + 32 <= end; bytes += 32) {
      a = petrel_round(a, petrel_word(bytes));
      b = petrel_round(b, petrel_word(bytes + 8));
      c = petrel_round(c, petrel_word(bytes + 16));
      d = petrel_round(d, petrel_word(bytes + 24));
    }
    sum = petrel_rotated(a, 1) + petrel_rotated(b, 7) + petrel_rotated(c, 12) +
          petrel_rotated(d, 18);
    uint64_t lanes[4] = {a, b, c, d};
    for (int lane = 0; lane < 4; lane++)
      sum = (sum ^ petrel_round(0, lanes[lane])) * PETREL_PRIME_1 + PETREL_PRIME_4;
  }
  sum += count;
  for (; bytes + 8 <= end; bytes += 8)
    sum = petrel_rotated(sum ^ petrel_round(0, petrel_word(bytes)), 27) * PETREL_PRIME_1 +
          PETREL_PRIME_4;
  sum = (sum ^ (sum >> 33)) * PETREL_PRIME_2;
  sum = (sum ^ (sum >> 29)) * PETREL_PRIME_3;
  return sum ^ (sum >> 32);
}

// The checksum that SQLite gives frames of a write-ahead log, carried on over some bytes, a multiple of
// 8 (https://sqlite.org/fileformat2.html#checksum_algorithm).
static inline void petrel_log_checksum(
    const void *start, size_t count, int begins_with_highest_byte, uint32_t *first,
    uint32_t *second) {
  const uint8_t *bytes = (const uint8_t *)start;
  uint32_t a = *first, b = *second;
  for (size_t place = 0; place + 8 <= count; place += 8) {
    uint32_t words[2];
    __builtin_memcpy(words, bytes + place, 8);
    if (begins_with_highest_byte) {
      words[0] = __builtin_bswap32(words[0]);
      words[1] = __builtin_bswap32(words[1]);
    }
    a += words[0] + b;
    b += words[1] + a;
  }
  *first = a;
  *second = b;
}

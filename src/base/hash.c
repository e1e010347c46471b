/* hash.c - see hash.h. */
#include "base/hash.h"

uint64_t slp_hash(const slp_hash_key *key, slp_str s) { return slp_siphash(key, s, 1, 3); }

/* hash.c - SipHash-1-3, the hash of all tables whose keys come from outside. */
#include "base/hash.h"

uint64_t slp_hash(const slp_hash_key *key, slp_str s) { return slp_siphash(key, s, 1, 3); }

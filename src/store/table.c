/* table.c - copies the name and keys of a table, and sets the failures that all kinds of store share. */
#include "store/table.h"

#include "base/fail.h"
#include "base/mem.h"
#include "lease/store.h"

#include <sloop.h>
#include <stdio.h>

static char *copy_name_to(char **at, const char *z) {
  size_t n = strlen(z) + 1;
  char *p = *at;
  memcpy(p, z, n);
  *at += n;
  return p;
}

slp_table_spec *slp_table_copy(slp_mem *mem, const slp_table_spec *t) {
  size_t text = strlen(t->name) + strlen(t->hash_name) + (t->range_name ? strlen(t->range_name) : 0) + 3;
  slp_table_spec *copy = slp_zalloc(mem, sizeof *copy + text);
  if (!copy) return NULL;
  char *at = (char *)(copy + 1);
  copy->name = copy_name_to(&at, t->name);
  copy->hash_name = copy_name_to(&at, t->hash_name);
  copy->range_name = t->range_name ? copy_name_to(&at, t->range_name) : NULL;
  copy->optional = t->optional;
  copy->whose = t->whose;
  return copy;
}

static void describe_keys(char *to, size_t size, const char *hash, const char *range) {
  if (range && *range)
    snprintf(to, size, "\"%.60s\" and \"%.60s\"", hash, range);
  else
    snprintf(to, size, "\"%.60s\" alone", hash);
}

void slp_table_other_keys(slp_fail *f, const slp_table_spec *want, const char *hash, const char *range) {
  char have[150], need[150];
  describe_keys(have, sizeof have, hash, range);
  describe_keys(need, sizeof need, want->hash_name, want->range_name);
  char schema[60] = "";
  if (want->whose) want->whose(hash, range, schema, sizeof schema);
  slp_fail_set(f, SLP_REFUSED, SLOOP_EREFUSED, "table \"%.80s\" has the key %s%s%s; leases need %s",
               want->name, have, *schema ? ", as those of schema " : "", schema, need);
}

void slp_table_missing(slp_fail *f, const slp_table_spec *want) {
  slp_fail_set(f, SLP_GONE, SLP_ENOENT, "there is no table \"%.200s\"", want->name);
}

int slp_table_too_long(slp_fail *f, const slp_table_spec *table, const slp_store_bound *bound) {
  unsigned long long bytes = slp_store_bytes_max(bound) / slp_store_share(bound);
  if (slp_store_share(bound) == 1)
    slp_fail_set(f, SLP_REFUSED, SLOOP_EREFUSED, "the rows of table \"%.200s\" take more than %llu bytes",
                 table->name, bytes);
  else
    slp_fail_set(f, SLP_REFUSED, SLOOP_EREFUSED,
                 "the rows of table \"%.150s\" take more than %llu bytes under one of %u keys", table->name,
                 bytes, bound->at_once);
  return SLP_ELIMIT;
}

void slp_table_no_memory(slp_fail *f) {
  slp_fail_set(f, SLP_NOMEM, SLP_ENOMEM, "no memory for a lease request");
}

/* schema_kcl_form.c - tells rows that name their stream from rows that do not, and decides which form this
 * worker's own rows have. The rule to keep: rows of this worker's stream must never be overlooked. Otherwise
 * the worker would begin where a new application begins, and hand records out again or leave some out. */
#include "guest/schema_kcl_form.h"

#include "base/num.h"
#include "lease/schema.h"

#include <stdio.h>

#define KINESIS_BEGAN_S 1383264000 /* November 2013, when Kinesis began: no stream is older */
#define SHOWN 90                   /* a message shows at most this many bytes of a key */

typedef struct stream_name {
  slp_str account, name, epoch;
} stream_name;

/* Splits ACCOUNT:NAME:EPOCH. With DynamoDB Streams, EPOCH is a label, which has colons. Returns 0 if there
 * are fewer than three parts, or if a part is empty. */
static int split_stream_name(slp_str text, stream_name *ret) {
  const char *a = text.n ? memchr(text.p, ':', text.n) : NULL;
  const char *b = a ? memchr(a + 1, ':', text.n - (size_t)(a + 1 - text.p)) : NULL;
  if (!b) return 0;
  ret->account = (slp_str){text.p, (size_t)(a - text.p)};
  ret->name = (slp_str){a + 1, (size_t)(b - a - 1)};
  ret->epoch = (slp_str){b + 1, text.n - (size_t)(b + 1 - text.p)};
  return ret->account.n && ret->name.n && ret->epoch.n;
}

/* Cuts the shard off *key: the part after the last colon. Returns 0 if there is no colon. */
static int cut_shard(slp_str *key, slp_str *ret_shard) {
  size_t n = key->n;
  while (n && key->p[n - 1] != ':') n--;
  if (!n) return 0;
  *ret_shard = (slp_str){key->p + n, key->n - n};
  key->n = n - 1;
  return 1;
}

/* Returns the kind of a key that has this stream's name and another epoch: FORMER if an earlier stream of
 * this name may have been created at that epoch, otherwise MISNAMED. */
static slp_kcl_key of_same_name(slp_str epoch, slp_str ours) {
  uint64_t then, now;
  /* this stream's epoch is a label and no number, so it can't be compared */
  if (slp_parse_u64(ours, &now)) return SLP_KCL_KEY_FORMER;
  if (slp_parse_u64(epoch, &then) || then < KINESIS_BEGAN_S || then > now) return SLP_KCL_KEY_MISNAMED;
  return SLP_KCL_KEY_FORMER;
}

slp_kcl_key slp_kcl_key_of(const slp_str names[SLP_KCL_NAMES], slp_str key, slp_str *ret_shard) {
  slp_str shard;
  stream_name theirs, ours;
  *ret_shard = key;
  if (!cut_shard(&key, &shard)) return SLP_KCL_KEY_PLAIN;
  *ret_shard = shard;
  if (names[0].n && slp_str_eq(key, names[0])) return SLP_KCL_KEY_OURS;
  if (names[1].n && slp_str_eq(key, names[1])) return SLP_KCL_KEY_ALIAS;
  if (!shard.n || !split_stream_name(key, &theirs)) return SLP_KCL_KEY_ODD;
  if (!split_stream_name(names[0], &ours) || !slp_str_eq(theirs.name, ours.name)) return SLP_KCL_KEY_OTHER;
  if (slp_str_eq(theirs.account, ours.account)) return of_same_name(theirs.epoch, ours.epoch);
  return slp_str_eq(theirs.epoch, ours.epoch) ? SLP_KCL_KEY_MISNAMED : SLP_KCL_KEY_OTHER;
}

void slp_kcl_keys_count(slp_kcl_keys *keys, const slp_str names[SLP_KCL_NAMES], slp_str key) {
  slp_str shard;
  slp_kcl_key kind = slp_kcl_key_of(names, key, &shard);
  if (!keys->n[kind]++) keys->first[kind] = key;
}

/* ---- messages ------------------------------------------------------------------------------------- */

#define SAY(to, ...) snprintf(to, sizeof(to), __VA_ARGS__)
#define KEY(kind) shown_length(keys->first[kind]), keys->first[kind].n ? keys->first[kind].p : ""

static int shown_length(slp_str s) { return (int)slp_min_u64(s.n, SHOWN); }

static void refuse_misnamed(const slp_kcl_keys *keys, const slp_str names[SLP_KCL_NAMES],
                            slp_table_form *ret) {
  SAY(ret->refused,
      "row %.*s (one of %zu) names this stream, but not as %.*s, which are its account and time of creation. "
      "Give the KCL that name and start it again, or delete the rows",
      KEY(SLP_KCL_KEY_MISNAMED), keys->n[SLP_KCL_KEY_MISNAMED], shown_length(names[0]), names[0].p);
}

#define WHICH_COUNTS "two applications. Stop both, and delete the rows of the one that is not needed"

static void refuse_mixed(const slp_kcl_keys *keys, slp_kcl_key named, slp_table_form *ret) {
  SAY(ret->refused,
      "some leases name their stream (%zu, as %.*s) and some do not (%zu, as %.*s): " WHICH_COUNTS,
      keys->n[named], KEY(named), keys->n[SLP_KCL_KEY_PLAIN], KEY(SLP_KCL_KEY_PLAIN));
}

static void refuse_both_names(const slp_kcl_keys *keys, slp_table_form *ret) {
  SAY(ret->refused, "leases name this stream in two ways, as %.*s and as %.*s: " WHICH_COUNTS,
      KEY(SLP_KCL_KEY_OURS), KEY(SLP_KCL_KEY_ALIAS));
}

static void refuse_unnamed(const slp_kcl_keys *keys, slp_table_form *ret) {
  SAY(ret->refused,
      "leases that do not name their stream (%zu, as %.*s) are of an application of one stream. Read that "
      "one "
      "alone, or copy them to another application (--migrate kcl:APP kcl+:OTHER STREAM)",
      keys->n[SLP_KCL_KEY_PLAIN], KEY(SLP_KCL_KEY_PLAIN));
}

static void refuse_odd(const slp_kcl_keys *keys, slp_table_form *ret) {
  SAY(ret->refused,
      "no lease can be understood (%zu, as %.*s): its key is neither a shard nor ACCOUNT:NAME:EPOCH:SHARD. "
      "Delete the rows, or choose another application",
      keys->n[SLP_KCL_KEY_ODD], KEY(SLP_KCL_KEY_ODD));
}

static void tell_passed(const slp_kcl_keys *keys, int several, slp_table_form *ret) {
  size_t former = keys->n[SLP_KCL_KEY_FORMER], other = keys->n[SLP_KCL_KEY_OTHER];
  if (former)
    SAY(ret->passed,
        "rows of an earlier stream of this name are ignored (%zu, as %.*s): nothing of them is continued",
        former, KEY(SLP_KCL_KEY_FORMER));
  else if (other && !several)
    SAY(ret->passed, "rows of other streams are ignored (%zu, as %.*s)", other, KEY(SLP_KCL_KEY_OTHER));
}

/* ---- deciding ------------------------------------------------------------------------------------- */

/* Returns how many of the keys name a stream. *ret: the first kind of such keys that occurs, as an
 * example. */
static size_t named_n(const slp_kcl_keys *keys, slp_kcl_key *ret) {
  static const slp_kcl_key named[] = {SLP_KCL_KEY_OURS, SLP_KCL_KEY_ALIAS, SLP_KCL_KEY_FORMER,
                                      SLP_KCL_KEY_OTHER};
  size_t n = 0;
  for (size_t i = SLP_COUNT(named); i--;) {
    if (keys->n[named[i]]) *ret = named[i];
    n += keys->n[named[i]];
  }
  return n;
}

slp_kcl_key slp_kcl_form(const slp_kcl_keys *keys, const slp_str names[SLP_KCL_NAMES], int several,
                         slp_table_form *ret) {
  slp_kcl_key named = SLP_KCL_KEY_OURS;
  size_t n = named_n(keys, &named), plain = keys->n[SLP_KCL_KEY_PLAIN];
  ret->refused[0] = ret->passed[0] = 0;
  if (keys->n[SLP_KCL_KEY_MISNAMED])
    refuse_misnamed(keys, names, ret);
  else if (keys->n[SLP_KCL_KEY_OURS] && keys->n[SLP_KCL_KEY_ALIAS])
    refuse_both_names(keys, ret);
  else if (plain && n)
    refuse_mixed(keys, named, ret);
  else if (plain && several)
    refuse_unnamed(keys, ret);
  else if (keys->n[SLP_KCL_KEY_ODD] && !plain && !n)
    refuse_odd(keys, ret);
  tell_passed(keys, several, ret);
  if (keys->n[SLP_KCL_KEY_ALIAS] && !keys->n[SLP_KCL_KEY_OURS]) return SLP_KCL_KEY_ALIAS;
  return n || several ? SLP_KCL_KEY_OURS : SLP_KCL_KEY_PLAIN;
}

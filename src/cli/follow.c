/* follow.c - finds the shards that a partition key goes to, also after splits and merges. */
#include "cli/follow.h"

#include "base/mem.h"
#include "base/num.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/people_lines.h"
#include "cli/shard_numbers.h"
#include "codec/digest.h"
#include "codec/kpl.h"
#include "program/program.h"

#include <sloop.h>
#include <stdio.h>

/* the first TRIES searches for the child shard of the key are TRY_AGAIN_US apart, later searches
 * TRY_LATER_US */
#define TRIES 30u
#define TRY_AGAIN_US 2000000u
#define TRY_LATER_US 30000000u

int slp_key_hash(slp_mem *mem, slp_str key, char out[SLP_HASH_DIGITS]) {
  slp_digest *d = slp_digest_new(mem);
  uint8_t n[16];
  int r = d ? slp_md5(d, key, n) : SLP_ENOMEM;
  if (d) slp_digest_free(d);
  if (r) return r;
  char digits[SLP_HASH_DIGITS];
  size_t at = sizeof digits;
  digits[--at] = 0;
  for (int more = 1; more;) { /* divides by ten until the quotient is 0 */
    unsigned rest = 0;
    more = 0;
    for (size_t i = 0; i < sizeof n; i++) {
      unsigned v = rest * 256 + n[i];
      n[i] = (uint8_t)(v / 10);
      rest = v % 10;
      more |= n[i];
    }
    digits[--at] = (char)('0' + rest);
  }
  memcpy(out, digits + at, sizeof digits - at);
  return 0;
}

int slp_key_in_range(const char *hash, const char *start, const char *end) {
  slp_str h = slp_str_of(hash), s = slp_str_of(start), e = slp_str_of(end);
  if (!slp_num_valid(h) || !slp_num_valid(s) || !slp_num_valid(e)) return 0;
  return slp_num_cmp(s, h) <= 0 && slp_num_cmp(h, e) <= 0;
}

static int note_range(slp_follow *f, uint32_t number, const sloop_shard_t *s) {
  slp_mem *mem = f->finder.app->mem;
  if (number >= f->ranges_cap) {
    slp_hash_range *more = slp_doubled(mem, f->ranges, &f->ranges_cap, 8, sizeof *more);
    if (!more) return SLP_ENOMEM;
    f->ranges = more;
  }
  slp_hash_range *range = &f->ranges[number];
  int bad = slp_parse_u128(slp_str_of(s->hash_start), range->first) ||
            slp_parse_u128(slp_str_of(s->hash_end), range->last);
  if (bad) { /* if the range can't be parsed, every key counts as inside it */
    memset(range->first, 0, sizeof range->first);
    memset(range->last, 0xff, sizeof range->last);
  }
  return 0;
}

/* Adds to `seen` the shards of the key that are new in this listing, and writes their ids to `ids`. Returns
 * their number, or -1 if there is no memory. */
static int pick_new_shards(slp_follow *f, const sloop_shard_t *const *shards, size_t n, const char **ids) {
  int found = 0;
  for (size_t i = 0; i < n; i++) {
    if (!slp_key_in_range(f->hash, shards[i]->hash_start, shards[i]->hash_end)) continue;
    if (slp_names_find(&f->seen, shards[i]->id) != UINT32_MAX) continue;
    uint32_t number = slp_names_number(&f->seen, shards[i]->id);
    if (number == UINT32_MAX || note_range(f, number, shards[i])) return -1;
    ids[found++] = shards[i]->id;
  }
  return found;
}

/* Decides at the first listing whether to read all shards and whether to compare keys, by the table in
 * follow.h. */
static void choose_shards_to_read(slp_follow *f, const sloop_shard_t *const *shards, size_t n) {
  sloop_placement_t placement = n ? shards[0]->placement : SLOOP_PLACED_UNKNOWN;
  const slp_args *a = f->finder.app->args;
  int now = placement == SLOOP_PLACED_BY_KEY_NOW;
  f->every = placement == SLOOP_PLACED_ANYWHERE || (now && f->older);
  f->compares = f->every || now;
  if (!f->every || a->quiet) return;
  slp_say(
      "-p key:TEXT: %s; all %zu shards are read, and only records with the key are printed",
      now ? "this stream is on demand, and its RecordDistributionStrategy may have been AUTO before, when "
            "partition keys did not choose the shard"
          : "the RecordDistributionStrategy of the stream is AUTO: partition keys do not choose the shard",
      n);
}

/* Returns 1 if the listing contains the shard that the key goes to now. The stream always has such a shard.
 * But an old listing may show a shard as open that was already read to its end, so shards in `ended` are left
 * out. */
static int goes_on(slp_follow *f, const sloop_shard_t *const *shards, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!shards[i]->closed && slp_key_in_range(f->hash, shards[i]->hash_start, shards[i]->hash_end) &&
        slp_names_find(&f->ended, shards[i]->id) == UINT32_MAX)
      return 1;
  return 0;
}

static void fail_follow(slp_follow *f, int status, const sloop_error_t *error) {
  char line[400];
  if (error) {
    sloop_error_t shown = *error;
    shown.retry_in_ms = UINT64_MAX;
    slp_error_line(&shown, line, sizeof line);
  } else {
    snprintf(line, sizeof line, "%s (%s)", sloop_strerror(status), sloop_err_name(status));
  }
  slp_cli_consumer_fail(&f->finder, SLP_EXIT_FAILED, line);
}

static void try_again(slp_follow *f) {
  if (f->tries > 0 && --f->tries == 0)
    slp_say(
        "-p key:TEXT: the shard that the key goes to was closed, and no child shard has been listed for %u "
        "s; listing again every %u s",
        TRIES * TRY_AGAIN_US / 1000000, TRY_LATER_US / 1000000);
  f->again_at_us = slp_program_mono_us() + (f->tries > 0 ? TRY_AGAIN_US : TRY_LATER_US);
}

static int shards_are_anywhere(const sloop_shard_t *const *shards, size_t n) {
  return n && shards[0]->placement == SLOOP_PLACED_ANYWHERE;
}

static void on_listed(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                      const sloop_error_t *error, void *arg) {
  slp_follow *f = arg;
  (void)s;
  f->looking = 0;
  if (f->finder.stopping) return;
  int first = f->seen.n == 0;
  /* the shards found before are still being read, so a failed listing does no harm */
  if (status != 0 && !first) {
    try_again(f);
    return;
  }
  if (!status && first) choose_shards_to_read(f, shards, n);
  if (!status && !first && shards_are_anywhere(shards, n)) {
    slp_cli_consumer_fail(&f->finder, SLP_EXIT_FAILED,
                          "-p key:TEXT: the RecordDistributionStrategy of the stream became AUTO, so "
                          "partition keys no longer choose the shard; start again to read all shards");
    return;
  }
  if (f->every) {
    f->on_found(f, NULL, 0);
    return;
  }
  const char **ids = status ? NULL : slp_zalloc_n(f->finder.app->mem, n + 1, sizeof *ids);
  int found = ids ? pick_new_shards(f, shards, n, ids) : -1;
  if (status || found < 0) {
    fail_follow(f, status ? status : SLP_ENOMEM, error);
  } else if (found > 0) {
    f->on_found(f, ids, (size_t)found);
  } else if (first) {
    slp_cli_consumer_fail(&f->finder, SLP_EXIT_FAILED,
                          "-p key:TEXT: no shard has this key in its hash-key range");
  }
  if (ids && found >= 0 && goes_on(f, shards, n))
    f->tries = 0;
  else if (ids && found >= 0 && !f->finder.stopping)
    try_again(f);
  slp_free(f->finder.app->mem, ids);
}

static void request_shard_listing(slp_follow *f) {
  if (f->looking || f->finder.stopping) return;
  f->again_at_us = 0;
  f->looking = 1;
  int r = sloop_list(f->finder.s, on_listed, f);
  if (r) fail_follow(f, r, NULL);
}

int slp_follow_open(slp_follow *f, slp_app *app, const sloop_opts_t *o, const char *key) {
  sloop_opts_t opts = *o;
  /* no record is read from this position, because the finder is never started */
  opts.start.kind = SLOOP_OLDEST;
  slp_names_init(&f->seen, app->mem);
  slp_names_init(&f->ended, app->mem);
  f->key = key;
  f->older = o->start.kind != SLOOP_LATEST;
  f->digest = slp_digest_new(app->mem);
  if (!f->digest) return SLP_ENOMEM;
  int r = slp_cli_consumer_open_idle(&f->finder, app, &opts);
  if (r) return r;
  r = slp_key_hash(app->mem, slp_str_of(key), f->hash);
  if (r)
    fail_follow(f, r, NULL);
  else
    request_shard_listing(f);
  return 0;
}

void slp_follow_ended(slp_follow *f, const char *shard) {
  if (f->every) return; /* with `every` one consumer reads all shards and finds child shards by itself */
  if (slp_names_number(&f->ended, shard) == UINT32_MAX) {
    fail_follow(f, SLP_ENOMEM, NULL);
    return;
  }
  f->tries = TRIES;
  request_shard_listing(f);
}

int slp_follow_is_looking(const slp_follow *f) { return f->tries > 0; }

void slp_follow_tick(slp_follow *f) {
  if (f->again_at_us && slp_program_mono_us() >= f->again_at_us) request_shard_listing(f);
}

/* Returns 1 if the record is in the shard that its key goes to, or if this can't be checked. It can't be
 * checked for an aggregate, because the outer key says nothing about the records inside. Returns 0 for a
 * record without a key. */
static int is_at_home(slp_follow *f, const sloop_record_t *r) {
  uint8_t hash[16];
  uint32_t number = slp_names_find(&f->seen, r->shard);
  if (slp_kpl_begins_like((slp_str){r->data.base, r->data.len})) return 1;
  if (r->flags & SLOOP_REC_KEYLESS) return 0;
  if (number == UINT32_MAX || slp_md5(f->digest, (slp_str){r->key.base, r->key.len}, hash)) return 1;
  return slp_hash_range_has(&f->ranges[number], hash);
}

static void warn_of_doubtful_record(slp_follow *f, const sloop_record_t *r) {
  f->doubted = 1;
  slp_say(
      "-p key:TEXT: record %.*s of %s has %s: its producer gave an ExplicitHashKey, or the "
      "RecordDistributionStrategy of the stream was AUTO when it arrived. Records with the key may be in "
      "other shards too, which are not read; leave out -p to read all",
      (int)(r->seq.len < 130 ? r->seq.len : 130), r->seq.base, r->shard,
      r->flags & SLOOP_REC_KEYLESS ? "no key" : "a key of another shard");
}

int slp_follow_prints(slp_follow *f, const sloop_record_t *r) {
  if (!f->every && !f->doubted && !is_at_home(f, r)) warn_of_doubtful_record(f, r);
  if (!f->compares) return 1;
  size_t n = strlen(f->key);
  return !(r->flags & SLOOP_REC_KEYLESS) && r->key.len == n && memcmp(r->key.base, f->key, n) == 0;
}

void slp_follow_free(slp_follow *f) {
  if (f->digest) slp_digest_free(f->digest);
  if (f->ranges) slp_free(f->finder.app->mem, f->ranges);
  if (f->seen.mem) slp_names_free(&f->seen);
  if (f->ended.mem) slp_names_free(&f->ended);
}

/* knobs.c - the table of the settings of -X. It has the options of the library, from api/settings.h, and then
 * the command's own settings. */
#include "cli/knobs.h"

#include "api/settings.h"
#include "base/buf.h"
#include "base/clean.h"
#include "cli/args.h"
#include "cli/decode.h"
#include "cli/help.h"
#include "cli/nearest.h"

#include <sloop.h>
#include <sloop_sandbox.h>
#include <stdio.h>

#define MET(field) offsetof(slp_args, metrics.field)
#define BOX(field) offsetof(slp_args, sandbox.field)
#define SYN(field) offsetof(slp_args, synthetic.field)

static const slp_setting own[] = {
    {"leases_ms", SLP_SETTING_U32, offsetof(slp_args, leases_ms), 1000, 3600000, "ms",
     "between readings of a lease table by --leases --metrics", 0},
    {"streams_ms", SLP_SETTING_U32, offsetof(slp_args, streams_ms), 1000, 3600000, "ms",
     "between listings of the streams for a STREAM that is a pattern", 0},
    {"decoded_bytes_max", SLP_SETTING_U32, offsetof(slp_args, decoded_bytes_max), 1, SLP_DECODED_BYTES_MAX,
     "bytes",
     "that all steps of -s together may produce for one record; more is a decoding error. A record is "
     "printed in one go: 16 MiB take up to 0.2 s",
     0},
    {"metrics", SLP_SETTING_TEXT, MET(listen), 0, 0, "ADDRESS:PORT", "the same as --metrics", 0},
    {"cloudwatch", SLP_SETTING_TEXT, MET(cloudwatch), 0, 0, "namespace",
     "of CloudWatch for the metrics; AWS bills each metric: several a stream, one a shard", 0},
    {"cloudwatch_set", SLP_SETTING_TEXT, MET(cloudwatch_set), 0, 0, "sloop|motorway",
     "which metrics: sloop's, or the one that motorway puts, then by default into Motorway/Kinesis", 0},
    {"cloudwatch_as_motorway", SLP_SETTING_FLAG, MET(set_of_0_1), 0, 1, "0|1",
     "1: as cloudwatch_set=motorway", 0},
    {"cloudwatch_ms", SLP_SETTING_U32, MET(cloudwatch_ms), 1000, UINT32_MAX, "ms",
     "between calls to CloudWatch", 0},
    {"sandbox.port", SLP_SETTING_U16, BOX(port), 0, 65535, "port", "to listen on; 0: any free one", 0},
    {"sandbox.address", SLP_SETTING_TEXT, BOX(address), 0, 0, "address", "to listen on; loopback only", 0},
    {"sandbox.iterator_ms", SLP_SETTING_U32, BOX(iterator_ms), 1, UINT32_MAX, "ms",
     "how long a shard iterator lives", 0},
    {"sandbox.next_token_ms", SLP_SETTING_U32, BOX(next_token_ms), 1, UINT32_MAX, "ms",
     "how long a ListShards token lives", 0},
    {"sandbox.change_ms", SLP_SETTING_U32, BOX(change_ms), 0, UINT32_MAX, "ms",
     "how long create, split and merge take", 0},
    {"sandbox.reads_per_second", SLP_SETTING_U32, BOX(reads_per_second), 0, UINT32_MAX, "calls",
     "a shard; 0: no limit", 0},
    {"sandbox.read_bytes_per_second", SLP_SETTING_U64, BOX(read_bytes_per_second), 0, UINT64_MAX, "bytes",
     "a shard; 0: no limit", 0},
    {"sandbox.write_bytes_per_second", SLP_SETTING_U64, BOX(write_bytes_per_second), 0, UINT64_MAX, "bytes",
     "a shard; 0: no limit", 0},
    {"sandbox.write_records_per_second", SLP_SETTING_U32, BOX(write_records_per_second), 0, UINT32_MAX,
     "records", "a shard; 0: no limit", 0},
    {"sandbox.list_page_max", SLP_SETTING_U32, BOX(list_page_max), 1, UINT32_MAX, "shards",
     "in one answer of ListShards", 0},
    {"sandbox.access_key", SLP_SETTING_TEXT, BOX(access_key), 0, 0, "text",
     "with secret_key: signatures are checked", 0},
    {"sandbox.secret_key", SLP_SETTING_TEXT, BOX(secret_key), 0, 0, "text", "see access_key", 0},
    {"sandbox.session_token", SLP_SETTING_TEXT, BOX(session_token), 0, 0, "text", "requests must carry it",
     0},
    {"sandbox.clock_offset_ms", SLP_SETTING_I64, BOX(clock_offset_ms), 0, 0, "ms",
     "its clock is ahead by this much", 0},
    {"sandbox.cbor_indefinite", SLP_SETTING_FLAG, BOX(cbor_indefinite), 0, 1, "0|1",
     "CBOR without lengths, as the service's", 0},
    {"sandbox.table_partitions", SLP_SETTING_U32, BOX(table_partitions), 1, 5000, "shards",
     "open at once in the stream of a new table", 0},
    {"sandbox.roll_ms", SLP_SETTING_U32, BOX(roll_ms), 0, UINT32_MAX, "ms",
     "how long, about, a shard of a table's stream stays open; 0: for ever", 0},
    {"sandbox.change_iterator_ms", SLP_SETTING_U32, BOX(change_iterator_ms), 1, UINT32_MAX, "ms",
     "how long an iterator of a table's stream lives", 0},
    {"sandbox.change_readers_max", SLP_SETTING_U32, BOX(change_readers_max), 0, 8, "readers",
     "of one shard of a table's stream within a second; 0: no limit", 0},
    {"sandbox.change_reads_per_second", SLP_SETTING_U32, BOX(change_reads_per_second), 0, UINT32_MAX, "calls",
     "a shard of a table's stream; 0: no limit", 0},
    {"sandbox.describes_per_second", SLP_SETTING_U32, BOX(describes_per_second), 0, UINT32_MAX, "calls",
     "DescribeStream for tables' streams; 0: no limit", 0},
    {"sandbox.lists_per_second", SLP_SETTING_U32, BOX(lists_per_second), 0, UINT32_MAX, "calls",
     "ListStreams for tables' streams; 0: no limit", 0},
    {"sandbox.synthetic_bytes", SLP_SETTING_U64, SYN(bytes), 0, 1048576, "bytes",
     "the stream of -M has computed records of this size; 0: ordinary", 0},
    {"sandbox.synthetic_records", SLP_SETTING_U64, SYN(records), 1, UINT64_MAX, "records",
     "a shard; max: endless", 0},
    {"sandbox.synthetic_rate", SLP_SETTING_U64, SYN(rate), 0, UINT64_MAX, "records",
     "a second and shard; 0: all are there at the start", 0},
    {"sandbox.synthetic_seed", SLP_SETTING_U64, SYN(seed), 0, UINT64_MAX, "number",
     "of the computed payloads", 0},
};

/* One setting of -X. `at`: offset in slp_args of the struct that has the value; s->at is the offset in that
 * struct. */
typedef struct knob {
  const slp_setting *s;
  size_t at;
} knob;

#define KNOBS_MAX (slp_settings_n + SLP_COUNT(own))
#define AT_OPTS offsetof(slp_args, opts)

/* Returns the i-th setting. `s` is NULL for an option of the library that can't be set with -X. */
static knob knob_at(size_t i) {
  if (i >= slp_settings_n) return (knob){&own[i - slp_settings_n], 0};
  return (knob){slp_settings[i].for_programs ? NULL : &slp_settings[i], AT_OPTS};
}

static knob find_knob(slp_str name) {
  const slp_setting *s = slp_setting_find(slp_settings, slp_settings_n, name);
  if (s) return (knob){s->for_programs ? NULL : s, AT_OPTS};
  return (knob){slp_setting_find(own, SLP_COUNT(own), name), 0};
}

/* Writes "; did you mean NAME?" with the settings whose names are most like `name`, or "". */
static void suggest_knobs(slp_str name, char *out, size_t size) {
  slp_nearest like;
  slp_nearest_begin(&like, name);
  for (size_t i = 0; i < KNOBS_MAX; i++)
    if (knob_at(i).s) slp_nearest_offer(&like, knob_at(i).s->name);
  slp_nearest_text(&like, "", out, size);
}

int slp_knob_set(slp_args *a, slp_str setting, char why[200]) {
  const char *equals = memchr(setting.p, '=', setting.n);
  slp_str name = {setting.p, equals ? (size_t)(equals - setting.p) : setting.n};
  char text[SLP_SETTING_WHY];
  knob k = find_knob(name);
  if (!k.s) {
    int n = snprintf(why, 200, "-X: unknown setting \"%.*s\"", (int)(name.n < 60 ? name.n : 60), name.p);
    suggest_knobs(name, why + n, 200 - (size_t)n);
    if (!why[n]) snprintf(why + n, 200 - (size_t)n, "; -X list shows all");
    return SLP_EINVAL;
  }
  if (!equals) {
    snprintf(why, 200, "-X %s needs a value: -X %s=VALUE", k.s->name, k.s->name);
    return SLP_EINVAL;
  }
  slp_str value = {equals + 1, setting.n - name.n - 1};
  if (slp_setting_write(k.s, (char *)a + k.at, value, text)) {
    snprintf(why, 200, "-X %.190s", text);
    return SLP_EINVAL;
  }
  if (slp_str_is(name, "order_wait_ms")) a->order_wait_given = 1;
  return 0;
}

int slp_knob_exists(slp_str name) { return find_knob(name).s != NULL; }

int slp_knob_hides(slp_str name, const char *value) {
  static const char *const secrets[] = {"sandbox.secret_key", "sandbox.session_token"};
  for (size_t i = 0; i < SLP_COUNT(secrets); i++)
    if (slp_str_is(name, secrets[i])) return 1;
  int is_url = slp_str_is(name, "endpoint") || slp_str_is(name, "store_endpoint");
  /* in a URL, a user name counts as a secret even without a password */
  return slp_has_password(value) || (is_url && strchr(value, '@'));
}

/* Writes the value of a setting as a user would type it. Writes nothing if the setting has no value, and
 * "(secret)" for a secret. */
static int add_value(slp_buf *b, const slp_args *a, knob k) {
  const char *text;
  if (k.s->kind == SLP_SETTING_TEXT) {
    memcpy(&text, (const char *)a + k.at + k.s->at, sizeof text);
    if (text && slp_knob_hides(slp_str_of(k.s->name), text)) return slp_buf_add_z(b, "(secret)");
  }
  return slp_setting_put(k.s, (const char *)a + k.at, b);
}

int slp_knobs_dump(slp_buf *b, const slp_args *a) {
  for (size_t i = 0; i < KNOBS_MAX; i++) {
    knob k = knob_at(i);
    if (!k.s) continue;
    slp_buf_addf(b, "# %s=", k.s->name);
    add_value(b, a, k);
    slp_buf_add_char(b, '\n');
  }
  return slp_buf_failed(b);
}

int slp_knobs_list(slp_buf *b) {
  slp_args a;
  memset(&a, 0, sizeof a);
  sloop_opts_init(&a.opts);
  sloop_metrics_opts_init(&a.metrics);
  sloop_sandbox_opts_init(&a.sandbox);
  a.synthetic.records = UINT64_MAX;
  slp_buf_add_z(b, "name=default (what it counts, or its words): meaning\n\n");
  for (size_t i = 0; i < KNOBS_MAX; i++) {
    knob k = knob_at(i);
    if (!k.s) continue;
    slp_buf_addf(b, "%s=", k.s->name);
    add_value(b, &a, k);
    slp_buf_addf(b, " (%s)\n", k.s->unit);
    slp_help_fill(b, k.s->meaning, 0, 4);
  }
  return slp_buf_failed(b);
}

void slp_knobs_each(void (*fn)(void *arg, const char *name, const char *unit, const char *meaning),
                    void *arg) {
  for (size_t i = 0; i < KNOBS_MAX; i++) {
    knob k = knob_at(i);
    if (k.s) fn(arg, k.s->name, k.s->unit, k.s->meaning);
  }
}

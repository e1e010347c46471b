/* knobs.c - the table behind -X. */
#include "cli/knobs.h"

#include <stdio.h>

#include "base/clean.h"
#include "base/num.h"
#include "cli/help.h"

typedef enum { U16, U32, U64, I64, FLAG, TEXT, CHOICE } knob_kind;

typedef struct knob {
  const char *name;
  knob_kind kind;
  size_t at; /* in slp_args */
  uint64_t min, max;
  const char *unit; /* CHOICE: the words, in the order of their values from 1 on */
  const char *meaning;
} knob;

#define OPT(field) offsetof(slp_args, opts.field)
#define MET(field) offsetof(slp_args, metrics.field)
#define BOX(field) offsetof(slp_args, sandbox.field)
#define SYN(field) offsetof(slp_args, synthetic.field)

static const knob knobs[] = {
    {"region", TEXT, OPT(region), 0, 0, "name", "AWS region; else the ARN's, AWS_REGION, the profile's"},
    {"profile", TEXT, OPT(profile), 0, 0, "name", "profile in ~/.aws; else AWS_PROFILE or default"},
    {"endpoint", TEXT, OPT(endpoint), 0, 0, "URL", "the same as -b"},
    {"ca_bundle", TEXT, OPT(ca_bundle), 0, 0, "file",
     "certificates to trust; else AWS_CA_BUNDLE or the system's"},
    {"user_agent", TEXT, OPT(user_agent), 0, 0, "text", "what we call ourselves; else sloop/VERSION"},
    {"order_wait_ms", U32, OPT(order_wait_ms), 0, UINT32_MAX, "ms",
     "how long a failing shard may hold the others back; max: for ever (with -e and -c)"},
    {"poll_ms", U32, OPT(poll_ms), 1, UINT32_MAX, "ms",
     "between calls at a shard's tip; the service's floor is 200"},
    {"retrieval", CHOICE, OPT(retrieval), 0, 0, "poll|push|auto",
     "how records come; push: the same as --push; auto: push where the consumer can be had and events come, "
     "else poll"},
    {"push_consumer", TEXT, OPT(push_consumer), 0, 0, "name", "or ARN of the registered consumer; else -G"},
    {"fetch_records_max", U32, OPT(fetch_records_max), 1, 10000, "records", "asked for in one call"},
    {"buffered_bytes_max", U64, OPT(buffered_bytes_max), 1, UINT64_MAX, "bytes",
     "fetched and not yet printed"},
    {"batches_out_max", U32, OPT(batches_out_max), 1, UINT32_MAX, "batches", "being printed at once"},
    {"batch_records_max", U32, OPT(batch_records_max), 1, UINT32_MAX, "records", "in one batch"},
    {"batch_bytes_max", U32, OPT(batch_bytes_max), 1, UINT32_MAX, "bytes", "of payload in one batch"},
    {"buffered_records_per_shard_max", U32, OPT(buffered_records_per_shard_max), 0, UINT32_MAX, "records",
     "of one shard, fetched and not yet printed; 0: no limit"},
    {"aggregates", CHOICE, OPT(aggregates), 0, 0, "expand|keep",
     "what the Kinesis Producer Library packed together: its records, or as it came"},
    {"in_flight_max", U32, OPT(in_flight_max), 1, UINT32_MAX, "calls", "at once"},
    {"list_ms", U32, OPT(list_ms), 1, UINT32_MAX, "ms",
     "between listings of the shards; with -G by one worker for all, each 6 ms a shard if that is longer"},
    {"stats_ms", U32, OPT(stats_ms), 0, UINT32_MAX, "ms", "between progress lines of -v; 0: 1000"},
    {"on_trimmed", CHOICE, OPT(on_trimmed), 0, 0, "stop|continue",
     "a shard whose position is no longer kept"},
    {"on_retry", CHOICE, OPT(on_retry), 0, 0, "again|stop|park|skip",
     "a record that was given back retry_max times in a row: again, its shard stops, stops for everybody "
     "(-G), or it is left out and told"},
    {"retry_max", U32, OPT(retry_max), 1, 250, "times", "see on_retry"},
    {"app", TEXT, OPT(app), 0, 0, "name", "the same as -G"},
    {"store", TEXT, OPT(store), 0, 0, "store", "the same as --store"},
    {"store_endpoint", TEXT, OPT(store_endpoint), 0, 0, "URL",
     "of the DynamoDB that has the leases; else as -b, AWS_ENDPOINT_URL_DYNAMODB"},
    {"schema", TEXT, OPT(schema), 0, 0, "sloop|kcl|vmware-go-kcl|kinsumer|motorway|kcl-rb",
     "how the leases are laid out: ours, or as that program does; kcl: Amazon's KCL 2 and 3"},
    {"kcl_coordinator", TEXT, OPT(kcl_coordinator), 0, 0, "table",
     "of KCL 3.0 to 3.4, beside the leases; else APP-CoordinatorState"},
    {"kcl_metrics", TEXT, OPT(kcl_metrics), 0, 0, "table", "the same; else APP-WorkerMetricStats"},
    {"worker", TEXT, OPT(worker), 0, 0, "name",
     "of this worker, no other one's in the application; else HOST-PID-RANDOM"},
    {"weight", U32, OPT(weight), 1, 1000, "shares", "of the shards for this worker, beside the others'"},
    {"lease_ms", U32, OPT(lease_ms), 0, 3600000, "ms",
     "a worker that is silent for so long is evicted; 0: 10 s, with schema=kinsumer 5 min"},
    {"checkpoint_ms", U32, OPT(checkpoint_ms), 0, 3600000, "ms",
     "between writes of a position that moved; 0: only when a shard is given up. A table that throttles gets "
     "fewer"},
    {"handover_ms", U32, OPT(handover_ms), 1, 3600000, "ms",
     "how long a shard that another worker asks for waits for what is being printed"},
    {"stall_ms", U32, OPT(stall_ms), 0, UINT32_MAX, "ms",
     "a shard whose records were not printed for so long goes to another worker; to wait for another "
     "shard's records does not count. 0: never"},
    {"unready_ms", U32, OPT(unready_ms), 1, UINT32_MAX, "ms",
     "/ready of --metrics says no once a shard has failed, or had records wait and made no progress, for so "
     "long"},
    {"leases_ms", U32, offsetof(slp_args, leases_ms), 1000, 3600000, "ms",
     "between readings of a lease table by --leases --metrics"},
    {"decoded_bytes_max", U32, offsetof(slp_args, decoded_bytes_max), 1, SLP_DECODED_BYTES_MAX, "bytes",
     "that the steps of -s may make of one record together; more is not decodable. A record is printed in "
     "one go: 16 MiB in up to 0.2 s"},
    {"log_level", CHOICE, OPT(log_level), 0, 0, "error|warn|info|debug",
     "what the library tells on standard error"},
    {"metrics", TEXT, MET(listen), 0, 0, "ADDRESS:PORT", "the same as --metrics"},
    {"cloudwatch", TEXT, MET(cloudwatch), 0, 0, "namespace",
     "of CloudWatch, to put metrics into; costs by the metric, some a stream and one a shard"},
    {"cloudwatch_as_motorway", FLAG, MET(cloudwatch_as_motorway), 0, 1, "0|1",
     "put motorway's one metric instead; its namespace, when none is given: Motorway/Kinesis"},
    {"cloudwatch_ms", U32, MET(cloudwatch_ms), 1000, UINT32_MAX, "ms", "between calls to CloudWatch"},
    {"sandbox.port", U16, BOX(port), 0, 65535, "port", "to listen on; 0: any free one"},
    {"sandbox.address", TEXT, BOX(address), 0, 0, "address", "to listen on; loopback only"},
    {"sandbox.iterator_ms", U32, BOX(iterator_ms), 1, UINT32_MAX, "ms", "how long a shard iterator lives"},
    {"sandbox.next_token_ms", U32, BOX(next_token_ms), 1, UINT32_MAX, "ms",
     "how long a ListShards token lives"},
    {"sandbox.change_ms", U32, BOX(change_ms), 0, UINT32_MAX, "ms", "how long create, split and merge take"},
    {"sandbox.reads_per_second", U32, BOX(reads_per_second), 0, UINT32_MAX, "calls", "a shard; 0: no limit"},
    {"sandbox.read_bytes_per_second", U64, BOX(read_bytes_per_second), 0, UINT64_MAX, "bytes",
     "a shard; 0: no limit"},
    {"sandbox.write_bytes_per_second", U64, BOX(write_bytes_per_second), 0, UINT64_MAX, "bytes",
     "a shard; 0: no limit"},
    {"sandbox.write_records_per_second", U32, BOX(write_records_per_second), 0, UINT32_MAX, "records",
     "a shard; 0: no limit"},
    {"sandbox.list_page_max", U32, BOX(list_page_max), 1, UINT32_MAX, "shards",
     "in one answer of ListShards"},
    {"sandbox.access_key", TEXT, BOX(access_key), 0, 0, "text", "with secret_key: signatures are checked"},
    {"sandbox.secret_key", TEXT, BOX(secret_key), 0, 0, "text", "see access_key"},
    {"sandbox.session_token", TEXT, BOX(session_token), 0, 0, "text", "requests must carry it"},
    {"sandbox.clock_offset_ms", I64, BOX(clock_offset_ms), 0, 0, "ms", "its clock goes that much ahead"},
    {"sandbox.cbor_indefinite", FLAG, BOX(cbor_indefinite), 0, 1, "0|1",
     "CBOR without lengths, as the service's"},
    {"sandbox.table_partitions", U32, BOX(table_partitions), 1, 5000, "shards",
     "open at once in the stream of a new table"},
    {"sandbox.roll_ms", U32, BOX(roll_ms), 0, UINT32_MAX, "ms",
     "about so long is a shard of a table's stream open; 0: for ever"},
    {"sandbox.change_iterator_ms", U32, BOX(change_iterator_ms), 1, UINT32_MAX, "ms",
     "how long its iterators live"},
    {"sandbox.change_readers_max", U32, BOX(change_readers_max), 0, 8, "readers",
     "of one of its shards within a second; 0: no limit"},
    {"sandbox.change_reads_per_second", U32, BOX(change_reads_per_second), 0, UINT32_MAX, "calls",
     "one of its shards; 0: no limit"},
    {"sandbox.describes_per_second", U32, BOX(describes_per_second), 0, UINT32_MAX, "calls",
     "DescribeStream for tables' streams; 0: no limit"},
    {"sandbox.lists_per_second", U32, BOX(lists_per_second), 0, UINT32_MAX, "calls",
     "ListStreams for tables' streams; 0: no limit"},
    {"sandbox.synthetic_bytes", U64, SYN(bytes), 0, 1048576, "bytes",
     "the stream of -M has computed records of this size; 0: ordinary"},
    {"sandbox.synthetic_records", U64, SYN(records), 1, UINT64_MAX, "records", "a shard; max: without end"},
    {"sandbox.synthetic_rate", U64, SYN(rate), 0, UINT64_MAX, "records",
     "a second and shard; 0: all there from the beginning"},
    {"sandbox.synthetic_seed", U64, SYN(seed), 0, UINT64_MAX, "number", "of the computed payloads"},
};

static int refuse(const knob *k, slp_str value, char why[200]) {
  int n = (int)(value.n < 60 ? value.n : 60);
  if (k->kind == CHOICE || k->kind == FLAG)
    snprintf(why, 200, "-X %s: \"%.*s\" is not one of %s", k->name, n, value.p, k->unit);
  else if (k->kind == I64)
    snprintf(why, 200, "-X %s: \"%.*s\" is not a whole number", k->name, n, value.p);
  else if (k->max == UINT64_MAX)
    snprintf(why, 200, "-X %s: \"%.*s\" is not a whole number from %llu on", k->name, n, value.p,
             (unsigned long long)k->min);
  else
    snprintf(why, 200, "-X %s: \"%.*s\" is not a whole number from %llu to %llu", k->name, n, value.p,
             (unsigned long long)k->min, (unsigned long long)k->max);
  return SLP_EINVAL;
}

/* Finds `value` in "one|two|three", counted from 1; 0: not there. */
static int find_choice(const char *choices, slp_str value) {
  for (int place = 1;; place++) {
    size_t n = strcspn(choices, "|");
    if (slp_str_eq((slp_str){choices, n}, value)) return place;
    if (!choices[n]) return 0;
    choices += n + 1;
  }
}

static slp_str choice_name(const char *choices, int place) {
  for (; place > 1; place--) {
    choices += strcspn(choices, "|");
    if (*choices) choices++;
  }
  return (slp_str){choices, strcspn(choices, "|")};
}

static int store(slp_args *a, const knob *k, slp_str value) {
  char *to = (char *)a + k->at;
  uint64_t u = 0;
  int64_t i = 0;
  int v;
  switch (k->kind) {
    case TEXT: memcpy(to, &value.p, sizeof value.p); return 0;
    case CHOICE:
      v = find_choice(k->unit, value);
      if (!v) return SLP_EINVAL;
      memcpy(to, &v, sizeof v);
      return 0;
    case I64:
      if (slp_parse_i64(value, &i) != 0) return SLP_EINVAL;
      memcpy(to, &i, sizeof i);
      return 0;
    case FLAG:
    case U16:
    case U32:
    case U64: break;
  }
  if (slp_str_is(value, "max"))
    u = k->max;
  else if (slp_parse_u64(value, &u) != 0 || u < k->min || u > k->max)
    return SLP_EINVAL;
  if (k->kind == U16) memcpy(to, &(uint16_t){(uint16_t)u}, sizeof(uint16_t));
  if (k->kind == U32) memcpy(to, &(uint32_t){(uint32_t)u}, sizeof(uint32_t));
  if (k->kind == U64) memcpy(to, &u, sizeof u);
  if (k->kind == FLAG) memcpy(to, &(int){(int)u}, sizeof(int));
  return 0;
}

int slp_knob_set(slp_args *a, slp_str setting, char why[200]) {
  _Static_assert(sizeof(sloop_trimmed_t) == sizeof(int) && sizeof(sloop_log_level_t) == sizeof(int),
                 "choices are stored as int");
  const char *equals = memchr(setting.p, '=', setting.n);
  slp_str name = {setting.p, equals ? (size_t)(equals - setting.p) : setting.n};
  for (size_t i = 0; i < SLP_COUNT(knobs); i++) {
    const knob *k = &knobs[i];
    if (!slp_str_is(name, k->name)) continue;
    if (!equals) {
      snprintf(why, 200, "-X %s needs a value: -X %s=VALUE", k->name, k->name);
      return SLP_EINVAL;
    }
    slp_str value = {equals + 1, setting.n - name.n - 1};
    if (store(a, k, value) != 0) return refuse(k, value, why);
    if (k->at == OPT(order_wait_ms)) a->order_wait_given = 1;
    return 0;
  }
  snprintf(why, 200, "-X: unknown setting \"%.*s\"; -X list shows all", (int)(name.n < 60 ? name.n : 60),
           name.p);
  return SLP_EINVAL;
}

int slp_knob_exists(slp_str name) {
  for (size_t i = 0; i < SLP_COUNT(knobs); i++)
    if (slp_str_is(name, knobs[i].name)) return 1;
  return 0;
}

int slp_knob_hides(slp_str name, const char *value) {
  static const char *const secrets[] = {"sandbox.secret_key", "sandbox.session_token"};
  for (size_t i = 0; i < SLP_COUNT(secrets); i++)
    if (slp_str_is(name, secrets[i])) return 1;
  int is_url = slp_str_is(name, "endpoint") || slp_str_is(name, "store_endpoint");
  return slp_has_password(value) || (is_url && strchr(value, '@')); /* a user name alone, too */
}

/* Writes a setting's value as the user would; "" when it has none. */
static int add_value(slp_buf *b, const slp_args *a, const knob *k) {
  const char *from = (const char *)a + k->at;
  uint64_t u = 0;
  int64_t i;
  int v;
  const char *z;
  switch (k->kind) {
    case TEXT:
      memcpy(&z, from, sizeof z);
      if (!z) return 0;
      return slp_buf_add_z(b, slp_knob_hides(slp_str_of(k->name), z) ? "(secret)" : z);
    case CHOICE: memcpy(&v, from, sizeof v); return slp_buf_add_str(b, choice_name(k->unit, v));
    case FLAG: memcpy(&v, from, sizeof v); return slp_buf_addf(b, "%d", v);
    case I64: memcpy(&i, from, sizeof i); return slp_buf_add_i64(b, i);
    case U16: u = *(const uint16_t *)(const void *)from; break;
    case U32: u = *(const uint32_t *)(const void *)from; break;
    case U64: u = *(const uint64_t *)(const void *)from; break;
  }
  return u == UINT64_MAX ? slp_buf_add_z(b, "max") : slp_buf_add_u64(b, u);
}

int slp_knobs_dump(slp_buf *b, const slp_args *a) {
  for (size_t i = 0; i < SLP_COUNT(knobs); i++) {
    slp_buf_addf(b, "# %s=", knobs[i].name);
    add_value(b, a, &knobs[i]);
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
  for (size_t i = 0; i < SLP_COUNT(knobs); i++) {
    slp_buf_addf(b, "%s=", knobs[i].name);
    add_value(b, &a, &knobs[i]);
    slp_buf_addf(b, " (%s)\n", knobs[i].unit);
    slp_help_fill(b, knobs[i].meaning, 0, 4);
  }
  return slp_buf_failed(b);
}

void slp_knobs_each(void (*fn)(void *arg, const char *name, const char *unit, const char *meaning),
                    void *arg) {
  for (size_t i = 0; i < SLP_COUNT(knobs); i++) fn(arg, knobs[i].name, knobs[i].unit, knobs[i].meaning);
}

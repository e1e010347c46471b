/* idle_settings.c - which settings do nothing in which mode: every one of -X has a row here too. */
#include "cli/idle_settings.h"

#include "cli/knobs.h"

#include "check.h"

/* The modes below, a letter each, in which the setting acts. */
static const struct {
  char letter;
  const char *words[8];
} modes[] = {
    {'a', {"orders"}},
    {'d', {"dynamodb:orders"}},
    {'p', {"--push=reader", "orders"}},
    {'g', {"-G", "app", "orders"}},
    {'k', {"-G", "app", "-X", "schema=kcl", "orders"}},
    {'q', {"-G", "app", "--store", "sqlite:/tmp/leases", "orders"}},
    {'l', {"-L", "orders"}},
    {'w', {"-G", "app", "--leases", "orders"}},
    {'b', {"--bench=1", "orders"}},
    {'M', {"-M", "2"}},
};

static const struct {
  const char *name, *value, *acts;
} rows[] = {
    {"region", "r", "adpgkqlwb"},
    {"profile", "p", "adpgkqlwb"},
    {"endpoint", "http://h", "adpgkqlwb"},
    {"ca_bundle", "f", "adpgkqlwb"},
    {"user_agent", "u", "adpgkqlwb"},
    {"log_level", "info", "adpgkqlwb"},
    {"order_wait_ms", "1", "adpgkqb"},
    {"poll_ms", "200", "adgkqb"},
    {"fetch_records_max", "10", "adgkqb"},
    {"retrieval", "auto", "adpgkqb"},
    {"push_consumer", "reader", "p"},
    {"buffered_bytes_max", "70000", "adpgkqb"},
    {"batches_out_max", "2", "adpgkqb"},
    {"batch_records_max", "2", "adpgkqb"},
    {"batch_bytes_max", "2", "adpgkqb"},
    {"buffered_records_per_shard_max", "2", "adpgkqb"},
    {"in_flight_max", "2", "adpgkqb"},
    {"on_trimmed", "stop", "adpgkqb"},
    {"aggregates", "keep", "apgkqb"},
    {"list_ms", "5000", "adpgkqb"},
    {"stats_ms", "500", ""}, /* with -v: below */
    {"on_retry", "stop", "adpgkqb"},
    {"retry_max", "3", ""}, /* with on_retry: below */
    {"app", "app", "adpgkqw"},
    {"store", "dynamodb", "gkqw"},
    {"store_endpoint", "http://h", "gkw"},
    {"schema", "kcl", "gkqw"},
    {"kcl_coordinator", "t", "gkqw"}, /* sloop_open() refuses it elsewhere */
    {"kcl_metrics", "t", "gkqw"},
    {"worker", "w", "gkq"},
    {"weight", "2", "gq"},
    {"lease_ms", "5000", "gkqw"},
    {"checkpoint_ms", "500", "gkq"},
    {"handover_ms", "500", "gkq"},
    {"stall_ms", "500", "gkq"},
    {"leases_ms", "5000", ""},        /* with --leases --metrics: below */
    {"streams_ms", "5000", ""},       /* with a pattern: below */
    {"decoded_bytes_max", "500", ""}, /* with -s: below */
    {"metrics", "127.0.0.1:0", "adpgkqw"},
    {"unready_ms", "5000", ""}, /* with metrics: below */
    {"cloudwatch", "ns", "adpgkq"},
    {"cloudwatch_set", "motorway", "adpgkq"},
    {"cloudwatch_as_motorway", "1", "adpgkq"},
    {"cloudwatch_ms", "5000", ""}, /* with cloudwatch: below */
    {"sandbox.synthetic_bytes", "100", "M"},
    {"sandbox.synthetic_records", "100", ""}, /* with synthetic_bytes: below, as the next two */
    {"sandbox.synthetic_rate", "100", ""},
    {"sandbox.synthetic_seed", "100", ""},
};

static slp_args args;
static slp_mem *mem;

static int parse(const char *const *words, const char *setting) {
  slp_surroundings around = {.clock = {INT64_C(1700000000000), NULL}};
  const char *argv[16] = {"stream-tail", "-X", setting};
  char why[SLP_ARGS_WHY];
  int n = 3;
  for (; *words; words++) argv[n++] = *words;
  return slp_args_parse(&args, mem, n, argv, &around, why);
}

/* What is refused by the command line needs no telling. */
static void look(size_t row, size_t mode) {
  char setting[120];
  snprintf(setting, sizeof setting, "%s=%s", rows[row].name, rows[row].value);
  int refused = parse(modes[mode].words, setting) != 0;
  const char *why = refused ? "refused" : slp_idle_setting(&args, slp_str_of(rows[row].name));
  int acts = strchr(rows[row].acts, modes[mode].letter) != NULL;
  if (acts != !why)
    CHECK_FAIL("%s in mode %c (%s): %s", rows[row].name, modes[mode].letter, modes[mode].words[0],
               why ? why : "no word that it does nothing");
  slp_args_free(&args);
}

TEST(each_setting_acts_or_it_is_told_that_it_does_not) {
  mem = slp_mem_new(NULL, NULL);
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    for (size_t k = 0; k < SLP_COUNT(modes); k++) look(i, k);
  slp_mem_drop(mem);
}

static void has_row(void *arg, const char *name, const char *unit, const char *meaning) {
  (void)arg;
  (void)unit;
  (void)meaning;
  int here = strncmp(name, "sandbox.", 8) == 0 && strncmp(name, "sandbox.synthetic", 17) != 0;
  for (size_t i = 0; i < SLP_COUNT(rows); i++) here |= strcmp(rows[i].name, name) == 0;
  if (!here) CHECK_FAIL("setting %s has no row in this test: where does it act?", name);
  if (!slp_idle_setting_known(slp_str_of(name))) CHECK_FAIL("setting %s has no row in idle_settings.c", name);
}

TEST(every_setting_has_a_row) { slp_knobs_each(has_row, NULL); }

static int idle(const char *setting, const char *const *words) {
  slp_buf lines;
  CHECK_INT(parse(words, setting), 0);
  slp_buf_init(&lines, mem, 65536);
  CHECK_INT(slp_idle_settings_list(&lines, &args), 0);
  int n = 0;
  for (size_t i = 0; i < lines.n; i++) n += lines.p[i] == '\n';
  if (n) CHECK(strstr(slp_buf_z(&lines), " has no effect here: ") != NULL);
  slp_buf_free(&lines);
  slp_args_free(&args);
  return n;
}
#define WORDS(...) \
  (const char *const[]) { __VA_ARGS__, NULL }

TEST(a_setting_that_needs_another_option_acts_with_it) {
  mem = slp_mem_new(NULL, NULL);
  CHECK_INT(idle("stats_ms=500", WORDS("-v", "orders")), 0);
  CHECK_INT(idle("stats_ms=500", WORDS("orders")), 1);
  CHECK_INT(idle("retry_max=3", WORDS("-X", "on_retry=stop", "orders")), 0);
  CHECK_INT(idle("retry_max=3", WORDS("orders")), 1);
  CHECK_INT(idle("decoded_bytes_max=500", WORDS("-s", "gzip", "orders")), 0);
  CHECK_INT(idle("cloudwatch_ms=5000", WORDS("-X", "cloudwatch=ns", "orders")), 0);
  CHECK_INT(idle("aggregates=keep", WORDS("--migrate", "sloop:a", "motorway:b", "orders")), 0);
  CHECK_INT(idle("unready_ms=5000", WORDS("--metrics", "127.0.0.1:0", "orders")), 0);
  CHECK_INT(idle("leases_ms=5000", WORDS("-G", "app", "--leases", "--metrics", "127.0.0.1:0", "orders")), 0);
  CHECK_INT(idle("leases_ms=5000", WORDS("--metrics", "127.0.0.1:0", "orders")), 1);
  CHECK_INT(idle("streams_ms=5000", WORDS("pay*")), 0);
  CHECK_INT(idle("streams_ms=5000", WORDS("-L", "pay*")), 1);
  CHECK_INT(idle("sandbox.synthetic_seed=5", WORDS("-X", "sandbox.synthetic_bytes=100", "-M", "2")), 0);
  CHECK_INT(idle("sandbox.list_page_max=5", WORDS("orders")), 1);
  CHECK_INT(idle("sandbox.list_page_max=5", WORDS("-M", "2")), 0);
  CHECK_INT(idle("weight=2", WORDS("orders")), 1);
  slp_mem_drop(mem);
}

/* sandbox_main.c - a sandbox with every knob, for tests in other languages: prints its URL, serves until
 * standard input ends. Arguments are KEY=VALUE: the numbers of sloop_sandbox_opts_t by name, access_key,
 * secret_key, session_token, quirk=NAME:VALUE (of every table's stream), stream=NAME:SHARDS and
 * table=NAME:PARTITIONS[:VIEW] (made in this order before the URL is printed). */
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "program/process.h"
#include "sloop_sandbox.h"

typedef struct program {
  slp_mem *mem;
  struct uv_loop_s *loop;
  sloop_sandbox_t *box;
  slp_in_end *input;
} program;

static int take_number(sloop_sandbox_opts_t *o, slp_str key, slp_str text) {
  int64_t v;
  if (slp_parse_i64(text, &v)) return 0;
  if (slp_str_is(key, "port"))
    o->port = (uint16_t)v;
  else if (slp_str_is(key, "iterator_ms"))
    o->iterator_ms = (uint32_t)v;
  else if (slp_str_is(key, "next_token_ms"))
    o->next_token_ms = (uint32_t)v;
  else if (slp_str_is(key, "change_ms"))
    o->change_ms = (uint32_t)v;
  else if (slp_str_is(key, "reads_per_second"))
    o->reads_per_second = (uint32_t)v;
  else if (slp_str_is(key, "read_bytes_per_second"))
    o->read_bytes_per_second = (uint64_t)v;
  else if (slp_str_is(key, "write_bytes_per_second"))
    o->write_bytes_per_second = (uint64_t)v;
  else if (slp_str_is(key, "write_records_per_second"))
    o->write_records_per_second = (uint32_t)v;
  else if (slp_str_is(key, "list_page_max"))
    o->list_page_max = (uint32_t)v;
  else if (slp_str_is(key, "clock_offset_ms"))
    o->clock_offset_ms = v;
  else if (slp_str_is(key, "cbor_indefinite"))
    o->cbor_indefinite = (int)v;
  else if (slp_str_is(key, "table_partitions"))
    o->table_partitions = (uint32_t)v;
  else if (slp_str_is(key, "roll_ms"))
    o->roll_ms = (uint32_t)v;
  else if (slp_str_is(key, "change_iterator_ms"))
    o->change_iterator_ms = (uint32_t)v;
  else if (slp_str_is(key, "change_readers_max"))
    o->change_readers_max = (uint32_t)v;
  else if (slp_str_is(key, "change_reads_per_second"))
    o->change_reads_per_second = (uint32_t)v;
  else if (slp_str_is(key, "describes_per_second"))
    o->describes_per_second = (uint32_t)v;
  else if (slp_str_is(key, "lists_per_second"))
    o->lists_per_second = (uint32_t)v;
  else if (slp_str_is(key, "subscription_ms"))
    o->subscription_ms = (uint32_t)v;
  else if (slp_str_is(key, "resubscribe_ms"))
    o->resubscribe_ms = (uint32_t)v;
  else if (slp_str_is(key, "idle_event_ms"))
    o->idle_event_ms = (uint32_t)v;
  else if (slp_str_is(key, "push_bytes_per_second"))
    o->push_bytes_per_second = (uint64_t)v;
  else if (slp_str_is(key, "consumer_limits"))
    o->consumer_limits = (uint32_t)v;
  else if (slp_str_is(key, "key_limits"))
    o->key_limits = (uint32_t)v;
  else
    return 0;
  return 1;
}

static int take(sloop_sandbox_opts_t *o, const char *arg) {
  const char *equals = strchr(arg, '=');
  if (!equals) return 0;
  slp_str key = {arg, (size_t)(equals - arg)};
  if (slp_str_is(key, "stream") || slp_str_is(key, "table") || slp_str_is(key, "quirk")) return 1; /* later */
  if (slp_str_is(key, "access_key"))
    o->access_key = equals + 1;
  else if (slp_str_is(key, "secret_key"))
    o->secret_key = equals + 1;
  else if (slp_str_is(key, "session_token"))
    o->session_token = equals + 1;
  else if (slp_str_is(key, "address"))
    o->address = equals + 1;
  else
    return take_number(o, key, slp_str_of(equals + 1));
  return 1;
}

/* NAME:NUMBER[:REST]; rest is "" when there is none. */
static int read_named(const char *text, char name[256], uint64_t *number, const char **rest) {
  const char *colon = strchr(text, ':');
  if (!colon || colon - text >= 256) return SLP_EINVAL;
  snprintf(name, 256, "%.*s", (int)(colon - text), text);
  size_t digits = strcspn(colon + 1, ":");
  *rest = colon[1 + digits] ? colon + 2 + digits : "";
  return slp_parse_u64((slp_str){colon + 1, digits}, number);
}

/* Handles one of the arguments "what=...", when it is one. */
static int make(program *p, const char *what, const char *arg) {
  char name[256];
  uint64_t number;
  const char *rest;
  size_t n = strlen(what);
  if (strncmp(arg, what, n) != 0 || arg[n] != '=') return 0;
  if (read_named(arg + n + 1, name, &number, &rest)) return SLP_EINVAL;
  if (*what == 's') return sloop_sandbox_stream(p->box, name, (uint32_t)number);
  if (*what == 'q') return sloop_sandbox_quirk(p->box, NULL, name, (uint32_t)number);
  return sloop_sandbox_table(p->box, name, (uint32_t)number, *rest ? rest : "NEW_AND_OLD_IMAGES");
}

static int make_all(program *p, int argc, char **argv) {
  static const char *const kinds[] = {"quirk", "stream", "table"};
  int r = 0;
  for (size_t k = 0; k < SLP_COUNT(kinds); k++) {
    for (int i = 1; !r && i < argc; i++) r = make(p, kinds[k], argv[i]);
  }
  return r;
}

static void on_stopped(void *arg) { (void)arg; }

static void on_input_end(void *arg) {
  program *p = arg;
  slp_in_end_close(p->input);
  sloop_sandbox_stop(p->box, on_stopped, p);
}

int main(int argc, char **argv) {
  program p = {.mem = slp_mem_new(NULL, NULL)};
  sloop_sandbox_opts_t o;
  sloop_sandbox_opts_init(&o);
  for (int i = 1; i < argc; i++) {
    if (take(&o, argv[i])) continue;
    fprintf(stderr, "not understood: %s\n", argv[i]);
    return 2;
  }
  p.loop = p.mem ? slp_loop_new(p.mem) : NULL;
  if (!p.loop) return 1;
  int r = sloop_sandbox_start(&p.box, p.loop, &o);
  if (!r) r = make_all(&p, argc, argv);
  if (r) {
    fprintf(stderr, "could not start: %d\n", r);
    return 1;
  }
  p.input = slp_in_end_new(p.mem, p.loop, 0, on_input_end, &p);
  if (!p.input) return 1;
  printf("%s\n", sloop_sandbox_url(p.box));
  fflush(stdout);
  slp_loop_run(p.loop);
  r = slp_loop_free(p.mem, p.loop);
  slp_mem_drop(p.mem); /* ends the process when something is left */
  return r ? 1 : 0;
}

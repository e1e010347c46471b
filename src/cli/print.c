/* print.c - makes text of records. */
#include "cli/print.h"

#include <stdio.h>

static int prepare(slp_printer *p, char why[200]) {
  const slp_args *a = p->args;
  int r = 0;
  if (a->format) r = slp_format_new(p->mem, slp_str_of(a->format), &p->format, why);
  if (!r && a->grep_n + a->grepv_n)
    r = slp_grep_new(p->mem, a->grep, a->grep_n, a->grepv, a->grepv_n, &p->grep, why);
  if (!r && a->unique && !(p->unique = slp_unique_new(p->mem, SLP_UNIQUE_WINDOW))) r = SLP_ENOMEM;
  if (!r) r = slp_unescape(&p->delimiter, a->delimiter ? a->delimiter : "\\n", "-D", why);
  if (!r && a->key_delimiter) r = slp_unescape(&p->key_delimiter, a->key_delimiter, "-K", why);
  return r;
}

int slp_printer_open(slp_printer *p, slp_mem *mem, const slp_args *args, int terminal, int colour,
                     char why[200]) {
  *p = (slp_printer){.mem = mem, .args = args, .terminal = (uint8_t)terminal};
  slp_buf_init(&p->delimiter, mem, 1 << 20);
  slp_buf_init(&p->key_delimiter, mem, 1 << 20);
  slp_buf_init(&p->data_room, mem, SLP_DECODED_BYTES_MAX);
  slp_buf_init(&p->key_room, mem, SLP_DECODED_BYTES_MAX);
  int r = prepare(p, why);
  if (r && !*why) snprintf(why, 200, "no memory");
  p->style = (slp_show_style){.delimiter = slp_buf_str(&p->delimiter),
                              .offset = args->show_offset,
                              .colour = (uint8_t)colour,
                              .streams = args->streams_n > 1};
  if (args->key_delimiter) p->style.key_delimiter = slp_buf_str(&p->key_delimiter);
  return r;
}

void slp_printer_close(slp_printer *p) {
  slp_format_free(p->format);
  slp_grep_free(p->grep);
  slp_unique_free(p->unique);
  slp_buf_free(&p->delimiter);
  slp_buf_free(&p->key_delimiter);
  slp_buf_free(&p->data_room);
  slp_buf_free(&p->key_room);
}

static void show_null(sloop_str_t *v) {
  if (v->len == 0) *v = (sloop_str_t){"NULL", 4};
}

static int add_line(slp_printer *p, slp_buf *b, const sloop_record_t *r, const slp_show_extra *extra,
                    int64_t behind_ms) {
  if (p->args->json) return slp_show_json(b, r, extra);
  sloop_record_t shown = *r;
  if (p->args->show_null) {
    show_null(&shown.key);
    show_null(&shown.data);
  }
  if (p->format) return slp_format_run(p->format, b, &shown, behind_ms, p->worker);
  return p->terminal ? slp_show_terminal(b, &shown, &p->style) : slp_show_plain(b, &shown, &p->style);
}

typedef struct line { /* the common parts of a record's lines */
  slp_printer *p;
  slp_buf *b;
  const sloop_record_t *r;
  const slp_show_extra *extra;
  int64_t behind_ms;
  int *printed;
} line;

/* Prints unless --grep leaves it out. */
static int add_matching(const line *l, const sloop_record_t *r, const slp_show_extra *extra) {
  int passes = l->p->grep ? slp_grep_passes(l->p->grep, (slp_str){r->data.base, r->data.len}) : 1;
  if (passes <= 0) return passes;
  *l->printed = 1;
  return add_line(l->p, l->b, r, extra, l->behind_ms);
}

static int add_event(void *arg, const slp_log_event *event) {
  const line *l = arg;
  sloop_record_t r = *l->r;
  slp_show_extra extra = *l->extra;
  r.data = (sloop_str_t){event->message.p ? event->message.p : "", event->message.n};
  extra.event = event;
  return add_matching(l, &r, &extra);
}

/* Runs a chain over *v; data that can't be decoded stays as it came. */
static int decode(slp_printer *p, const slp_decode_chain *chain, slp_buf *room, sloop_str_t *v,
                  char why[100]) {
  slp_str got;
  slp_buf_free(room);
  slp_buf_init(room, p->mem, SLP_DECODED_BYTES_MAX);
  int r = slp_decode_run(chain, (slp_str){v->base, v->len}, room, &got, why);
  if (!r) *v = (sloop_str_t){got.p, got.n};
  return r;
}

static int cant_decode(slp_printer *p, const sloop_record_t *r, const char *why) {
  snprintf(p->why, sizeof p->why, "%s %.40s %.*s: %s", r->stream, r->shard,
           (int)(r->seq.len < 60 ? r->seq.len : 60), r->seq.base, why);
  p->undecoded++;
  return SLP_EBADDATA;
}

static int add_decoded(line *l, slp_show_extra *extra, sloop_record_t *r, char why[100]) {
  slp_printer *p = l->p;
  const slp_args *a = p->args;
  int bad = a->decode_key.n ? decode(p, &a->decode_key, &p->key_room, &r->key, why) : 0;
  if (!bad && a->decode.n) bad = decode(p, &a->decode, &p->data_room, &r->data, why);
  if (bad) return bad;
  extra->key_is_json = (uint8_t)slp_decode_makes_json(&a->decode_key);
  extra->data_is_json = (uint8_t)slp_decode_makes_json(&a->decode);
  if (!slp_decode_ends_with(&a->decode, SLP_DECODE_CWLOGS)) return add_matching(l, r, extra);
  bad = slp_decode_cwlogs(p->mem, (slp_str){r->data.base, r->data.len}, add_event, l);
  if (bad == SLP_EBADDATA || bad == SLP_ELIMIT)
    snprintf(why, 100, "cwlogs: it is no record of a CloudWatch Logs subscription");
  return bad;
}

int slp_printer_add(slp_printer *p, slp_buf *b, const sloop_record_t *r, int64_t behind_ms,
                    int *ret_printed) {
  sloop_record_t decoded = *r;
  slp_show_extra extra = {.worker = p->worker};
  line l = {p, b, &decoded, &extra, behind_ms, ret_printed};
  size_t from = b->n;
  char why[100] = "";
  *ret_printed = 0;
  if (p->unique) {
    int seen = slp_unique_seen(p->unique, r);
    if (seen) return seen < 0 ? seen : 0;
  }
  int bad = add_decoded(&l, &extra, &decoded, why);
  if (!bad || !*why) return bad;
  slp_buf_cut(b, from); /* some events of it may have been printed */
  *ret_printed = 0;
  bad = cant_decode(p, r, why);
  if (!p->args->keep_going) return bad;
  extra = (slp_show_extra){.worker = p->worker, .error = why};
  return add_matching(&l, r, &extra);
}

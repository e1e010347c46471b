/* print.c - turns records into text. */
#include "cli/print.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/states.h"
#include "cli/args.h"
#include "cli/decode.h"
#include "cli/decode_cwlogs.h"
#include "cli/decoder_table.h"
#include "cli/format.h"
#include "cli/grep.h"
#include "cli/highlight.h"
#include "cli/line_memo.h"
#include "cli/matcher.h"
#include "cli/record_formats.h"
#include "cli/schemas.h"
#include "cli/unique.h"

#include <sloop.h>
#include <stdio.h>

static int prepare_printer(slp_printer *p, char why[400]) {
  const slp_args *a = p->args;
  int r = 0;
  if (a->format) r = slp_format_new(p->mem, slp_str_of(a->format), &p->format, why);
  if (p->format) slp_format_set_utc(p->format, a->utc);
  if (!r && a->grep_n + a->grepv_n)
    r = slp_grep_new(p->mem,
                     &(slp_grep_opts){.wanted = a->grep,
                                      .wanted_n = a->grep_n,
                                      .unwanted = a->grepv,
                                      .unwanted_n = a->grepv_n,
                                      .folds = a->ignore_case},
                     &p->grep, why);
  if (!r && a->key_grep_n)
    r = slp_grep_new(
        p->mem,
        &(slp_grep_opts){
            .wanted = a->key_grep, .wanted_n = a->key_grep_n, .name = "--key", .folds = a->ignore_case},
        &p->key_grep, why);
  if (!r && a->json && !(p->memo = SLP_NEW(p->mem, slp_line_memo))) r = SLP_ENOMEM;
  if (!r && a->unique && !(p->unique = slp_unique_new(p->mem, SLP_UNIQUE_WINDOW))) r = SLP_ENOMEM;
  for (size_t i = 0; i < a->schema_files_n && !r; i++)
    r = slp_schemas_add_file(&p->schemas, a->schema_files[i], why);
  if (!r) r = slp_unescape(&p->delimiter, a->delimiter ? a->delimiter : "\\n", "-D", why);
  if (!r && a->key_delimiter) r = slp_unescape(&p->key_delimiter, a->key_delimiter, "-K", why);
  return r;
}

/* Prepares to find matches that are shown in colour. Keys are shown with -K only. */
static int prepare_marks(slp_printer *p) {
  const slp_args *a = p->args;
  int r = a->grep_n ? slp_highlight_new(p->mem, a->grep, a->grep_n, a->ignore_case, &p->marks) : 0;
  if (!r && a->key_grep_n && a->key_delimiter)
    r = slp_highlight_new(p->mem, a->key_grep, a->key_grep_n, a->ignore_case, &p->key_marks);
  return r;
}

static int picks_keys(const slp_printer *p) { return p->key_grep || p->args->key_is_n; }

int slp_printer_open(slp_printer *p, slp_mem *mem, const slp_args *args, int terminal, int colour,
                     char why[400]) {
  *p = (slp_printer){.mem = mem, .args = args, .terminal = (uint8_t)terminal};
  slp_buf_init(&p->delimiter, mem, 1 << 20);
  slp_buf_init(&p->key_delimiter, mem, 1 << 20);
  slp_decoding_init(&p->key, mem);
  slp_decoding_init(&p->data, mem);
  slp_cwlogs_init(&p->events, mem);
  slp_schemas_init(&p->schemas, mem);
  p->key.schemas = p->data.schemas = &p->schemas;
  int r = prepare_printer(p, why);
  if (!r && colour && !args->json && !args->format) r = prepare_marks(p);
  if (r && !*why) snprintf(why, 200, "no memory");
  p->style = (slp_show_style){.delimiter = slp_buf_str(&p->delimiter),
                              .offset = args->show_offset,
                              .times = args->timestamps,
                              .utc = args->utc,
                              .colour = (uint8_t)colour,
                              .streams = slp_args_several(args)};
  if (args->key_delimiter) p->style.key_delimiter = slp_buf_str(&p->key_delimiter);
  p->direct = !p->grep && !p->unique && !picks_keys(p) && !args->decode.n && !args->decode_key.n;
  return r;
}

int slp_printer_reads_payloads(const slp_printer *p) {
  return !p->direct || !p->format || slp_format_has_payload(p->format);
}

void slp_printer_close(slp_printer *p) {
  slp_format_free(p->format);
  slp_grep_free(p->grep);
  slp_grep_free(p->key_grep);
  slp_unique_free(p->unique);
  slp_free(p->mem, p->memo);
  slp_highlight_free(p->marks);
  slp_highlight_free(p->key_marks);
  slp_buf_free(&p->delimiter);
  slp_buf_free(&p->key_delimiter);
  slp_decoding_free(&p->key);
  slp_decoding_free(&p->data);
  slp_cwlogs_free(&p->events);
  slp_schemas_free(&p->schemas);
}

static void show_null(sloop_str_t *v) {
  if (v->len == 0) *v = (sloop_str_t){"NULL", 4};
}

static int add_line(slp_printer *p, slp_buf *b, const sloop_record_t *r, const slp_show_extra *extra) {
  if (p->args->json) return slp_show_json(b, r, extra, p->memo);
  sloop_record_t shown;
  if (p->args->show_null) {
    shown = *r;
    show_null(&shown.key);
    show_null(&shown.data);
    r = &shown;
  }
  if (p->format) return slp_format_run(p->format, b, r, p->behind_ms, p->worker, p->terminal);
  return p->terminal ? slp_show_terminal(b, r, &p->style) : slp_show_plain(b, r, &p->style);
}

/* ---- one record, slice by slice ----------------------------------------------------------------------- */

static const slp_set allowed[] = {
    [SLP_PRINTER_IDLE] = SLP_BIT(SLP_PRINTER_KEY),
    [SLP_PRINTER_KEY] = SLP_BIT(SLP_PRINTER_PICK) | SLP_BIT(SLP_PRINTER_DATA) | SLP_BIT(SLP_PRINTER_LINE) |
                        SLP_BIT(SLP_PRINTER_IDLE),
    [SLP_PRINTER_PICK] = SLP_BIT(SLP_PRINTER_DATA) | SLP_BIT(SLP_PRINTER_LINE) | SLP_BIT(SLP_PRINTER_IDLE),
    [SLP_PRINTER_DATA] = SLP_BIT(SLP_PRINTER_LINE) | SLP_BIT(SLP_PRINTER_EVENTS) | SLP_BIT(SLP_PRINTER_IDLE),
    [SLP_PRINTER_LINE] = SLP_BIT(SLP_PRINTER_IDLE),
    [SLP_PRINTER_EVENTS] = SLP_BIT(SLP_PRINTER_EVENT) | SLP_BIT(SLP_PRINTER_LINE) | SLP_BIT(SLP_PRINTER_IDLE),
    [SLP_PRINTER_EVENT] = SLP_BIT(SLP_PRINTER_EVENTS) | SLP_BIT(SLP_PRINTER_LINE) | SLP_BIT(SLP_PRINTER_IDLE),
};

/* What the function of a state returns. It may also return an error or SLP_DECODE_WAITS. */
enum {
  PRINTED = 0, /* the record is finished */
  A_SLICE = 1, /* the record is not finished, and this step took a slice's time */
  /* the record is not finished, and this step took next to no time: do the next one in the same slice */
  AT_ONCE = 2
};

static void move(slp_printer *p, slp_printer_state to) {
  SLP_MOVE(allowed, p->state, to);
  p->marking = 0;
  if (to != SLP_PRINTER_IDLE) return;
  if (p->args->decode_key.n) slp_decoding_free(&p->key);
  if (p->args->decode.n) slp_decoding_free(&p->data);
  if (p->args->decode.n) slp_cwlogs_free(&p->events);
}

/* Enters state `as` and begins to match one line, made of r and `extra`. The line is printed later, if it
 * matches. */
static int begin_line_match(slp_printer *p, slp_printer_state as, const sloop_record_t *r,
                            const slp_show_extra *extra) {
  move(p, as);
  p->line = *r;
  p->line_extra = *extra;
  slp_str text = {r->data.base, r->data.len};
  /* matches the message as it is printed without -J, so that -J does not change which lines match */
  if (extra->event) text = slp_log_line(text);
  if (p->grep) slp_grep_begin(p->grep, text);
  return AT_ONCE;
}

/* Writes a message to p->why: which record it is, and `why`. */
static void tell_record(slp_printer *p, const char *why) {
  const sloop_record_t *r = p->as_it_came;
  snprintf(p->why, sizeof p->why, "%s %.40s %.*s: %s", r->stream, r->shard,
           (int)(r->seq.len < 60 ? r->seq.len : 60), r->seq.base, why);
}

/* Stores that `grep` could not decide whether the record matches, also in `extra`. Returns 1 if the record is
 * printed all the same (-E), 0 if the command must end. */
static int keep_undecided(slp_printer *p, const slp_grep *grep, slp_show_extra *extra) {
  char why[100];
  slp_grep_undecided(grep, why);
  tell_record(p, why);
  p->undecided += !p->is_undecided;
  p->is_undecided = 1;
  if (!extra->error) {
    memcpy(p->undecidable, why, sizeof why);
    extra->error = p->undecidable;
  }
  return p->args->keep_going;
}

/* Finds the matches in p->line, a slice at a time, and then prints the line. */
static int print_marked(slp_printer *p, slp_buf *b) {
  if (slp_highlight_step(p->marks)) return A_SLICE;
  p->marking = 0;
  p->printed = 1;
  p->style.matches = slp_highlight_spans(p->marks);
  int r = add_line(p, b, &p->line, &p->line_extra);
  p->style.matches.n = 0;
  return r;
}

/* Matches one slice of p->line. When the match is decided, prints the line unless --grep leaves it out. */
static int print_line(slp_printer *p, slp_buf *b) {
  if (p->marking) return print_marked(p, b);
  slp_match is = p->grep ? slp_grep_step(p->grep) : SLP_MATCH_YES;
  if (is == SLP_MATCH_MORE) return A_SLICE;
  if (is == SLP_MATCH_NO) return PRINTED;
  if (is == SLP_MATCH_UNDECIDED && !keep_undecided(p, p->grep, &p->line_extra)) return SLP_EBADDATA;
  if (p->marks) {
    slp_highlight_begin(p->marks, (slp_str){p->line.data.base, p->line.data.len});
    p->marking = 1;
    return AT_ONCE;
  }
  p->printed = 1;
  return add_line(p, b, &p->line, &p->line_extra);
}

void slp_printer_begin(slp_printer *p, const sloop_record_t *r, int64_t behind_ms) {
  if (p->state != SLP_PRINTER_IDLE) move(p, SLP_PRINTER_IDLE);
  p->as_it_came = r;
  p->behind_ms = behind_ms;
}

/* Begins a record with its key. decoded_bytes_max is the limit for the decoded bytes of key and payload
 * together. */
static int begin_key(slp_printer *p) {
  p->record = *p->as_it_came;
  p->extra = (slp_show_extra){.worker = p->worker};
  p->style.key_matches.n = 0;
  move(p, SLP_PRINTER_KEY);
  if (p->args->decode_key.n)
    slp_decoding_begin(&p->key, &p->args->decode_key, (slp_str){p->record.key.base, p->record.key.len},
                       p->args->decoded_bytes_max);
  return AT_ONCE;
}

static void begin_pick(slp_printer *p) {
  move(p, SLP_PRINTER_PICK);
  if (p->key_grep) slp_grep_begin(p->key_grep, (slp_str){p->record.key.base, p->record.key.len});
}

static void begin_data(slp_printer *p) {
  move(p, SLP_PRINTER_DATA);
  if (p->args->decode.n)
    slp_decoding_begin(&p->data, &p->args->decode, (slp_str){p->record.data.base, p->record.data.len},
                       p->left);
}

static int decode_key(slp_printer *p, char why[100]) {
  const slp_decode_chain *c = &p->args->decode_key;
  p->left = p->args->decoded_bytes_max;
  /* a record without a key has nothing to decode */
  int decodes = c->n && !(p->record.flags & SLOOP_REC_KEYLESS);
  if (decodes) {
    int r = slp_decoding_step(&p->key, why);
    if (!r && p->key.makes_lines && slp_str_has(p->key.in, '\n')) {
      snprintf(why, 100, "%s: the key holds several values", p->key.by->name);
      r = SLP_EBADDATA;
    }
    if (r) return r;
    p->record.key = (sloop_str_t){p->key.in.p, p->key.in.n};
    p->extra.key_is_json = (uint8_t)(slp_decode_makes_json(c) || p->key.makes_lines);
    p->left = p->key.left;
  }
  if (picks_keys(p))
    begin_pick(p);
  else
    begin_data(p);
  return decodes ? A_SLICE : AT_ONCE;
}

/* Returns 1 if --key-is names the key. */
static int is_named(const slp_printer *p) {
  const sloop_str_t *key = &p->record.key;
  for (size_t i = 0; i < p->args->key_is_n; i++)
    if (slp_str_is((slp_str){key->base, key->len}, p->args->key_is[i])) return 1;
  return 0;
}

/* The key is wanted. Goes on with the payload, or with the record as it came if its key can't be decoded. */
static int go_on_picked(slp_printer *p) {
  if (p->extra.error == p->undecodable)
    return begin_line_match(p, SLP_PRINTER_LINE, p->as_it_came, &p->extra);
  begin_data(p);
  return AT_ONCE;
}

/* Finds the matches in the key, a slice at a time, and goes on. */
static int mark_key(slp_printer *p) {
  if (slp_highlight_step(p->key_marks)) return A_SLICE;
  p->style.key_matches = slp_highlight_spans(p->key_marks);
  return go_on_picked(p);
}

/* Matches one slice of the key. A record without a key has none that could be wanted. */
static int pick_by_key(slp_printer *p) {
  if (p->marking) return mark_key(p);
  int keyless = p->record.flags & SLOOP_REC_KEYLESS;
  slp_match is = keyless ? SLP_MATCH_NO : is_named(p) ? SLP_MATCH_YES : SLP_MATCH_NO;
  if (is == SLP_MATCH_NO && !keyless && p->key_grep) is = slp_grep_step(p->key_grep);
  if (is == SLP_MATCH_MORE) return A_SLICE;
  if (is == SLP_MATCH_NO) return PRINTED;
  if (is == SLP_MATCH_UNDECIDED && !keep_undecided(p, p->key_grep, &p->extra)) return SLP_EBADDATA;
  if (!p->key_marks) return go_on_picked(p);
  slp_highlight_begin(p->key_marks, (slp_str){p->record.key.base, p->record.key.len});
  p->marking = 1;
  return AT_ONCE;
}

static int decode_data(slp_printer *p, char why[100]) {
  const slp_decode_chain *c = &p->args->decode;
  if (c->n) {
    int r = slp_decoding_step(&p->data, why);
    if (r) return r;
    p->record.data = (sloop_str_t){p->data.in.p, p->data.in.n};
    p->extra.data_is_json = (uint8_t)(slp_decode_makes_json(c) || p->data.makes_lines);
  }
  p->rows = (slp_str){NULL, 0};
  if (p->data.makes_lines) {
    p->rows = p->data.in;
    move(p, SLP_PRINTER_EVENTS);
    return A_SLICE;
  }
  if (!slp_decode_makes_events(c) || !p->data.in.n) {
    begin_line_match(p, SLP_PRINTER_LINE, &p->record, &p->extra);
    return c->n ? A_SLICE : AT_ONCE;
  }
  move(p, SLP_PRINTER_EVENTS);
  int r = slp_cwlogs_begin(&p->events, p->data.in, p->data.left);
  if (r == SLP_ELIMIT) slp_decode_too_much(why, "cwlogs", p->data.limit);
  return r ? r : A_SLICE;
}

/* Begins to match the next of the lines that a decoder made of this record (p->rows). */
static int next_row(slp_printer *p) {
  if (!p->rows.n) return PRINTED;
  const char *end = memchr(p->rows.p, '\n', p->rows.n);
  size_t n = end ? (size_t)(end - p->rows.p) : p->rows.n;
  sloop_record_t line = p->record;
  line.data = (sloop_str_t){p->rows.p, n};
  p->rows = (slp_str){p->rows.p + n + (end != NULL), p->rows.n - n - (end != NULL)};
  return begin_line_match(p, SLP_PRINTER_EVENT, &line, &p->extra);
}

/* Begins to match the next line of the record. The lines come from p->rows, or are the events of CloudWatch
 * Logs. */
static int next_event(slp_printer *p, char why[100]) {
  if (p->rows.p) return next_row(p);
  int r = slp_cwlogs_step(&p->events);
  if (r == SLP_CWLOGS_END) {
    p->controls += p->events.control;
    return PRINTED;
  }
  if (r == SLP_CWLOGS_MORE) return A_SLICE;
  if (r == SLP_CWLOGS_EVENT) {
    sloop_record_t line = p->record;
    slp_show_extra extra = p->extra;
    slp_str message = p->events.event.message;
    if (!p->args->json) message = slp_log_line(message);
    line.data = (sloop_str_t){message.p, message.n};
    extra.event = &p->events.event;
    return begin_line_match(p, SLP_PRINTER_EVENT, &line, &extra);
  }
  if (r == SLP_ELIMIT)
    slp_decode_too_much(why, "cwlogs", p->data.limit);
  else if (r == SLP_EBADDATA)
    slp_decode_refuse(why, &slp_decoder_cwlogs, p->data.in, "");
  return r;
}

/* Matches and prints one of several lines of a record. The text of all lines together is limited too. It can
 * be far larger than the record, if the record has many tiny events. */
static int print_event(slp_printer *p, slp_buf *b, char why[100]) {
  int r = print_line(p, b);
  if (r == A_SLICE || r == AT_ONCE) return r;
  if (!r && b->n - p->from > p->data.limit) r = SLP_ELIMIT;
  if (r == SLP_ELIMIT) slp_decode_too_much(why, p->rows.p ? p->data.by->name : "cwlogs", p->data.limit);
  if (r) return r;
  move(p, SLP_PRINTER_EVENTS);
  return A_SLICE;
}

static int one_slice(slp_printer *p, slp_buf *b, char why[100]) {
  switch (p->state) {
    case SLP_PRINTER_IDLE: return begin_key(p);
    case SLP_PRINTER_KEY: return decode_key(p, why);
    case SLP_PRINTER_PICK: return pick_by_key(p);
    case SLP_PRINTER_DATA: return decode_data(p, why);
    case SLP_PRINTER_LINE: return print_line(p, b);
    case SLP_PRINTER_EVENTS: return next_event(p, why);
    case SLP_PRINTER_EVENT: return print_event(p, b, why);
  }
  return PRINTED;
}

/* Handles a record that can't be decoded: removes its text from b. With -E begins to match the record as it
 * came. */
static int cant_decode(slp_printer *p, slp_buf *b, const char *why) {
  const sloop_record_t *r = p->as_it_came;
  slp_buf_cut(b, p->from); /* b may hold lines of this record already */
  p->printed = 0;
  p->undecided -= p->is_undecided;
  p->is_undecided = 0;
  tell_record(p, why);
  p->undecoded++;
  if (!p->args->keep_going) return SLP_EBADDATA;
  snprintf(p->undecodable, sizeof p->undecodable, "%s", why);
  slp_show_extra extra = {.worker = p->worker, .error = p->undecodable};
  if (p->state == SLP_PRINTER_KEY && picks_keys(p)) {
    p->record = *r;
    p->extra = extra;
    begin_pick(p);
    return AT_ONCE;
  }
  return begin_line_match(p, SLP_PRINTER_LINE, r, &extra);
}

/* For --unique. Returns 1 if the record was seen before, 0 if it was not, or a negative code. */
static int was_seen(slp_printer *p) {
  return p->unique && p->state == SLP_PRINTER_IDLE ? slp_unique_seen(p->unique, p->as_it_came) : 0;
}

/* Prints a record that nothing decodes, picks or searches, all in one step. */
static int print_as_it_came(slp_printer *p, slp_buf *b, int *ret_printed) {
  size_t from = b->n;
  int r = add_line(p, b, p->as_it_came, &(slp_show_extra){.worker = p->worker});
  if (r) slp_buf_cut(b, from);
  *ret_printed = !r;
  return r;
}

int slp_printer_step(slp_printer *p, slp_buf *b, int *ret_printed) {
  if (p->direct) return print_as_it_came(p, b, ret_printed);
  char why[100];
  *why = 0;
  if (p->state == SLP_PRINTER_IDLE) p->printed = p->is_undecided = 0, p->made = 0;
  /* counts back from the end of b, because the caller may have removed earlier text from b since the last
   * step */
  p->from = b->n - p->made;
  int r = was_seen(p);
  *ret_printed = 0;
  if (r) return r < 0 ? r : 0;
  do {
    r = one_slice(p, b, why);
    if (*why) r = cant_decode(p, b, why);
    *why = 0;
  } while (r == AT_ONCE);
  p->made = b->n - p->from;
  if (r == A_SLICE || r == SLP_DECODE_WAITS) return r;
  if (r) slp_buf_cut(b, p->from);
  *ret_printed = !r && p->printed;
  move(p, SLP_PRINTER_IDLE);
  return r;
}

/* record_formats.c - prints a record in the fixed formats: plain, for a terminal, and JSON lines. */
#include "cli/record_formats.h"

#include "base/buf.h"
#include "base/clean.h"
#include "cli/decode_cwlogs.h"
#include "cli/decode_json.h"
#include "cli/highlight.h"
#include "cli/line_memo.h"
#include "codec/base64.h"
#include "codec/digits.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "codec/utf8.h"
#include "program/shown_time.h"

#include <sloop.h>
#include <stdio.h>

static void add_time(slp_buf *b, const sloop_record_t *r, const slp_show_style *style) {
  char text[SLP_SHOWN_TIME];
  if (!style->times) return;
  slp_shown_time(r->arrived_at_ms, style->utc, 1, text);
  slp_buf_add_z(b, text);
  slp_buf_add_char(b, ' ');
}

static void add_offset(slp_buf *b, const sloop_record_t *r, const slp_show_style *style) {
  if (!style->offset) return;
  slp_buf_add(b, r->seq.base, r->seq.len);
  if (r->sub) slp_buf_addf(b, ".%llu", (unsigned long long)r->sub);
  slp_buf_add_str(b, style->key_delimiter.p ? style->key_delimiter : SLP_STR("\t"));
}

int slp_show_plain(slp_buf *b, const sloop_record_t *r, const slp_show_style *style) {
  add_time(b, r, style);
  add_offset(b, r, style);
  if (style->key_delimiter.p) {
    slp_buf_add(b, r->key.base, r->key.len);
    slp_buf_add_str(b, style->key_delimiter);
  }
  slp_buf_add(b, r->data.base, r->data.len);
  return slp_buf_add_str(b, style->delimiter);
}

const char *slp_shard_short(const char *id) {
  static const char usual[] = "shardId-";
  if (strncmp(id, usual, sizeof usual - 1) != 0) return id;
  const char *digits = id + sizeof usual - 1;
  size_t n = strspn(digits, "0123456789");
  if (n == 0) return id;
  /* the id of a shard in DynamoDB Streams: returns the part after the time */
  if (digits[n] == '-' && digits[n + 1]) return digits + n + 1;
  if (digits[n]) return id;
  while (n > 1 && *digits == '0') digits++, n--;
  return digits;
}

/* Appends stream and shard, which come before a line. The colour is computed from the digits of the
 * shard's id. Neighbouring shards have consecutive digits, and so get different colours. */
static void add_prefix(slp_buf *b, const sloop_record_t *r, const slp_show_style *style) {
  static const unsigned char colours[] = {36, 33, 32, 35, 34, 96, 93, 92, 95, 94};
  const char *name = slp_shard_short(r->shard);
  uint32_t pick = 0;
  if (!style->colour && !style->streams) return;
  for (const char *c = name; *c; c++) pick = pick * 10u + (unsigned char)*c;
  if (style->colour)
    slp_buf_addf(b, "\033[%s%um", r->flags & SLOOP_REC_LATE ? "7;" : "", colours[pick % sizeof colours]);
  if (style->streams) slp_buf_addf(b, "%s/", r->stream);
  slp_buf_add_z(b, name);
  slp_buf_add_z(b, style->colour ? "\033[0m " : " ");
}

/* Returns how many bytes at s[at] form a control sequence or another unsafe character; 0 if the byte is
 * safe. Tabs are safe. */
static size_t control_bytes(slp_str s, size_t at) {
  return s.p[at] == '\t' ? 0 : slp_unsafe_length(s.p + at, s.n - at);
}

/* Appends the unsafe bytes at s[at], each in the form \x1B. Returns the offset of the byte after them. */
static size_t add_escaped(slp_buf *b, slp_str s, size_t at) {
  static const char hex[] = "0123456789ABCDEF";
  char text[1024];
  size_t n = 0;
  for (size_t bad; n + 16 <= sizeof text && at < s.n && (bad = control_bytes(s, at)); at += bad) {
    for (size_t i = 0; i < bad; i++) {
      unsigned char c = (unsigned char)s.p[at + i];
      text[n++] = '\\', text[n++] = 'x', text[n++] = hex[c >> 4], text[n++] = hex[c & 15];
    }
  }
  slp_buf_add(b, text, n);
  return at;
}

static void add_harmless(slp_buf *b, slp_str s) {
  size_t from = 0;
  for (size_t at = 0; at < s.n;) {
    if (!control_bytes(s, at)) {
      at += slp_safe_length(s.p + at, s.n - at);
      continue;
    }
    slp_buf_add(b, s.p + from, at - from);
    from = at = add_escaped(b, s, at);
  }
  slp_buf_add(b, s.p + from, s.n - from);
}

void slp_show_harmless(slp_buf *b, sloop_str_t v) {
  slp_str s = {v.base, v.len};
  if (slp_utf8_valid(s))
    add_harmless(b, s);
  else
    slp_base64_encode(b, s);
}

#define MATCH "\033[1;31m"
#define KEY "\033[1;34m"
#define PLAIN "\033[0m"

/* Appends a text as slp_show_harmless does, in the colour `base` ("": none), its matches in their own. */
static void show_in_colour(slp_buf *b, sloop_str_t v, const char *base, slp_spans matches) {
  size_t at = 0;
  if (!slp_utf8_valid((slp_str){v.base, v.len})) matches.n = 0; /* it is shown in base64 */
  if (*base) slp_buf_add_z(b, base);
  for (size_t i = 0; i < matches.n; i++) {
    const slp_span *m = &matches.list[i];
    slp_show_harmless(b, (sloop_str_t){v.base + at, m->from - at});
    slp_buf_add_z(b, MATCH);
    slp_show_harmless(b, (sloop_str_t){v.base + m->from, m->to - m->from});
    slp_buf_add_z(b, PLAIN);
    slp_buf_add_z(b, base);
    at = m->to;
  }
  slp_show_harmless(b, (sloop_str_t){v.base + at, v.len - at});
  if (*base) slp_buf_add_z(b, PLAIN);
}

static void show_part(slp_buf *b, sloop_str_t v, const char *base, slp_spans matches, int colour) {
  if (colour && v.len)
    show_in_colour(b, v, base, matches);
  else
    slp_show_harmless(b, v);
}

int slp_show_terminal(slp_buf *b, const sloop_record_t *r, const slp_show_style *style) {
  add_time(b, r, style);
  add_prefix(b, r, style);
  add_offset(b, r, style);
  if (style->key_delimiter.p) {
    show_part(b, r->key, KEY, style->key_matches, style->colour);
    slp_buf_add_str(b, style->key_delimiter);
  }
  show_part(b, r->data, "", style->matches, style->colour);
  return slp_buf_add_str(b, style->delimiter);
}

static slp_str text_of(sloop_str_t v) { return (slp_str){v.base, v.len}; }

/* Writes JSON from outside. Copies it as it is, if nothing in it could end the line or control a terminal.
 * Otherwise writes it with escapes. */
static void add_json(slp_buf *b, sloop_str_t v) {
  size_t from = b->n;
  if (slp_harmless_run(v.base, v.len) == v.len) {
    slp_buf_add(b, v.base, v.len);
  } else if (!slp_buf_failed(b) && slp_decode_plain_json(b, text_of(v)) == SLP_EBADDATA) {
    /* not JSON, although the service promised JSON: written as a string, or as null if it is empty */
    slp_buf_cut(b, from);
    if (!slp_json_try_line_string(b, text_of(v))) slp_buf_add_z(b, "null");
  }
}

/* The name of a member and what stands around it, such as ,"key": */
#define NAME(name) SLP_STR(",\"" name "\":")

/* Returns 1 if the first bytes of a longer text show that it is not UTF-8. */
static int is_binary(slp_str s) { return s.n >= 16 && slp_utf8_run(s.p, s.n, 64) == SIZE_MAX; }

/* Writes the member "NAME":"...", or "NAME_b64":"..." if the bytes are not UTF-8. is_json: v is JSON, and
 * becomes null if it is empty. */
static void add_bytes(slp_buf *b, slp_str name, slp_str name_b64, sloop_str_t v, int is_json) {
  size_t from = b->n;
  slp_buf_add_str(b, name);
  if (is_json && v.len == 0) {
    slp_buf_add_str(b, SLP_STR("null"));
  } else if (is_json) {
    add_json(b, v);
  } else if (is_binary(text_of(v)) || !slp_json_try_line_string(b, text_of(v))) {
    b->n = from;
    slp_buf_add_str(b, name_b64);
    slp_buf_add_char(b, '"');
    slp_base64_encode(b, text_of(v));
    slp_buf_add_char(b, '"');
  }
}

static void add_string(slp_buf *b, slp_str name, slp_str text) {
  slp_buf_add_str(b, name);
  slp_json_put_line_string(b, text);
}

static void add_change(slp_buf *b, const sloop_record_t *r) {
  add_string(b, NAME("event"), text_of(r->event));
  add_string(b, NAME("id"), text_of(r->event_id));
  slp_buf_add_str(b, NAME("change"));
  add_json(b, r->data);
  if (!r->user.len) return;
  slp_buf_add_str(b, NAME("user"));
  add_json(b, r->user);
}

static void add_event(slp_jw *w, const slp_log_event *e) {
  slp_jw_object(w, "log");
  slp_jw_str(w, "group", e->group);
  slp_jw_str(w, "stream", e->stream);
  slp_jw_str(w, "owner", e->owner);
  slp_jw_str(w, "id", e->id);
  slp_jw_i64_or_null(w, "ts", e->ts_ms);
  if (e->more.n) slp_jw_raw(w, NULL, e->more);
  if (e->record.n) {
    slp_jw_object(w, "record");
    slp_jw_raw(w, NULL, e->record);
    slp_jw_object_end(w);
  }
  slp_jw_object_end(w);
}

/* Writes a sequence number, which nearly always consists of digits and so needs no escape. */
static void add_seq(slp_buf *b, slp_str seq) {
  if (!slp_all_digits(seq.p, seq.n)) {
    add_string(b, NAME("seq"), seq);
    return;
  }
  slp_buf_add_str(b, SLP_STR(",\"seq\":\""));
  slp_buf_add_str(b, seq);
  slp_buf_add_char(b, '"');
}

/* Writes which record it is, and when it arrived. */
static void add_place(slp_buf *b, const sloop_record_t *r, int change, slp_line_memo *memo) {
  slp_line_memo_add_head(memo, b, r);
  add_seq(b, text_of(r->seq));
  if (!change) {
    slp_buf_add_str(b, NAME("sub"));
    slp_buf_add_u64(b, r->sub);
  }
  slp_buf_add_str(b, NAME("ts"));
  if (r->arrived_at_ms < 0)
    slp_buf_add_str(b, SLP_STR("null"));
  else
    slp_line_memo_add_ms(memo, b, r->arrived_at_ms);
}

/* Writes the members that few records have. */
static void add_extra(slp_jw *w, const sloop_record_t *r, const slp_show_extra *extra) {
  if (extra->worker) slp_jw_u64(w, "epoch", r->epoch);
  if (extra->worker) slp_jw_z(w, "worker", extra->worker);
  if (r->flags & SLOOP_REC_LATE) slp_jw_bool(w, "late", 1);
  if (r->flags & SLOOP_REC_RAW) slp_jw_bool(w, "raw", 1);
  if (r->flags & SLOOP_REC_FOREIGN) slp_jw_bool(w, "foreign", 1);
  if (extra->error) slp_jw_z(w, "decode_error", extra->error);
}

int slp_show_json(slp_buf *b, const sloop_record_t *r, const slp_show_extra *extra, slp_line_memo *memo) {
  static const slp_show_extra nothing = {0};
  slp_jw w = {.b = b, .one_line = 1, .comma = 1}; /* a comma: behind the members that stand before */
  int change = r->event.len > 0;
  if (!extra) extra = &nothing;
  add_place(b, r, change, memo);
  if (change) {
    add_change(b, r);
  } else {
    if (r->flags & SLOOP_REC_KEYLESS)
      slp_buf_add_str(b, SLP_STR(",\"key\":null"));
    else
      add_bytes(b, NAME("key"), NAME("key_b64"), r->key, extra->key_is_json);
    add_bytes(b, NAME("payload"), NAME("payload_b64"), r->data, extra->data_is_json);
    if (extra->event) add_event(&w, extra->event);
  }
  add_extra(&w, r, extra);
  return slp_buf_add_str(b, SLP_STR("}\n"));
}

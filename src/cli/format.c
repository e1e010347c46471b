/* format.c - compiles a format into steps, and runs the steps for each record. */
#include "cli/format.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/record_formats.h"
#include "program/shown_time.h"

#include <sloop.h>
#include <stdio.h>

typedef enum {
  LITERAL,
  PAYLOAD,
  PAYLOAD_LEN,
  PAYLOAD_LEN_BE,
  KEY,
  KEY_LEN,
  TIME,
  STREAM,
  SHARD,
  SEQ,
  SUB,
  BEHIND,
  EVENT,
  EPOCH,
  WORKER,
  TIME_SHOWN, /* %{time} */
  TIME_FORM   /* %{time:FORM} */
} op;

typedef struct step {
  op op;
  size_t from, n; /* LITERAL, TIME_FORM: offset and length in the format's `text` */
} step;

struct slp_format {
  slp_mem *mem;
  char *text;  /* owned; all literal bytes, with escapes resolved, and the forms of times */
  step *steps; /* owned */
  size_t steps_n, text_n;
  uint8_t utc; /* 1: %{time} is in UTC */
};

static const struct {
  char token;
  op op;
} tokens[] = {
    {'s', PAYLOAD}, {'S', PAYLOAD_LEN}, {'R', PAYLOAD_LEN_BE}, {'k', KEY},    {'K', KEY_LEN},
    {'T', TIME},    {'t', STREAM},      {'p', SHARD},          {'o', SEQ},    {'u', SUB},
    {'l', BEHIND},  {'n', EVENT},       {'e', EPOCH},          {'w', WORKER},
};

static void add_literal(slp_format *f, char c) {
  SLP_CHECK(f->steps && f->text);
  if (f->steps_n == 0 || f->steps[f->steps_n - 1].op != LITERAL)
    f->steps[f->steps_n++] = (step){LITERAL, f->text_n, 0};
  f->text[f->text_n++] = c;
  f->steps[f->steps_n - 1].n++;
}

static const char known_escapes[] = "\\n \\r \\t \\\\ \\xXX, and \\0 with no digit after it";

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static int refuse_format_token(char why[200], slp_str text, size_t at, const char *all) {
  char shown[8];
  unsigned char c = at + 1 < text.n ? (unsigned char)text.p[at + 1] : 0;
  if (at + 1 >= text.n)
    snprintf(shown, sizeof shown, "%c", text.p[at]);
  else if (c >= 0x20 && c < 0x7f)
    snprintf(shown, sizeof shown, "%c%c", text.p[at], c);
  else
    snprintf(shown, sizeof shown, "%c<%02X>", text.p[at], c);
  snprintf(why, 200, "-f: unknown token %s at character %zu of the format; known are %s", shown, at + 1, all);
  return SLP_EINVAL;
}

/* Reads the escape that begins with the '\\' at text.p[at]. Returns its length in the text, or 0 if it is not
 * a valid escape. */
static size_t read_escape(slp_str text, size_t at, char *ret) {
  if (at + 1 >= text.n) return 0;
  switch (text.p[at + 1]) {
    case 'n': *ret = '\n'; return 2;
    case 'r': *ret = '\r'; return 2;
    case 't': *ret = '\t'; return 2;
    /* \0 followed by a digit is refused, because C, printf and shells read \012 and \033 as octal numbers */
    case '0': *ret = 0; return at + 2 < text.n && text.p[at + 2] >= '0' && text.p[at + 2] <= '9' ? 0 : 2;
    case '\\': *ret = '\\'; return 2;
    case 'x': break;
    default: return 0;
  }
  if (at + 3 >= text.n) return 0;
  int high = hex_value(text.p[at + 2]), low = hex_value(text.p[at + 3]);
  if (high < 0 || low < 0) return 0;
  *ret = (char)(unsigned char)(high * 16 + low);
  return 4;
}

/* Adds a step for the %{NAME} that begins at text.p[at]. Returns its length, or 0 and a sentence in `why` if
 * there is no such name. */
static size_t read_name(slp_format *f, slp_str text, size_t at, char why[200]) {
  const slp_str plain = SLP_STR("%{time}"), formed = SLP_STR("%{time:");
  size_t left = text.n - at, bad = 0;
  const char *end = memchr(text.p + at, '}', left);
  size_t n = end ? (size_t)(end - (text.p + at)) + 1 : 0;
  if (n == plain.n && memcmp(text.p + at, plain.p, plain.n) == 0) {
    f->steps[f->steps_n++] = (step){.op = TIME_SHOWN};
    return n;
  }
  if (n <= formed.n || memcmp(text.p + at, formed.p, formed.n) != 0) {
    snprintf(why, 200,
             "-f: unknown name in %%{ at character %zu of the format; known are %%{time} and "
             "%%{time:FORM}, such as %%{time:%%H:%%M:%%S}",
             at + 1);
    return 0;
  }
  slp_str form = {text.p + at + formed.n, n - formed.n - 1};
  if (slp_time_form_check(form, &bad)) {
    snprintf(why, 200,
             "-f: unknown conversion in %%{time:FORM} at character %zu of the format; known are those "
             "of strftime(3) and %%3N, milliseconds",
             at + formed.n + bad + 1);
    return 0;
  }
  f->steps[f->steps_n++] = (step){TIME_FORM, f->text_n, form.n};
  memcpy(f->text + f->text_n, form.p, form.n);
  f->text_n += form.n;
  return n;
}

/* Adds a step for the token that begins with the '%' at text.p[at]. Returns the token's length, which is 2,
 * or 0 if there is no such token. */
static size_t read_token(slp_format *f, slp_str text, size_t at) {
  if (at + 1 >= text.n) return 0;
  char c = text.p[at + 1];
  if (c == '%') {
    add_literal(f, '%');
    return 2;
  }
  for (size_t i = 0; i < SLP_COUNT(tokens); i++) {
    if (tokens[i].token != c) continue;
    f->steps[f->steps_n++] = (step){.op = tokens[i].op};
    return 2;
  }
  return 0;
}

static int compile_format(slp_format *f, slp_str text, char why[200]) {
  for (size_t at = 0; at < text.n;) {
    char c = text.p[at];
    if (c == '%' && at + 1 < text.n && text.p[at + 1] == '{') {
      size_t took = read_name(f, text, at, why);
      if (!took) return SLP_EINVAL;
      at += took;
    } else if (c == '%') {
      size_t took = read_token(f, text, at);
      if (!took)
        return refuse_format_token(why, text, at, "%s %S %R %k %K %T %{time} %t %p %o %u %n %l %e %w %%");
      at += took;
    } else if (c == '\\') {
      size_t took = read_escape(text, at, &c);
      if (!took) return refuse_format_token(why, text, at, known_escapes);
      add_literal(f, c);
      at += took;
    } else {
      add_literal(f, c);
      at++;
    }
  }
  return 0;
}

int slp_unescape(slp_buf *ret, const char *text, const char *option, char why[200]) {
  slp_str all = slp_str_of(text);
  for (size_t at = 0; at < all.n;) {
    char c = text[at];
    size_t took = c == '\\' ? read_escape(all, at, &c) : 1;
    if (!took) {
      snprintf(why, 200, "%s: \"%.40s\": unknown escape at character %zu; known are %s", option, text, at + 1,
               known_escapes);
      return SLP_EINVAL;
    }
    slp_buf_add_char(ret, c);
    at += took;
  }
  return slp_buf_failed(ret);
}

int slp_format_new(slp_mem *mem, slp_str text, slp_format **ret, char why[200]) {
  slp_format *f = SLP_NEW(mem, slp_format);
  if (!f) return SLP_ENOMEM;
  f->mem = mem;
  /* Each step and each literal byte comes from at least one character of the text, so text.n is enough room
   * for each. */
  f->text = slp_alloc(mem, text.n);
  f->steps = slp_zalloc_n(mem, text.n ? text.n : 1, sizeof *f->steps);
  int r = f->text && f->steps ? compile_format(f, text, why) : SLP_ENOMEM;
  if (r) {
    slp_format_free(f);
    return r;
  }
  *ret = f;
  return 0;
}

void slp_format_set_utc(slp_format *f, int utc) { f->utc = (uint8_t)utc; }

int slp_format_has_payload(const slp_format *f) {
  for (size_t i = 0; i < f->steps_n; i++)
    if (f->steps[i].op == PAYLOAD) return 1;
  return 0;
}

void slp_format_free(slp_format *f) {
  if (!f) return;
  slp_free(f->mem, f->text);
  slp_free(f->mem, f->steps);
  slp_free(f->mem, f);
}

/* Writes a length as 4 bytes, highest byte first. */
static int add_length(slp_buf *b, size_t n) {
  uint32_t v = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
  unsigned char bytes[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16), (unsigned char)(v >> 8),
                            (unsigned char)v};
  return slp_buf_add(b, bytes, sizeof bytes);
}

/* Appends bytes of a record. For a terminal, escapes bytes that could control it. */
static void add_bytes(slp_buf *b, sloop_str_t v, int for_terminal) {
  if (for_terminal)
    slp_show_harmless(b, v);
  else
    slp_buf_add(b, v.base, v.len);
}

/* Writes the length of the key, or -1 if the record has no key. An empty key has the length 0. */
static void add_key_length(slp_buf *b, const sloop_record_t *r) {
  slp_buf_add_i64(b, r->flags & SLOOP_REC_KEYLESS ? -1 : (int64_t)r->key.len);
}

static void add_shown_time(slp_buf *b, int64_t at_ms, int utc) {
  char text[SLP_SHOWN_TIME];
  slp_shown_time(at_ms, utc, 1, text);
  slp_buf_add_z(b, text);
}

int slp_format_run(const slp_format *f, slp_buf *b, const sloop_record_t *r, int64_t behind_ms,
                   const char *worker_or_null, int for_terminal) {
  for (size_t i = 0; i < f->steps_n; i++) {
    const step *s = &f->steps[i];
    switch (s->op) {
      case LITERAL: slp_buf_add(b, f->text + s->from, s->n); break;
      case PAYLOAD: add_bytes(b, r->data, for_terminal); break;
      case PAYLOAD_LEN: slp_buf_add_u64(b, r->data.len); break;
      case PAYLOAD_LEN_BE: add_length(b, r->data.len); break;
      case KEY: add_bytes(b, r->key, for_terminal); break;
      case KEY_LEN: add_key_length(b, r); break;
      case TIME: slp_buf_add_i64(b, r->arrived_at_ms); break;
      case STREAM: slp_buf_add_z(b, r->stream); break;
      case SHARD: slp_buf_add_z(b, r->shard); break;
      case SEQ: slp_buf_add(b, r->seq.base, r->seq.len); break;
      case SUB: slp_buf_add_u64(b, r->sub); break;
      case BEHIND: slp_buf_add_i64(b, behind_ms); break;
      case EVENT: slp_buf_add(b, r->event.base, r->event.len); break;
      case EPOCH: slp_buf_add_u64(b, r->epoch); break;
      case TIME_SHOWN: add_shown_time(b, r->arrived_at_ms, f->utc); break;
      case TIME_FORM:
        slp_time_form_add(b, (slp_str){f->text + s->from, s->n}, r->arrived_at_ms, f->utc);
        break;
      case WORKER: slp_buf_add_z(b, worker_or_null ? worker_or_null : ""); break;
    }
  }
  return slp_buf_failed(b);
}

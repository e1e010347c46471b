/* produce_line.c - reads lines of three kinds: plain text with or without a key before it, JSON with the key
 * in a member (--key-from), and the lines that -J prints. */
#include "cli/produce_line.h"

#include "base/buf.h"
#include "base/num.h"
#include "codec/base64.h"
#include "codec/json.h"

const char *slp_put_refusal_text(slp_put_refusal r) {
  static const char *const texts[SLP_PUT_REFUSALS] = {
      [SLP_PUT_FINE] = "nothing",
      [SLP_PUT_NO_MEMORY] = "no memory for it",
      [SLP_PUT_TOO_LARGE] = "larger than 10 MiB",
      [SLP_PUT_KEY_EMPTY] = "its key is empty",
      [SLP_PUT_KEY_LONG] = "its key has more than 256 characters",
      [SLP_PUT_KEY_BYTES] = "its key is not UTF-8",
      [SLP_PUT_NOT_JSON] = "it is no JSON object",
      [SLP_PUT_NO_MEMBER] = "its member for the key is missing, or is no text and no number",
      [SLP_PUT_NO_PAYLOAD] = "it has neither payload nor payload_b64",
      [SLP_PUT_NOT_AS_READ] = "its payload is no text: a decoder has made it",
      [SLP_PUT_BAD_BASE64] = "its base64 can't be read",
      [SLP_PUT_BAD_HASH_KEY] = "its explicit_hash_key is no 128-bit number",
      [SLP_PUT_BY_SERVICE] = "the service refuses it",
  };
  return texts[r];
}

int slp_put_path_read(const char *text, slp_put_rules *rules) {
  rules->path_n = 0;
  if (*text != '.') return SLP_EINVAL;
  while (*text == '.') {
    size_t n = strcspn(++text, ".");
    if (!n || rules->path_n == SLP_PUT_PATH_MAX) return SLP_EINVAL;
    rules->path[rules->path_n++] = (slp_str){text, n};
    text += n;
  }
  return 0;
}

/* ---- keys -------------------------------------------------------------------------------------------- */
static size_t count_characters(slp_str s) {
  size_t n = 0;
  for (size_t i = 0; i < s.n; i++) n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
  return n;
}

static slp_put_refusal check_put_line(const slp_put_line *l) {
  slp_str key = l->key;
  if (key.n + l->data.n > SLP_PUT_RECORD_BYTES) return SLP_PUT_TOO_LARGE;
  if (!key.p) return SLP_PUT_FINE;
  if (!key.n) return SLP_PUT_KEY_EMPTY;
  if (!slp_utf8_valid(key)) return SLP_PUT_KEY_BYTES;
  return count_characters(key) > SLP_PUT_KEY_CHARACTERS ? SLP_PUT_KEY_LONG : SLP_PUT_FINE;
}

/* ---- plain lines ------------------------------------------------------------------------------------- */
static void read_plain(const slp_put_rules *rules, slp_str line, slp_put_line *ret) {
  slp_str d = rules->key_delimiter;
  ret->data = line;
  for (size_t at = 0; d.n && at + d.n <= line.n; at++) {
    if (memcmp(line.p + at, d.p, d.n) != 0) continue;
    ret->key = (slp_str){line.p, at};
    ret->data = (slp_str){line.p + at + d.n, line.n - at - d.n};
    return;
  }
}

/* ---- JSON -------------------------------------------------------------------------------------------- */
/* Begins to read the line as JSON. Copies it first, because the JSON reader changes the text that it
 * reads. */
static int begin_json(slp_json *j, slp_str line, slp_buf *scratch) {
  if (slp_buf_reserve(scratch, line.n + 1) || slp_buf_add_str(scratch, line)) return SLP_ENOMEM;
  slp_json_begin(j, scratch->p, scratch->n);
  return 0;
}

/* Skips the rest of an object or array whose opening bracket was just read. Returns 0 or an error. */
static int skip_open(slp_json *j) {
  for (uint32_t depth = j->depth; j->depth >= depth;) {
    int token = slp_json_next(j);
    if (token < 0) return token;
  }
  return 0;
}

/* Finds the member that the path of --key-from names. If a member comes twice, its last value counts, as in
 * most readers of JSON. Only objects on the path are entered, so j->depth is the index, plus 1, of the path's
 * next name. */
static slp_put_refusal find_key(const slp_put_rules *rules, slp_json *j, slp_put_line *ret) {
  if (slp_json_next(j) != SLP_JSON_OBJECT) return SLP_PUT_NOT_JSON;
  while (j->depth) {
    int token = slp_json_next(j);
    if (token == SLP_JSON_OBJECT_END) continue;
    if (token != SLP_JSON_KEY) return SLP_PUT_NOT_JSON;
    size_t level = j->depth - 1, last = rules->path_n - 1;
    if (!slp_str_eq(j->text, rules->path[level])) {
      if (slp_json_skip(j)) return SLP_PUT_NOT_JSON;
      continue;
    }
    ret->key = (slp_str){NULL, 0};
    token = slp_json_next(j);
    if (token < 0) return SLP_PUT_NOT_JSON;
    if (token == SLP_JSON_OBJECT && level < last) continue;
    if (token == SLP_JSON_OBJECT || token == SLP_JSON_ARRAY) {
      if (skip_open(j)) return SLP_PUT_NOT_JSON;
    } else if (level == last && (token == SLP_JSON_STRING || token == SLP_JSON_NUMBER)) {
      ret->key = j->text;
    }
  }
  if (slp_json_next(j) != SLP_JSON_END) return SLP_PUT_NOT_JSON;
  return ret->key.p ? SLP_PUT_FINE : SLP_PUT_NO_MEMBER;
}

typedef struct printed { /* members of a line in the format of -J; p NULL: absent or null */
  slp_str key, key_b64, payload, payload_b64, hash_key, ts;
  uint8_t has_payload, payload_is_text;
} printed;

static slp_put_refusal read_member(slp_json *j, slp_str name, printed *m) {
  slp_str *to = slp_str_is(name, "key")                 ? &m->key
                : slp_str_is(name, "key_b64")           ? &m->key_b64
                : slp_str_is(name, "payload")           ? &m->payload
                : slp_str_is(name, "payload_b64")       ? &m->payload_b64
                : slp_str_is(name, "explicit_hash_key") ? &m->hash_key
                : slp_str_is(name, "ts")                ? &m->ts
                                                        : NULL;
  if (!to) return slp_json_skip(j) ? SLP_PUT_NOT_JSON : SLP_PUT_FINE;
  int token = slp_json_next(j), is_payload = to == &m->payload;
  if (token < 0) return SLP_PUT_NOT_JSON;
  m->has_payload |= is_payload;
  if (token == SLP_JSON_STRING || (to == &m->ts && token == SLP_JSON_NUMBER)) {
    *to = j->text;
    return SLP_PUT_FINE;
  }
  if (token == SLP_JSON_NULL) return SLP_PUT_FINE;
  return is_payload ? SLP_PUT_NOT_AS_READ : SLP_PUT_NOT_JSON;
}

static slp_put_refusal read_members(slp_json *j, printed *m) {
  if (slp_json_next(j) != SLP_JSON_OBJECT) return SLP_PUT_NOT_JSON;
  for (int token; (token = slp_json_next(j)) != SLP_JSON_OBJECT_END;) {
    if (token != SLP_JSON_KEY) return SLP_PUT_NOT_JSON;
    slp_put_refusal r = read_member(j, j->text, m);
    if (r) return r;
  }
  return slp_json_next(j) == SLP_JSON_END ? SLP_PUT_FINE : SLP_PUT_NOT_JSON;
}

/* Decodes base64 in place. Returns 0 or SLP_EBADDATA. */
static int decode_base64_text(slp_str *text) {
  char *p = (char *)(uintptr_t)text->p; /* a part of `scratch` */
  int64_t n = slp_base64_decode(p, p, text->n);
  if (n < 0) return SLP_EBADDATA;
  text->n = (size_t)n;
  return 0;
}

static slp_put_refusal read_printed(slp_json *j, slp_put_line *ret) {
  printed m = {.has_payload = 0};
  uint8_t number[16];
  slp_put_refusal r = read_members(j, &m);
  if (r) return r;
  if ((m.key_b64.p && decode_base64_text(&m.key_b64)) ||
      (m.payload_b64.p && decode_base64_text(&m.payload_b64)))
    return SLP_PUT_BAD_BASE64;
  if (!m.payload_b64.p && !m.has_payload) return SLP_PUT_NO_PAYLOAD;
  if (m.hash_key.p && (!slp_num_plain(m.hash_key) || slp_parse_u128(m.hash_key, number)))
    return SLP_PUT_BAD_HASH_KEY;
  ret->key = m.key.p ? m.key : m.key_b64;
  ret->data = m.payload_b64.p ? m.payload_b64 : m.payload.p ? m.payload : SLP_STR("");
  ret->hash_key = m.hash_key;
  if (!m.ts.p || slp_parse_i64(m.ts, &ret->ts_ms)) ret->ts_ms = -1;
  return SLP_PUT_FINE;
}

slp_put_refusal slp_put_line_read(const slp_put_rules *rules, slp_str line, slp_buf *scratch,
                                  slp_put_line *ret) {
  slp_put_refusal r = SLP_PUT_FINE;
  slp_json j;
  *ret = (slp_put_line){.ts_ms = -1};
  slp_buf_clear(scratch);
  if ((rules->json || rules->path_n) && begin_json(&j, line, scratch)) return SLP_PUT_NO_MEMORY;
  if (rules->json) {
    r = read_printed(&j, ret);
  } else if (rules->path_n) {
    r = find_key(rules, &j, ret);
    ret->data = line;
  } else {
    read_plain(rules, line, ret);
  }
  if (!ret->key.p && rules->key.p) ret->key = rules->key;
  return r ? r : check_put_line(ret);
}

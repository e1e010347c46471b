/* show.c - prints records. */
#include "cli/show.h"

#include <stdio.h>

#include "codec/base64.h"
#include "codec/json.h"

static int add_offset(slp_buf *b, const sloop_record_t *r, const slp_show_style *style) {
  if (!style->offset) return 0;
  int bad = slp_buf_add(b, r->seq.base, r->seq.len);
  if (!bad && r->sub) bad = slp_buf_addf(b, ".%llu", (unsigned long long)r->sub);
  return bad ? bad : slp_buf_add_str(b, style->key_delimiter.p ? style->key_delimiter : SLP_STR("\t"));
}

int slp_show_plain(slp_buf *b, const sloop_record_t *r, const slp_show_style *style) {
  int bad = add_offset(b, r, style);
  if (!bad && style->key_delimiter.p) {
    bad = slp_buf_add(b, r->key.base, r->key.len);
    if (!bad) bad = slp_buf_add_str(b, style->key_delimiter);
  }
  if (!bad) bad = slp_buf_add(b, r->data.base, r->data.len);
  return bad ? bad : slp_buf_add_str(b, style->delimiter);
}

const char *slp_shard_short(const char *id) {
  static const char usual[] = "shardId-";
  if (strncmp(id, usual, sizeof usual - 1) != 0) return id;
  const char *digits = id + sizeof usual - 1;
  size_t n = strspn(digits, "0123456789");
  if (n == 0) return id;
  if (digits[n] == '-' && digits[n + 1]) return digits + n + 1; /* of DynamoDB: after the time */
  if (digits[n]) return id;
  while (n > 1 && *digits == '0') digits++, n--;
  return digits;
}

/* Neighbours get different colours: ids count up. */
static int add_prefix(slp_buf *b, const sloop_record_t *r, const slp_show_style *style) {
  static const unsigned char colours[] = {36, 33, 32, 35, 34, 96, 93, 92, 95, 94};
  const char *name = slp_shard_short(r->shard);
  uint32_t pick = 0;
  if (!style->colour && !style->streams) return 0;
  for (const char *c = name; *c; c++) pick = pick * 10u + (unsigned char)*c;
  int bad = 0;
  if (style->colour)
    bad =
        slp_buf_addf(b, "\033[%s%um", r->flags & SLOOP_REC_LATE ? "7;" : "", colours[pick % sizeof colours]);
  if (!bad && style->streams) bad = slp_buf_addf(b, "%s/", r->stream);
  if (!bad) bad = slp_buf_add_z(b, name);
  return bad ? bad : slp_buf_add_z(b, style->colour ? "\033[0m " : " ");
}

/* Bytes 0xC2 0x80..0x9F are the C1 controls in UTF-8; some terminals obey them. */
static size_t control_bytes(slp_str s, size_t at) {
  unsigned char c = (unsigned char)s.p[at];
  if ((c < 0x20 && c != '\t') || c == 0x7f) return 1;
  if (c == 0xc2 && at + 1 < s.n && (unsigned char)s.p[at + 1] < 0xa0) return 2;
  return 0;
}

static int add_harmless(slp_buf *b, slp_str s) {
  size_t from = 0;
  for (size_t at = 0; at < s.n;) {
    size_t n = control_bytes(s, at);
    if (n == 0) {
      at++;
      continue;
    }
    int bad = slp_buf_add(b, s.p + from, at - from);
    for (size_t i = 0; !bad && i < n; i++) bad = slp_buf_addf(b, "\\x%02X", (unsigned char)s.p[at + i]);
    if (bad) return bad;
    at += n;
    from = at;
  }
  return slp_buf_add(b, s.p + from, s.n - from);
}

static int add_shown(slp_buf *b, sloop_str_t v) {
  slp_str s = {v.base, v.len};
  return slp_utf8_valid(s) ? add_harmless(b, s) : slp_base64_encode(b, s);
}

int slp_show_terminal(slp_buf *b, const sloop_record_t *r, const slp_show_style *style) {
  int bad = add_prefix(b, r, style);
  if (!bad) bad = add_offset(b, r, style);
  if (!bad && style->key_delimiter.p) {
    bad = add_shown(b, r->key);
    if (!bad) bad = slp_buf_add_str(b, style->key_delimiter);
  }
  if (!bad) bad = add_shown(b, r->data);
  return bad ? bad : slp_buf_add_str(b, style->delimiter);
}

/* ,"NAME":"..." or ,"NAME_b64":"..." */
static int add_text_or_b64(slp_buf *b, const char *name, sloop_str_t v) {
  slp_str s = {v.base, v.len};
  int valid = slp_utf8_valid(s);
  int bad = slp_buf_add(b, ",\"", 2);
  if (!bad) bad = slp_buf_add_z(b, name);
  if (valid) {
    if (!bad) bad = slp_buf_add(b, "\":", 2);
    return bad ? bad : slp_json_put_line_string(b, s);
  }
  if (!bad) bad = slp_buf_add_z(b, "_b64\":\"");
  if (!bad) bad = slp_base64_encode(b, s);
  return bad ? bad : slp_buf_add_char(b, '"');
}

static int add_name(slp_buf *b, const char *name) { return slp_buf_addf(b, ",\"%s\":", name); }

static int add_text(slp_buf *b, const char *name, slp_str s) {
  int bad = add_name(b, name);
  return bad ? bad : slp_json_put_line_string(b, s.p ? s : SLP_STR(""));
}

/* JSON that came from outside, as it is; only what could end the line is written another way. */
static int add_json(slp_buf *b, const char *name, sloop_str_t v) {
  int odd = 0;
  for (size_t i = 0; i < v.len && !odd; i++) {
    unsigned char c = (unsigned char)v.base[i];
    odd = c < 0x20 || c == 0x7f || c == 0xc2 || c == 0xe2; /* the last two begin U+0085 and U+2028 */
  }
  int bad = add_name(b, name);
  if (bad) return bad;
  size_t from = b->n;
  if (!odd) return slp_buf_add(b, v.base, v.len);
  bad = slp_decode_plain_json(b, (slp_str){v.base, v.len});
  if (bad != SLP_EBADDATA) return bad;
  b->n = from; /* the service promised JSON; if not, it is text */
  return slp_utf8_valid((slp_str){v.base, v.len}) ? slp_json_put_line_string(b, (slp_str){v.base, v.len})
                                                  : slp_buf_add_z(b, "null");
}

static int add_change(slp_buf *b, const sloop_record_t *r) {
  int bad = add_text(b, "event", (slp_str){r->event.base, r->event.len});
  if (!bad) bad = add_text(b, "id", (slp_str){r->event_id.base, r->event_id.len});
  if (!bad) bad = add_json(b, "change", r->data);
  return bad || !r->user.len ? bad : add_json(b, "user", r->user);
}

static int add_event(slp_buf *b, const slp_log_event *e) {
  int bad = slp_buf_add_z(b, ",\"log\":{\"group\":");
  if (!bad) bad = slp_json_put_line_string(b, e->group.p ? e->group : SLP_STR(""));
  if (!bad) bad = add_text(b, "stream", e->stream);
  if (!bad) bad = add_text(b, "owner", e->owner);
  if (!bad) bad = add_text(b, "id", e->id);
  if (!bad) bad = add_name(b, "ts");
  if (!bad) bad = e->ts_ms < 0 ? slp_buf_add_z(b, "null") : slp_buf_add_i64(b, e->ts_ms);
  return bad ? bad : slp_buf_add_char(b, '}');
}

static int add_key_and_payload(slp_buf *b, const sloop_record_t *r, const slp_show_extra *extra) {
  int bad = extra->key_is_json ? add_json(b, "key", r->key) : add_text_or_b64(b, "key", r->key);
  if (!bad)
    bad = extra->data_is_json ? add_json(b, "payload", r->data) : add_text_or_b64(b, "payload", r->data);
  return bad || !extra->event ? bad : add_event(b, extra->event);
}

int slp_show_json(slp_buf *b, const sloop_record_t *r, const slp_show_extra *extra) {
  static const slp_show_extra nothing = {0};
  int change = r->event.len > 0;
  if (!extra) extra = &nothing;
  int bad = slp_buf_add_z(b, "{\"stream\":");
  if (!bad) bad = slp_json_put_line_string(b, slp_str_of(r->stream));
  if (!bad) bad = add_text(b, "shard", slp_str_of(r->shard));
  if (!bad) bad = add_text(b, "seq", (slp_str){r->seq.base, r->seq.len});
  if (!bad && !change) bad = slp_buf_add_z(b, ",\"sub\":");
  if (!bad && !change) bad = slp_buf_add_u64(b, r->sub);
  if (!bad) bad = slp_buf_add_z(b, ",\"ts\":");
  if (!bad) bad = r->arrived_at_ms < 0 ? slp_buf_add_z(b, "null") : slp_buf_add_i64(b, r->arrived_at_ms);
  if (!bad) bad = change ? add_change(b, r) : add_key_and_payload(b, r, extra);
  if (!bad && extra->worker) bad = slp_buf_addf(b, ",\"epoch\":%llu", (unsigned long long)r->epoch);
  if (!bad && extra->worker) bad = add_text(b, "worker", slp_str_of(extra->worker));
  if (!bad && (r->flags & SLOOP_REC_LATE)) bad = slp_buf_add_z(b, ",\"late\":true");
  if (!bad && (r->flags & SLOOP_REC_RAW)) bad = slp_buf_add_z(b, ",\"raw\":true");
  if (!bad && (r->flags & SLOOP_REC_FOREIGN)) bad = slp_buf_add_z(b, ",\"foreign\":true");
  if (!bad && extra->error) bad = add_text(b, "decode_error", slp_str_of(extra->error));
  return bad ? bad : slp_buf_add(b, "}\n", 2);
}

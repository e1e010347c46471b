/* show.c - prints records. */
#include "cli/show.h"

#include <stdio.h>

#include "codec/base64.h"
#include "codec/json.h"

int slp_show_plain(slp_buf *b, const sloop_record_t *r) {
  int bad = slp_buf_add(b, r->data.base, r->data.len);
  return bad ? bad : slp_buf_add_char(b, '\n');
}

const char *slp_shard_short(const char *id) {
  static const char usual[] = "shardId-";
  if (strncmp(id, usual, sizeof usual - 1) != 0) return id;
  const char *digits = id + sizeof usual - 1;
  size_t n = strlen(digits);
  if (n == 0 || strspn(digits, "0123456789") != n) return id;
  while (n > 1 && *digits == '0') digits++, n--;
  return digits;
}

/* Neighbours get different colours: ids count up. */
static int add_prefix(slp_buf *b, const char *shard) {
  static const unsigned char colours[] = {36, 33, 32, 35, 34, 96, 93, 92, 95, 94};
  const char *name = slp_shard_short(shard);
  uint32_t pick = 0;
  for (const char *c = name; *c; c++) pick = pick * 10u + (unsigned char)*c;
  return slp_buf_addf(b, "\033[%um%s\033[0m ", colours[pick % sizeof colours], name);
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

int slp_show_terminal(slp_buf *b, const sloop_record_t *r, int colour) {
  slp_str data = {r->data.base, r->data.len};
  int bad = colour ? add_prefix(b, r->shard) : 0;
  if (!bad) bad = slp_utf8_valid(data) ? add_harmless(b, data) : slp_base64_encode(b, data);
  return bad ? bad : slp_buf_add_char(b, '\n');
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

int slp_show_json(slp_buf *b, const sloop_record_t *r) {
  int bad = slp_buf_add_z(b, "{\"stream\":");
  if (!bad) bad = slp_json_put_line_string(b, slp_str_of(r->stream));
  if (!bad) bad = slp_buf_add_z(b, ",\"shard\":");
  if (!bad) bad = slp_json_put_line_string(b, slp_str_of(r->shard));
  if (!bad) bad = slp_buf_add_z(b, ",\"seq\":");
  if (!bad) bad = slp_json_put_line_string(b, (slp_str){r->seq.base, r->seq.len});
  if (!bad) bad = slp_buf_add_z(b, ",\"sub\":");
  if (!bad) bad = slp_buf_add_u64(b, r->sub);
  if (!bad) bad = slp_buf_add_z(b, ",\"ts\":");
  if (!bad) bad = r->arrived_at_ms < 0 ? slp_buf_add_z(b, "null") : slp_buf_add_i64(b, r->arrived_at_ms);
  if (!bad) bad = add_text_or_b64(b, "key", r->key);
  if (!bad) bad = add_text_or_b64(b, "payload", r->data);
  if (!bad && (r->flags & SLOOP_REC_LATE)) bad = slp_buf_add_z(b, ",\"late\":true");
  if (!bad && (r->flags & SLOOP_REC_RAW)) bad = slp_buf_add_z(b, ",\"raw\":true");
  return bad ? bad : slp_buf_add(b, "}\n", 2);
}

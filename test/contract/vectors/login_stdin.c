/* login_stdin.c - the cache of `aws login`: a line is the session, the cache's text, the answer to a renewal, the URL, the
 * time in milliseconds, each in hex; the answer is the name of the cache, its new text, and the header DPoP, each in hex,
 * or "error". */
#include "aws/login_cache.h"
#include "base/num.h"

#include "check.h"
#include "hex_lines.h"

enum { SESSION, CACHE, ANSWER, URL, NOW };

static void put(slp_buf *b, char after) {
  hex_put(b->p, b->n);
  putchar(after);
  slp_buf_clear(b);
}

static int one_case(slp_mem *mem, const hex_line *l) {
  slp_buf room, more, out;
  slp_login cached, renewed;
  const char *why = "";
  uint64_t now = 0;
  static uint64_t unique[2] = {0x0123456789abcdef, 0xfedcba9876543210};
  CHECK_INT(slp_parse_u64(l->field[NOW], &now), 0);
  slp_buf_init(&room, mem, 1 << 20);
  slp_buf_init(&more, mem, 1 << 20);
  slp_buf_init(&out, mem, 1 << 20);
  int r = slp_login_cache_read(l->field[CACHE], &room, &cached, &why);
  if (!r) r = slp_login_answer_read(l->field[ANSWER], &more, (int64_t)now, &renewed, &why);
  if (!r) {
    renewed.account = cached.account;
    CHECK_INT(slp_login_cache_path(&out, "", "", l->field[SESSION].p), 0);
    put(&out, ' ');
    r = slp_login_cache_write(&out, l->field[CACHE], &renewed);
    CHECK_INT(r, 0);
    put(&out, ' ');
    unique[0] = unique[0] * 6364136223846793005u + 1442695040888963407u;
    unique[1] ^= unique[0];
    CHECK_INT(slp_dpop_proof(&out, cached.dpop_key, l->field[URL], (int64_t)now, unique), 0);
    put(&out, '\n');
  }
  slp_buf_free(&out);
  slp_buf_free(&more);
  slp_buf_free(&room);
  return r;
}

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  while (hex_line_read(&l, stdin)) {
    if (one_case(mem, &l)) puts("error");
  }
  slp_mem_drop(mem);
  return 0;
}

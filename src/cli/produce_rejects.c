/* produce_rejects.c - writes rejected lines to the file of --rejects, when 64 KiB are collected and at each
 * tick of the command. */
#include "cli/produce_rejects.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/people_lines.h"
#include "cli/produce_line.h"
#include "program/program.h"

#include <stdio.h>

#define FLUSH_BYTES 65536u
#define WRITE_MS_MAX 2000u /* how long a write waits for the reader of a pipe */

int slp_rejects_open(slp_rejects *r, slp_mem *mem, const char *path) {
  *r = (slp_rejects){.path = path, .fd = -1};
  slp_buf_init(&r->text, mem, UINT32_MAX);
  if (!path) return 0;
  int fd = slp_program_create(path);
  if (fd < 0) return fd;
  r->fd = fd;
  return 0;
}

void slp_rejects_flush(slp_rejects *r) {
  if (r->fd >= 0 && !r->error && slp_buf_failed(&r->text)) r->error = slp_buf_failed(&r->text);
  if (r->fd >= 0 && !r->error && r->text.n)
    r->error = slp_program_write(r->fd, slp_buf_str(&r->text), WRITE_MS_MAX);
  slp_buf_clear(&r->text);
}

void slp_rejects_add(slp_rejects *r, slp_str text, slp_str delimiter, int delimited) {
  if (r->fd < 0 || (!text.n && !delimited)) return;
  if (r->owed.n) slp_buf_add_str(&r->text, r->owed);
  r->owed = delimited ? SLP_STR("") : delimiter;
  slp_buf_add_str(&r->text, text);
  if (delimited) slp_buf_add_str(&r->text, delimiter);
  if (r->text.n >= FLUSH_BYTES || slp_buf_failed(&r->text)) slp_rejects_flush(r);
}

void slp_rejects_count(slp_rejects *r, slp_put_refusal why, const char *input, uint64_t number,
                       const char *more) {
  r->counts[why]++;
  if (r->refused++ >= SLP_REJECTS_TOLD || r->quiet) return;
  slp_say_if_room("%s, line %llu: %s%s%s%s", input, (unsigned long long)number, slp_put_refusal_text(why),
                  *more ? ": " : "", more,
                  r->refused == SLP_REJECTS_TOLD ? " (further lines are only counted)" : "");
}

void slp_rejects_reasons(const slp_rejects *r, char *to, size_t n) {
  size_t at = 0;
  *to = 0;
  for (int i = 0; i < SLP_PUT_REFUSALS && at < n; i++)
    if (r->counts[i])
      at += (size_t)snprintf(to + at, n - at, "%s%llu %s", at ? ", " : "", (unsigned long long)r->counts[i],
                             slp_put_refusal_text((slp_put_refusal)i));
}

int slp_rejects_close(slp_rejects *r) {
  slp_rejects_flush(r);
  if (r->fd >= 0) {
    int bad = slp_program_close(r->fd);
    if (!r->error) r->error = bad;
  }
  r->fd = -1;
  slp_buf_free(&r->text);
  return r->error;
}

/* reached_positions.c - reads the tokens at which reading begins, and stores the tokens of the positions
 * reached. */
#include "cli/reached_positions.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/output.h"
#include "cli/people_lines.h"
#include "cli/token_file.h"
#include "host/own_file.h"
#include "program/local.h"
#include "program/shown_time.h"

#include <errno.h>
#include <sloop.h>
#include <stdio.h>

#define TOKEN_BYTES_MAX (UINT64_C(64) << 20)

void slp_places_init(slp_places *p, slp_mem *mem, const slp_args *args) {
  memset(p, 0, sizeof *p);
  p->args = args;
  slp_buf_init(&p->began, mem, TOKEN_BYTES_MAX);
  slp_buf_init(&p->began_o, mem, TOKEN_BYTES_MAX);
  slp_buf_init(&p->written, mem, TOKEN_BYTES_MAX);
  for (size_t i = 0; i < SLP_ARGS_STREAMS_MAX; i++) slp_buf_init(&p->now[i], mem, TOKEN_BYTES_MAX);
}

void slp_places_free(slp_places *p) {
  slp_own_file_close(p->file_of_save);
  p->file_of_save = NULL;
  slp_buf_free(&p->began);
  slp_buf_free(&p->began_o);
  slp_buf_free(&p->written);
  for (size_t i = 0; i < SLP_ARGS_STREAMS_MAX; i++) slp_buf_free(&p->now[i]);
}

/* Reads the tokens in the file `path`. `flag`, an option such as "--save", begins the message of a
 * failure. */
static int read_tokens(const char *flag, const char *path, slp_places *p, slp_buf *text, const char **tokens,
                       char why[400]) {
  char said[SLP_TOKEN_WHY];
  int r = slp_tokens_read(path, p->args->streams, p->args->streams_n, p->args->patterns_n > 0, text, tokens,
                          said);
  *why = 0;
  /* streams that a pattern found in an earlier run may be gone, so their tokens are no error */
  if (!r && *said) {
    if (!p->args->quiet) slp_say("%s: %s", flag, said);
    return 0;
  }
  if (*said) snprintf(why, 400, "%s: %.380s", flag, said);
  return r;
}

/* Reads the file of -o @FILE, for streams that have no token in the file of --save. Fails if a stream has a
 * token in neither file. */
static int begin_from_file(slp_places *p, char why[400]) {
  const slp_args *a = p->args;
  const char *tokens[SLP_ARGS_STREAMS_MAX];
  int r = read_tokens("-o", a->start.file, p, &p->began_o, tokens, why);
  if (r == SLP_ENOENT) {
    char trouble[SLP_LOCAL_WHY];
    slp_local_explain(a->start.file, r, 0, trouble);
    snprintf(why, 400, "-o @%.150s: %.220s", a->start.file, trouble);
    return SLP_EINVAL;
  }
  for (size_t i = 0; i < a->streams_n && !r; i++) {
    if (p->start[i]) continue;
    p->start[i] = tokens[i];
    p->file[i] = a->start.file;
    if (tokens[i]) continue;
    snprintf(why, 400, "%.200s: it has no token of %.100s", a->start.file, a->streams[i]);
    r = SLP_EINVAL;
  }
  return r;
}

/* Writes to `why` that another process uses the file of --save, and how that is known: this process could not
 * lock the file, or has lost its lock. */
static void say_whose(const slp_places *p, char why[400]) {
  const char *path = p->args->save;
  slp_own_file_loss lost = p->file_of_save ? slp_own_file_lost_by(p->file_of_save) : SLP_OWN_FILE_NOT_LOST;
  if (lost == SLP_OWN_FILE_CHANGED)
    snprintf(why, 400, "--save: the lock of %.250s was removed, and another process wrote the file", path);
  else
    snprintf(why, 400, "--save: another process keeps its position in %.250s%s", path,
             lost == SLP_OWN_FILE_LOCK_LOST ? ": the lock of this one was removed"
                                            : "; give each process its own file");
}

/* Writes a message to `why` if r is the code of a failed slp_own_file_*(). Returns r. */
static int say_why(const slp_places *p, int r, char why[400]) {
  const char *path = p->args->save;
  char trouble[SLP_LOCAL_WHY] = "it is not a file that can be replaced";
  if (r == -ESTALE)
    snprintf(trouble, sizeof trouble, "somebody removed or replaced it while it was written in place");
  else if (r && r != SLP_EINVAL)
    slp_local_explain(path, r, 1, trouble);
  if (r == SLP_EBUSY)
    say_whose(p, why);
  else if (r)
    snprintf(why, 400, "--save: can't write %.150s: %.220s", path, trouble);
  return r;
}

/* Tells the user once, at the start, that the file of --save is overwritten in place instead of being
 * replaced by a new file, and why. */
static void say_in_place(const slp_places *p) {
  int in_place = slp_own_file_in_place(p->file_of_save);
  const char *path = p->args->save;
  char trouble[SLP_LOCAL_WHY] = "it is mounted by itself (a mount of its folder would do)";
  if (slp_own_file_is_nameless(p->file_of_save))
    slp_say(
        "warning: --save: %s was removed or replaced where it is mounted from: its content is lost with this "
        "mount",
        path);
  if (!in_place || p->args->quiet) return;
  if (in_place != -EXDEV) slp_local_explain(path, in_place, 1, trouble);
  slp_say("--save: %s is written in place, since it can't be replaced: %s", path, trouble);
}

/* Locks the file of --save and reads it; after the lock no other process changes it. Then tries to write the
 * file, before any record is read. Otherwise each start would print the same records and then fail to save
 * its position. */
static int take_file(slp_places *p, char why[400]) {
  const slp_args *a = p->args;
  char no_write[400];
  int r = say_why(p, slp_own_file_open(p->written.mem, a->save, &p->file_of_save), why);
  if (r) return r;
  r = read_tokens("--save", a->save, p, &p->began, p->start, why);
  if (r == SLP_ENOENT) r = 0;
  int is_empty = r == SLP_EINVAL && p->began.p && !p->began.n; /* the file was read and is empty */
  if (r && !is_empty) return r;
  int bad = say_why(p, slp_own_file_try(p->file_of_save), no_write);
  /* Refuses an empty file, unless the file is written in place because it is mounted by itself. A file must
   * exist before it can be mounted, so such a file is empty at first. */
  if (is_empty && !bad && !slp_own_file_in_place(p->file_of_save)) return r;
  if (bad)
    memcpy(why, no_write, sizeof no_write);
  else
    say_in_place(p);
  if (!bad) *why = 0;
  return bad;
}

int slp_places_begin(slp_places *p, char why[400]) {
  const slp_args *a = p->args;
  int r = a->save ? take_file(p, why) : 0;
  size_t known = 0;
  /* a stream's position is the token from the file until slp_places_note() stores another one */
  for (size_t i = 0; i < a->streams_n && !r; i++) {
    if (!p->start[i]) continue;
    p->file[i] = a->save;
    known++;
    r = slp_buf_add_z(&p->now[i], p->start[i]);
  }
  if (!r && known < a->streams_n && a->start.kind == SLOOP_AT_TOKEN) r = begin_from_file(p, why);
  return r;
}

int slp_places_continues(const slp_places *p) { return p->began.n > 0; }

void slp_places_forget(slp_places *p, size_t number) {
  slp_buf_clear(&p->now[number]);
  p->start[number] = p->file[number] = NULL;
}

int slp_places_note(slp_places *p, size_t number, sloop_t *s) {
  slp_buf *b = &p->now[number], fresh;
  slp_buf_init(&fresh, b->mem, TOKEN_BYTES_MAX);
  size_t n = slp_max_u64(b->cap, 4096);
  int r = SLP_ENOBUFS;
  while (r == SLP_ENOBUFS) {
    if (slp_buf_reserve(&fresh, n) != 0) {
      slp_buf_free(&fresh);
      return SLP_ENOMEM;
    }
    n = fresh.cap + 1;
    r = sloop_token(s, fresh.p, &n);
  }
  if (r) { /* sloop_token() failed, because the consumer's position is not known yet or no longer */
    slp_buf_free(&fresh);
    return r == SLP_ENOMEM ? r : 0;
  }
  fresh.n = n;
  p->noted = 1;
  slp_buf_free(b);
  slp_buf_move(b, &fresh);
  return 0;
}

static int add_lines(const slp_places *p, slp_buf *b) {
  for (size_t i = 0; i < p->args->streams_n; i++) {
    if (!p->now[i].n) continue;
    slp_buf_add_str(b, slp_buf_str(&p->now[i]));
    slp_buf_add_char(b, '\n');
  }
  return slp_buf_failed(b);
}

int slp_places_write(slp_places *p, char why[400]) {
  if (!p->noted) return say_why(p, slp_own_file_keep(p->file_of_save), why);
  slp_buf text;
  slp_buf_init(&text, p->written.mem, TOKEN_BYTES_MAX);
  int r = add_lines(p, &text);
  if (!r && (!text.n || slp_str_eq(slp_buf_str(&text), slp_buf_str(&p->written)))) {
    slp_buf_free(&text);
    return say_why(p, slp_own_file_keep(p->file_of_save), why);
  }
  if (!r) r = slp_own_file_replace(p->file_of_save, slp_buf_str(&text));
  if (say_why(p, r, why)) {
    slp_buf_free(&text);
    return r;
  }
  slp_buf_free(&p->written);
  slp_buf_move(&p->written, &text);
  return 0;
}

/* Returns 1 if the file of --save has a position: this process has written one, or the file had one at the
 * start. */
static int has_place(const slp_places *p) {
  size_t n = p->noted ? p->written.n : 0;
  for (size_t i = 0; i < p->args->streams_n && !p->noted; i++) n += p->now[i].n;
  return n > 0;
}

void slp_read_span_text(const slp_read_span *read, int utc, char out[SLP_READ_SPAN]) {
  char first[SLP_SHOWN_TIME], last[SLP_SHOWN_TIME];
  int n = snprintf(out, SLP_READ_SPAN, "%llu record%s", (unsigned long long)read->records,
                   read->records == 1 ? "" : "s");
  if (!read->last_ms) return;
  slp_shown_time(read->first_ms, utc, 0, first);
  slp_shown_time(read->last_ms, utc, 0, last);
  if (strcmp(first, last) == 0)
    snprintf(out + n, SLP_READ_SPAN - (size_t)n, " of %s", last);
  else
    snprintf(out + n, SLP_READ_SPAN - (size_t)n, " of %s to %s", first, last);
}

void slp_places_tell_stopped(slp_places *p, const slp_read_span *read) {
  const slp_args *a = p->args;
  char span[SLP_READ_SPAN];
  if (a->quiet) return;
  slp_read_span_text(read, a->utc, span);
  if (!a->save)
    slp_say("stopped after %s%s", span,
            a->shard_key ? "" : "; with --save FILE the next start goes on from there");
  else if (!has_place(p))
    slp_say("stopped after %s, before a position was known: %s has none", span, a->save);
  else if (slp_own_file_keep(p->file_of_save) != SLP_EBUSY)
    slp_say("stopped after %s; the same command continues from the position in %s", span, a->save);
}

void slp_places_tell_tokens(slp_places *p) {
  slp_buf text;
  slp_buf_init(&text, p->written.mem, TOKEN_BYTES_MAX);
  if (add_lines(p, &text) == 0 && text.n)
    slp_say_as_it_is(slp_buf_str(&text));
  else
    slp_say("--token: no position is known");
  slp_buf_free(&text);
}

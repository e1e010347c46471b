/* in_place.c - writes new content by way of a journal behind the old content. */
#include "host/in_place.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/crc32.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Room for the old and the new content, and for both again in a journal. */
#define FILE_BYTES_MAX (UINT64_C(256) << 20)
/* The mark at the beginning of a journal. The mark begins with a NUL, which no content has. If only this NUL
 * was written, it can't be distinguished from a hole: a part of the file that was never written, and reads as
 * NULs. */
static const slp_str MARK = SLP_STR("\0#sloop-new ");

static slp_str skip_first_bytes(slp_str s, size_t at) { return (slp_str){s.p + at, s.n - at}; }

/* Finds the mark, or the beginning of one at the end of the bytes. Returns its offset, or s.n if there is
 * none. */
static size_t find_mark(slp_str s) {
  for (size_t at = 0; at < s.n; at++) {
    const char *p = memchr(s.p + at, 0, s.n - at);
    if (!p) break;
    at = (size_t)(p - s.p);
    size_t n = slp_min_u64(MARK.n, s.n - at);
    if (memcmp(p, MARK.p, n) == 0) return at;
  }
  return s.n;
}

/* Reads a journal, which begins with MARK. Returns 1 and the new content in the journal if the journal is
 * complete, 0 otherwise. */
static int read_journal(slp_str journal, slp_str *ret_content) {
  uint64_t length, sum;
  if (journal.n <= MARK.n) return 0;
  journal = skip_first_bytes(journal, MARK.n);
  const char *line_end = memchr(journal.p, '\n', journal.n), *space = memchr(journal.p, ' ', journal.n);
  if (!line_end || !space || space > line_end) return 0;
  size_t length_n = (size_t)(space - journal.p), line_n = (size_t)(line_end - journal.p);
  if (slp_parse_u64((slp_str){journal.p, length_n}, &length) ||
      slp_parse_u64((slp_str){space + 1, line_n - length_n - 1}, &sum))
    return 0;
  *ret_content = skip_first_bytes(journal, line_n + 1);
  return ret_content->n == length && slp_crc32(*ret_content) == sum;
}

slp_str slp_in_place_good(slp_str file) {
  slp_str content;
  size_t first = find_mark(file), at = first;
  while (at < file.n) {
    if (read_journal(skip_first_bytes(file, at), &content)) return content;
    at += 1 + find_mark(skip_first_bytes(file, at + 1));
  }
  /* Leaves out NULs at the end. The hole before a journal reads as NULs, and so does a journal whose bytes
   * never reached the disk. */
  while (first > 0 && file.p[first - 1] == 0) first--;
  return (slp_str){file.p, first};
}

int slp_in_place_read(int fd, slp_buf *ret) {
  for (;;) {
    size_t room = slp_min_u64(ret->max - ret->n, 65536);
    if (!room) return SLP_ELIMIT;
    if (slp_buf_reserve(ret, room)) return slp_buf_failed(ret);
    ssize_t n = pread(fd, ret->p + ret->n, room, (off_t)ret->n);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? -errno : 0;
    ret->n += (size_t)n;
  }
}

static int write_at(int fd, slp_str bytes, size_t at) {
  while (bytes.n > 0) {
    ssize_t n = pwrite(fd, bytes.p, bytes.n, (off_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    bytes = skip_first_bytes(bytes, (size_t)n);
    at += (size_t)n;
  }
  return 0;
}

static int sync_file(int fd) { return fsync(fd) != 0 ? -errno : 0; }

static int truncate_and_sync(int fd, size_t n) {
  return ftruncate(fd, (off_t)n) != 0 ? -errno : sync_file(fd);
}

/* Carries out step 1 of in_place.h: appends the journal. `before` is the length of the file. After a failure
 * the journal is cut off again. */
static int append_journal(slp_mem *mem, int fd, size_t before, slp_str bytes) {
  slp_buf b;
  char line[64];
  slp_buf_init(&b, mem, FILE_BYTES_MAX);
  slp_buf_add_str(&b, MARK);
  snprintf(line, sizeof line, "%zu %lu\n", bytes.n, (unsigned long)slp_crc32(bytes));
  slp_buf_add_z(&b, line);
  slp_buf_add_str(&b, bytes);
  int r = slp_buf_failed(&b);
  /* The journal begins behind the bytes that step 2 writes. If that is behind the end of the file, the hole
   * between them reads as NULs. */
  if (!r) r = write_at(fd, slp_buf_str(&b), slp_max_u64(before, bytes.n));
  if (!r) r = sync_file(fd);
  if (r) (void)truncate_and_sync(fd, before);
  slp_buf_free(&b);
  return r;
}

/* Carries out steps 2 and 3 of in_place.h: writes the new content, and cuts the file to its length. */
static int write_content_and_cut(int fd, slp_str bytes) {
  int r = write_at(fd, bytes, 0);
  if (!r) r = sync_file(fd);
  return r ? r : truncate_and_sync(fd, bytes.n);
}

int slp_in_place_write(slp_mem *mem, int fd, slp_str bytes) {
  slp_buf now;
  slp_buf_init(&now, mem, FILE_BYTES_MAX);
  int r = slp_in_place_read(fd, &now);
  if (!r) {
    slp_str file = slp_buf_str(&now), good = slp_in_place_good(file);
    /* If an earlier write was interrupted: completes it if its journal is whole; otherwise cuts off what
     * there is of the journal. */
    if (good.p != file.p)
      r = write_content_and_cut(fd, good);
    else if (good.n < file.n)
      r = truncate_and_sync(fd, good.n);
    if (!r) r = append_journal(mem, fd, good.n, bytes);
    if (!r) r = write_content_and_cut(fd, bytes);
  }
  slp_buf_free(&now);
  return r;
}

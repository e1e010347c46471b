/* split.c - splits input into records. A delimiter may begin in one piece of the input and end in the
 * next. */
#include "cli/split.h"

#include "base/buf.h"
#include "base/mem.h"

void slp_splitter_init(slp_splitter *s, slp_mem *mem, slp_str delimiter, size_t max) {
  *s = (slp_splitter){.delimiter = delimiter, .max = max};
  slp_buf_init(&s->held, mem, UINT32_MAX);
}

void slp_splitter_free(slp_splitter *s) { slp_buf_free(&s->held); }

/* Returns the offset of the first delimiter in `text`; SIZE_MAX: there is none. */
static size_t find_delimiter(slp_str text, slp_str delimiter) {
  if (!delimiter.n) return SIZE_MAX;
  for (size_t at = 0; text.n - at >= delimiter.n && text.n >= delimiter.n;) {
    const char *p = memchr(text.p + at, delimiter.p[0], text.n - at - delimiter.n + 1);
    if (!p) return SIZE_MAX;
    at = (size_t)(p - text.p);
    if (memcmp(p, delimiter.p, delimiter.n) == 0) return at;
    at++;
  }
  return SIZE_MAX;
}

/* If a delimiter begins at the end of `held` and ends in the piece, returns how many of its bytes are in
 * `held`. Otherwise returns 0. */
static size_t find_across(const slp_splitter *s, slp_str piece) {
  slp_str d = s->delimiter;
  size_t most = d.n ? slp_min_u64(d.n - 1, s->held.n) : 0;
  for (size_t k = most; k; k--)
    if (piece.n >= d.n - k && memcmp(s->held.p + s->held.n - k, d.p, k) == 0 &&
        memcmp(piece.p, d.p + k, d.n - k) == 0)
      return k;
  return 0;
}

static int give_split_record(slp_splitter *s, slp_str text, int delimited) {
  int was_long = s->is_long;
  s->text = text;
  s->delimited = (uint8_t)delimited;
  s->spent = 1;
  s->is_long = 0;
  if (!was_long) s->number++;
  return was_long || text.n > s->max ? SLP_SPLIT_LONG_END : SLP_SPLIT_RECORD;
}

/* Returns `held`, except its last `keep` bytes, as a part of a long record. These bytes may be the beginning
 * of a delimiter. */
static int give_part(slp_splitter *s, size_t keep) {
  if (!s->is_long) s->number++;
  s->is_long = 1;
  s->text = (slp_str){s->held.p, s->held.n - keep};
  s->delimited = 0;
  s->spent = 2;
  return SLP_SPLIT_LONG_PART;
}

/* Clears `held` after it was returned. After a part of a long record, keeps the last bytes of `held`, which
 * were not returned. */
static void drop_spent(slp_splitter *s) {
  size_t from = s->spent == 2 ? s->text.n : s->held.n;
  if (s->spent && s->held.n) memmove(s->held.p, s->held.p + from, s->held.n - from);
  if (s->spent) slp_buf_cut(&s->held, s->held.n - from);
  s->spent = 0;
}

static void drop_piece_start(slp_str *piece, size_t n) { *piece = (slp_str){piece->p + n, piece->n - n}; }

int slp_splitter_next(slp_splitter *s, slp_str *piece) {
  slp_str d = s->delimiter;
  drop_spent(s);
  if (!piece->n) return SLP_SPLIT_MORE;
  size_t across = find_across(s, *piece);
  if (across) {
    drop_piece_start(piece, d.n - across);
    return give_split_record(s, (slp_str){s->held.p, s->held.n - across}, 1);
  }
  size_t at = find_delimiter(*piece, d);
  if (at != SIZE_MAX && !s->held.n) { /* the whole record is in this piece: it is not copied */
    slp_str text = {piece->p, at};
    drop_piece_start(piece, at + d.n);
    return give_split_record(s, text, 1);
  }
  if (slp_buf_add(&s->held, piece->p, at == SIZE_MAX ? piece->n : at)) return SLP_ENOMEM;
  drop_piece_start(piece, at == SIZE_MAX ? piece->n : at + d.n);
  if (at != SIZE_MAX) return give_split_record(s, slp_buf_str(&s->held), 1);
  size_t keep = d.n ? d.n - 1 : 0;
  if (s->is_long || s->held.n > s->max + keep) {
    if (s->held.n > keep) return give_part(s, keep);
  }
  return SLP_SPLIT_MORE;
}

int slp_splitter_end(slp_splitter *s) {
  drop_spent(s);
  return s->held.n || s->is_long ? give_split_record(s, slp_buf_str(&s->held), 0) : SLP_SPLIT_MORE;
}

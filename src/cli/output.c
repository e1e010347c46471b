/* output.c - turns the records of batches into text and writes the text to standard output. */
#include "cli/output.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/states.h"
#include "cli/app.h"
#include "program/process.h"
#include "program/program.h"

#include <sloop.h>

/* Limits of one turn of slp_output_run: it ends after about SLICE_BYTES of text, after about SLICE_BYTES of
 * records, or after SLICE_US. */
#define SLICE_BYTES ((size_t)256 << 10)
#define SLICE_US 2000
/* the clock is read each time this many more bytes of records and text were handled */
#define CLOCK_BYTES 16384
/* how much of the next record's payload is fetched from memory while a record becomes text */
#define PREFETCH_BYTES 1024
#define TEXT_MAX (UINT64_C(1) << 31)
/* a text buffer that has grown beyond this is freed when it becomes empty */
#define TEXT_KEPT ((size_t)4 << 20)

typedef struct held { /* a batch that is not given back yet, and how much of it is printed */
  slp_list link;
  sloop_batch_t *batch;
  const void *owner;
  /* number of records at the front of the batch that may be printed; the others are given back unprinted */
  size_t n;
  /* number of records at the front that are handled: their text was made, or they were left out */
  size_t made;
  /* number of records at the front that were acknowledged before the whole batch was given back */
  size_t told;
  uint8_t begun; /* 1: a part of the text of record number `made` was made */
  /* 1: a lease was lost or given up after this batch came. So the lease of each further record is checked */
  uint8_t doubtful;
  /* ends[i]: offset in the whole output at which the text of record i ends, for the first `made` records */
  uint64_t ends[];
} held;

static held *held_of(slp_list *it) { return SLP_OWNER(it, held, link); }

static const slp_set allowed[] = {
    [SLP_OUTPUT_RUNS] = SLP_BIT(SLP_OUTPUT_DRAINS) | SLP_BIT(SLP_OUTPUT_CUTS) | SLP_BIT(SLP_OUTPUT_OVER),
    [SLP_OUTPUT_DRAINS] = SLP_BIT(SLP_OUTPUT_CUTS) | SLP_BIT(SLP_OUTPUT_OVER),
    [SLP_OUTPUT_CUTS] = SLP_BIT(SLP_OUTPUT_OVER),
    [SLP_OUTPUT_OVER] = 0,
};

static void move(slp_output *o, slp_output_state to) { SLP_MOVE(allowed, o->state, to); }

void slp_output_init(slp_output *o, slp_app *app) {
  *o = (slp_output){.app = app};
  slp_list_init(&o->batches);
  slp_buf_init(&o->text, app->mem, TEXT_MAX);
}

void slp_output_free(slp_output *o) { slp_buf_free(&o->text); }

static void wake_writer(slp_output *o) {
  if (o->app->out) slp_out_wake(o->app->out);
}

void slp_output_wake(slp_output *o) { wake_writer(o); }

int slp_output_add(slp_output *o, sloop_batch_t *batch, const void *owner) {
  size_t n = sloop_batch_count(batch);
  SLP_CHECK(o->state == SLP_OUTPUT_RUNS);
  held *h = slp_zalloc(o->app->mem, sizeof *h + n * sizeof *h->ends);
  if (!h) return SLP_ENOMEM;
  h->batch = batch;
  h->owner = owner;
  h->n = n;
  slp_list_add_last(&o->batches, &h->link);
  wake_writer(o);
  return 0;
}

int slp_output_has(const slp_output *o, const void *owner) {
  SLP_LIST_EACH(&o->batches, it)
  if (held_of(it)->owner == owner) return 1;
  return 0;
}

int slp_output_empty(const slp_output *o) { return slp_list_empty(&o->batches); }

/* ---- giving batches back
 * -------------------------------------------------------------------------------- */

/* Returns the offset, in the whole output, of the text of record i of h. The text of the record before ends
 * there. */
static uint64_t end_before(const slp_output *o, const held *h, size_t i) {
  if (i > 0) return h->ends[i - 1];
  if (h->link.prev == &o->batches) return o->returned;
  const held *before = held_of(h->link.prev);
  return before->made ? before->ends[before->made - 1] : end_before(o, before, 0);
}

/* Returns 1 if the batch can be given back: the first h->n records are handled, and all their text is
 * written. */
static int is_written(const slp_output *o, const held *h) {
  return h->made == h->n && end_before(o, h, h->n) <= o->written;
}

/* Counts the first n records of the batch in o->read, with their times of arrival. */
static void count_read(slp_output *o, const held *h, size_t n) {
  slp_read_span *read = &o->read;
  read->records += n;
  for (size_t i = 0; i < n; i++) {
    int64_t at_ms = sloop_batch_at(h->batch, i)->arrived_at_ms;
    if (at_ms <= 0) continue;
    if (at_ms > read->last_ms) read->last_ms = at_ms;
    if (at_ms < read->first_ms || !read->first_ms) read->first_ms = at_ms;
  }
}

/* Gives the batch back and acknowledges its first `accepted` records. */
static void give_back(slp_output *o, held *h, size_t accepted) {
  count_read(o, h, accepted);
  o->returned = end_before(o, h, accepted);
  slp_list_remove(&h->link);
  sloop_batch_done(h->batch, accepted);
  slp_free(o->app->mem, h);
}

static void give_back_written(slp_output *o) {
  while (!slp_list_empty(&o->batches)) {
    held *h = held_of(slp_list_first(&o->batches));
    if (!is_written(o, h)) return;
    give_back(o, h, h->n);
  }
}

/* Returns how many records at the front of the batch are completely written. */
static size_t written_of(const slp_output *o, const held *h) {
  size_t n = h->told;
  while (n < h->made && h->ends[n] <= o->written) n++;
  return n;
}

void slp_output_acknowledge(slp_output *o) {
  give_back_written(o);
  if (slp_list_empty(&o->batches)) return;
  held *h = held_of(slp_list_first(&o->batches));
  for (size_t to = written_of(o, h); h->told < to; h->told++) sloop_batch_ack(h->batch, h->told);
}

/* ---- what may be written ------------------------------------------------------------------------------- */

/* Returns the offset of text.p[0] in the whole output. */
static uint64_t text_begins(const slp_output *o) { return o->written - o->done; }

/* Removes from `text` the text of records whose shard another worker has taken. Keeps a record that is partly
 * written. */
static void drop_lost(slp_output *o) {
  /* was: where the text of the previous record ended before the removals; now: where it ends after them */
  uint64_t from = text_begins(o), was = o->returned, now = was;
  SLP_LIST_EACH(&o->batches, it) {
    held *h = held_of(it);
    for (size_t i = 0; i < h->made; i++) {
      uint64_t n = h->ends[i] - was;
      if (n && was >= o->written && sloop_batch_owned(h->batch, i) < 0) {
        n = 0;
        o->dropped++;
      } else if (n && now != was) {
        memmove(o->text.p + (now - from), o->text.p + (was - from), n);
      }
      was = h->ends[i];
      h->ends[i] = now += n;
    }
  }
  slp_buf_cut(&o->text, o->text.n - (size_t)(was - now));
  o->whole = o->text.n;
}

void slp_output_doubt(slp_output *o) {
  o->doubt = 1;
  SLP_LIST_EACH(&o->batches, it) held_of(it)->doubtful = 1;
  wake_writer(o);
}

/* Returns the index of the first record of the batch whose text is not completely written, or h->made if
 * there is none. */
static size_t first_unwritten(const slp_output *o, const held *h) {
  size_t low = h->told, high = h->made;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (h->ends[mid] <= o->written)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* Returns how many bytes of the text may be written now. Checks the lease only for the first unwritten record
 * of each batch. That is enough, because the lease deadline is the same for all leases of this worker, and
 * slp_output_doubt is called when a single lease is lost. */
static size_t may_write(slp_output *o) {
  if (!o->leased || o->state == SLP_OUTPUT_CUTS) return o->whole - o->done;
  /* drop_lost can't handle a record that is only partly text, so nothing is written until that record is
   * complete */
  if (o->doubt && o->whole < o->text.n) return 0;
  if (o->doubt) drop_lost(o);
  o->doubt = 0;
  SLP_LIST_EACH(&o->batches, it) {
    held *h = held_of(it);
    size_t i = first_unwritten(o, h);
    if (i == h->made) continue;
    uint64_t begin = end_before(o, h, i);
    /* a record that is partly written is finished, even if another worker has its shard now */
    if (begin < o->written) return (size_t)(h->ends[i] - o->written);
    int owned = sloop_batch_owned(h->batch, i);
    /* the next call removes the records of the lost shard, without waiting for the event about the lost
     * lease */
    if (owned < 0) o->doubt = 1;
    if (owned <= 0) return (size_t)(begin - o->written);
  }
  return o->whole - o->done;
}

/* Writes until all text is written, the reader takes no more, or nothing more may be written now. Returns 1
 * if all complete records are written. */
static int write_made_text(slp_output *o) {
  while (o->done < o->whole) {
    size_t n = may_write(o);
    /* may_write has removed all of the unwritten text, because another worker has its shards */
    if (o->done == o->whole) break;
    /* the next call of may_write removes text first */
    if (n == 0 && o->doubt && o->whole == o->text.n) continue;
    int64_t wrote = n ? slp_out_some(o->app->out, o->text.p + o->done, n) : 0;
    if (wrote <= 0) return 0;
    o->done += (size_t)wrote;
    o->written += (uint64_t)wrote;
  }
  if (o->whole < o->text.n) return 1;
  if (o->text.cap > TEXT_KEPT) slp_buf_free(&o->text);
  slp_buf_clear(&o->text);
  o->done = o->whole = 0;
  return 1;
}

/* ---- turning records into text
 * -------------------------------------------------------------------------- */

static held *first_unmade(const slp_output *o) {
  SLP_LIST_EACH(&o->batches, it)
  if (held_of(it)->made < held_of(it)->n) return held_of(it);
  return NULL;
}

/* Decides whether the next record of batch h is printed. Returns 1 to make its text, 0 to leave the record
 * out, or -1 if it can't be decided now: then a later turn tries again. first: 1 if it is the first record of
 * h in this turn. */
static int is_wanted(slp_output *o, held *h, int first) {
  if (!o->leased || h->begun || (!first && !h->doubtful)) return 1;
  int owned = sloop_batch_owned(h->batch, h->made);
  if (owned < 0) h->doubtful = 1;
  return owned < 0 ? 0 : owned ? 1 : -1;
}

/* Counts the next record of h as handled. Its text, which may be empty, ends at offset o->whole of
 * o->text. */
static void mark_record_done(slp_output *o, held *h) { h->ends[h->made++] = text_begins(o) + o->whole; }

/* Makes the text of record r, or a part of it. If `make` wants no more records of the batch, cuts h->n.
 * Returns 1 if `make` returned SLP_MADE_WAITS, 0 otherwise. */
static int make_one(slp_output *o, held *h, const sloop_record_t *r) {
  int begins = !h->begun;
  h->begun = 1;
  int how = o->make(o->user, h->owner, h->batch, r, begins, &o->text);
  if (how == SLP_MADE_WAITS) return 1;
  if (how == SLP_MADE_PART) return 0;
  h->begun = 0;
  if (how == SLP_MADE) {
    o->whole = o->text.n;
    mark_record_done(o, h);
  } else {
    slp_buf_cut(&o->text, o->whole);
    h->n = h->made;
  }
  return 0;
}

/* Has the CPU fetch the next record's payload while this record becomes text. Payloads of merged shards lie
 * apart in memory, and have often left the caches since they arrived. */
static void prefetch_next(const held *h) {
  if (h->made + 1 >= h->n) return;
  const sloop_record_t *r = sloop_batch_at(h->batch, h->made + 1);
  for (size_t i = 0; i < r->data.len && i < PREFETCH_BYTES; i += 64) __builtin_prefetch(r->data.base + i);
}

/* Makes text of records until a slice is full or until_us has passed. Returns 0 if no text can be made
 * now. */
static int make_some(slp_output *o, uint64_t until_us) {
  size_t bytes = 0, clock_at = CLOCK_BYTES;
  const held *before = NULL;
  for (;;) {
    held *h = o->state == SLP_OUTPUT_RUNS ? first_unmade(o) : NULL;
    if (!h) return bytes > 0;
    int wanted = is_wanted(o, h, h != before);
    if (wanted < 0) return bytes > 0;
    before = h;
    if (!wanted) {
      mark_record_done(o, h);
      continue;
    }
    const sloop_record_t *r = sloop_batch_at(h->batch, h->made);
    size_t text = o->text.n;
    if (o->reads_payloads && !h->begun) prefetch_next(h);
    if (!h->begun) bytes += r->data.len + 64;
    /* this record waits; returns 1 if text of earlier records can be written meanwhile */
    if (make_one(o, h, r)) return o->whole > o->done;
    if (o->text.n > text) bytes += o->text.n - text;
    if (o->text.n >= SLICE_BYTES || (o->unbuffered && o->whole > o->done)) return 1;
    if (bytes < clock_at && !h->begun) continue;
    if (slp_program_mono_us() >= until_us) return 1;
    clock_at = bytes + CLOCK_BYTES;
  }
}

void slp_output_run(slp_output *o) {
  if (!o->app->out || o->state == SLP_OUTPUT_OVER || slp_app_out_error(o->app)) return;
  uint64_t until_us = slp_program_mono_us() + SLICE_US;
  /* If the reader of standard output takes no more, the on_event callback of slp_out starts the next turn. If
   * no text may be written now because a lease is not proven, the next tick tries again. */
  while (write_made_text(o) && make_some(o, until_us)) {
    give_back_written(o);
    if (slp_program_mono_us() < until_us) continue;
    if (write_made_text(o)) wake_writer(o);
    break;
  }
  give_back_written(o);
  if (o->state == SLP_OUTPUT_CUTS && o->done == o->whole) slp_output_give_up(o);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

/* Drops every record that has not become text yet, and the text of a record that is only partly text. */
static void forget_unmade(slp_output *o) {
  slp_buf_cut(&o->text, o->whole);
  slp_list *it = o->batches.next;
  while (it != &o->batches) {
    held *h = held_of(it);
    it = it->next;
    h->n = h->made;
    h->begun = 0;
  }
  wake_writer(o);
}

void slp_output_drain(slp_output *o) {
  if (o->state != SLP_OUTPUT_RUNS) return;
  move(o, SLP_OUTPUT_DRAINS);
  forget_unmade(o);
}

/* Returns the offset in the whole output at which the output will end, if only the record that is partly
 * written is finished. */
static uint64_t cut_at(const slp_output *o) {
  SLP_LIST_EACH(&o->batches, it) {
    const held *h = held_of(it);
    size_t i = first_unwritten(o, h);
    if (i < h->made) return end_before(o, h, i) < o->written ? h->ends[i] : o->written;
  }
  return o->written;
}

void slp_output_cut(slp_output *o) {
  if (o->state == SLP_OUTPUT_CUTS || o->state == SLP_OUTPUT_OVER) return;
  move(o, SLP_OUTPUT_CUTS);
  uint64_t end = cut_at(o);
  o->whole = (size_t)(end - text_begins(o));
  SLP_LIST_EACH(&o->batches, it) {
    held *h = held_of(it);
    while (h->made > 0 && h->ends[h->made - 1] > end) h->made--;
  }
  forget_unmade(o);
}

void slp_output_give_up(slp_output *o) {
  if (o->state == SLP_OUTPUT_OVER) return;
  move(o, SLP_OUTPUT_OVER);
  while (!slp_list_empty(&o->batches)) {
    held *h = held_of(slp_list_first(&o->batches));
    give_back(o, h, written_of(o, h));
  }
  slp_buf_free(&o->text);
  o->done = o->whole = 0;
  wake_writer(o);
}

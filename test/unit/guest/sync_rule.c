/* Which leases a stream's shards need: the worked example that KCL's own source gives, reshards under way,
 * and every small stream with every set of rows. */
#include "base/mem.h"
#include "guest/guest_rules.h"

#include "check.h"

static slp_mem *mem;

#define NO SLP_NO_SHARD

/* ---- as in KCL: 0 and 1 became 6, 2 and 3 became 7, 6 and 7 became 8; 5 became 9 and 10; 4 stays ---------- */
static const size_t tree[11][2] = {{NO, NO}, {NO, NO}, {NO, NO}, {NO, NO}, {NO, NO}, {NO, NO},
                                   {0, 1},   {2, 3},   {6, 7},   {5, NO},  {5, NO}};

static void plant(slp_sync_shard s[11]) {
  for (int i = 0; i < 11; i++) {
    s[i] = (slp_sync_shard){.parents = {tree[i][0], tree[i][1]}};
    s[i].open = i == 4 || i >= 8;
  }
}

static const char *made(const slp_sync_shard *s, size_t n) {
  static char out[200];
  size_t k = 0;
  out[0] = 0;
  for (size_t i = 0; i < n; i++)
    if (s[i].ret)
      k +=
          (size_t)snprintf(out + k, sizeof out - k, "%zu%s ", i, s[i].ret == SLP_SYNC_AT_OLDEST ? "old" : "");
  return out;
}

static const char *example(int latest, int a, int b, int c) {
  slp_sync_shard s[11];
  plant(s);
  int rows[] = {a, b, c};
  for (int k = 0; k < 3; k++)
    if (rows[k] >= 0) s[rows[k]].row = SLP_SYNC_UNFINISHED;
  mem = slp_mem_new(NULL, NULL);
  CHECK(slp_sync_shards(s, 11, latest, mem) == 0);
  CHECK(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return made(s, 11);
}

TEST(the_example_of_kcl) {
  CHECK_STR(example(1, 4, 5, 7), "6 ");
  CHECK_STR(example(0, 4, 5, 7), "0 1 ");
}

TEST(an_empty_table) {
  CHECK_STR(example(0, -1, -1, -1), "0 1 2 3 4 5 ");
  CHECK_STR(example(1, -1, -1, -1), "4 8 9 10 ");
}

TEST(nothing_is_made_of_what_comes_by_itself) {
  CHECK_STR(example(0, 8, 4, 5), "");
  CHECK_STR(example(1, 8, 4, 5), "");
}

static slp_sync_shard s[8];

static const char *make_of(size_t n, int latest) {
  mem = slp_mem_new(NULL, NULL);
  CHECK(slp_sync_shards(s, n, latest, mem) == 0);
  slp_mem_drop(mem);
  return made(s, n);
}

TEST(a_child_whose_parent_was_read_and_whose_row_is_gone) {
  s[0] = (slp_sync_shard){.parents = {NO, NO}, .row = SLP_SYNC_ENDED};
  s[1] = (slp_sync_shard){.parents = {0, NO}, .open = 1};
  s[2] = (slp_sync_shard){.parents = {0, NO}, .open = 1, .row = SLP_SYNC_UNFINISHED};
  CHECK_STR(make_of(3, 1), "1old ");
  CHECK_STR(make_of(3, 0), "1old ");
}

/* A shard was read to its end, and its row has gone; the listing calls it open still. */
TEST(a_shard_with_children_that_is_listed_as_open_is_not_read_anew) {
  s[0] = (slp_sync_shard){.parents = {NO, NO}, .open = 1};
  s[1] = (slp_sync_shard){.parents = {0, NO}, .open = 1, .row = SLP_SYNC_UNFINISHED};
  CHECK_STR(make_of(2, 0), "");
  CHECK_STR(make_of(2, 1), "");
  s[1].row = SLP_SYNC_NO_ROW; /* neither has one: both are new, and the child comes with its parent's end */
  CHECK_STR(make_of(2, 0), "0 ");
  CHECK_STR(make_of(2, 1), "0 ");
}

/* 0 was split into 1 and 2, and 2 into 3 and 4; all were read, and the rows of 0 and 2 have gone. Then an
 * operator removes the row of 4. */
TEST(a_child_whose_row_was_removed_does_not_bring_back_what_was_read) {
  s[0] = (slp_sync_shard){.parents = {NO, NO}};
  s[1] = (slp_sync_shard){.parents = {0, NO}, .open = 1, .row = SLP_SYNC_UNFINISHED};
  s[2] = (slp_sync_shard){.parents = {0, NO}};
  s[3] = (slp_sync_shard){.parents = {2, NO}, .open = 1, .row = SLP_SYNC_UNFINISHED};
  s[4] = (slp_sync_shard){.parents = {2, NO}, .open = 1};
  CHECK_STR(make_of(5, 0), "4 ");
  CHECK_STR(make_of(5, 1), "4 ");
  s[1].row = SLP_SYNC_NO_ROW; /* 3 was read from, so 2 and 0 were, however far up they are */
  CHECK_STR(make_of(5, 0), "1 4 ");
  s[0].open = 1; /* the listing is late */
  CHECK_STR(make_of(5, 1), "1 4 ");
  s[0].open = 0;
  s[1].row = SLP_SYNC_UNFINISHED;
  s[3].row = SLP_SYNC_UNREAD; /* nothing shows that 2 was read: it may be that nobody has made its row yet */
  CHECK_STR(make_of(5, 0), "2 ");
  s[1].row = SLP_SYNC_UNREAD;
  CHECK_STR(make_of(5, 0), "0 ");
}

TEST(the_child_of_a_merge_waits_for_both) {
  s[0] = (slp_sync_shard){.parents = {NO, NO}, .row = SLP_SYNC_ENDED};
  s[1] = (slp_sync_shard){.parents = {NO, NO}, .row = SLP_SYNC_UNFINISHED};
  s[2] = (slp_sync_shard){.parents = {0, 1}, .open = 1};
  CHECK_STR(make_of(3, 0), "");
  s[1].row = SLP_SYNC_NO_ROW;
  CHECK_STR(make_of(3, 0), "1 ");
  CHECK_STR(make_of(3, 1), "1 ");
  s[1].row = SLP_SYNC_ENDED;
  CHECK_STR(make_of(3, 1), "2old ");
}

/* The end of 1 waits for a row of 0, and 2 for both; how far 0 was read nobody knows any more. */
TEST(a_parent_whose_row_was_removed_while_its_merge_was_read) {
  for (int latest = 0; latest < 2; latest++) {
    s[0] = (slp_sync_shard){.parents = {NO, NO}};
    s[1] = (slp_sync_shard){.parents = {NO, NO}, .row = SLP_SYNC_UNFINISHED};
    s[2] = (slp_sync_shard){.parents = {0, 1}, .open = 1, .row = SLP_SYNC_UNREAD};
    CHECK_STR(make_of(3, latest), "0old ");
    s[1].row = SLP_SYNC_UNREAD;
    CHECK_STR(make_of(3, latest), "0old ");
    s[2].parents[0] = 1, s[2].parents[1] = 0;
    CHECK_STR(make_of(3, latest), "0old ");
    s[2].row =
        SLP_SYNC_UNFINISHED; /* it is read from, so 0 was read to its end and its row is gone for good */
    CHECK_STR(make_of(3, latest), "");
    s[2].row = SLP_SYNC_UNREAD;
    s[1].row = SLP_SYNC_ENDED; /* it waits for nothing */
    CHECK_STR(make_of(3, latest), "");
  }
}

TEST(a_parent_whose_row_was_removed_and_whose_own_parents_are_there_or_gone) {
  s[0] = (slp_sync_shard){.parents = {NO, NO}};
  s[1] = (slp_sync_shard){.parents = {0, NO}};
  s[2] = (slp_sync_shard){.parents = {NO, NO}, .row = SLP_SYNC_UNFINISHED};
  s[3] = (slp_sync_shard){.parents = {1, 2}, .open = 1, .row = SLP_SYNC_UNREAD};
  CHECK_STR(make_of(4, 0), "1old "); /* 0 was read before 1 had a row, and is not read again */
  CHECK_STR(make_of(4, 1), "1old ");
  s[0].row = SLP_SYNC_ENDED;
  CHECK_STR(make_of(4, 0), "1old ");
  s[0].row = SLP_SYNC_UNREAD; /* it was set back: its end makes the row */
  CHECK_STR(make_of(4, 0), "");
}

/* 2's row was removed as well; 3 has its own and does not look behind it. */
TEST(a_merge_whose_own_row_is_gone_and_who_has_a_child) {
  s[0] = (slp_sync_shard){.parents = {NO, NO}};
  s[1] = (slp_sync_shard){.parents = {NO, NO}, .row = SLP_SYNC_UNFINISHED};
  s[2] = (slp_sync_shard){.parents = {0, 1}};
  s[3] = (slp_sync_shard){.parents = {2, NO}, .open = 1, .row = SLP_SYNC_UNREAD};
  CHECK_STR(make_of(4, 0), "0 ");
}

TEST(a_stream_that_is_closed_altogether) {
  s[0] = (slp_sync_shard){.parents = {NO, NO}};
  s[1] = (slp_sync_shard){.parents = {0, NO}};
  CHECK_STR(make_of(2, 0), "0 ");
  CHECK_STR(make_of(2, 1), "");
}

TEST(a_listing_that_bites_its_tail) {
  s[0] = (slp_sync_shard){.parents = {1, NO}, .open = 1};
  s[1] = (slp_sync_shard){.parents = {0, 1}, .open = 1};
  make_of(2, 0);
  CHECK(s[0].ret || s[1].ret); /* somebody begins, and it ends */
}

/* ---- every stream of five shards, every set of rows -------------------------------------------------------
 * Seen from above: let everything that has a row be read to its end, each end giving its children a row when
 * all parents have theirs. Then with what was made every open shard is read at last, nothing that was there
 * is made again, nothing begins at the start that descends from what was read, and nothing has two ways in.
 */
#define N 5

static int reached(const slp_sync_shard *t) {
  int row[N];
  for (int i = 0; i < N; i++) row[i] = t[i].row || t[i].ret;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 2 && !row[i]; k++)
      if (t[i].parents[k] != NO && row[t[i].parents[k]] &&
          !(t[t[i].parents[k]].row == SLP_SYNC_ENDED)) /* its end is still to come */
        row[i] = 1;
  int all = 1;
  for (int i = 0; i < N; i++) all &= !t[i].open || row[i];
  return all;
}

/* A merge that is not read from yet, one of its parents is to be finished: does the other come? */
static int comes(const slp_sync_shard *t, size_t i, int depth) {
  if (t[i].row || t[i].ret) return 1;
  for (int k = 0; k < 2; k++)
    if (t[i].parents[k] != NO && depth < N && t[t[i].parents[k]].row != SLP_SYNC_ENDED &&
        comes(t, t[i].parents[k], depth + 1))
      return 1;
  return 0;
}

static int is_to_be_read(const slp_sync_shard *t, size_t i) {
  return t[i].row == SLP_SYNC_UNREAD || t[i].row == SLP_SYNC_UNFINISHED;
}

/* The other parent of that merge had a row, for the merge has: nobody else can have made that one. */
static int was_removed(const slp_sync_shard *t, size_t i) {
  for (size_t c = 0; c < N; c++)
    for (int k = 0; k < 2 && t[c].row == SLP_SYNC_UNREAD && !t[i].row; k++)
      if (t[c].parents[k] == i && t[c].parents[1 - k] != NO && is_to_be_read(t, t[c].parents[1 - k]))
        return 1;
  return 0;
}

static int after_known(const slp_sync_shard *t, size_t i) {
  for (int k = 0; k < 2; k++) {
    size_t p = t[i].parents[k];
    if (p != NO && (t[p].row || after_known(t, p))) return 1;
  }
  return 0;
}

static void check_one(slp_sync_shard *t, int latest) {
  CHECK(slp_sync_shards(t, N, latest, mem) == 0);
  for (size_t i = 0; i < N; i++) {
    if (!t[i].ret) continue;
    CHECK(!t[i].row);
    for (int k = 0; k < 2; k++) {
      /* A lease that is made never has a parent that is still to be read. Of a parent and child of which only
       * a child of another parent is known, both begin at the latest, which is a closed shard's end. */
      size_t p = t[i].parents[k];
      CHECK(p == NO || !is_to_be_read(t, p));
      CHECK(p == NO || !t[p].ret || (latest && t[i].ret == SLP_SYNC_AT_START));
    }
    CHECK((t[i].ret == SLP_SYNC_AT_OLDEST) == (after_known(t, i) || was_removed(t, i)));
  }
  for (size_t i = 0; i < N; i++) {
    size_t a = t[i].parents[0], b = t[i].parents[1];
    if (a == NO || b == NO || (t[i].row && t[i].row != SLP_SYNC_UNREAD)) continue;
    CHECK(!is_to_be_read(t, a) || comes(t, b, 0));
    CHECK(!is_to_be_read(t, b) || comes(t, a, 0));
  }
  CHECK(reached(t));
}

TEST(every_small_stream) {
  mem = slp_mem_new(NULL, NULL);
  uint64_t tried = 0;
  for (int shape = 0; shape < 3 * 4 * 7 * 11; shape++) {
    /* Shard i: no parent, one of those before, or two of them. */
    int digit[N] = {0, shape % 2, shape / 3 % 4, shape / 12 % 7, shape / 84 % 11};
    slp_sync_shard base[N];
    for (int i = 0; i < N; i++) {
      int d = digit[i], k = 0;
      base[i] = (slp_sync_shard){.parents = {NO, NO}, .open = 1};
      if (d >= 1 && d <= i) base[i].parents[0] = (size_t)d - 1;
      for (int a = 0; a < i; a++)
        for (int b = a + 1; b < i; b++)
          if (d == i + 1 + k++) base[i].parents[0] = (size_t)a, base[i].parents[1] = (size_t)b;
    }
    for (int i = 0; i < N; i++)
      for (int k = 0; k < 2; k++)
        if (base[i].parents[k] != NO) base[base[i].parents[k]].open = 0;
    for (int rows = 0; rows < 1024; rows++) {
      slp_sync_shard t[N];
      memcpy(t, base, sizeof t);
      int possible = 1;
      for (int i = 0, r = rows; i < N; i++, r /= 4) t[i].row = (uint8_t)(r % 4);
      for (int i = 0; i < N; i++) /* an open shard has not ended; who descends from the unread has no row */
        possible &= !(t[i].open && t[i].row == SLP_SYNC_ENDED);
      if (!possible) continue;
      for (int latest = 0; latest < 2; latest++) check_one(t, latest);
      tried++;
    }
  }
  fprintf(stderr, "     %llu streams\n", (unsigned long long)tried);
  CHECK(tried > 100000);
  slp_mem_drop(mem);
}

/* ---- a lease for each shard that is listed ------------------------------------------------------------------ */

static const char *made_of_each(size_t n, int latest) {
  static char out[200];
  static const char *const how[] = {"-", "start", "old", "end"};
  size_t k = 0;
  mem = slp_mem_new(NULL, NULL);
  CHECK(slp_sync_every(s, n, latest, mem) == 0);
  CHECK(mem->live_blocks == 0);
  slp_mem_drop(mem);
  out[0] = 0;
  for (size_t i = 0; i < n; i++) k += (size_t)snprintf(out + k, sizeof out - k, "%s ", how[s[i].ret]);
  return out;
}

/* 0 was split into 1 and 2, which were merged to 3; 4 is by itself. */
static void plant_each(int row0, int row1) {
  static const size_t parents[5][2] = {{NO, NO}, {0, NO}, {0, NO}, {1, 2}, {NO, NO}};
  for (int i = 0; i < 5; i++)
    s[i] = (slp_sync_shard){.parents = {parents[i][0], parents[i][1]}, .open = i >= 3};
  s[0].row = (uint8_t)row0;
  s[1].row = (uint8_t)row1;
}

TEST(each_shard_of_a_new_application_gets_its_lease) {
  plant_each(SLP_SYNC_NO_ROW, SLP_SYNC_NO_ROW);
  CHECK_STR(made_of_each(5, 0), "start start start start start ");
  plant_each(SLP_SYNC_NO_ROW, SLP_SYNC_NO_ROW);
  CHECK_STR(made_of_each(5, 1), "end end end start start ");
}

TEST(what_descends_from_a_lease_is_read_from_its_first_record) {
  plant_each(SLP_SYNC_ENDED, SLP_SYNC_NO_ROW);
  CHECK_STR(made_of_each(5, 1), "- old old old start ");
  plant_each(SLP_SYNC_UNREAD, SLP_SYNC_UNFINISHED);
  CHECK_STR(made_of_each(5, 0), "- - old old start ");
  /* Its parent was closed before the application began, another worker made the child's row. */
  plant_each(SLP_SYNC_NO_ROW, SLP_SYNC_UNREAD);
  CHECK_STR(made_of_each(5, 1), "end - end old start ");
  /* Children before their parents in the list. */
  s[0] = (slp_sync_shard){.parents = {1, NO}, .open = 1};
  s[1] = (slp_sync_shard){.parents = {2, 1}};
  s[2] = (slp_sync_shard){.parents = {NO, NO}, .row = SLP_SYNC_ENDED};
  CHECK_STR(made_of_each(3, 1), "old old - ");
}

/* gunzip.c - what zlib packs comes out again, in every size; what is damaged or cut does not. */
#include "codec/gunzip.h"

#include <zlib.h>

#include "check.h"
#include "scarce.h"

static slp_mem *mem;
static slp_buf out;
static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&out, mem, 1 << 24);
}
static void end(void) {
  slp_buf_free(&out);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* bits: 15 zlib, 31 gzip, -15 raw. Appends to p, returns the size. */
static size_t pack(char *p, size_t room, const char *text, size_t n, int bits) {
  z_stream z = {0};
  CHECK_INT(deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = (Bytef *)(uintptr_t)text;
  z.avail_in = (uInt)n;
  z.next_out = (Bytef *)p;
  z.avail_out = (uInt)room;
  CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
  deflateEnd(&z);
  return room - z.avail_out;
}

static char text[300000], packed[400000];

static void fill(size_t n) {
  uint32_t x = 7;
  for (size_t i = 0; i < n; i++) {
    x = x * 1664525u + 1013904223u;
    text[i] = (char)('a' + (x >> 24) % 20);
  }
}

TEST(gzip_and_zlib_of_every_size) {
  static const size_t sizes[] = {0, 1, 100, 65535, 65536, 65537, 131072, 300000};
  fill(sizeof text);
  for (size_t i = 0; i < SLP_COUNT(sizes); i++)
    for (int bits = 15; bits <= 31; bits += 16) {
      begin();
      size_t n = pack(packed, sizeof packed, text, sizes[i], bits);
      CHECK_INT(slp_gunzip(&out, (slp_str){packed, n}), 0);
      CHECK_MEM(slp_buf_str(&out).p, out.n, text, sizes[i]);
      end();
    }
}

TEST(members_follow_each_other) {
  begin();
  size_t n = pack(packed, sizeof packed, "one ", 4, 31);
  n += pack(packed + n, sizeof packed - n, "", 0, 31);
  n += pack(packed + n, sizeof packed - n, "two", 3, 31);
  CHECK_INT(slp_gunzip(&out, (slp_str){packed, n}), 0);
  CHECK_MEM(out.p, out.n, "one two", 7);
  end();
}

TEST(every_cut_and_every_changed_end_is_refused) {
  fill(500);
  size_t n = pack(packed, sizeof packed, text, 500, 31);
  for (size_t cut = 0; cut < n; cut++) {
    begin();
    CHECK_INT(slp_gunzip(&out, (slp_str){packed, cut}), SLP_EBADDATA);
    end();
  }
  for (size_t at = n - 8; at < n; at++) { /* its checksum and length */
    packed[at] ^= 1;
    begin();
    CHECK_INT(slp_gunzip(&out, (slp_str){packed, n}), SLP_EBADDATA);
    end();
    packed[at] ^= 1;
  }
}

TEST(what_is_not_packed_is_refused) {
  begin();
  CHECK_INT(slp_gunzip(&out, SLP_STR("plain text")), SLP_EBADDATA);
  CHECK_INT(slp_gunzip(&out, SLP_STR("")), SLP_EBADDATA);
  size_t n = pack(packed, sizeof packed, "x", 1, -15);
  CHECK_INT(slp_gunzip(&out, (slp_str){packed, n}), SLP_EBADDATA);
  n = pack(packed, sizeof packed, "x", 1, 31);
  packed[n] = 'y'; /* something after it */
  CHECK_INT(slp_gunzip(&out, (slp_str){packed, n + 1}), SLP_EBADDATA);
  end();
}

TEST(a_bomb_ends_at_the_limit) {
  memset(text, 0, sizeof text);
  size_t n = pack(packed, sizeof packed, text, sizeof text, 31);
  begin();
  slp_buf_init(&out, mem, sizeof text - 1);
  CHECK_INT(slp_gunzip(&out, (slp_str){packed, n}), SLP_ELIMIT);
  slp_buf_free(&out);
  slp_buf_init(&out, mem, sizeof text); /* just enough */
  CHECK_INT(slp_gunzip(&out, (slp_str){packed, n}), 0);
  CHECK_INT(out.n, sizeof text);
  end();
}

/* A step takes some hundreds of empty members, and there are more of them. */
TEST(thousands_of_empty_members_take_more_than_one_step) {
  enum { MEMBERS = 3000 };
  begin();
  char one[64], *all = slp_alloc(mem, MEMBERS * sizeof one);
  size_t each = pack(one, sizeof one, "", 0, 31), n = 0;
  for (int i = 0; i < MEMBERS; i++, n += each) memcpy(all + n, one, each);
  n += pack(all + n, MEMBERS * sizeof one - n, "end", 3, 31);
  slp_gunzipper *g = slp_gunzip_begin(mem, (slp_str){all, n});
  CHECK(g);
  int steps = 1, r;
  while ((r = slp_gunzip_step(g, &out)) == 1) steps++;
  CHECK_INT(r, 0);
  CHECK(steps > 5 && steps < MEMBERS);
  CHECK_MEM(slp_buf_str(&out).p, out.n, "end", 3);
  slp_gunzip_end(g);
  slp_free(mem, all);
  end();
}

TEST(without_memory_it_says_so_and_nothing_is_left_behind) {
  size_t n = pack(packed, sizeof packed, "some text", 9, 31);
  int worked = 0;
  for (int left = 1; left < 20 && !worked; left++) {
    scarce memory = {.left = left};
    mem = slp_mem_new(scarce_alloc, &memory);
    slp_buf_init(&out, mem, 1 << 24);
    int r = slp_gunzip(&out, (slp_str){packed, n});
    worked = r == 0;
    CHECK(worked ? out.n == 9 : r == SLP_ENOMEM);
    CHECK(left > 3 || !worked); /* itself, zlib's state, and room for what comes out */
    end();
  }
  CHECK(worked);
}

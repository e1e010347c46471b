/* gunzip.c - inflate with our memory. */
#include "codec/gunzip.h"

#include <limits.h>
#include <zlib.h>

#define PIECE 65536u

static void *take(void *mem, unsigned count, unsigned each) { return slp_zalloc_n(mem, count, each); }
static void give(void *mem, void *p) { slp_free(mem, p); }

/* Unpacks one gzip member, or all of a zlib stream, and moves `in` behind it. */
static int inflate_one(z_stream *z, slp_buf *ret) {
  for (;;) {
    char extra; /* at the maximum: does it end just here? */
    size_t room = slp_min_u64(ret->max - ret->n, PIECE);
    if (room && slp_buf_reserve(ret, room) != 0) return SLP_ENOMEM;
    z->next_out = (Bytef *)(room ? ret->p + ret->n : &extra);
    z->avail_out = room ? (uInt)room : 1;
    int r = inflate(z, Z_NO_FLUSH);
    size_t made = (room ? room : 1) - z->avail_out;
    if (!room && made) return SLP_ELIMIT;
    ret->n += made;
    if (r == Z_STREAM_END) return 0;
    if (r == Z_MEM_ERROR) return SLP_ENOMEM;
    if (r != Z_OK) return SLP_EBADDATA; /* Z_BUF_ERROR: it ends too early */
  }
}

int slp_gunzip(slp_buf *ret, slp_str in) {
  if (in.n == 0 || in.n > UINT_MAX) return SLP_EBADDATA;
  z_stream z = {.zalloc = take, .zfree = give, .opaque = ret->mem};
  z.next_in = (z_const Bytef *)(uintptr_t)in.p; /* zlib does not write to it */
  z.avail_in = (uInt)in.n;
  if (inflateInit2(&z, 15 + 32) != Z_OK) return SLP_ENOMEM; /* + 32: gzip or zlib, by its head */
  int gzip = in.n >= 2 && (unsigned char)in.p[0] == 0x1f && (unsigned char)in.p[1] == 0x8b;
  int r = inflate_one(&z, ret);
  while (!r && z.avail_in > 0) {
    if (!gzip || inflateReset(&z) != Z_OK) r = SLP_EBADDATA;
    if (!r) r = inflate_one(&z, ret);
  }
  inflateEnd(&z);
  return r;
}

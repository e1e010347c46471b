/* gunzip.c - unpacks by zlib's inflate, with memory of a slp_mem. */
#include "codec/gunzip.h"

#include "base/buf.h"
#include "base/mem.h"

#include <limits.h>
#include <zlib.h>

#define PIECE 65536u
/* the most gzip members read in one step, because members may be empty and then fill no piece */
#define MEMBERS_A_STEP 256
#define CHECKSUM 4 /* bytes of zlib's checksum, which follows the deflate data */

struct slp_gunzipper {
  slp_mem *mem;
  z_stream z;
  uint8_t gzip;
  uint8_t raw; /* 1: bare deflate data, without a header */
};

static void *alloc_for_zlib(void *mem, unsigned count, unsigned each) {
  return slp_zalloc_n(mem, count, each);
}
static void free_for_zlib(void *mem, void *p) { slp_free(mem, p); }

static slp_gunzipper *begin_gunzip(slp_mem *mem, slp_str in, int window_bits) {
  slp_gunzipper *g = SLP_NEW(mem, slp_gunzipper);
  if (!g) return NULL;
  g->mem = mem;
  g->z = (z_stream){.zalloc = alloc_for_zlib, .zfree = free_for_zlib, .opaque = mem};
  g->z.next_in = (z_const Bytef *)(uintptr_t)in.p; /* zlib does not write to its input */
  g->z.avail_in = in.n > UINT_MAX ? 0 : (uInt)in.n;
  if (inflateInit2(&g->z, window_bits) == Z_OK) return g;
  slp_free(mem, g);
  return NULL;
}

slp_gunzipper *slp_gunzip_begin(slp_mem *mem, slp_str in) {
  slp_gunzipper *g =
      begin_gunzip(mem, in, 15 + 32); /* + 32: zlib sees in the header whether it is gzip or zlib */
  if (g) g->gzip = in.n >= 2 && (unsigned char)in.p[0] == 0x1f && (unsigned char)in.p[1] == 0x8b;
  return g;
}

slp_gunzipper *slp_inflate_begin(slp_mem *mem, slp_str in) {
  slp_gunzipper *g = begin_gunzip(mem, in, -15);
  if (g) g->raw = 1;
  return g;
}

void slp_gunzip_end(slp_gunzipper *g) {
  if (!g) return;
  inflateEnd(&g->z);
  slp_free(g->mem, g);
}

/* Unpacks a piece of the current gzip member. Returns 1: the member has more; 0: the member has ended; or an
 * error. */
static int inflate_some(z_stream *z, slp_buf *ret) {
  char extra; /* room for one byte when the buffer is full: a byte here means that the limit is exceeded */
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
  return r == Z_OK ? 1 : SLP_EBADDATA; /* bad data includes Z_BUF_ERROR: the input ends too early */
}

int slp_gunzip_step(slp_gunzipper *g, slp_buf *ret) {
  size_t from = ret->n;
  for (int members = 0; members < MEMBERS_A_STEP && ret->n - from < PIECE; members++) {
    int r = inflate_some(&g->z, ret);
    if (r) return r;
    if (g->z.avail_in == 0) return 0;
    if (g->raw && g->z.avail_in <= CHECKSUM) return 0;
    if (!g->gzip || inflateReset(&g->z) != Z_OK) return SLP_EBADDATA;
  }
  return 1;
}

int slp_gunzip(slp_buf *ret, slp_str in) {
  slp_gunzipper *g = slp_gunzip_begin(ret->mem, in);
  if (!g) return SLP_ENOMEM;
  int r;
  do r = slp_gunzip_step(g, ret);
  while (r == 1);
  slp_gunzip_end(g);
  return r;
}

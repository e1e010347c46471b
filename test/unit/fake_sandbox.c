/* fake_sandbox.c - sloop_sandbox.h without a sandbox: so the command's parts link by themselves in tests. */
#include <errno.h>
#include <string.h>

#include "sloop_sandbox.h"

void sloop_sandbox_opts_init_sized(sloop_sandbox_opts_t *o, size_t size) {
  memset(o, 0, size);
  o->size = size;
  o->address = "127.0.0.1";
}
int sloop_sandbox_start(sloop_sandbox_t **out, struct uv_loop_s *loop, const sloop_sandbox_opts_t *o) {
  (void)loop;
  (void)o;
  *out = NULL;
  return -ENOTSUP;
}
const char *sloop_sandbox_url(const sloop_sandbox_t *b) {
  (void)b;
  return "";
}
void sloop_sandbox_stop(sloop_sandbox_t *b, void (*cb)(void *arg), void *arg) {
  (void)b;
  (void)cb;
  (void)arg;
}
int sloop_sandbox_stream(sloop_sandbox_t *b, const char *name, uint32_t shards) {
  (void)b;
  (void)name;
  (void)shards;
  return -ENOTSUP;
}
int sloop_sandbox_synthetic(sloop_sandbox_t *b, const char *name, uint32_t shards, uint64_t records,
                            uint32_t record_bytes, uint64_t records_per_second, uint64_t seed) {
  (void)records;
  (void)record_bytes;
  (void)records_per_second;
  (void)seed;
  return sloop_sandbox_stream(b, name, shards);
}
int sloop_sandbox_table(sloop_sandbox_t *b, const char *name, uint32_t partitions, const char *view_type) {
  (void)view_type;
  return sloop_sandbox_stream(b, name, partitions);
}
int sloop_sandbox_put(sloop_sandbox_t *b, const char *stream, const char *key, size_t key_len,
                      const void *data, size_t data_len, char seq[130], char shard[129]) {
  (void)key;
  (void)key_len;
  (void)data;
  (void)data_len;
  (void)seq;
  (void)shard;
  return sloop_sandbox_stream(b, stream, 0);
}
int sloop_sandbox_split(sloop_sandbox_t *b, const char *stream, const char *shard,
                        const char *new_start_hash) {
  (void)shard;
  (void)new_start_hash;
  return sloop_sandbox_stream(b, stream, 0);
}
int sloop_sandbox_merge(sloop_sandbox_t *b, const char *stream, const char *shard, const char *adjacent) {
  (void)shard;
  (void)adjacent;
  return sloop_sandbox_stream(b, stream, 0);
}

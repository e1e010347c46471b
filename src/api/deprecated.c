/* deprecated.c - functions under the names that they had in earlier versions, for programs that were compiled
 * or written before. A line stays until the library's soversion changes. */
#include <sloop.h>

int sloop_save(sloop_t *s, char *buf, size_t *len) { return sloop_token(s, buf, len); }
int sloop_rewind(sloop_t *s, const char *shard) { return sloop_seek_checkpoint(s, shard); }
int sloop_hand_over(sloop_t *s, const char *shard) { return sloop_handover(s, shard); }

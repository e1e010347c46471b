/* kpl_message.h - a pull reader of the protobuf message inside an aggregate:
 *
 *   message AggregatedRecord {                 message Record {
 *     repeated string partition_key_table = 1;   required uint64 partition_key_index = 1;
 *     repeated string explicit_hash_table = 2;   optional uint64 explicit_hash_key_index = 2;
 *     repeated Record records = 3;               required bytes data = 3;
 *   }                                            repeated Tag tags = 4;
 *   message Tag { required string key = 1; optional string value = 2; }     }
 *
 * Accepts what protobuf's own readers accept: fields in any order, unknown fields and groups (skipped), and a
 * field given twice (the last one counts). */
#ifndef SLP_CODEC_KPL_MESSAGE_H
#define SLP_CODEC_KPL_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* The depth that protobuf's own readers allow for unknown groups. */
#define SLP_KPL_GROUPS_MAX 100

typedef struct slp_kpl_message {
  const uint8_t *p; /* borrowed; all offsets in this struct are from p */
  size_t at;        /* offset of the next byte to read */
  /* The next four members describe the last token. */
  size_t text_at, text_n; /* after KEY or HASH: the text; after RECORD: the record's data */
  uint64_t key_index, hash_index;
  uint8_t has_hash; /* 1: hash_index was given */
  /* The members from here on are private to the reader. */
  uint8_t has_key, has_data, has_tag_key;
  uint8_t level;
  size_t ends[3];                      /* by level: where the aggregate, the record and the tag end */
  uint32_t groups[SLP_KPL_GROUPS_MAX]; /* field numbers of the unknown groups that are open */
  size_t groups_n;
} slp_kpl_message;

typedef enum {
  SLP_KPL_NOTHING, /* a field was read that is no token by itself: call again */
  SLP_KPL_KEY,     /* an entry of the table of partition keys */
  SLP_KPL_HASH,    /* an entry of the table of explicit hash keys */
  SLP_KPL_RECORD,
  SLP_KPL_END
} slp_kpl_token;

/* Begins to read the message whose bytes are p[at, end). */
void slp_kpl_message_begin(slp_kpl_message *m, const char *p, size_t at, size_t end);
/* Returns a slp_kpl_token, or SLP_EBADDATA. */
int slp_kpl_message_next(slp_kpl_message *m);

#endif

/* kpl_pack.h - writes aggregates of the Kinesis Producer Library into a slp_buf. kpl.h and kpl_message.h
 * describe the format of an aggregate.
 *
 * The order of calls is that of protobuf's own writers: first the table of keys, then the table of explicit
 * hash keys, then the records. Errors stay in the buffer. */
#ifndef SLP_CODEC_KPL_PACK_H
#define SLP_CODEC_KPL_PACK_H

#include "base/buf.h"
#include "codec/digest.h"

/* The bytes of an aggregate without entries and records: the magic bytes and the MD5. */
#define SLP_KPL_PACK_BYTES 20u
/* The most bytes that an entry of a table takes besides its text. */
#define SLP_KPL_PACK_ENTRY_BYTES 6u
/* The most bytes that a record takes besides its data: three lengths, two indexes, and the tags of the
 * fields. */
#define SLP_KPL_PACK_RECORD_BYTES 24u

/* Begins an aggregate at the end of the buffer. Returns the offset at which the aggregate begins, for
 * slp_kpl_pack_end(). */
size_t slp_kpl_pack_begin(slp_buf *b);
/* Writes an entry of the table of partition keys. The first entry has the index 0. */
void slp_kpl_pack_key(slp_buf *b, slp_str key);
/* Writes an entry of the table of explicit hash keys. The first entry has the index 0. */
void slp_kpl_pack_hash(slp_buf *b, slp_str hash_key);
/* Writes a record. hash_index < 0: the record has no explicit hash key. */
void slp_kpl_pack_record(slp_buf *b, uint32_t key_index, int64_t hash_index, slp_str data);
/* Ends the aggregate that begins at offset `from`, by appending its MD5. Returns 0, SLP_ENOMEM, or the error
 * of the buffer. */
int slp_kpl_pack_end(slp_buf *b, size_t from, slp_digest *digest);

#endif

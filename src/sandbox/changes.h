/* changes.h - DynamoDB Streams: the changes of a table, in shards. A shard rolls over after some hours: it is
 * closed, and one or two new shards, its children, take its place. Records and closed shards expire after 24
 * hours. Tables (ddb.h) report the changes of their items; all other functions here answer requests. The
 * "place" of a record counts the records of its shard from 0. */
#ifndef SLP_SANDBOX_CHANGES_H
#define SLP_SANDBOX_CHANGES_H

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/u128.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

/* One stream of a table. A table gets a new stream each time its stream is enabled. */
typedef struct slp_changes slp_changes;
typedef struct slp_table slp_table;

/* ---- changes_table.c: what tables and the box call ---------------------------------------------- */
/* Adds the change of an item. Only new_image: INSERT. Only old_image: REMOVE. Both: MODIFY. Each image is an
 * item as JSON. Called only if the table has stream_on and the item has really changed. by_ttl 1: the item
 * has expired. Returns SLP_ENOMEM if there is no memory; the caller must then leave the item unchanged. */
int slp_changes_add(slp_box *box, slp_table *t, int64_t now_ms, slp_str keys, slp_str old_image,
                    slp_str new_image, int by_ttl);
/* Starts a stream: sets t->changes, t->stream_on and t->view_type. Returns SLP_ENOMEM if there is no memory;
 * nothing has then changed. */
int slp_changes_enable(slp_box *box, slp_table *t, int64_t now_ms, slp_str view_type);
/* Ends the table's stream: it is DISABLED after the option change_ms, and can still be read for a day. */
void slp_changes_disable(slp_box *box, slp_table *t, int64_t now_ms);
/* Called when a table is deleted. Its streams can still be read for a day. The caller frees t afterwards. */
void slp_changes_table_gone(slp_box *box, slp_table *t, int64_t now_ms);
/* If the table has a stream, writes StreamSpecification, LatestStreamArn and LatestStreamLabel into the open
 * map. */
void slp_changes_describe(slp_box_call *c, slp_table *t);

/* Stores a change in the stream, as slp_changes_add does, whatever the stream's status. */
int slp_change_store(slp_box *box, slp_changes *s, int64_t now_ms, slp_str keys, slp_str old_image,
                     slp_str new_image, int by_ttl);

/* rolls over shards, ends states and removes expired records, as the time requires; called before each
 * request */
void slp_changes_settle(slp_box *box, int64_t now_ms);
void slp_changes_box_free(slp_box *box);
/* the greatest number of reads of any shard within one second */
uint64_t slp_changes_asked_max(const slp_box *box);

/* ---- the model ---------------------------------------------------------------------------------- */
#define SLP_CHANGE_PAGE_RECORDS 1000
#define SLP_CHANGE_PAGE_BYTES (1u << 20)
#define SLP_CHANGE_KEPT_MS (24 * SLP_BOX_HOUR_MS)
#define SLP_CHANGE_READERS 8
/* the most shards of one stream; once there are as many, its shards no longer roll over */
#define SLP_CHANGE_SHARDS_MAX 100000u

typedef enum { SLP_VIEW_KEYS, SLP_VIEW_NEW, SLP_VIEW_OLD, SLP_VIEW_BOTH } slp_change_view;
typedef enum {
  SLP_CHANGES_ENABLING,
  SLP_CHANGES_ENABLED,
  SLP_CHANGES_DISABLING,
  SLP_CHANGES_DISABLED
} slp_changes_status;

/* Behaviour that the service sometimes shows, and that clients must cope with. 0 switches a quirk off. */
typedef struct slp_change_quirks {
  uint32_t open_parents;     /* 1: a closed shard with children is listed as if it were open */
  uint32_t late_children_ms; /* how long after its parent's end a child is first listed */
  uint32_t empty_lists; /* 1: every other page of DescribeStream is empty, and says that more pages follow */
  uint32_t empty_gets;  /* how many pages without records are answered before each page with records */
  uint32_t no_child_filter; /* 1: ShardFilter is ignored; 2: it is refused */
  uint32_t split_every;     /* every split_every-th rollover makes two children instead of one; 0: never */
  uint32_t keep_open;       /* 1: shards roll over only by a control request */
  uint32_t no_times;        /* 1: AT_TIMESTAMP is refused, as servers do that do not know it */
} slp_change_quirks;

typedef struct slp_change {
  int64_t at_ms;
  uint8_t id[16]; /* the record's member eventID */
  uint8_t by_ttl, has_old, has_new;
  uint32_t size; /* the record's member SizeBytes */
  uint32_t keys_n, old_n, new_n;
  /* Owned: the JSON of the keys, then of the old image, then of the new image. An image that the view type
   * leaves out has length 0. */
  char *bytes;
} slp_change;

typedef struct slp_change_shard {
  slp_changes *stream;
  /* index: in stream->shards; open_at: in stream->open, as long as the shard is open */
  uint32_t index, open_at;
  /* shardId-<20 digits of ms>-<8 hex digits>. The ids of one stream ascend, also when they are compared as
   * text. */
  char id[40];
  /* id of the parent; "": none. A text and no index, because the parent is removed before its children */
  char parent[40];
  uint32_t child[2], child_n;
  /* the shard takes the changes of items whose partition key has a hash in this range */
  slp_u128 hash_start, hash_end;
  int64_t born_ms, closed_ms;    /* closed_ms: when the shard was closed; INT64_MAX: it is open */
  int64_t roll_ms;               /* when the shard will roll over; INT64_MAX: never */
  uint64_t base, salt;           /* from which changes_number.c computes the sequence numbers of the shard */
  slp_change *recs;              /* owned; recs[head] is the record at the place `first` */
  size_t head, recs_n, recs_cap; /* recs_n includes the free elements before `head` */
  /* first: place of the oldest record that is kept; next: place that the next record gets */
  uint64_t first, next;
  slp_box_window reads, asked;
  uint64_t asked_max; /* the most GetRecords calls within one second, including refused calls */
  struct {
    uint16_t id;
    int64_t last_ms;
    /* Readers that have called within the last second. A reader is recognized by the random id in its
     * iterator (slp_box_mark.reader). */
  } readers[SLP_CHANGE_READERS];
} slp_change_shard;

struct slp_changes {
  slp_list link; /* links the stream into all->streams, which is sorted by table and label */
  /* owned: names of the table and of its key attributes; range_key may be NULL */
  char *table, *hash_key, *range_key;
  char label[25]; /* creation time, such as 2026-01-02T03:04:05.678 */
  uint64_t uid;
  slp_change_view view;
  slp_changes_status status;
  int64_t created_ms, change_ms; /* change_ms: when the status ENABLING or DISABLING ends */
  int64_t trimmed_ms;            /* a control request has removed all records older than this */
  int64_t sweep_ms;              /* no record expires before this time, so no sweep is needed until then */
  uint32_t partitions, rolls, descriptions;
  slp_change_quirks quirks;
  uint8_t held;              /* 1: a table points to this stream */
  uint8_t gone;              /* 1: disabled for a day, so the stream is neither listed nor readable */
  slp_change_shard **shards; /* owned; by index; an element is NULL after its shard was removed */
  uint32_t shards_n, shards_cap, live; /* live: how many shards are not removed */
  uint32_t *open;                      /* owned; the indices of the open shards, in `shards` */
  uint32_t open_n, open_cap;
  /* the two numbers in the newest shard's id: the time in ms, and the number after the second hyphen */
  uint64_t last_name_ms, last_name_tail;
  uint8_t last_name_n; /* 1: last_name_ms and last_name_tail are set */
  slp_box_tree tree;   /* used to measure the size of keys and images */
};

typedef struct slp_changes_all {
  slp_list streams;
  slp_change_quirks quirks; /* the quirks that new streams get */
  slp_box_window describes, lists;
} slp_changes_all;

/* ---- changes_number.c: sequence numbers of 21 to 40 digits -------------------------------------- */
#define SLP_CHANGE_NUMBER_TEXT 44
#define SLP_CHANGE_BASE_MIN 1000u
/* Writes the number and a NUL. Returns the number's length without the NUL. */
size_t slp_change_number(uint64_t counter, uint64_t salt, char out[SLP_CHANGE_NUMBER_TEXT]);
void slp_change_start_text(const slp_change_shard *sh, char out[SLP_CHANGE_NUMBER_TEXT]);
/* Writes the ending sequence number. Only for a closed shard. */
void slp_change_end_text(const slp_change_shard *sh, char out[SLP_CHANGE_NUMBER_TEXT]);
void slp_change_text(const slp_change_shard *sh, uint64_t place, char out[SLP_CHANGE_NUMBER_TEXT]);
/* Returns the place of the first record whose sequence number is `number` or greater, or sh->next if there is
 * none. *ret_exact 1: the record at that place has exactly this number. */
uint64_t slp_change_place(const slp_change_shard *sh, slp_str number, int *ret_exact);

/* ---- changes_shards.c --------------------------------------------------------------------------- */
static inline int slp_change_open(const slp_change_shard *sh) { return sh->closed_ms == INT64_MAX; }
/* creates the first shards of a stream, as many as s->partitions */
int slp_change_shards_begin(slp_box *box, slp_changes *s, int64_t at_ms);
/* closes all shards of the stream at at_ms */
void slp_change_shards_end(slp_changes *s, int64_t at_ms);
/* Closes a shard and gives it 1 or 2 children. */
int slp_change_roll(slp_box *box, slp_changes *s, slp_change_shard *sh, int64_t at_ms, uint32_t children);
/* Rolls over the shards that are due. Returns SLP_ENOMEM if some are left. */
int slp_change_roll_due(slp_box *box, slp_changes *s, int64_t now_ms);
/* Removes expired records, and closed shards that have no records left. */
void slp_change_sweep(slp_box *box, slp_changes *s, int64_t now_ms);
/* Returns the open shard for a partition key with this hash. NULL: there is none. */
slp_change_shard *slp_change_shard_for(const slp_changes *s, slp_u128 hash);
/* Finds a shard by its id. NULL: there is no such shard, or it was removed. */
slp_change_shard *slp_change_shard_by_id(const slp_changes *s, slp_str id);
void slp_change_shards_free(slp_box *box, slp_changes *s);

/* ---- changes_streams.c -------------------------------------------------------------------------- */
slp_changes_all *slp_changes_all_new(slp_mem *mem);
int slp_changes_new(slp_box *box, int64_t now_ms, slp_str table, slp_str hash_key, slp_str range_key,
                    slp_change_view view, slp_changes **ret);
/* Disables the stream after_ms from now, unless it is disabled already. */
void slp_changes_stop(slp_changes *s, int64_t now_ms, uint32_t after_ms);
/* Does what has become due by now_ms: changes of state, rollovers, expiry. Returns SLP_ENOMEM if a part could
 * not be done; the next call does that part. */
int slp_changes_tick(slp_box *box, slp_changes *s, int64_t now_ms);
void slp_changes_free(slp_box *box, slp_changes *s);
/* Finds a stream by its ARN. NULL: there is no such stream, or it is `gone`. */
slp_changes *slp_changes_find_arn(slp_box *box, slp_str arn);
/* Finds a stream by its uid. NULL: there is no such stream, or it was freed. */
slp_changes *slp_changes_find_uid(slp_box *box, uint64_t uid);
/* returns the newest stream of a table; NULL: the table has no stream */
slp_changes *slp_changes_latest(slp_box *box, slp_str table);
/* Returns the stream of the request's StreamArn. NULL: there is none, and the call has failed. */
slp_changes *slp_changes_of_call(slp_box_call *c);
#define SLP_CHANGES_ARN 400
void slp_changes_arn(const slp_changes *s, const char *region, char out[SLP_CHANGES_ARN]);
/* finds the view type by its name; returns SLP_EINVAL if there is none of this name */
int slp_changes_view_of(slp_str name, slp_change_view *ret);
const char *slp_changes_view_name(slp_change_view view);

/* ---- changes_records.c, changes_size.c ---------------------------------------------------------- */
void slp_change_records_free(slp_box *box, slp_change_shard *sh);
/* Removes the records that are older than horizon_ms. */
void slp_change_drop_before(slp_box *box, slp_change_shard *sh, int64_t horizon_ms);
const slp_change *slp_change_at(const slp_change_shard *sh, uint64_t place);
/* returns the record's ApproximateCreationDateTime, which is in whole seconds, in ms */
int64_t slp_change_stamp_ms(const slp_change *r);
/* Returns the place of the first record whose stamp is at_ms or later, or sh->next if there is none. */
uint64_t slp_change_first_at(const slp_change_shard *sh, int64_t at_ms);
/* Returns the size in bytes of a map of typed attributes, by DynamoDB's rules. `node`: the map's node in the
 * tree. */
uint64_t slp_change_size(const slp_box_tree *t, uint32_t node);

/* ---- requests ------------------------------------------------------------------------------------ */
int slp_changes_op_list(slp_box_call *c);
int slp_changes_op_describe(slp_box_call *c);
int slp_changes_op_iterator(slp_box_call *c);
int slp_changes_op_get(slp_box_call *c);
/* An iterator's text is ARN|1|MARK. slp_changes_mark_read returns SLP_EBADDATA for any other text. */
int slp_changes_mark_read(slp_box *box, slp_str text, slp_box_mark *ret);
int slp_changes_mark_write(slp_box_call *c, const slp_changes *s, const slp_box_mark *m, slp_buf *to);
/* Returns the text that the third word of a fault script's line is compared with: the request's shard, or
 * else its table. {NULL, 0}: the request has neither. */
slp_str slp_changes_subject(slp_box_call *c);
int slp_changes_shape_fits(slp_box_call *c, slp_fault_action action);

#endif

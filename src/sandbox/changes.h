/* changes.h - DynamoDB Streams: the changes of a table as shards that are born, roll over, and expire after
 * 24 hours. Tables (ddb.h) report the changes of their items; all other functions here answer requests. */
#ifndef SLP_SANDBOX_CHANGES_H
#define SLP_SANDBOX_CHANGES_H

#include "sandbox/model.h"

typedef struct slp_changes slp_changes; /* one stream of one table; a table enabled again has another one */
typedef struct slp_table slp_table;

/* ---- changes_table.c: what tables and the box call ---------------------------------------------- */
/* Adds the change of an item: no old: INSERT, no new: REMOVE, both: MODIFY. Each is an item as JSON. Called
 * for tables with stream_on, only when the item changed. by_ttl: it expired. SLP_ENOMEM: the change must not
 * happen. */
int slp_changes_add(slp_box *box, slp_table *t, int64_t now_ms, slp_str keys, slp_str old_image,
                    slp_str new_image, int by_ttl);
/* Sets t->changes, t->stream_on, t->view_type. SLP_ENOMEM: as before. */
int slp_changes_enable(slp_box *box, slp_table *t, int64_t now_ms, slp_str view_type);
void slp_changes_disable(slp_box *box, slp_table *t, int64_t now_ms);
/* Called when the table is deleted: its streams stay readable for a day. t is freed after this. */
void slp_changes_table_gone(slp_box *box, slp_table *t, int64_t now_ms);
/* Writes StreamSpecification, LatestStreamArn and LatestStreamLabel, where there are any, into the open
 * map. */
void slp_changes_describe(slp_box_call *c, slp_table *t);

void slp_changes_settle(slp_box *box, int64_t now_ms); /* before each request */
void slp_changes_box_free(slp_box *box);
uint64_t slp_changes_asked_max(const slp_box *box); /* of all shards there are */

/* ---- the model ---------------------------------------------------------------------------------- */
#define SLP_CHANGE_PAGE_RECORDS 1000
#define SLP_CHANGE_PAGE_BYTES (1u << 20)
#define SLP_CHANGE_KEPT_MS (24 * SLP_BOX_HOUR_MS)
#define SLP_CHANGE_READERS 8
#define SLP_CHANGE_SHARDS_MAX 100000u /* of one stream; with so many shards it stops rolling over */

typedef enum { SLP_VIEW_KEYS, SLP_VIEW_NEW, SLP_VIEW_OLD, SLP_VIEW_BOTH } slp_change_view;
typedef enum {
  SLP_CHANGES_ENABLING,
  SLP_CHANGES_ENABLED,
  SLP_CHANGES_DISABLING,
  SLP_CHANGES_DISABLED
} slp_changes_status;

/* Behaviour that the service shows at times and a client must bear. All 0: none of it. */
typedef struct slp_change_quirks {
  uint32_t open_parents;     /* 1: a closed shard with children is listed as if it were open */
  uint32_t late_children_ms; /* a child is listed so long after its parent closed */
  uint32_t empty_lists;      /* 1: every other page of DescribeStream is empty, and there is more */
  uint32_t empty_gets;       /* so many pages without records come before each one with records */
  uint32_t no_child_filter;  /* 1: ShardFilter is ignored; 2: refused */
  uint32_t split_every;      /* every so many rollovers make two children */
  uint32_t keep_open;        /* 1: shards roll over by order alone */
  uint32_t no_times;         /* 1: AT_TIMESTAMP is refused, as servers do that do not know it */
} slp_change_quirks;

typedef struct slp_change {
  int64_t at_ms;
  uint8_t id[16]; /* eventID */
  uint8_t by_ttl, has_old, has_new;
  uint32_t size; /* SizeBytes */
  uint32_t keys_n, old_n, new_n;
  char *bytes; /* owned: the JSON of keys, old and new image; images the view leaves out have no bytes */
} slp_change;

typedef struct slp_change_shard {
  slp_changes *stream;
  uint32_t index, open_at; /* of stream->shards; of stream->open, while it is open */
  char id[40];             /* shardId-<20 digits of ms>-<8 hex>; in one stream they grow, as text too */
  char parent[40];         /* "" : none. Kept as text: parents fade before their children do */
  uint32_t child[2], child_n;
  slp_u128 hash_start, hash_end; /* of the partition keys that come here */
  int64_t born_ms, closed_ms;    /* INT64_MAX: open */
  int64_t roll_ms;               /* it is closed then; INT64_MAX: never */
  uint64_t base, salt;           /* of its numbers, see changes_number.c */
  slp_change *recs;              /* owned; recs[head] has the place `first` */
  size_t head, recs_n, recs_cap; /* recs_n counts from recs[0] */
  uint64_t first, next;          /* places of the oldest record kept, and of the one to come */
  slp_box_window reads, asked;
  uint64_t asked_max; /* the most GetRecords calls within one second, refused ones included */
  struct {
    uint16_t id;
    int64_t last_ms;
  } readers[SLP_CHANGE_READERS]; /* the readers of the last second */
} slp_change_shard;

struct slp_changes {
  slp_list link;                      /* of all->streams, by table and label */
  char *table, *hash_key, *range_key; /* owned; range_key may be NULL */
  char label[25];                     /* 2026-01-02T03:04:05.678 */
  uint64_t uid;
  slp_change_view view;
  slp_changes_status status;
  int64_t created_ms, change_ms; /* change_ms: when ENABLING or DISABLING is over */
  int64_t trimmed_ms;            /* by order, nothing older than this is kept */
  int64_t sweep_ms;              /* nothing is too old before that time */
  uint32_t partitions, rolls, descriptions;
  slp_change_quirks quirks;
  uint8_t held;                        /* a table points to it */
  uint8_t gone;                        /* disabled for a day: not listed, not readable */
  slp_change_shard **shards;           /* owned; by index; NULL: faded */
  uint32_t shards_n, shards_cap, live; /* live: those not faded */
  uint32_t *open;                      /* owned; indices of the open ones */
  uint32_t open_n, open_cap;
  uint64_t last_name_ms, last_name_tail; /* of the youngest shard's id */
  uint8_t last_name_n;                   /* there is one */
  slp_box_tree tree;                     /* of keys and images, to measure them */
};

typedef struct slp_changes_all {
  slp_list streams;
  slp_change_quirks quirks; /* of streams made later */
  slp_box_window describes, lists;
} slp_changes_all;

/* ---- changes_number.c: sequence numbers of 21 to 40 digits -------------------------------------- */
#define SLP_CHANGE_NUMBER_TEXT 44
#define SLP_CHANGE_BASE_MIN 1000u
size_t slp_change_number(uint64_t counter, uint64_t salt, char out[SLP_CHANGE_NUMBER_TEXT]); /* and a NUL */
void slp_change_start_text(const slp_change_shard *sh, char out[SLP_CHANGE_NUMBER_TEXT]);
void slp_change_end_text(const slp_change_shard *sh, char out[SLP_CHANGE_NUMBER_TEXT]); /* of a closed one */
void slp_change_text(const slp_change_shard *sh, uint64_t place, char out[SLP_CHANGE_NUMBER_TEXT]);
/* The first place whose number is not below this text; sh->next when there is none. *ret_exact: the number is
 * equal. */
uint64_t slp_change_place(const slp_change_shard *sh, slp_str number, int *ret_exact);

/* ---- changes_shards.c --------------------------------------------------------------------------- */
static inline int slp_change_open(const slp_change_shard *sh) { return sh->closed_ms == INT64_MAX; }
int slp_change_shards_begin(slp_box *box, slp_changes *s, int64_t at_ms); /* s->partitions of them */
void slp_change_shards_end(slp_changes *s, int64_t at_ms);                /* closes all */
/* Closes a shard and gives it 1 or 2 children. */
int slp_change_roll(slp_box *box, slp_changes *s, slp_change_shard *sh, int64_t at_ms, uint32_t children);
int slp_change_roll_due(slp_box *box, slp_changes *s, int64_t now_ms);
void slp_change_sweep(slp_box *box, slp_changes *s, int64_t now_ms);
slp_change_shard *slp_change_shard_for(const slp_changes *s, slp_u128 hash); /* NULL: none is open */
slp_change_shard *slp_change_shard_by_id(const slp_changes *s, slp_str id);  /* NULL: none, or faded */
void slp_change_shards_free(slp_box *box, slp_changes *s);

/* ---- changes_streams.c -------------------------------------------------------------------------- */
slp_changes_all *slp_changes_all_new(slp_mem *mem);
int slp_changes_new(slp_box *box, int64_t now_ms, slp_str table, slp_str hash_key, slp_str range_key,
                    slp_change_view view, slp_changes **ret);
void slp_changes_stop(slp_changes *s, int64_t now_ms, uint32_t after_ms);
/* Applies the time passed: states, rollovers, expiry. SLP_ENOMEM: not all of it yet. */
int slp_changes_tick(slp_box *box, slp_changes *s, int64_t now_ms);
void slp_changes_free(slp_box *box, slp_changes *s);
slp_changes *slp_changes_find_arn(slp_box *box, slp_str arn); /* NULL: none, or gone */
slp_changes *slp_changes_find_uid(slp_box *box, uint64_t uid);
slp_changes *slp_changes_latest(slp_box *box, slp_str table); /* NULL: it has none */
/* The stream of the request's StreamArn; fails the call when there is none. */
slp_changes *slp_changes_of_call(slp_box_call *c);
#define SLP_CHANGES_ARN 400
void slp_changes_arn(const slp_changes *s, const char *region, char out[SLP_CHANGES_ARN]);
int slp_changes_view_of(slp_str name, slp_change_view *ret); /* SLP_EINVAL */
const char *slp_changes_view_name(slp_change_view view);

/* ---- changes_records.c, changes_size.c ---------------------------------------------------------- */
int slp_change_store(slp_box *box, slp_changes *s, int64_t now_ms, slp_str keys, slp_str old_image,
                     slp_str new_image, int by_ttl);
void slp_change_records_free(slp_box *box, slp_change_shard *sh);
void slp_change_drop_before(slp_box *box, slp_change_shard *sh, int64_t horizon_ms);
const slp_change *slp_change_at(const slp_change_shard *sh, uint64_t place);
int64_t slp_change_stamp_ms(const slp_change *r); /* its ApproximateCreationDateTime: whole seconds */
/* The place of the first record whose stamp is at_ms or later; sh->next when there is none. */
uint64_t slp_change_first_at(const slp_change_shard *sh, int64_t at_ms);
/* Bytes of a map of typed attributes by DynamoDB's rules; `node` of the tree. */
uint64_t slp_change_size(const slp_box_tree *t, uint32_t node);

/* ---- requests ------------------------------------------------------------------------------------ */
int slp_changes_op_list(slp_box_call *c);
int slp_changes_op_describe(slp_box_call *c);
int slp_changes_op_iterator(slp_box_call *c);
int slp_changes_op_get(slp_box_call *c);
/* An iterator's text is ARN|1|MARK. SLP_EBADDATA. */
int slp_changes_mark_read(slp_box *box, slp_str text, slp_box_mark *ret);
int slp_changes_mark_write(slp_box_call *c, const slp_changes *s, const slp_box_mark *m, slp_buf *to);
/* The text that the fault script's third word is compared with: the shard, or else the table. {NULL,0}:
 * neither. */
slp_str slp_changes_subject(slp_box_call *c);
int slp_changes_shape_fits(slp_box_call *c, slp_fault_action action);

#endif

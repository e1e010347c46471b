/* ddb.h - the tables of the sandbox's DynamoDB: values, expressions, rows, and the declarations that its
 * files share. Private to this room. The code was written from the documented behaviour of the service, and
 * shares nothing with the library's client code. A "unit" is a capacity unit of DynamoDB. */
#ifndef SLP_SANDBOX_DDB_H
#define SLP_SANDBOX_DDB_H

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "sandbox/changes.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

/* ---- ddb_arena.c: memory that is freed all at once ---------------------------------------------------- */
typedef struct slp_arena {
  slp_mem *mem;
  struct slp_arena_block *blocks; /* owned */
  size_t used;                    /* bytes handed out so far, of all blocks together */
} slp_arena;
void *slp_arena_get(slp_arena *a, size_t n);     /* returns zeroed memory; NULL: no memory */
slp_str slp_arena_copy(slp_arena *a, slp_str s); /* returns a copy of s in the arena; .p NULL: no memory */
void slp_arena_clear(slp_arena *a);
#define SLP_ARENA_NEW(a, type) ((type *)slp_arena_get((a), sizeof(type)))

/* ---- ddb_number.c: 38 decimal digits, exactly --------------------------------------------------------- */
#define SLP_N38_DIGITS 38
typedef struct slp_n38 {
  uint8_t negative, digits_n;     /* digits_n 0: the number is zero */
  int16_t exponent;               /* value = digits * 10^exponent */
  uint8_t digits[SLP_N38_DIGITS]; /* 0..9; the first and the last digit are not 0 */
} slp_n38;
typedef enum {
  SLP_N38_FINE,
  SLP_N38_TEXT,
  SLP_N38_PRECISION,
  SLP_N38_OVERFLOW,
  SLP_N38_UNDERFLOW
} slp_n38_fault;
#define SLP_N38_TEXT_MAX 180 /* the longest text: "-0.", 130 zeros and 38 digits */
slp_n38_fault slp_n38_parse(slp_str text, slp_n38 *ret);
/* writes plain digits without exponent and without NUL; returns how many characters were written */
size_t slp_n38_text(const slp_n38 *n, char out[SLP_N38_TEXT_MAX]);
int slp_n38_cmp(const slp_n38 *a, const slp_n38 *b);
/* Computes a + b, or a - b with `subtract`. Returns a fault if the result needs too many digits or is out of
 * range. */
slp_n38_fault slp_n38_add(const slp_n38 *a, const slp_n38 *b, int subtract, slp_n38 *ret);
const char *slp_n38_why(slp_n38_fault fault); /* the error message, in the service's words */
size_t slp_n38_size(const slp_n38 *n);        /* returns the size of the number in an item, in bytes */

/* ---- ddb_value.c: attribute values --------------------------------------------------------------------- */
typedef enum {
  SLP_AV_S,
  SLP_AV_N,
  SLP_AV_B,
  SLP_AV_BOOL,
  SLP_AV_NULL,
  SLP_AV_L,
  SLP_AV_M,
  SLP_AV_SS,
  SLP_AV_NS,
  SLP_AV_BS
} slp_av_kind;

/* An attribute value. It does not change once it is stored. Maps and sets are kept sorted. */
typedef struct slp_av {
  slp_av_kind kind;
  uint8_t on;     /* value of a BOOL */
  uint32_t count; /* L, M and sets: the number of elements */
  slp_str name;   /* the member's name, if this value is a member of a map */
  slp_str text;   /* S: the text; B: the decoded bytes; N: the number as it is written into answers */
  struct slp_av *first, *next;
} slp_av;

#define SLP_AV_DEPTH 32
const char *slp_av_kind_name(slp_av_kind kind); /* returns the name of a kind, such as "S" */
int slp_av_is_set(slp_av_kind kind);
slp_av *slp_av_member(const slp_av *map, slp_str name);  /* NULL: the map has no such member */
slp_av *slp_av_item(const slp_av *list, uint32_t index); /* NULL: the list has no such element */
int slp_av_equal(const slp_av *a, const slp_av *b);
/* Compares two values of the same kind, which must be S, N or B, because other kinds have no order. */
int slp_av_cmp(const slp_av *a, const slp_av *b);
size_t slp_av_size(const slp_av *v); /* returns the size by the service's rules, without a name */
/* Returns the size of a member of a map, including its name. */
static inline size_t slp_av_named_size(const slp_av *v) { return v->name.n + slp_av_size(v); }
size_t slp_item_size(const slp_av *item); /* returns the size of all attributes */
/* copies the value and everything in it; `next` of the copy is NULL */
slp_av *slp_av_copy(slp_arena *a, const slp_av *v);
/* copies only v itself; the copy shares the children of v */
slp_av *slp_av_shallow(slp_arena *a, const slp_av *v);
/* appends an item in DynamoDB's JSON, such as {"a":{"S":"x"}} */
int slp_item_put_json(slp_buf *b, const slp_av *item);
slp_av *slp_av_new(slp_arena *a, slp_av_kind kind);
slp_av *slp_av_number(slp_arena *a, const slp_n38 *n);
/* Puts a member into the map, and replaces a member of the same name. The member must not be in another
 * map. */
void slp_av_set_member(slp_av *map, slp_av *member);
void slp_av_remove_member(slp_av *map, slp_str name);
/* Sort the elements of a set, or the members of a map by name. Return 0 if two elements, or two names, are
 * equal, otherwise 1. */
int slp_av_sort_set(slp_av *set);
int slp_av_sort_map(slp_av *map);

/* ddb_input.c: read a value or an item from the request's tree. NULL: the call has failed. */
slp_av *slp_av_read(slp_box_call *c, uint32_t node);
/* the node must be a map of attributes, which may be empty */
slp_av *slp_ddb_item_read(slp_box_call *c, uint32_t node);

/* ---- ddb_words.c --------------------------------------------------------------------------------------- */
int slp_ddb_reserved(slp_str word); /* returns 1 for a reserved word, in upper or lower case */

/* Defined in ddb_parse.c, which makes trees of expressions: */
typedef struct slp_path_step {
  slp_str name; /* .p NULL: the step is an index */
  uint32_t index;
  struct slp_path_step *next;
} slp_path_step;
typedef slp_path_step slp_path; /* points to the first step, which is always a name */

/* The operator of an expression. The operands a and b are members of slp_x; the comparisons EQ to GE all have
 * both. */
typedef enum {
  SLP_X_PATH,
  SLP_X_VALUE,
  SLP_X_SIZE,          /* size(a) */
  SLP_X_PLUS,          /* a + b */
  SLP_X_MINUS,         /* a - b */
  SLP_X_IF_NOT_EXISTS, /* if_not_exists(a, b); a is a path */
  SLP_X_LIST_APPEND,   /* list_append(a, b) */
  SLP_X_EQ,            /* a = b; up to SLP_X_GE, the operator compares a with b */
  SLP_X_NE,
  SLP_X_LT,
  SLP_X_LE,
  SLP_X_GT,
  SLP_X_GE,
  SLP_X_BETWEEN,     /* a BETWEEN b AND b->next */
  SLP_X_IN,          /* a IN (b, b->next, ...) */
  SLP_X_AND,         /* a AND b */
  SLP_X_OR,          /* a OR b */
  SLP_X_NOT,         /* NOT a */
  SLP_X_EXISTS,      /* attribute_exists(a); a is a path */
  SLP_X_NOT_EXISTS,  /* attribute_not_exists(a); a is a path */
  SLP_X_TYPE,        /* attribute_type(a, b); a is a path */
  SLP_X_BEGINS,      /* begins_with(a, b) */
  SLP_X_CONTAINS,    /* contains(a, b) */
  SLP_X_NOT_CONTAINS /* NOT contains(a, b); only conditions of the older form have it (ddb_legacy.c) */
} slp_x_op;

typedef struct slp_x {
  slp_x_op op;
  slp_path *path;      /* path of the operator SLP_X_PATH */
  const slp_av *value; /* value of the operator SLP_X_VALUE */
  struct slp_x *a, *b, *next;
} slp_x;

typedef enum { SLP_UP_SET, SLP_UP_REMOVE, SLP_UP_ADD, SLP_UP_DELETE } slp_up_kind;
typedef struct slp_up { /* one action of an update expression */
  slp_up_kind kind;
  slp_path *path;
  slp_x *value; /* SET: the expression to assign. ADD and DELETE: a VALUE */
  struct slp_up *next;
} slp_up;

/* the members of ExpressionAttributeNames or ExpressionAttributeValues, and which of them were used */
typedef struct slp_names {
  struct slp_name_entry {
    slp_str key;
    slp_str name;
    slp_av *value;
    uint8_t used;
  } * v; /* memory of the arena */
  uint32_t n;
} slp_names;

typedef struct slp_words { /* what the expressions of one request share; in a transaction, each action has its
                              own slp_words */
  slp_box_call *c;
  slp_names names, values;
  uint8_t any; /* 1: an expression was parsed */
} slp_words;
/* Reads ExpressionAttributeNames and ExpressionAttributeValues, which are members of the node `parent`. */
int slp_words_read(slp_words *w, slp_box_call *c, uint32_t parent);
int slp_words_end(slp_words *w); /* fails the call if a name or value was not used by any expression */
/* Parse an expression. Return 0, or -1 if the call has failed with "Invalid KIND: ...". */
int slp_parse_condition(slp_words *w, const char *kind, slp_str text, slp_x **ret);
int slp_parse_update(slp_words *w, slp_str text, slp_up **ret);
typedef struct slp_paths {
  slp_path *path;
  struct slp_paths *next;
} slp_paths;
int slp_parse_projection(slp_words *w, slp_str text, slp_paths **ret);

/* ---- ddb_eval.c */
slp_av *slp_path_find(const slp_path *p, const slp_av *item); /* NULL: the item has nothing at this path */
/* Returns 1 if the condition holds for the item, otherwise 0. item NULL counts as an empty item. There are no
 * errors: a comparison of wrong types is false. */
int slp_x_holds(const slp_x *x, const slp_av *item);
/* Returns those parts of the item that the paths select, in memory of the arena. NULL: no memory. */
slp_av *slp_project(slp_arena *a, const slp_paths *paths, const slp_av *v);

/* ---- ddb_update.c */
/* Returns the item after the update. If the item does not exist, `was` is NULL, and the new item gets its key
 * from `key`. Returns NULL if the call has failed. */
slp_av *slp_update_apply(slp_box_call *c, const slp_up *first, const slp_av *was, const slp_av *key);

/* ---- tables -------------------------------------------------------------------------------------- */
#define SLP_DDB_ITEM_BYTES (400u * 1024)
typedef struct slp_item { /* the content of an item after one write */
  slp_arena memory;
  size_t size; /* bytes of the item, counted by the service's rules */
  slp_av *value;
} slp_item;

typedef struct slp_version {
  slp_item *item;  /* owned; NULL: the item did not exist at that time */
  int64_t from_ms; /* time at which this version became the item's content */
  struct slp_version *older;
} slp_version;

/* The key of an item in a table or index. The struct does not own the memory of `hash` and `sort`. */
typedef struct slp_key {
  uint64_t place;            /* a hash of the hash key; a scan goes by ascending place */
  const slp_av *hash, *sort; /* sort NULL: the table has no sort key */
} slp_key;

typedef struct slp_row {
  slp_key key; /* the memory of the key's values is in `memory` below */
  slp_arena memory;
  slp_version *now; /* owned; the newest version of the item, which links to the older versions */
} slp_row;

typedef struct slp_key_part {
  char *name;
  slp_av_kind kind; /* kind of the key's values: S, N or B */
} slp_key_part;

typedef struct slp_bucket { /* Provisioned units. Each second adds new ones; those not used are saved, up to
                               the units of 300 seconds. */
  /* units: how many are added each second. at_ms: when units were last added. */
  int64_t units, at_ms;
  int64_t thousandths; /* what is left, counted in thousandths of half a unit */
} slp_bucket;

typedef enum { SLP_PROJECT_ALL, SLP_PROJECT_KEYS, SLP_PROJECT_SOME } slp_projection;
typedef struct slp_index {
  char *name; /* NULL: this is the table's own key, not an index */
  uint8_t local, parts_n;
  slp_key_part part[2];
  slp_projection projection;
  char **some; /* PROJECT_SOME: the attributes that the index has in addition to the keys */
  uint32_t some_n;
  uint8_t creating;
  slp_bucket reads, writes;
} slp_index;

typedef struct slp_table_tag slp_table_tag; /* a tag of a table, see ddb_extras.c */

#define SLP_DDB_INDEXES 26 /* the most for a table: its own key, 20 global and 5 local indexes */
struct slp_table {
  slp_list link; /* links the table into ddb->tables, which is sorted by name */
  char *name;    /* owned, like everything that the pointers below point to */
  char id[40];
  slp_box_status status;
  int64_t change_ms; /* when the status changes to the next */
  int64_t created_ms;
  slp_index index[SLP_DDB_INDEXES]; /* index[0]: the table's own key */
  uint32_t indexes_n;
  uint8_t on_demand, protected;
  uint8_t stream_on;
  char view_type[24];   /* view type of the table's stream; "": no stream */
  slp_changes *changes; /* the table's newest stream; NULL: there never was one */
  slp_table_tag *tags;  /* owned */
  uint32_t tags_n;
  uint8_t recovery_days;
  int64_t recovery_from_ms; /* since when point-in-time recovery is on; 0: it is off */
  char *ttl_name;           /* attribute with the time of expiry; NULL: items do not expire */
  int64_t ttl_swept_ms;
  int64_t stale_ms; /* eventually consistent reads see the table as it was at a random time up to this long
                       ago */
  slp_row **rows;   /* owned; the rows, sorted by slp_key.place, then by hash key, then by sort key */
  size_t rows_n, rows_cap, items, bytes;
  int64_t pruned_ms;
  slp_map keys;    /* text of a partition key -> slp_key_load; the values are owned */
  size_t keys_max; /* when there are this many keys, the keys without recent use are removed */
};

typedef struct slp_token { /* a ClientRequestToken that was used within the last ten minutes */
  slp_list link;
  int64_t at_ms;
  uint8_t digest[32]; /* of the request that had the token */
  char text[40];
} slp_token;

struct slp_ddb {
  slp_list tables, tokens;
  slp_arena memory; /* memory for the request that is being answered; cleared afterwards */
  /* Called after each change of an item, with the item before and after it. was NULL: the item did not exist.
   * now NULL: the write has deleted it. */
  void (*on_write)(void *arg, const slp_table *t, const slp_av *was, const slp_av *now);
  void *on_write_arg;
};
static inline slp_arena *slp_call_arena(slp_box_call *c) { return &c->box->ddb->memory; }

/* Defined in ddb_find.c, which finds tables: */
/* Finds a table by its name. NULL: there is no such table; the call does not fail. */
slp_table *slp_table_find(slp_box *box, slp_str name);
/* Finds a table by name or ARN. NULL: there is no such table, or it can't be used in its status; the call has
 * failed. */
slp_table *slp_table_named(slp_box_call *c, slp_str name);
/* finds the table of the request's TableName, as slp_table_named does */
slp_table *slp_table_of(slp_box_call *c);
/* Returns the NAME in the ARN of a table, or the text itself if it is no such ARN. */
slp_str slp_table_bare_name(slp_str name_or_arn);
void slp_table_arn(slp_box_call *c, const slp_table *t, char out[400]);

/* Defined in ddb_tables.c, which creates, changes and frees tables: */
slp_ddb *slp_ddb_new(slp_mem *mem);
void slp_ddb_free(slp_box *box);
/* changes the states of tables whose change_ms has come, and removes expired items */
void slp_ddb_settle(slp_box *box, int64_t now_ms);
/* Frees the memory of the request. Called after every request. */
void slp_ddb_call_over(slp_box *box);
/* Makes eventually consistent reads see the table as it was at a random time up to `ms` ago. 0: every read is
 * consistent. */
static inline void slp_table_stale(slp_table *t, int64_t ms) { t->stale_ms = ms; }
int slp_table_op_create(slp_box_call *c);
int slp_table_op_update(slp_box_call *c);
int slp_table_op_delete(slp_box_call *c);

/* ddb_schema.c: keys, indexes and throughput from requests. -1: the call has failed. */
int slp_schema_read(slp_box_call *c, slp_table *t); /* reads all members of a CreateTable */
/* Applies BillingMode and ProvisionedThroughput of an UpdateTable. Returns 1 if the request has neither. */
int slp_schema_billing(slp_box_call *c, slp_table *t);
/* Applies GlobalSecondaryIndexUpdates. 1: the request has none. */
int slp_schema_globals(slp_box_call *c, slp_table *t);
/* Finds a secondary index, never the table's own key. NULL: there is none. */
slp_index *slp_index_find(slp_table *t, slp_str name);
void slp_index_free(slp_box *box, slp_index *x);

/* Defined in ddb_describe.c: */
void slp_table_put(slp_box_call *c, slp_table *t); /* writes a TableDescription as a value */
int slp_table_op_describe(slp_box_call *c);
int slp_table_op_list(slp_box_call *c);
int slp_table_op_ttl(slp_box_call *c);
int slp_table_op_describe_ttl(slp_box_call *c);

/* Defined in ddb_extras.c: tags and continuous backups. */
int slp_table_tags_read(slp_box_call *c, slp_table *t); /* reads the request's Tags */
void slp_table_tags_free(slp_box *box, slp_table *t);
int slp_table_op_tag(slp_box_call *c);
int slp_table_op_untag(slp_box_call *c);
int slp_table_op_list_tags(slp_box_call *c);
int slp_table_op_backups(slp_box_call *c);
int slp_table_op_describe_backups(slp_box_call *c);

/* Defined in ddb_rows.c: the rows of a table. */
/* Reads `from`, a request's Key, which must have exactly the parts of the table's key. -1: the call has
 * failed. */
int slp_key_read(slp_box_call *c, const slp_table *t, const slp_av *from, slp_key *ret);
/* Reads the key of an item that is to be put. The item's attributes that are index keys must have the right
 * types too. -1: the call has failed. */
int slp_key_of_item(slp_box_call *c, const slp_table *t, const slp_av *item, slp_key *ret);
int slp_check_index_keys(slp_box_call *c, const slp_table *t, const slp_av *item);
/* Returns slp_key.place for a hash key. */
uint64_t slp_place_of(const slp_av *hash);
int slp_row_key_cmp(const slp_key *a, const slp_key *b);
/* Finds the row with a key. NULL: there is no such row. The row may hold only a deleted item. */
slp_row *slp_row_find(slp_table *t, const slp_key *key);
/* Returns the index of the first row at or after the key. With `after` 1, a row at the key itself is
 * skipped. */
size_t slp_row_from(const slp_table *t, const slp_key *key, int after);
/* Returns the item as it was at at_ms; INT64_MAX: as it is now. NULL: the item did not exist then. */
const slp_item *slp_row_at(const slp_row *row, int64_t at_ms);
/* Changes an item. All changes of items go through this function. now NULL: deletes the item. Returns
 * SLP_ENOMEM if there is no memory; nothing has then changed. */
int slp_row_write(slp_box *box, slp_table *t, int64_t now_ms, const slp_key *key, const slp_av *now,
                  int by_ttl);
void slp_rows_free(slp_box *box, slp_table *t);
/* Deletes items whose time to live is over, and frees versions that no read needs any more. */
void slp_rows_expire(slp_box *box, slp_table *t, int64_t now_ms);
/* Returns the time as of which a read sees the table. A consistent read sees it as it is now (INT64_MAX), an
 * eventually consistent read as it was at a random time up to stale_ms ago. */
int64_t slp_read_moment(slp_box_call *c, const slp_table *t, int consistent);
/* Returns 1 if the item is in the index: it has all key attributes of the index. */
int slp_index_holds(const slp_index *x, const slp_av *item);
/* Returns a map of those attributes of the item that are in the index. NULL: no memory. */
slp_av *slp_index_part(slp_arena *a, const slp_table *t, const slp_index *x, const slp_av *item);
/* Returns 1 if entries of the index have this attribute. */
int slp_index_projects(const slp_table *t, const slp_index *x, slp_str name);

/* ddb_cost.c: capacity. All amounts are in halves of a unit. */
typedef struct slp_cost {
  slp_table *t;
  /* index 0: the table itself; others: its secondary indexes */
  int64_t reads[SLP_DDB_INDEXES], writes[SLP_DDB_INDEXES];
  struct slp_cost *next;
} slp_cost;
/* Finds or adds the cost of a table in *all. NULL: no memory, and the call has failed. */
slp_cost *slp_cost_of(slp_box_call *c, slp_cost **all, slp_table *t);
int64_t slp_cost_write(size_t size);                /* the cost of writing one item, at least one unit */
int64_t slp_cost_read(size_t size, int consistent); /* the cost of reading one item, or one page of items */
/* Adds `times` times the cost of changing an item, in the table and in all its indexes. -1: the call has
 * failed. */
int slp_cost_change(slp_box_call *c, slp_cost *to, const slp_av *was, const slp_av *now, int times);
/* Sets the rate, and fills the bucket. */
void slp_bucket_set(slp_bucket *b, int64_t now_ms, int64_t units);
/* Takes a write's cost from the saved units of the table and its indexes. -1: there are too few units; the
 * call has failed, and no units were taken. */
int slp_cost_take_writes(slp_box_call *c, slp_cost *cost);
/* Returns 0 if a read of the table (n 0) or of index n may begin, or -1 if the call has failed. The cost is
 * taken after the read, when it is known. */
int slp_cost_may_read(slp_box_call *c, slp_table *t, uint32_t n);
/* Takes the cost of a finished read. The saved units may become negative. */
void slp_cost_take_reads(slp_box_call *c, slp_cost *cost);
/* Writes ConsumedCapacity, if the request asks for it. many 1: writes a list with all tables. both 1: also
 * writes the reads and the writes apart. */
void slp_cost_put(slp_box_call *c, const slp_cost *cost, int many, int both);

/* ddb_keys.c: limits what one partition key may use in a second. Amounts are in halves of a unit. Functions
 * return 0, or -1 if the call has failed. */
typedef struct slp_key_load slp_key_load;
int slp_key_take_write(slp_box_call *c, slp_table *t, const slp_key *key, int64_t halves);
int slp_key_may_read(slp_box_call *c, slp_table *t, const slp_key *key);
void slp_key_take_read(slp_box_call *c, slp_table *t, const slp_key *key, int64_t halves);
void slp_keys_free(slp_box *box, slp_table *t);

/* Defined in ddb_write.c: one action, which is a whole request or a part of a transaction. */
typedef enum { SLP_ACT_PUT, SLP_ACT_UPDATE, SLP_ACT_DELETE, SLP_ACT_CHECK } slp_act_kind;
typedef struct slp_action {
  slp_act_kind kind;
  slp_table *t;
  slp_key key;
  slp_av *key_map;      /* all kinds but PUT: the request's Key */
  slp_av *item;         /* the item to put, for the kind PUT */
  slp_up *update;       /* UPDATE: the first action of the expression */
  slp_x *condition;     /* condition on the item as it was; NULL: none */
  uint8_t show_on_fail; /* 1: ReturnValuesOnConditionCheckFailure asks for the item */
  const slp_av *was;    /* the item before; NULL: it did not exist */
  const slp_av *now;    /* the item afterwards; NULL: it is to be deleted */
} slp_action;
/* Reads an action from the node of the request. -1: the call has failed. */
int slp_action_read(slp_box_call *c, uint32_t node, slp_act_kind kind, slp_action *a);
/* Sets the action's table, and reads its item (PUT) or its key (other kinds) from `map`. -1: the call has
 * failed. */
int slp_action_aim(slp_box_call *c, slp_action *a, slp_str table, slp_av *map);
/* Sets `was` and `now`. Returns 0, 1 if the condition does not hold, or -1 if the call has failed. */
int slp_action_judge(slp_box_call *c, slp_action *a);
/* writes the item; 0, or -1: the call has failed */
int slp_action_apply(slp_box_call *c, const slp_action *a);
int slp_write_op_put(slp_box_call *c);
int slp_write_op_update(slp_box_call *c);
int slp_write_op_delete(slp_box_call *c);

/* ddb_legacy.c: turns parameters that are older than expressions into the trees (slp_x, slp_up, slp_paths)
 * that expressions are parsed into. *ret NULL: the parameter is absent. -1: the call has failed. */
/* reads Expected and ConditionalOperator as a condition */
int slp_legacy_expected(slp_box_call *c, uint32_t from, slp_x **ret);
/* reads AttributeUpdates as the actions of an update */
int slp_legacy_updates(slp_box_call *c, uint32_t from, slp_up **ret);
int slp_legacy_filter(slp_box_call *c, uint32_t from, const char *member, slp_x **ret);
/* reads AttributesToGet as the paths of a projection */
int slp_legacy_attributes(slp_box_call *c, uint32_t from, slp_paths **ret);

/* Defined in ddb_read.c: */
/* Reads ProjectionExpression or AttributesToGet of the node. -1: the call has failed. */
int slp_read_projection(slp_box_call *c, uint32_t node, slp_words *w, slp_paths **ret);
int slp_read_op_get(slp_box_call *c);

/* Defined in ddb_query.c: */
int slp_read_op_query(slp_box_call *c);
int slp_read_op_scan(slp_box_call *c);

/* Defined in ddb_batch.c and ddb_transact.c: */
int slp_batch_op_get(slp_box_call *c);
int slp_batch_op_write(slp_box_call *c);
int slp_transact_op_get(slp_box_call *c);
int slp_transact_op_write(slp_box_call *c);
void slp_tokens_free(slp_box *box);

/* ddb_answer.c: reads members of the request's tree, and writes values into the answer. */
slp_value *slp_in_get(slp_box_call *c, uint32_t node, const char *name);
/* Returns a member that is a text. {NULL, 0}: the member is absent, or is no text. If it is no text, the call
 * has failed, and *bad is set to 1. */
slp_str slp_in_text(slp_box_call *c, uint32_t node, const char *name, int *bad);
/* returns 1 if the member is there and true */
int slp_in_flag(slp_box_call *c, uint32_t node, const char *name);
/* Find the node of a member, which must be a map, or a list. Return 0, with *ret 0 if the member is absent.
 * Return -1 if it is of another kind; the call has failed then. */
int slp_in_map(slp_box_call *c, uint32_t node, const char *name, uint32_t *ret);
int slp_in_list(slp_box_call *c, uint32_t node, const char *name, uint32_t *ret);
void slp_out_item(slp_box_call *c, const slp_av *item);   /* writes the item as a value */
void slp_error_item(slp_box_call *c, const slp_av *item); /* writes the item as the error's member Item */
/* fails the call with a ValidationException; returns -1 */
int slp_refuse(slp_box_call *c, const char *fmt, ...) SLP_PRINTF(2, 3);

#endif

/* ddb.h - the tables of the sandbox's DynamoDB: values, expressions, rows, and the declarations that its
 * files share. Private to this room. Written from the documented behaviour of the service, and shares no code
 * with its clients. */
#ifndef SLP_SANDBOX_DDB_H
#define SLP_SANDBOX_DDB_H

#include "base/map.h"
#include "sandbox/changes.h"
#include "sandbox/model.h"

/* ---- ddb_arena.c: memory that goes away all at once -------------------------------------------------- */
typedef struct slp_arena {
  slp_mem *mem;
  struct slp_arena_block *blocks; /* owned */
  size_t used;                    /* bytes handed out */
} slp_arena;
void *slp_arena_get(slp_arena *a, size_t n);     /* zeroed; NULL: no memory */
slp_str slp_arena_copy(slp_arena *a, slp_str s); /* .p NULL: no memory */
void slp_arena_clear(slp_arena *a);
#define SLP_ARENA_NEW(a, type) ((type *)slp_arena_get((a), sizeof(type)))

/* ---- ddb_number.c: 38 decimal digits, exactly --------------------------------------------------------- */
#define SLP_N38_DIGITS 38
typedef struct slp_n38 {
  uint8_t negative, digits_n;     /* 0 digits: the number is zero */
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
#define SLP_N38_TEXT_MAX 180 /* "-0." and 130 zeros and 38 digits */
slp_n38_fault slp_n38_parse(slp_str text, slp_n38 *ret);
size_t slp_n38_text(const slp_n38 *n, char out[SLP_N38_TEXT_MAX]); /* plain digits without exponent; no NUL */
int slp_n38_cmp(const slp_n38 *a, const slp_n38 *b);
slp_n38_fault slp_n38_add(const slp_n38 *a, const slp_n38 *b, int subtract, slp_n38 *ret);
const char *slp_n38_why(slp_n38_fault fault); /* in the service's words */
size_t slp_n38_size(const slp_n38 *n);        /* the bytes that it counts for in an item */

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

/* A value is not changed once it is stored. Maps and sets are kept sorted. */
typedef struct slp_av {
  slp_av_kind kind;
  uint8_t on;     /* for BOOL */
  uint32_t count; /* for L, M and sets */
  slp_str name;   /* the member's name, if the value is in a map */
  slp_str text;   /* for S; for B decoded; for N in the form that is written out */
  struct slp_av *first, *next;
} slp_av;

#define SLP_AV_DEPTH 32
const char *slp_av_kind_name(slp_av_kind kind); /* such as "S" */
int slp_av_is_set(slp_av_kind kind);
slp_av *slp_av_member(const slp_av *map, slp_str name);  /* NULL: there is none */
slp_av *slp_av_item(const slp_av *list, uint32_t index); /* NULL: there is none */
int slp_av_equal(const slp_av *a, const slp_av *b);
/* Compares two values of the same kind, which must be S, N or B: the others have no order. */
int slp_av_cmp(const slp_av *a, const slp_av *b);
size_t slp_av_size(const slp_av *v); /* by the service's rules, without a name */
/* The size of a member of a map, with its name. */
static inline size_t slp_av_named_size(const slp_av *v) { return v->name.n + slp_av_size(v); }
size_t slp_item_size(const slp_av *item);              /* of all attributes */
slp_av *slp_av_copy(slp_arena *a, const slp_av *v);    /* deep; `next` of the copy is NULL */
slp_av *slp_av_shallow(slp_arena *a, const slp_av *v); /* only the node; its children are shared */
int slp_av_put_json(slp_buf *b, const slp_av *v);      /* {"S":"x"} */
int slp_item_put_json(slp_buf *b, const slp_av *item); /* {"a":{"S":"x"}} */
slp_av *slp_av_new(slp_arena *a, slp_av_kind kind);
slp_av *slp_av_number(slp_arena *a, const slp_n38 *n);
/* Puts a member into the map, in place of one with the same name. The member must be a node of its own. */
void slp_av_set_member(slp_av *map, slp_av *member);
void slp_av_remove_member(slp_av *map, slp_str name);
/* Sort the elements of a set, and the members of a map. 0: two of them are equal. */
int slp_av_sort_set(slp_av *set);
int slp_av_sort_map(slp_av *map);

/* ddb_input.c: both read from the request's tree. NULL: the call has failed. */
slp_av *slp_av_read(slp_box_call *c, uint32_t node);
slp_av *slp_ddb_item_read(slp_box_call *c, uint32_t node); /* a map of attributes; it may be empty */

/* ---- ddb_words.c --------------------------------------------------------------------------------------- */
int slp_ddb_reserved(slp_str word); /* in upper or lower case */

/* ddb_parse.c: makes trees from expressions. */
typedef struct slp_path_step {
  slp_str name; /* .p NULL: the step is an index */
  uint32_t index;
  struct slp_path_step *next;
} slp_path_step;
typedef slp_path_step slp_path; /* the first step, which is always a name */

typedef enum {
  SLP_X_PATH,
  SLP_X_VALUE,
  SLP_X_SIZE,          /* operand a */
  SLP_X_PLUS,          /* operands a, b */
  SLP_X_MINUS,         /* operands a, b */
  SLP_X_IF_NOT_EXISTS, /* operands a (a path), b */
  SLP_X_LIST_APPEND,   /* operands a, b */
  SLP_X_EQ,            /* operands a, b */
  SLP_X_NE,
  SLP_X_LT,
  SLP_X_LE,
  SLP_X_GT,
  SLP_X_GE,
  SLP_X_BETWEEN,     /* operands a, b, b->next */
  SLP_X_IN,          /* operands a, b, and all after b */
  SLP_X_AND,         /* operands a, b */
  SLP_X_OR,          /* operands a, b */
  SLP_X_NOT,         /* operand a */
  SLP_X_EXISTS,      /* operand a (a path) */
  SLP_X_NOT_EXISTS,  /* operand a (a path) */
  SLP_X_TYPE,        /* operands a (a path), b */
  SLP_X_BEGINS,      /* operands a, b */
  SLP_X_CONTAINS,    /* operands a, b */
  SLP_X_NOT_CONTAINS /* operands a, b; only the older form of conditions has it */
} slp_x_op;

typedef struct slp_x {
  slp_x_op op;
  slp_path *path;      /* for PATH */
  const slp_av *value; /* for VALUE */
  struct slp_x *a, *b, *next;
} slp_x;

typedef enum { SLP_UP_SET, SLP_UP_REMOVE, SLP_UP_ADD, SLP_UP_DELETE } slp_up_kind;
typedef struct slp_up { /* one action of an update expression */
  slp_up_kind kind;
  slp_path *path;
  slp_x *value; /* for SET, and as a VALUE for ADD and DELETE */
  struct slp_up *next;
} slp_up;

typedef struct slp_names { /* ExpressionAttributeNames or ...Values, and which of them were used */
  struct slp_name_entry {
    slp_str key;
    slp_str name;
    slp_av *value;
    uint8_t used;
  } * v; /* in the arena */
  uint32_t n;
} slp_names;

typedef struct slp_words { /* what the expressions of one request (or one action) share */
  slp_box_call *c;
  slp_names names, values;
  uint8_t any; /* 1: an expression was parsed */
} slp_words;
/* Reads ExpressionAttributeNames and ExpressionAttributeValues, which are members of `parent`. */
int slp_words_read(slp_words *w, slp_box_call *c, uint32_t parent);
int slp_words_end(slp_words *w); /* fails the call if one was not used */
/* 0, or -1: the call has failed with "Invalid KIND: ...". */
int slp_parse_condition(slp_words *w, const char *kind, slp_str text, slp_x **ret);
int slp_parse_update(slp_words *w, slp_str text, slp_up **ret);
typedef struct slp_paths {
  slp_path *path;
  struct slp_paths *next;
} slp_paths;
int slp_parse_projection(slp_words *w, slp_str text, slp_paths **ret);
/* Returns a text about two paths that clash. One may be the other, or its beginning, or they need a map and a
 * list at the same place. NULL: the paths do not clash. */
const char *slp_paths_clash(const slp_path *a, const slp_path *b);
void slp_path_text(const slp_path *p, char out[300]); /* such as [a, b, [2]] */

/* ---- ddb_eval.c */
slp_av *slp_path_find(const slp_path *p, const slp_av *item); /* NULL: it is not there */
/* Returns 1 if the condition holds, otherwise 0. item NULL: like an empty item. It never fails: with wrong
 * types a comparison is false. */
int slp_x_holds(const slp_x *x, const slp_av *item);
/* Returns the parts of the item that the paths name, in the arena. NULL: no memory. */
slp_av *slp_project(slp_arena *a, const slp_paths *paths, const slp_av *v);

/* ---- ddb_update.c */
/* Returns the item after the update. `was` may be NULL; `key` then gives the new item its key. NULL: the call
 * has failed. */
slp_av *slp_update_apply(slp_box_call *c, const slp_up *first, const slp_av *was, const slp_av *key);

/* ---- tables -------------------------------------------------------------------------------------- */
#define SLP_DDB_ITEM_BYTES (400u * 1024)
typedef struct slp_item { /* one version of an item */
  slp_arena memory;
  size_t size; /* by the service's rules */
  slp_av *value;
} slp_item;

typedef struct slp_version {
  slp_item *item;  /* owned; NULL: the item does not exist */
  int64_t from_ms; /* when this version began */
  struct slp_version *older;
} slp_version;

/* A key of a table or index. Its values are in memory that belongs to somebody else. */
typedef struct slp_key {
  uint64_t place;            /* from the hash key: gives the order of a scan */
  const slp_av *hash, *sort; /* sort NULL: the table has no sort key */
} slp_key;

typedef struct slp_row {
  slp_key key; /* its values are in `memory` */
  slp_arena memory;
  slp_version *now; /* owned */
} slp_row;

typedef struct slp_key_part {
  char *name;
  slp_av_kind kind; /* S, N or B */
} slp_key_part;

typedef struct slp_bucket { /* provisioned units: added each second, and saved up for 300 seconds */
  /* units: for each second. at_ms: when units were last added. */
  int64_t units, at_ms;
  int64_t thousandths; /* what is left, in thousandths of half a unit */
} slp_bucket;

typedef enum { SLP_PROJECT_ALL, SLP_PROJECT_KEYS, SLP_PROJECT_SOME } slp_projection;
typedef struct slp_index {
  char *name; /* NULL: the table's own key */
  uint8_t local, parts_n;
  slp_key_part part[2];
  slp_projection projection;
  char **some; /* attributes in the index beside the keys */
  uint32_t some_n;
  uint8_t creating;
  slp_bucket reads, writes;
} slp_index;

typedef struct slp_table_tag slp_table_tag; /* ddb_extras.c */

#define SLP_DDB_INDEXES 26 /* the table's own, 20 global and 5 local ones */
struct slp_table {
  slp_list link; /* in ddb->tables, sorted by name */
  char *name;    /* owned, as all pointers below */
  char id[40];
  slp_box_status status;
  int64_t change_ms; /* when the status ends */
  int64_t created_ms;
  slp_index index[SLP_DDB_INDEXES]; /* index[0]: the table's own key */
  uint32_t indexes_n;
  uint8_t on_demand, protected;
  uint8_t stream_on;
  char view_type[24];   /* of its stream; "": none */
  slp_changes *changes; /* NULL: there never was a stream */
  slp_table_tag *tags;  /* owned */
  uint32_t tags_n;
  uint8_t recovery_days;
  int64_t recovery_from_ms; /* 0: no point in time recovery */
  char *ttl_name;           /* NULL: items do not expire */
  int64_t ttl_swept_ms;
  int64_t stale_ms; /* how old the state may be that eventually consistent reads see */
  slp_row **rows;   /* sorted by place, hash key, sort key */
  size_t rows_n, rows_cap, items, bytes;
  int64_t pruned_ms;
  slp_map keys;    /* name -> slp_key_load; owns the values */
  size_t keys_max; /* once there are so many keys, those without recent use are forgotten */
};

typedef struct slp_token { /* a ClientRequestToken of the last ten minutes */
  slp_list link;
  int64_t at_ms;
  uint8_t digest[32]; /* of the request */
  char text[40];
} slp_token;

struct slp_ddb {
  slp_list tables, tokens;
  slp_arena memory; /* for the request that is being answered */
  /* For an observer of tables: the item before and after a write. NULL: it did not exist, or does not exist
   * any more. */
  void (*on_write)(void *arg, const slp_table *t, const slp_av *was, const slp_av *now);
  void *on_write_arg;
};
static inline slp_arena *slp_call_arena(slp_box_call *c) { return &c->box->ddb->memory; }

/* ddb_tables.c: makes, frees and finds tables. */
slp_ddb *slp_ddb_new(slp_mem *mem);
void slp_ddb_free(slp_box *box);
/* changes states that are due, and removes expired items */
void slp_ddb_settle(slp_box *box, int64_t now_ms);
void slp_ddb_call_over(slp_box *box);
slp_table *slp_table_find(slp_box *box, slp_str name);
/* Finds a table by name or ARN. NULL: there is none, or it can't be used now, and the call has failed. */
slp_table *slp_table_named(slp_box_call *c, slp_str name);
slp_table *slp_table_of(slp_box_call *c); /* the request's TableName */
slp_str slp_table_bare_name(slp_str name_or_arn);
void slp_table_free(slp_box *box, slp_table *t);
void slp_table_arn(slp_box_call *c, const slp_table *t, char out[400]);
/* Sets how old the state may be that eventually consistent reads see. ms 0: every read is consistent. */
static inline void slp_table_stale(slp_table *t, int64_t ms) { t->stale_ms = ms; }
int slp_table_op_create(slp_box_call *c);
int slp_table_op_update(slp_box_call *c);
int slp_table_op_delete(slp_box_call *c);

/* ddb_schema.c: keys, indexes and throughput from requests. -1: the call has failed. */
int slp_schema_read(slp_box_call *c, slp_table *t); /* all of a CreateTable */
int slp_schema_billing(slp_box_call *c,
                       slp_table *t); /* BillingMode and ProvisionedThroughput of an update */
/* GlobalSecondaryIndexUpdates; 1: the request has none */
int slp_schema_globals(slp_box_call *c, slp_table *t);
/* NULL: there is none; never finds the table's own key */
slp_index *slp_index_find(slp_table *t, slp_str name);
void slp_index_free(slp_box *box, slp_index *x);

/* ddb_describe.c */
void slp_table_put(slp_box_call *c, slp_table *t); /* TableDescription, as a value */
int slp_table_op_describe(slp_box_call *c);
int slp_table_op_list(slp_box_call *c);
int slp_table_op_ttl(slp_box_call *c);
int slp_table_op_describe_ttl(slp_box_call *c);

/* ddb_extras.c: tags and continuous backups. */
int slp_table_tags_read(slp_box_call *c, slp_table *t); /* the request's Tags */
void slp_table_tags_free(slp_box *box, slp_table *t);
int slp_table_op_tag(slp_box_call *c);
int slp_table_op_untag(slp_box_call *c);
int slp_table_op_list_tags(slp_box_call *c);
int slp_table_op_backups(slp_box_call *c);
int slp_table_op_describe_backups(slp_box_call *c);

/* ddb_rows.c: the rows of a table. */
/* Reads the "Key" of a request, which must have exactly the parts of the table's key. -1: the call has
 * failed. */
int slp_key_read(slp_box_call *c, const slp_table *t, const slp_av *from, slp_key *ret);
/* Reads the key of an item that is to be put. Its index keys must have the right types too. -1: the call has
 * failed. */
int slp_key_of_item(slp_box_call *c, const slp_table *t, const slp_av *item, slp_key *ret);
int slp_check_index_keys(slp_box_call *c, const slp_table *t, const slp_av *item);
uint64_t slp_place_of(const slp_av *hash);
int slp_row_key_cmp(const slp_key *a, const slp_key *b);
slp_row *slp_row_find(slp_table *t, const slp_key *key);
/* Returns the first row that is not before the key. after 1: the first row behind the key. */
size_t slp_row_from(const slp_table *t, const slp_key *key, int after);
/* Returns the item as it was at that time; INT64_MAX: as it is now. NULL: it did not exist. */
const slp_item *slp_row_at(const slp_row *row, int64_t at_ms);
/* Changes an item; no other function does. now NULL: deletes it. SLP_ENOMEM: nothing has changed. */
int slp_row_write(slp_box *box, slp_table *t, int64_t now_ms, const slp_key *key, const slp_av *now,
                  int by_ttl);
void slp_rows_free(slp_box *box, slp_table *t);
void slp_rows_expire(slp_box *box, slp_table *t, int64_t now_ms);
/* Returns the time whose state a read sees: now, or somewhat earlier for an eventually consistent read. */
int64_t slp_read_moment(slp_box_call *c, const slp_table *t, int consistent);
/* Returns the item's key as a new map. NULL: no memory. */
slp_av *slp_key_map(slp_arena *a, const slp_table *t, const slp_av *item);
int slp_index_holds(const slp_index *x, const slp_av *item);
/* Returns the attributes of the item that are in the index. NULL: no memory. */
slp_av *slp_index_part(slp_arena *a, const slp_table *t, const slp_index *x, const slp_av *item);
int slp_index_projects(const slp_table *t, const slp_index *x, slp_str name);

/* ddb_cost.c: capacity, in halves of a unit. */
typedef struct slp_cost {
  slp_table *t;
  int64_t reads[SLP_DDB_INDEXES], writes[SLP_DDB_INDEXES]; /* [0]: the table */
  struct slp_cost *next;
} slp_cost;
slp_cost *slp_cost_of(slp_box_call *c, slp_cost **all,
                      slp_table *t); /* one for each table; NULL: no memory, and the call has failed */
int64_t slp_cost_write(size_t size); /* of one item, at least a unit */
int64_t slp_cost_read(size_t size, int consistent); /* of one item or one page */
/* Adds the cost of changing an item, with all indexes. -1: the call has failed. */
int slp_cost_change(slp_box_call *c, slp_cost *to, const slp_av *was, const slp_av *now, int times);
void slp_bucket_set(slp_bucket *b, int64_t now_ms, int64_t units);
/* Takes a write's cost from the units of the table and its indexes. -1: there are too few, the call has
 * failed, and nothing was taken. */
int slp_cost_take_writes(slp_box_call *c, slp_cost *cost);
/* Returns 0 if a read may begin. Its cost is taken later, when it is known. -1: the call has failed. */
int slp_cost_may_read(slp_box_call *c, slp_table *t, uint32_t n);
void slp_cost_take_reads(slp_box_call *c, slp_cost *cost);
/* Writes ConsumedCapacity in the form that the request asks for. many: as a list with all tables. both: with
 * reads and writes apart. */
void slp_cost_put(slp_box_call *c, const slp_cost *cost, int many, int both);

/* ddb_keys.c: what one partition key may use in a second, in halves of a unit. 0, or -1: the call has
 * failed. */
typedef struct slp_key_load slp_key_load;
int slp_key_take_write(slp_box_call *c, slp_table *t, const slp_key *key, int64_t halves);
int slp_key_may_read(slp_box_call *c, slp_table *t, const slp_key *key);
void slp_key_take_read(slp_box_call *c, slp_table *t, const slp_key *key, int64_t halves);
void slp_keys_free(slp_box *box, slp_table *t);

/* ddb_write.c */
typedef enum { SLP_ACT_PUT, SLP_ACT_UPDATE, SLP_ACT_DELETE, SLP_ACT_CHECK } slp_act_kind;
typedef struct slp_action {
  slp_act_kind kind;
  slp_table *t;
  slp_key key;
  slp_av *key_map;      /* for all kinds but PUT */
  slp_av *item;         /* for PUT */
  slp_up *update;       /* for UPDATE */
  slp_x *condition;     /* NULL: no condition */
  uint8_t show_on_fail; /* ReturnValuesOnConditionCheckFailure */
  const slp_av *was;    /* NULL: the item did not exist */
  const slp_av *now;    /* NULL: the item is to be deleted */
} slp_action;
/* Reads an action from that node of the request. -1: the call has failed. */
int slp_action_read(slp_box_call *c, uint32_t node, slp_act_kind kind, slp_action *a);
/* Sets the action's table, and its item or key. -1: the call has failed. */
int slp_action_aim(slp_box_call *c, slp_action *a, slp_str table, slp_av *map);
/* Sets `was` and `now`. 0. 1: the condition does not hold. -1: the call has failed. */
int slp_action_judge(slp_box_call *c, slp_action *a);
int slp_action_apply(slp_box_call *c, const slp_action *a); /* 0 or -1 */
int slp_write_op_put(slp_box_call *c);
int slp_write_op_update(slp_box_call *c);
int slp_write_op_delete(slp_box_call *c);

/* ddb_legacy.c: turns older parameters into the same trees. *ret NULL: the parameter is absent. -1: the call
 * has failed. */
int slp_legacy_expected(slp_box_call *c, uint32_t from, slp_x **ret); /* Expected, ConditionalOperator */
int slp_legacy_updates(slp_box_call *c, uint32_t from, slp_up **ret); /* AttributeUpdates */
int slp_legacy_filter(slp_box_call *c, uint32_t from, const char *member, slp_x **ret);
int slp_legacy_attributes(slp_box_call *c, uint32_t from, slp_paths **ret); /* AttributesToGet */

/* ddb_read.c */
/* Reads ProjectionExpression or AttributesToGet of that node. -1: the call has failed. */
int slp_read_projection(slp_box_call *c, uint32_t node, slp_words *w, slp_paths **ret);
int slp_read_op_get(slp_box_call *c);

/* ddb_query.c */
int slp_read_op_query(slp_box_call *c);
int slp_read_op_scan(slp_box_call *c);

/* ddb_batch.c, ddb_transact.c */
int slp_batch_op_get(slp_box_call *c);
int slp_batch_op_write(slp_box_call *c);
int slp_transact_op_get(slp_box_call *c);
int slp_transact_op_write(slp_box_call *c);
void slp_tokens_free(slp_box *box);

/* ddb_answer.c: members of the request's tree, and values for the answer. */
slp_value *slp_in_get(slp_box_call *c, uint32_t node, const char *name);
/* {NULL, 0}: the member is absent. *bad 1: it is not a text, and the call has failed. */
slp_str slp_in_text(slp_box_call *c, uint32_t node, const char *name, int *bad);
int slp_in_flag(slp_box_call *c, uint32_t node, const char *name); /* 1: the member is true */
/* Find a member's node. *ret 0: it is absent. -1: it is of another kind, and the call has failed. */
int slp_in_map(slp_box_call *c, uint32_t node, const char *name, uint32_t *ret);
int slp_in_list(slp_box_call *c, uint32_t node, const char *name, uint32_t *ret);
void slp_out_item(slp_box_call *c, const slp_av *item);                 /* as a value */
void slp_error_item(slp_box_call *c, const slp_av *item);               /* as the error's member Item */
int slp_refuse(slp_box_call *c, const char *fmt, ...) SLP_PRINTF(2, 3); /* ValidationException; returns -1 */

#endif

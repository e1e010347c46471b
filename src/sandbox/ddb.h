/* ddb.h - the tables of the sandbox's DynamoDB: values, expressions, rows, and the declarations its files
 * share. Private to this room. Written from the service's documented behaviour; shares no code with its
 * clients. */
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
  uint8_t negative, digits_n;     /* 0 digits: zero */
  int16_t exponent;               /* value = digits x 10^exponent */
  uint8_t digits[SLP_N38_DIGITS]; /* 0..9; the first and the last are not 0 */
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
size_t slp_n38_text(const slp_n38 *n, char out[SLP_N38_TEXT_MAX]); /* plain digits, no exponent; no NUL */
int slp_n38_cmp(const slp_n38 *a, const slp_n38 *b);
slp_n38_fault slp_n38_add(const slp_n38 *a, const slp_n38 *b, int subtract, slp_n38 *ret);
const char *slp_n38_why(slp_n38_fault fault); /* in the service's words */
size_t slp_n38_size(const slp_n38 *n);        /* bytes it counts for in an item */

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

/* A visible value is never changed; maps and sets are kept sorted. */
typedef struct slp_av {
  slp_av_kind kind;
  uint8_t on;     /* of BOOL */
  uint32_t count; /* of L, M and sets */
  slp_str name;   /* when it is a member of a map */
  slp_str text;   /* of S; of B decoded; of N as it is written out */
  struct slp_av *first, *next;
} slp_av;

#define SLP_AV_DEPTH 32
const char *slp_av_kind_name(slp_av_kind kind); /* "S" */
int slp_av_is_set(slp_av_kind kind);
slp_av *slp_av_member(const slp_av *map, slp_str name);  /* NULL */
slp_av *slp_av_item(const slp_av *list, uint32_t index); /* NULL */
int slp_av_equal(const slp_av *a, const slp_av *b);
/* Compares two values of one kind that has an order: S, N, B. */
int slp_av_cmp(const slp_av *a, const slp_av *b);
size_t slp_av_size(const slp_av *v); /* by the service's rules, without a name */
/* The size of a member of a map, with its name. */
static inline size_t slp_av_named_size(const slp_av *v) { return v->name.n + slp_av_size(v); }
size_t slp_item_size(const slp_av *item);              /* of all attributes */
slp_av *slp_av_copy(slp_arena *a, const slp_av *v);    /* deep; next is NULL */
slp_av *slp_av_shallow(slp_arena *a, const slp_av *v); /* the node alone; its children are shared */
int slp_av_put_json(slp_buf *b, const slp_av *v);      /* {"S":"x"} */
int slp_item_put_json(slp_buf *b, const slp_av *item); /* {"a":{"S":"x"}} */
slp_av *slp_av_new(slp_arena *a, slp_av_kind kind);
slp_av *slp_av_number(slp_arena *a, const slp_n38 *n);
/* Puts a member (a node of its own) into the map, or replaces the one of that name. */
void slp_av_set_member(slp_av *map, slp_av *member);
void slp_av_remove_member(slp_av *map, slp_str name);
/* Sort the elements of a set, the members of a map; 0 when two are equal. */
int slp_av_sort_set(slp_av *set);
int slp_av_sort_map(slp_av *map);

/* ddb_input.c: from the request's tree. Each fails the call and returns NULL. */
slp_av *slp_av_read(slp_box_call *c, uint32_t node);
slp_av *slp_ddb_item_read(slp_box_call *c, uint32_t node); /* a map of attributes; {} too */

/* ---- ddb_words.c --------------------------------------------------------------------------------------- */
int slp_ddb_reserved(slp_str word); /* upper or lower case */

/* ---- ddb_parse.c: expressions into trees */
typedef struct slp_path_step {
  slp_str name; /* .p NULL: an index */
  uint32_t index;
  struct slp_path_step *next;
} slp_path_step;
typedef slp_path_step slp_path; /* its first step, always a name */

typedef enum {
  SLP_X_PATH,
  SLP_X_VALUE,
  SLP_X_SIZE,          /* a */
  SLP_X_PLUS,          /* a, b */
  SLP_X_MINUS,         /* a, b */
  SLP_X_IF_NOT_EXISTS, /* a (a path), b */
  SLP_X_LIST_APPEND,   /* a, b */
  SLP_X_EQ,            /* a, b */
  SLP_X_NE,
  SLP_X_LT,
  SLP_X_LE,
  SLP_X_GT,
  SLP_X_GE,
  SLP_X_BETWEEN,     /* a, b, b->next */
  SLP_X_IN,          /* a, b and all next of it */
  SLP_X_AND,         /* a, b */
  SLP_X_OR,          /* a, b */
  SLP_X_NOT,         /* a */
  SLP_X_EXISTS,      /* a (a path) */
  SLP_X_NOT_EXISTS,  /* a (a path) */
  SLP_X_TYPE,        /* a (a path), b */
  SLP_X_BEGINS,      /* a, b */
  SLP_X_CONTAINS,    /* a, b */
  SLP_X_NOT_CONTAINS /* a, b; only the older form of conditions has it */
} slp_x_op;

typedef struct slp_x {
  slp_x_op op;
  slp_path *path;      /* of PATH */
  const slp_av *value; /* of VALUE */
  struct slp_x *a, *b, *next;
} slp_x;

typedef enum { SLP_UP_SET, SLP_UP_REMOVE, SLP_UP_ADD, SLP_UP_DELETE } slp_up_kind;
typedef struct slp_up { /* one action of an update */
  slp_up_kind kind;
  slp_path *path;
  slp_x *value; /* of SET, ADD (a VALUE), DELETE (a VALUE) */
  struct slp_up *next;
} slp_up;

typedef struct slp_names { /* ExpressionAttributeNames or Values, and which were used */
  struct slp_name_entry {
    slp_str key;
    slp_str name;
    slp_av *value;
    uint8_t used;
  } * v; /* in the arena */
  uint32_t n;
} slp_names;

typedef struct slp_words { /* shared by the expressions of one request (or one action) */
  slp_box_call *c;
  slp_names names, values;
  uint8_t any; /* an expression was parsed */
} slp_words;
/* Reads ExpressionAttributeNames and ExpressionAttributeValues, members of that node. */
int slp_words_read(slp_words *w, slp_box_call *c, uint32_t parent);
int slp_words_end(slp_words *w); /* fails the call when one was not used */
/* Each fails the call with "Invalid KIND: ..." and returns -1. */
int slp_parse_condition(slp_words *w, const char *kind, slp_str text, slp_x **ret);
int slp_parse_update(slp_words *w, slp_str text, slp_up **ret);
typedef struct slp_paths {
  slp_path *path;
  struct slp_paths *next;
} slp_paths;
int slp_parse_projection(slp_words *w, slp_str text, slp_paths **ret);
/* Describes two paths that clash: one is the other or its beginning, or they disagree on map or list. NULL:
 * none. */
const char *slp_paths_clash(const slp_path *a, const slp_path *b);
void slp_path_text(const slp_path *p, char out[300]); /* [a, b, [2]] */

/* ---- ddb_eval.c */
slp_av *slp_path_find(const slp_path *p, const slp_av *item); /* NULL: not there */
/* 1, 0. item NULL counts as empty. Never fails: wrong types make a comparison false. */
int slp_x_holds(const slp_x *x, const slp_av *item);
/* The item's parts that the paths name, in the arena; NULL: no memory. */
slp_av *slp_project(slp_arena *a, const slp_paths *paths, const slp_av *v);

/* ---- ddb_update.c */
/* The item after the update (was may be NULL; key names the new item). Fails the call: NULL. */
slp_av *slp_update_apply(slp_box_call *c, const slp_up *first, const slp_av *was, const slp_av *key);

/* ---- tables -------------------------------------------------------------------------------------- */
#define SLP_DDB_ITEM_BYTES (400u * 1024)
typedef struct slp_item { /* one version of an item */
  slp_arena memory;
  size_t size; /* by the service's rules */
  slp_av *value;
} slp_item;

typedef struct slp_version {
  slp_item *item;  /* owned; NULL: the item is not there */
  int64_t from_ms; /* since that time */
  struct slp_version *older;
} slp_version;

/* A key of a table or of an index; its values live elsewhere. */
typedef struct slp_key {
  uint64_t place;            /* of the hash key: the order of a scan */
  const slp_av *hash, *sort; /* sort NULL: the table has none */
} slp_key;

typedef struct slp_row {
  slp_key key; /* in memory */
  slp_arena memory;
  slp_version *now; /* owned */
} slp_row;

typedef struct slp_key_part {
  char *name;
  slp_av_kind kind; /* S, N or B */
} slp_key_part;

typedef struct slp_bucket { /* provisioned units: refilled each second, saved for 300 seconds */
  int64_t units, at_ms;
  int64_t thousandths; /* of half a unit */
} slp_bucket;

typedef enum { SLP_PROJECT_ALL, SLP_PROJECT_KEYS, SLP_PROJECT_SOME } slp_projection;
typedef struct slp_index {
  char *name; /* NULL: the table's own key */
  uint8_t local, parts_n;
  slp_key_part part[2];
  slp_projection projection;
  char **some; /* attributes beside the keys */
  uint32_t some_n;
  uint8_t creating;
  slp_bucket reads, writes;
} slp_index;

typedef struct slp_table_tag slp_table_tag; /* ddb_extras.c */

#define SLP_DDB_INDEXES 26 /* the table's own, 20 global, 5 local */
struct slp_table {
  slp_list link; /* of ddb->tables, by name */
  char *name;    /* owned, as everything below */
  char id[40];
  slp_box_status status;
  int64_t change_ms; /* the status ends then */
  int64_t created_ms;
  slp_index index[SLP_DDB_INDEXES]; /* index[0]: the table's key */
  uint32_t indexes_n;
  uint8_t on_demand, protected;
  uint8_t stream_on;
  char view_type[24];   /* of its stream; "" */
  slp_changes *changes; /* NULL: there never was a stream */
  slp_table_tag *tags;  /* owned */
  uint32_t tags_n;
  uint8_t recovery_days;
  int64_t recovery_from_ms; /* 0: no point in time recovery */
  char *ttl_name;           /* NULL: off */
  int64_t ttl_swept_ms;
  int64_t stale_ms; /* eventually consistent reads see the state up to so long ago */
  slp_row **rows;   /* by place, hash key, sort key */
  size_t rows_n, rows_cap, items, bytes;
  int64_t pruned_ms;
  slp_map keys;    /* name -> slp_key_load, which it owns */
  size_t keys_max; /* with so many of them the quiet ones are forgotten */
};

typedef struct slp_token { /* a ClientRequestToken of the last ten minutes */
  slp_list link;
  int64_t at_ms;
  uint8_t digest[32]; /* of the request */
  char text[40];
} slp_token;

struct slp_ddb {
  slp_list tables, tokens;
  slp_arena memory; /* of the request at hand */
  /* For an observer of a table: the item before and after a write. NULL: absent. */
  void (*on_write)(void *arg, const slp_table *t, const slp_av *was, const slp_av *now);
  void *on_write_arg;
};
static inline slp_arena *slp_call_arena(slp_box_call *c) { return &c->box->ddb->memory; }

/* ddb_tables.c: life; finding. */
slp_ddb *slp_ddb_new(slp_mem *mem);
void slp_ddb_free(slp_box *box);
void slp_ddb_settle(slp_box *box, int64_t now_ms); /* changes of status that are due, items out of time */
void slp_ddb_call_over(slp_box *box);
slp_table *slp_table_find(slp_box *box, slp_str name);
/* Finds a table by name or ARN; fails the call when there is none, or it can't be used now. */
slp_table *slp_table_named(slp_box_call *c, slp_str name);
slp_table *slp_table_of(slp_box_call *c); /* by TableName of the request */
slp_str slp_table_bare_name(slp_str name_or_arn);
void slp_table_free(slp_box *box, slp_table *t);
void slp_table_arn(slp_box_call *c, const slp_table *t, char out[400]);
/* How stale eventually consistent reads may be. ms 0: every read is consistent. */
static inline void slp_table_stale(slp_table *t, int64_t ms) { t->stale_ms = ms; }
int slp_table_op_create(slp_box_call *c);
int slp_table_op_update(slp_box_call *c);
int slp_table_op_delete(slp_box_call *c);

/* ddb_schema.c: keys, indexes and throughput as requests define them. Each fails the call: -1. */
int slp_schema_read(slp_box_call *c, slp_table *t); /* all of a CreateTable */
int slp_schema_billing(slp_box_call *c,
                       slp_table *t); /* BillingMode and ProvisionedThroughput of an update */
int slp_schema_globals(slp_box_call *c, slp_table *t); /* GlobalSecondaryIndexUpdates; 1: there are none */
slp_index *slp_index_find(slp_table *t, slp_str name); /* NULL: none; never the table's own */
void slp_index_free(slp_box *box, slp_index *x);

/* ddb_describe.c */
void slp_table_put(slp_box_call *c, slp_table *t); /* TableDescription, a value */
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

/* ddb_rows.c: what a table holds. */
/* Reads the "Key" of a request: exactly the parts of the table's key. Fails the call: -1. */
int slp_key_read(slp_box_call *c, const slp_table *t, const slp_av *from, slp_key *ret);
/* Reads the key of an item to be put; its index keys must have the right types, too. */
int slp_key_of_item(slp_box_call *c, const slp_table *t, const slp_av *item, slp_key *ret);
int slp_check_index_keys(slp_box_call *c, const slp_table *t, const slp_av *item);
uint64_t slp_place_of(const slp_av *hash);
int slp_row_key_cmp(const slp_key *a, const slp_key *b);
slp_row *slp_row_find(slp_table *t, const slp_key *key);
/* The first row not before the key (after: behind it). */
size_t slp_row_from(const slp_table *t, const slp_key *key, int after);
/* The item as it was then (INT64_MAX: as it is); NULL: not there. */
const slp_item *slp_row_at(const slp_row *row, int64_t at_ms);
/* The only place where items change. now NULL: the item is deleted. SLP_ENOMEM: nothing changed. */
int slp_row_write(slp_box *box, slp_table *t, int64_t now_ms, const slp_key *key, const slp_av *now,
                  int by_ttl);
void slp_rows_free(slp_box *box, slp_table *t);
void slp_rows_expire(slp_box *box, slp_table *t, int64_t now_ms);
/* The time whose state a read sees: now, or a little earlier for an eventually consistent one. */
int64_t slp_read_moment(slp_box_call *c, const slp_table *t, int consistent);
/* The item's key as a map of its own; NULL: no memory. */
slp_av *slp_key_map(slp_arena *a, const slp_table *t, const slp_av *item);
int slp_index_holds(const slp_index *x, const slp_av *item);
/* The attributes of the item that are in the index; NULL: no memory. */
slp_av *slp_index_part(slp_arena *a, const slp_table *t, const slp_index *x, const slp_av *item);
int slp_index_projects(const slp_table *t, const slp_index *x, slp_str name);

/* ddb_cost.c: capacity, in halves of a unit. */
typedef struct slp_cost {
  slp_table *t;
  int64_t reads[SLP_DDB_INDEXES], writes[SLP_DDB_INDEXES]; /* [0]: the table */
  struct slp_cost *next;
} slp_cost;
slp_cost *slp_cost_of(slp_box_call *c, slp_cost **all,
                      slp_table *t);                /* one for each table; NULL: no memory */
int64_t slp_cost_write(size_t size);                /* of one item, not less than a unit */
int64_t slp_cost_read(size_t size, int consistent); /* of one item or one page */
/* Adds the cost of changing an item, with all indexes. Fails the call: -1. */
int slp_cost_change(slp_box_call *c, slp_cost *to, const slp_av *was, const slp_av *now, int times);
void slp_bucket_set(slp_bucket *b, int64_t now_ms, int64_t units);
/* Takes a write's cost from the table's and its indexes' units, or fails the call and takes nothing. */
int slp_cost_take_writes(slp_box_call *c, slp_cost *cost);
/* May a read begin? Its cost is charged when it is known. */
int slp_cost_may_read(slp_box_call *c, slp_table *t, uint32_t n);
void slp_cost_take_reads(slp_box_call *c, slp_cost *cost);
/* Writes ConsumedCapacity, as the request asks for it; many: a list of all tables; both: reads and writes
 * apart. */
void slp_cost_put(slp_box_call *c, const slp_cost *cost, int many, int both);

/* ddb_keys.c: what one partition key gets in a second, in halves of a unit. */
typedef struct slp_key_load slp_key_load;
int slp_key_take_write(slp_box_call *c, slp_table *t, const slp_key *key,
                       int64_t halves);                                  /* or fails the call */
int slp_key_may_read(slp_box_call *c, slp_table *t, const slp_key *key); /* or fails the call */
void slp_key_take_read(slp_box_call *c, slp_table *t, const slp_key *key, int64_t halves);
void slp_keys_free(slp_box *box, slp_table *t);

/* ddb_write.c */
typedef enum { SLP_ACT_PUT, SLP_ACT_UPDATE, SLP_ACT_DELETE, SLP_ACT_CHECK } slp_act_kind;
typedef struct slp_action {
  slp_act_kind kind;
  slp_table *t;
  slp_key key;
  slp_av *key_map;      /* of all but PUT */
  slp_av *item;         /* of PUT */
  slp_up *update;       /* of UPDATE */
  slp_x *condition;     /* or NULL */
  uint8_t show_on_fail; /* ReturnValuesOnConditionCheckFailure */
  const slp_av *was;    /* NULL: there was none */
  const slp_av *now;    /* NULL: there is none */
} slp_action;
/* Reads an action from that node of the request. Fails the call: -1. */
int slp_action_read(slp_box_call *c, uint32_t node, slp_act_kind kind, slp_action *a);
/* Sets the action's table, and its item or key. Fails the call: -1. */
int slp_action_aim(slp_box_call *c, slp_action *a, slp_str table, slp_av *map);
/* Sets was and now. 0, 1: the condition does not hold, -1: the call has failed. */
int slp_action_judge(slp_box_call *c, slp_action *a);
int slp_action_apply(slp_box_call *c, const slp_action *a); /* 0 or -1 */
int slp_write_op_put(slp_box_call *c);
int slp_write_op_update(slp_box_call *c);
int slp_write_op_delete(slp_box_call *c);

/* ddb_legacy.c: the older parameters, as the same trees. Each fails the call: -1; absent: *ret is NULL. */
int slp_legacy_expected(slp_box_call *c, uint32_t from, slp_x **ret); /* Expected, ConditionalOperator */
int slp_legacy_updates(slp_box_call *c, uint32_t from, slp_up **ret); /* AttributeUpdates */
int slp_legacy_filter(slp_box_call *c, uint32_t from, const char *member, slp_x **ret);
int slp_legacy_attributes(slp_box_call *c, uint32_t from, slp_paths **ret); /* AttributesToGet */

/* ddb_read.c */
/* Reads ProjectionExpression or AttributesToGet of that node. */
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
/* {NULL, 0}: absent. *bad: not a text, and the call has failed. */
slp_str slp_in_text(slp_box_call *c, uint32_t node, const char *name, int *bad);
int slp_in_flag(slp_box_call *c, uint32_t node, const char *name); /* true? */
/* The number of a member's node, 0 when absent. -1: it is of another kind, and the call has failed. */
int slp_in_map(slp_box_call *c, uint32_t node, const char *name, uint32_t *ret);
int slp_in_list(slp_box_call *c, uint32_t node, const char *name, uint32_t *ret);
void slp_out_item(slp_box_call *c, const slp_av *item);                 /* a value */
void slp_error_item(slp_box_call *c, const slp_av *item);               /* the error's member Item */
int slp_refuse(slp_box_call *c, const char *fmt, ...) SLP_PRINTF(2, 3); /* ValidationException; -1 */

#endif

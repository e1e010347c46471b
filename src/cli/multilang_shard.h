/* multilang_shard.h - the life of a shard and of its child in the MultiLangDaemon's protocol: what is said to
 * the child, what its lines mean, and what is asked of the consumer. It does nothing by itself: all it does
 * goes through a table of functions, and time is handed in.
 *
 *   WAITS --- its time has come --> ASKED: an action was sent, its status is waited for
 *     ^                               | ^  |
 *     |            a checkpoint is asked +-> CHECKPOINTS: the answer of the lease table is waited for
 *     |                               v
 *     |                             IDLE --- another action --> ASKED
 *     |                               |
 *     |                               +- after leaseLost or shardEnded --> CLOSES: its input is closed
 *     |                                                  it stays: SIGTERM --> PUSHED --> SIGKILL
 *     |                                                                      |
 *     +--- it has exited, --- KILLED <-- died, hung, lied: from the three    |
 *     |    the shard is held  (its exit is waited for) --- else --> OVER <---+ it has exited, the lease is
 *     +--- its end was not checkpointed -------------------------------------+ gone or its end named */
#ifndef SLP_CLI_MULTILANG_SHARD_H
#define SLP_CLI_MULTILANG_SHARD_H

#include "base/buf.h"
#include "base/list.h"
#include "cli/given_numbers.h"
#include "cli/multilang_protocol.h"
#include "sloop.h"

#define SLP_ML_QUEUE_MAX 4     /* batches held of one shard: more than the consumer hands out */
#define SLP_ML_LINE_MAX 262144 /* bytes of a child's line; a longer one is junk */
#define SLP_ML_TOLD_MAX 10     /* lines of one kind that are told of a child in ... */
#define SLP_ML_TOLD_US UINT64_C(5000000)
#define SLP_ML_PIECE 65536 /* bytes that are made ready for a child at once, and one record more */

typedef enum slp_ml_state {
  SLP_ML_WAITS,
  SLP_ML_ASKED,
  SLP_ML_IDLE,
  SLP_ML_CHECKPOINTS,
  SLP_ML_CLOSES,
  SLP_ML_PUSHED,
  SLP_ML_KILLED,
  SLP_ML_OVER,
  SLP_ML_STATES
} slp_ml_state;
const char *slp_ml_state_name(slp_ml_state s);

/* Whose the shard is. */
typedef enum slp_ml_lease {
  SLP_ML_HELD,
  SLP_ML_LEAVING, /* another worker asks for it */
  SLP_ML_GONE
} slp_ml_lease;

typedef enum slp_ml_end {
  SLP_ML_READING,
  SLP_ML_READ_OUT, /* there is nothing behind what was handed over */
  SLP_ML_NAMED,    /* the child has checkpointed its end */
  SLP_ML_WRITTEN   /* and the lease table has it */
} slp_ml_end;

/* What was asked of the child before the shard goes: once a life of the child. */
typedef enum slp_ml_notice { SLP_ML_UNTOLD, SLP_ML_TOLD } slp_ml_notice;

typedef struct slp_ml_place { /* in a shard: a record, or KCL's word for where it begins */
  char seq[130];              /* "" with a word */
  char word[16];
  uint64_t sub;
} slp_ml_place;

typedef struct slp_ml_limits {
  const char *program;    /* for messages */
  uint64_t timeout_us;    /* of the child's answers; 0: none */
  uint64_t close_us;      /* from the end of its input to SIGTERM, and from that to SIGKILL */
  uint64_t checkpoint_us; /* how long the lease table may take before the child is told that it failed */
  uint64_t empty_us;      /* processRecords without records so often; 0: never */
  uint64_t warn_us;       /* an answer that takes so long is told, and again when it took twice as long */
} slp_ml_limits;

typedef struct slp_ml_told { /* lines of one kind about a child */
  uint64_t since_us;
  uint32_t n;
  uint64_t kept_back;
} slp_ml_told;

typedef struct slp_ml_shard slp_ml_shard;
typedef struct slp_ml_ops {
  /* 0, or why the child can't be started (errno of ours). */
  int (*start)(slp_ml_shard *h);
  /* Takes bytes for the child; slp_ml_written() comes when they are out. */
  void (*write)(slp_ml_shard *h, slp_buf *bytes);
  void (*close_input)(slp_ml_shard *h);
  void (*kill)(slp_ml_shard *h, int signal); /* of its whole group */
  /* Lines of its output are wanted, one slp_ml_line() a line, or not. */
  void (*listen)(slp_ml_shard *h, int on);
  /* Writes that all up to this place is done, or the whole shard (NULL): slp_ml_checkpointed() answers. Not
   * 0: it can't, as a SLOOP_E*. */
  int (*checkpoint)(slp_ml_shard *h, const slp_ml_place *place_or_null);
  void (*rewind)(slp_ml_shard *h);    /* the shard is to be read again from the last checkpoint */
  void (*hand_over)(slp_ml_shard *h); /* it may go to the worker that asks */
  void (*say)(slp_ml_shard *h, const char *line);
  void (*trace)(slp_ml_shard *h, int to_child, slp_str line);
  void (*over)(slp_ml_shard *h); /* the last call: it may be freed */
} slp_ml_ops;

struct slp_ml_shard {
  const slp_ml_ops *ops;
  slp_ml_limits limits;
  void *user;
  slp_mem *mem;
  char id[129];
  slp_ml_state state;
  slp_ml_action action; /* ASKED, CHECKPOINTS: which */
  slp_ml_lease lease;
  slp_ml_end end;
  slp_ml_notice notice;
  uint8_t stops;             /* the daemon ends */
  uint8_t stale;             /* batches of before a rewind may still come */
  uint64_t due_us;           /* WAITS: to start it; else the end of patience; UINT64_MAX: none */
  uint64_t spoke_us;         /* the last processRecords */
  uint64_t asked_us;         /* ASKED: the child has been silent since then */
  uint64_t warn_us;          /* ASKED: when it is told that it still is */
  uint8_t warned;            /* it was told, and the child has not answered since */
  slp_ml_place saved;        /* the last checkpoint that the child knows of, or where it began */
  slp_ml_place named;        /* the last one that the consumer was told: it would read again from there */
  slp_ml_place written;      /* the last one that the lease table is known to have */
  slp_ml_place given;        /* the last record that the child was given */
  slp_given_numbers numbers; /* of those between saved and given */
  slp_ml_message asked;      /* CHECKPOINTS: the child's request; its text is in asked_text */
  char asked_text[160];
  slp_ml_place naming;                    /* CHECKPOINTS: what is being written */
  sloop_batch_t *queue[SLP_ML_QUEUE_MAX]; /* the first one is with the child when it is ASKED RECORDS */
  size_t queue_n;
  size_t put_n;      /* records of the first one that were made ready for the child */
  uint8_t put_whole; /* and the end of the line too */
  uint32_t late;     /* answers of the lease table that came too late, and are still to come */
  uint32_t failures; /* in a row, without an answer to processRecords between */
  uint64_t starts, deaths;
  slp_ml_told junk, too_long;
  char why[320];       /* why it was killed last */
  char complaint[100]; /* the last line that this child wrote to standard error, as far as it goes */
};

/* from: where the consumer begins to read it. */
void slp_ml_open(slp_ml_shard *h, const slp_ml_ops *ops, const slp_ml_limits *limits, slp_mem *mem,
                 const char *shard, const sloop_position_t *from, uint64_t now_us);
/* Each is something that has happened. */
void slp_ml_start_now(slp_ml_shard *h, uint64_t now_us); /* WAITS, and due: the rate of starts allows it */
void slp_ml_batch(slp_ml_shard *h, sloop_batch_t *b, uint64_t now_us); /* it owns b */
void slp_ml_written(slp_ml_shard *h, uint64_t now_us);
void slp_ml_line(slp_ml_shard *h, char *line, size_t n, uint64_t now_us);
/* One was longer than SLP_ML_LINE_MAX, and is left out. */
void slp_ml_long_line(slp_ml_shard *h, uint64_t now_us);
void slp_ml_broken(slp_ml_shard *h, int input); /* it lives, and has closed its input or its output */
/* The process is gone, and all of its output was read. signal: 0, or what killed it. */
void slp_ml_exited(slp_ml_shard *h, int status, int signal, uint64_t now_us);
void slp_ml_complained(slp_ml_shard *h, const char *line, size_t n); /* a line of its standard error */
void slp_ml_checkpointed(slp_ml_shard *h, int status, uint64_t now_us);
void slp_ml_repositioned(slp_ml_shard *h);
void slp_ml_read_out(slp_ml_shard *h, uint64_t now_us);
void slp_ml_leaving(slp_ml_shard *h, uint64_t now_us);
void slp_ml_gone(slp_ml_shard *h, int ended, uint64_t now_us); /* the lease; ended: its end is written */
void slp_ml_stop(slp_ml_shard *h, uint64_t now_us);
void slp_ml_time(slp_ml_shard *h, uint64_t now_us); /* it passes: at due_us, or at any time */
void slp_ml_abandon(slp_ml_shard *h); /* the daemon goes: gives its batches back; call nothing after it */
/* 1: nothing has to be said to the child any more before the consumer stops. */
int slp_ml_quiet(const slp_ml_shard *h);
/* The daemon waits no longer for this child's last checkpoint: tells what it waited for. */
void slp_ml_waited_in_vain(slp_ml_shard *h, uint64_t grace_us);

#endif

/* multilang_shard.h - one shard and its child process, in the MultiLangDaemon's protocol. This file decides
 * what to send to the child, what the child's lines mean, and what to ask of the consumer. It does no I/O: it
 * acts through a table of functions (slp_ml_ops), and the caller passes the time.
 *
 *   WAITS        no child runs; at due_us a child is started and sent initialize        -> ASKED
 *   ASKED        an action was sent to the child, and its answer has not come:
 *                  the child asks for a checkpoint                                      -> CHECKPOINTS
 *                  the child answers leaseLost or shardEnded                            -> CLOSES
 *                  the child answers another action                                     -> IDLE
 *   CHECKPOINTS  the lease table is writing a checkpoint; then the child is answered    -> ASKED
 *   IDLE         the child has nothing to do; the next action is sent                   -> ASKED
 *   CLOSES       the child's input was closed; if the child does not end, SIGTERM       -> PUSHED
 *   PUSHED       SIGTERM was sent; if the child does not end, SIGKILL
 *   KILLED       the child died, hung or broke the protocol in ASKED, CHECKPOINTS or IDLE, and its exit has
 *                not been reported yet
 *   OVER         the end: ops->over was called
 *
 * When the child has exited, CLOSES, PUSHED and KILLED go to OVER if the lease is gone or the child has
 * checkpointed the end of the shard. Otherwise they go to WAITS, and a new child begins at the last
 * checkpoint. WAITS goes to OVER when the lease is gone. */
#ifndef SLP_CLI_MULTILANG_SHARD_H
#define SLP_CLI_MULTILANG_SHARD_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/given_numbers.h"
#include "cli/multilang_protocol.h"

#include <sloop.h>

/* the most batches that can wait for one child; the consumer never hands out this many */
#define SLP_ML_QUEUE_MAX 4
#define SLP_ML_LINE_MAX 262144 /* a longer line of a child's output is left out */
/* the most lines of one kind that are printed about a child in SLP_ML_TOLD_US */
#define SLP_ML_TOLD_MAX 10
#define SLP_ML_TOLD_US UINT64_C(5000000)
/* about this many bytes are formatted for a child at once; the last record may exceed it */
#define SLP_ML_PIECE 65536

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
/* Returns a static string with the state in words. */
const char *slp_ml_state_name(slp_ml_state s);

/* Shows whether this worker holds the shard's lease. */
typedef enum slp_ml_lease {
  SLP_ML_HELD,
  SLP_ML_LEAVING, /* this worker holds the lease, but another worker asks for it */
  SLP_ML_GONE
} slp_ml_lease;

typedef enum slp_ml_end {
  SLP_ML_READING,
  SLP_ML_READ_OUT, /* the consumer has handed out every record of the shard */
  SLP_ML_NAMED, /* the child has checkpointed the end of the shard, but the lease table may not have it yet */
  SLP_ML_WRITTEN /* the lease table has the end of the shard */
} slp_ml_end;

/* TOLD: shutdownRequested was sent to this child; a child gets it only once */
typedef enum slp_ml_notice { SLP_ML_UNTOLD, SLP_ML_TOLD } slp_ml_notice;

typedef struct slp_ml_place { /* a record of the shard, or KCL's word for the position where reading begins */
  char seq[130];              /* "" if `word` is used */
  char word[16];              /* a word such as TRIM_HORIZON */
  uint64_t sub;
} slp_ml_place;

typedef struct slp_ml_limits {
  const char *program; /* name of the child's program, for messages */
  uint64_t timeout_us; /* a child that has not answered is killed after this much silence; 0: never */
  uint64_t close_us;   /* time from closing the child's input to SIGTERM, and from SIGTERM to SIGKILL */
  /* if the lease table takes longer than this, the child is told that its checkpoint failed */
  uint64_t checkpoint_us;
  uint64_t empty_us; /* time between two processRecords without records; 0: none are sent */
  /* if the child process does not answer, this is reported after this time, and again whenever the silence
   * has doubled, or grown by WARN_EVERY_US if that is less */
  uint64_t warn_us;
} slp_ml_limits;

typedef struct slp_ml_told { /* counts the lines of one kind that were printed about a child, to limit them */
  uint64_t since_us;         /* when the current interval of SLP_ML_TOLD_US began */
  uint32_t n;                /* number of lines printed in this interval */
  /* number of lines left out since the user last saw a count of left-out lines */
  uint64_t kept_back;
} slp_ml_told;

typedef struct slp_ml_shard slp_ml_shard;
/* The functions through which the shard acts. The caller provides them. */
typedef struct slp_ml_ops {
  /* Starts the child. Returns 0, or a negative code for sloop_strerror(). */
  int (*start)(slp_ml_shard *h);
  /* Writes `bytes` to the child and takes them over. When all is written, the caller must call
   * slp_ml_written(). */
  void (*write)(slp_ml_shard *h, slp_buf *bytes);
  void (*close_input)(slp_ml_shard *h);
  /* Sends a signal to the child and to all processes that it started. */
  void (*kill)(slp_ml_shard *h, int signal);
  /* Turns reading of the child's output on or off. While it is on, the caller must call slp_ml_line() for
   * each line. */
  void (*listen)(slp_ml_shard *h, int on);
  /* Starts to write a checkpoint at the place; NULL: the end of the shard. Returns 0 if the write was
   * started; then the caller must call slp_ml_checkpointed() with the outcome. Otherwise returns a SLOOP_E*,
   * and no outcome comes. */
  int (*checkpoint)(slp_ml_shard *h, const slp_ml_place *place_or_null);
  /* Reads the shard again from the last checkpoint. When the rewind is done, the caller must call
   * slp_ml_repositioned(). */
  void (*rewind)(slp_ml_shard *h);
  void (*hand_over)(slp_ml_shard *h);             /* gives the shard's lease to the worker that asks for it */
  void (*say)(slp_ml_shard *h, const char *line); /* prints a line for the user */
  /* shows a line that was sent to or came from the child */
  void (*trace)(slp_ml_shard *h, int to_child, slp_str line);
  void (*over)(slp_ml_shard *h); /* the last call for h, which may be freed in it */
} slp_ml_ops;

struct slp_ml_shard {
  const slp_ml_ops *ops;
  slp_ml_limits limits;
  void *user; /* belongs to the caller; slp_ml_open does not change it */
  slp_mem *mem;
  char id[129];
  slp_ml_state state;
  slp_ml_action action; /* in ASKED and CHECKPOINTS: the action that the child has not answered yet */
  slp_ml_lease lease;
  slp_ml_end end;
  slp_ml_notice notice;
  uint8_t stops; /* 1: the daemon is stopping */
  /* 1: a rewind was asked for. Batches from before the rewind may still come; they are given back unread. */
  uint8_t stale;
  /* WAITS: when to start a child. IDLE: when to send a processRecords without records. Other states: when to
   * stop waiting for the child or for the lease table. UINT64_MAX: never. */
  uint64_t due_us;
  uint64_t spoke_us; /* when the last processRecords was sent */
  uint64_t asked_us; /* in ASKED: when the child's silence began */
  uint64_t warn_us;  /* in ASKED: when to report the silence next */
  uint8_t warned;    /* 1: the silence was reported, and the child has not answered since */
  /* the last checkpoint that the child was told has succeeded; at first, where reading began */
  slp_ml_place saved;
  /* the last checkpoint that was passed to the consumer; after a rewind the consumer reads from there */
  slp_ml_place named;
  slp_ml_place written; /* the last checkpoint that was surely written to the lease table */
  slp_ml_place given;   /* the last record that was sent to this child */
  /* sequence numbers of the records from `saved` to `given`; the child may checkpoint at each of them */
  slp_given_numbers numbers;
  slp_ml_message asked; /* in CHECKPOINTS: the child's request; its text is in asked_text */
  char asked_text[160];
  slp_ml_place naming; /* in CHECKPOINTS: the place that is being written to the lease table */
  /* batches to send, oldest first; in ASKED with SLP_ML_RECORDS the first batch is being handled by the
   * child */
  sloop_batch_t *queue[SLP_ML_QUEUE_MAX];
  size_t queue_n;
  size_t put_n;      /* number of records of queue[0] that are in the pieces passed to `write` so far */
  uint8_t put_whole; /* 1: the whole line of the action was passed to `write` */
  /* number of checkpoints whose outcome will be ignored when it comes, because the child was told that the
   * checkpoint failed, or is gone */
  uint32_t late;
  /* number of children in a row that failed without answering a processRecords or getting a checkpoint
   * written */
  uint32_t failures;
  /* starts: number of children started; deaths: number of children that ended too early */
  uint64_t starts, deaths;
  slp_ml_told junk, too_long;
  char why[320];       /* why the last child was killed, died, or could not be started */
  char complaint[100]; /* the last line that this child wrote to standard error, cut; "": it wrote none */
};

/* Puts the shard into the state WAITS. `from` is the position at which the consumer begins to read it.
 * h->user must be set before; all other members are set here. */
void slp_ml_open(slp_ml_shard *h, const slp_ml_ops *ops, const slp_ml_limits *limits, slp_mem *mem,
                 const char *shard, const sloop_position_t *from, uint64_t now_us);
/* The caller reports events by calling the functions below. Each function may call functions of `ops`, and
 * ops->over may free h. */
/* Starts a child. The caller may call this only in WAITS, from due_us on. */
void slp_ml_start_now(slp_ml_shard *h, uint64_t now_us);
/* adds a batch for the child; h owns b from now on */
void slp_ml_batch(slp_ml_shard *h, sloop_batch_t *b, uint64_t now_us);
void slp_ml_written(slp_ml_shard *h, uint64_t now_us);
void slp_ml_line(slp_ml_shard *h, char *line, size_t n, uint64_t now_us);
/* Reports that a line of the child's output was longer than SLP_ML_LINE_MAX and was left out. */
void slp_ml_long_line(slp_ml_shard *h, uint64_t now_us);
/* Reports that a living child has closed its input (`input` 1) or its output (`input` 0). */
void slp_ml_broken(slp_ml_shard *h, int input);
/* Reports that the child has exited and all of its output was read. signal: the signal that ended it; 0: it
 * exited with `status`. */
void slp_ml_exited(slp_ml_shard *h, int status, int signal, uint64_t now_us);
/* Reports that the child wrote a line to standard error. */
void slp_ml_complained(slp_ml_shard *h, const char *line, size_t n);
void slp_ml_checkpointed(slp_ml_shard *h, int status, uint64_t now_us); /* outcome of ops->checkpoint */
/* Reports that the rewind that ops->rewind began is done: batches that come from now on are to be sent to the
 * child. */
void slp_ml_repositioned(slp_ml_shard *h);
void slp_ml_read_out(slp_ml_shard *h, uint64_t now_us); /* the consumer reported SLOOP_SHARD_READ_OUT */
void slp_ml_leaving(slp_ml_shard *h, uint64_t now_us);  /* the consumer reported SLOOP_SHARD_LEAVING */
/* Reports that the lease is gone. ended: 1 if the lease table has the end of the shard. */
void slp_ml_gone(slp_ml_shard *h, int ended, uint64_t now_us);
void slp_ml_stop(slp_ml_shard *h, uint64_t now_us); /* Reports that the daemon is stopping. */
/* checks the times; to be called at due_us or more often */
void slp_ml_time(slp_ml_shard *h, uint64_t now_us);
/* Called when the daemon ends before h is OVER. Gives the batches back and frees what h owns. No other
 * function may be called for h afterwards. */
void slp_ml_abandon(slp_ml_shard *h);
/* Returns 1 if the consumer may stop as far as this child is concerned: no message must still be sent to the
 * child, and the child must not answer one. */
int slp_ml_quiet(const slp_ml_shard *h);
/* Called when the daemon stops waiting for this child's last checkpoint. Reports to the user what is
 * missing. */
void slp_ml_waited_in_vain(slp_ml_shard *h, uint64_t grace_us);

#endif

/* multilang_shard.h - one shard and its child process in the MultiLangDaemon's protocol: what is said to the
 * child, what its lines mean, and what is asked of the consumer. It does no I/O: it acts through a table of
 * functions (slp_ml_ops), and the caller passes the time in.
 *
 *   WAITS        no child runs; at due_us one is started and sent initialize         -> ASKED
 *   ASKED        an action was sent, and the child's status is awaited:
 *                  the child asks for a checkpoint                                    -> CHECKPOINTS
 *                  it answered leaseLost or shardEnded                                -> CLOSES
 *                  it answered anything else                                          -> IDLE
 *   CHECKPOINTS  the lease table's answer is awaited; the child is told               -> ASKED
 *   IDLE         nothing is to be said; the next action is sent                       -> ASKED
 *   CLOSES       the child's input was closed; if it does not end, SIGTERM            -> PUSHED
 *   PUSHED       SIGTERM was sent; if the child does not end, SIGKILL
 *   KILLED       the child died, hung or broke the protocol in ASKED, CHECKPOINTS or IDLE; its exit is
 *                awaited
 *   OVER         the end: ops->over was called
 *
 * When the child has exited, CLOSES, PUSHED and KILLED go to OVER if the lease is gone or the child has
 * checkpointed the end of the shard. Otherwise they go to WAITS, and a new child begins at the last
 * checkpoint. WAITS goes to OVER when the lease is gone. */
#ifndef SLP_CLI_MULTILANG_SHARD_H
#define SLP_CLI_MULTILANG_SHARD_H

#include "base/buf.h"
#include "base/list.h"
#include "cli/given_numbers.h"
#include "cli/multilang_protocol.h"
#include "sloop.h"

/* batches of one shard that are held at most; the consumer never hands out so many */
#define SLP_ML_QUEUE_MAX 4
#define SLP_ML_LINE_MAX 262144 /* bytes of a line of a child's output; a longer line is left out */
/* the most lines of one kind that are told about a child in SLP_ML_TOLD_US */
#define SLP_ML_TOLD_MAX 10
#define SLP_ML_TOLD_US UINT64_C(5000000)
#define SLP_ML_PIECE 65536 /* bytes that are prepared for a child at once; the last record may go beyond it */

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
/* Returns the state in words; static. */
const char *slp_ml_state_name(slp_ml_state s);

/* Whether this worker holds the shard's lease. */
typedef enum slp_ml_lease {
  SLP_ML_HELD,
  SLP_ML_LEAVING, /* held, but another worker asks for it */
  SLP_ML_GONE
} slp_ml_lease;

typedef enum slp_ml_end {
  SLP_ML_READING,
  SLP_ML_READ_OUT, /* every record was handed over by the consumer, and no more will come */
  SLP_ML_NAMED,    /* the child has checkpointed the end of the shard */
  SLP_ML_WRITTEN   /* the end is in the lease table */
} slp_ml_end;

/* TOLD: this child was sent shutdownRequested. It is sent once to each child. */
typedef enum slp_ml_notice { SLP_ML_UNTOLD, SLP_ML_TOLD } slp_ml_notice;

typedef struct slp_ml_place { /* a record of the shard, or KCL's word for where reading begins */
  char seq[130];              /* "" if word is used */
  char word[16];              /* such as TRIM_HORIZON */
  uint64_t sub;
} slp_ml_place;

typedef struct slp_ml_limits {
  const char *program; /* the child's program, for messages */
  uint64_t timeout_us; /* a child that owes an answer is killed after this much silence; 0: never */
  uint64_t close_us;   /* from the closing of its input to SIGTERM, and from SIGTERM to SIGKILL */
  /* when the lease table takes longer, the child is told that its checkpoint failed */
  uint64_t checkpoint_us;
  uint64_t empty_us; /* interval of processRecords without records; 0: never sent */
  /* a child that owes an answer is reported after this much silence, and again after twice as much */
  uint64_t warn_us;
} slp_ml_limits;

typedef struct slp_ml_told { /* limits how many lines of one kind are told about a child */
  uint64_t since_us;         /* when the present interval of SLP_ML_TOLD_US began */
  uint32_t n;                /* lines told in this interval */
  uint64_t kept_back;        /* lines only counted since */
} slp_ml_told;

typedef struct slp_ml_shard slp_ml_shard;
/* Functions by which the shard acts. */
typedef struct slp_ml_ops {
  /* Starts the child. Returns 0, or a negative code that sloop_strerror() explains. */
  int (*start)(slp_ml_shard *h);
  /* Writes to the child and takes what `bytes` holds; slp_ml_written() comes when all is written. */
  void (*write)(slp_ml_shard *h, slp_buf *bytes);
  void (*close_input)(slp_ml_shard *h);
  /* sends a signal to the child and all processes that it started */
  void (*kill)(slp_ml_shard *h, int signal);
  /* Turns reading of the child's output on or off. While it is on, slp_ml_line() comes for each line. */
  void (*listen)(slp_ml_shard *h, int on);
  /* Writes a checkpoint at the place; NULL: the end of the shard. Returns 0, and slp_ml_checkpointed() comes
   * with the outcome; or a SLOOP_E*, and nothing comes. */
  int (*checkpoint)(slp_ml_shard *h, const slp_ml_place *place_or_null);
  /* reads the shard again from the last checkpoint; slp_ml_repositioned() comes */
  void (*rewind)(slp_ml_shard *h);
  void (*hand_over)(slp_ml_shard *h);             /* lets the shard go to the worker that asks for it */
  void (*say)(slp_ml_shard *h, const char *line); /* tells the user */
  void (*trace)(slp_ml_shard *h, int to_child, slp_str line); /* shows what is exchanged */
  void (*over)(slp_ml_shard *h);                              /* the last call: h may be freed in it */
} slp_ml_ops;

struct slp_ml_shard {
  const slp_ml_ops *ops;
  slp_ml_limits limits;
  void *user; /* of the caller; slp_ml_open keeps it */
  slp_mem *mem;
  char id[129];
  slp_ml_state state;
  slp_ml_action action; /* ASKED, CHECKPOINTS: the action that the child has to answer */
  slp_ml_lease lease;
  slp_ml_end end;
  slp_ml_notice notice;
  uint8_t stops; /* 1: the daemon is stopping */
  uint8_t stale; /* 1: batches from before a rewind may still come, and are given back */
  /* WAITS: when to start a child; IDLE: when to send an empty processRecords; else when the wait for the
   * child or the lease table is over. UINT64_MAX: never. */
  uint64_t due_us;
  uint64_t spoke_us;  /* when the last processRecords was sent */
  uint64_t asked_us;  /* ASKED: since when the child has been silent */
  uint64_t warn_us;   /* ASKED: when to report the silence next */
  uint8_t warned;     /* 1: the silence was reported, and the child has not answered since */
  slp_ml_place saved; /* the last checkpoint that the child was told of, or where reading began */
  /* the last checkpoint passed to the consumer; after a rewind it reads from there */
  slp_ml_place named;
  slp_ml_place written;      /* the last checkpoint that the lease table is known to have */
  slp_ml_place given;        /* the last record that this child was given */
  slp_given_numbers numbers; /* sequence numbers of the records after `saved`, up to `given` */
  slp_ml_message asked;      /* CHECKPOINTS: the child's request; its text lies in asked_text */
  char asked_text[160];
  slp_ml_place naming; /* CHECKPOINTS: the place that is being written */
  /* the oldest first; in ASKED with SLP_ML_RECORDS the child has the first */
  sloop_batch_t *queue[SLP_ML_QUEUE_MAX];
  size_t queue_n;
  size_t put_n;      /* records of queue[0] that were passed to `write` */
  uint8_t put_whole; /* 1: the whole line was passed to `write` */
  /* answers of the lease table that are still to come and will be ignored: the child was told that the
   * checkpoint failed, or is gone */
  uint32_t late;
  /* children that failed in a row, without a processRecords answered or a checkpoint written */
  uint32_t failures;
  uint64_t starts, deaths; /* number of children started; number that ended too early */
  slp_ml_told junk, too_long;
  char why[320];       /* why the last child was killed or is missing */
  char complaint[100]; /* the beginning of the last line that this child wrote to standard error; "": none */
};

/* Begins the life of a shard in WAITS. `from` is where the consumer begins to read it. h->user must be set
 * before, all other members are set here. */
void slp_ml_open(slp_ml_shard *h, const slp_ml_ops *ops, const slp_ml_limits *limits, slp_mem *mem,
                 const char *shard, const sloop_position_t *from, uint64_t now_us);
/* The caller reports events by the functions below. Each may call ops; ops->over may free h. */
void slp_ml_start_now(slp_ml_shard *h, uint64_t now_us); /* starts a child; only in WAITS, from due_us on */
void slp_ml_batch(slp_ml_shard *h, sloop_batch_t *b, uint64_t now_us); /* takes b over */
void slp_ml_written(slp_ml_shard *h, uint64_t now_us);
void slp_ml_line(slp_ml_shard *h, char *line, size_t n, uint64_t now_us);
/* A line of the child's output was longer than SLP_ML_LINE_MAX and was left out. */
void slp_ml_long_line(slp_ml_shard *h, uint64_t now_us);
/* The child lives and has closed its input (`input`) or its output. */
void slp_ml_broken(slp_ml_shard *h, int input);
/* The child is gone, and all of its output was read. signal: the signal that ended it; 0: it exited with
 * `status`. */
void slp_ml_exited(slp_ml_shard *h, int status, int signal, uint64_t now_us);
/* the child wrote a line to standard error */
void slp_ml_complained(slp_ml_shard *h, const char *line, size_t n);
void slp_ml_checkpointed(slp_ml_shard *h, int status, uint64_t now_us); /* the outcome of ops->checkpoint */
void slp_ml_repositioned(slp_ml_shard *h); /* the rewind is done: batches that come now are new */
void slp_ml_read_out(slp_ml_shard *h, uint64_t now_us); /* SLOOP_SHARD_READ_OUT */
void slp_ml_leaving(slp_ml_shard *h, uint64_t now_us);  /* SLOOP_SHARD_LEAVING */
/* the lease is gone; ended: the end of the shard is in the lease table */
void slp_ml_gone(slp_ml_shard *h, int ended, uint64_t now_us);
void slp_ml_stop(slp_ml_shard *h, uint64_t now_us); /* the daemon is stopping */
void slp_ml_time(slp_ml_shard *h, uint64_t now_us); /* time has passed; call it at due_us or more often */
void slp_ml_abandon(slp_ml_shard *h); /* the daemon ends: gives the batches back; call nothing after it */
/* Returns 1 if nothing has to be said to the child before the consumer stops. */
int slp_ml_quiet(const slp_ml_shard *h);
/* The daemon no longer waits for this child's last checkpoint: tells the user what is missing. */
void slp_ml_waited_in_vain(slp_ml_shard *h, uint64_t grace_us);

#endif

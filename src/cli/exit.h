/* exit.h - the exit statuses of stream-tail. */
#ifndef SLP_CLI_EXIT_H
#define SLP_CLI_EXIT_H

enum {
  /* The command has done everything that the user asked for. It reached the end that the user set (-e, -c,
   * --until, --timeout), or a first Ctrl-C came, or the reader of standard output closed the pipe. */
  SLP_EXIT_FINE = 0,
  /* The command failed; one line on standard error says why and what to do. Also used if only a part of the
   * work could be done, or if a change was interrupted before it was complete. */
  SLP_EXIT_FAILED = 1,
  SLP_EXIT_USAGE = 2, /* the command line is wrong */
  SLP_EXIT_LOSS = 3,  /* --fail-on-loss: records were lost */
  /* --release, --reset, --migrate: nothing was changed, because a living worker owns a lease. --save: another
   * process keeps its position in the same file. */
  SLP_EXIT_OWNED = 4,
  SLP_EXIT_NO_SHARD = 5,  /* --explain, --release, --reset: there is no such shard */
  SLP_EXIT_NO_WORKER = 6, /* --release: there is neither such a worker nor such a shard */
  SLP_EXIT_BEHIND = 7,    /* --lag-over: a shard is further behind than the limit, or its lag is not known */
  SLP_EXIT_DENIED = 8,    /* --iam --try: a right is missing */
  SLP_EXIT_REFUSED = 9,   /* -P: some lines were refused, and all others were put */
  SLP_EXIT_INTERRUPTED = 130 /* a second Ctrl-C */
};

#endif

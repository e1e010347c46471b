/* exit.h - the exit statuses of stream-tail. */
#ifndef SLP_CLI_EXIT_H
#define SLP_CLI_EXIT_H

enum {
  /* The end was reached (-e, -c, --until, --timeout), a first Ctrl-C came, or the reader of standard output
   * left. Everything that was asked for was given. */
  SLP_EXIT_FINE = 0,
  /* One line on standard error says why it failed and what to do. Also: not all that was asked for could be
   * done, or a change was interrupted before it was done. */
  SLP_EXIT_FAILED = 1,
  SLP_EXIT_USAGE = 2, /* the command line is wrong */
  SLP_EXIT_LOSS = 3,  /* --fail-on-loss: records were lost */
  /* --release, --reset, --migrate: a living worker owns a lease, and nothing was changed. --save: another
   * process keeps its place in the file. */
  SLP_EXIT_OWNED = 4,
  SLP_EXIT_NO_SHARD = 5,     /* --explain, --release, --reset: there is no such shard */
  SLP_EXIT_NO_WORKER = 6,    /* --release: there is no such worker, and no such shard */
  SLP_EXIT_BEHIND = 7,       /* --lag-over: a shard is further behind, or may be */
  SLP_EXIT_DENIED = 8,       /* --iam --try: a right is missing */
  SLP_EXIT_INTERRUPTED = 130 /* a second Ctrl-C */
};

#endif

/* exit.h - the exit statuses of stream-tail. */
#ifndef SLP_CLI_EXIT_H
#define SLP_CLI_EXIT_H

enum {
  SLP_EXIT_FINE = 0,   /* the end was reached (-e, -c, --until, --timeout), a first Ctrl-C, or the reader
                             of standard output left: all that was asked for was given */
  SLP_EXIT_FAILED = 1, /* one line on standard error says why and what to do; also what could not do all that
                             was asked for, and a change that was interrupted before it was done */
  SLP_EXIT_USAGE = 2,  /* the command line is wrong */
  SLP_EXIT_LOSS = 3,   /* --fail-on-loss, and records were lost */
  SLP_EXIT_OWNED = 4,  /* --release, --reset, --migrate: a living worker owns a lease, nothing was
                             changed; --save: another process keeps its place in the file */
  SLP_EXIT_NO_SHARD = 5,     /* --explain, --release, --reset: there is no such shard */
  SLP_EXIT_NO_WORKER = 6,    /* --release: nor such a worker */
  SLP_EXIT_BEHIND = 7,       /* --lag-over: a shard is further behind, or not known to be less */
  SLP_EXIT_DENIED = 8,       /* --iam --try: a right is missing */
  SLP_EXIT_INTERRUPTED = 130 /* a second Ctrl-C */
};

#endif

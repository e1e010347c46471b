/* trouble_lines.h - decides when lines about errors are printed, so that a lasting error does not fill the
 * terminal. Three words have a meaning of their own here:
 *   - The kind of a line is a number that the caller chooses, such as an error code. Lines of one kind may
 *     stand for each other.
 *   - To tell a line is to print it.
 *   - To hold a line is to keep it, or to count it with similar lines. One line is printed for all of them
 *     five seconds later or at the end.
 *
 * The first lines of each kind are told at once; further ones are held. Every line is printed or counted, and
 * every shard is named while there is room. Pure: the caller passes the time. */
#ifndef SLP_CLI_TROUBLE_LINES_H
#define SLP_CLI_TROUBLE_LINES_H

#include "base/base.h"

#define SLP_TOLD_KINDS 16 /* the most kinds of lines that are limited at the same time */
#define SLP_TOLD_HELD 16  /* how many different lines can be held */
/* how long lines of a kind are held, in microseconds, before they are printed as one */
#define SLP_TOLD_AGAIN_US 5000000u
#define SLP_TOLD_LINE 400  /* bytes of the longest line, with its NUL */
#define SLP_TOLD_NAMES 400 /* bytes for the names of further shards in one line, with commas */
#define SLP_TOLD_TEXT (SLP_TOLD_LINE + SLP_TOLD_NAMES + 120)

typedef struct slp_told_line {
  int kind;
  uint32_t at_once; /* how many lines of this kind are printed at once in each five seconds; 0 counts as 1 */
  slp_str shard;    /* the shard that the line is about; empty: none */
  /* the line without its shard; lines with equal `what` have the same error, for different shards */
  slp_str what;
  const char *text; /* the whole line */
} slp_told_line;

typedef struct slp_told_kind { /* the lines of one kind that were printed lately */
  int kind;
  uint32_t n;     /* how many lines of the kind were printed at once since at_us */
  uint64_t at_us; /* when the present five seconds of this kind began; 0: the entry is free */
} slp_told_kind;

typedef struct slp_told_held { /* similar lines that are held, to be printed as one */
  int kind;
  /* 1: lines with another `what` are counted here too, because there was no free entry for them */
  uint8_t mixed;
  uint32_t n; /* how many lines are held in this entry; 0: the entry is free */
  /* how many of these lines are about a shard whose name is not in `names`, because there was no room */
  uint32_t unnamed_n;
  uint32_t names_n; /* how many shards are in `names` */
  /* counts up with each entry that begins to be used; the entry with the lowest serial is printed first */
  uint64_t serial;
  uint64_t said;              /* the hash of slp_told_line.what */
  char shard[132];            /* the shard that `line` is about */
  char line[SLP_TOLD_LINE];   /* the text of the first of these lines */
  char names[SLP_TOLD_NAMES]; /* the other shards, in the form ", NAME, NAME" */
} slp_told_held;

typedef struct slp_told { /* all members are 0 at the beginning */
  slp_told_kind kinds[SLP_TOLD_KINDS];
  slp_told_held held[SLP_TOLD_HELD];
  uint64_t serial;
} slp_told;

/* Returns 1 if the caller must print the line now. Returns 0 if the line is held: slp_told_next will write it
 * later. */
int slp_told_now(slp_told *t, const slp_told_line *l, uint64_t now_us);
/* Writes the oldest held lines whose five seconds are over to `text`, as one line. all: 1 to write the oldest
 * held lines even if their time is not over. Returns 1, or 0 if there are none. */
int slp_told_next(slp_told *t, uint64_t now_us, int all, char text[SLP_TOLD_TEXT]);

/* Called before the command prints its last line, `end`. Drops held lines whose text is the beginning of
 * `end`, so that they are not printed twice. */
void slp_told_drop(slp_told *t, const char *end);

#endif

/* told.h - decides which lines about trouble are told, and when. Some lines of each kind are told at once.
 * The others are held and told together five seconds later, or at the end. Every line is told or counted, and
 * every shard is named while there is room. Pure. */
#ifndef SLP_CLI_TOLD_H
#define SLP_CLI_TOLD_H

#include "base/base.h"

#define SLP_TOLD_KINDS 16          /* kinds that are remembered */
#define SLP_TOLD_HELD 16           /* different lines that can be held */
#define SLP_TOLD_AGAIN_US 5000000u /* how long lines are held */
#define SLP_TOLD_LINE 400          /* the longest line, with its NUL */
#define SLP_TOLD_NAMES 400         /* bytes for the names of further shards in a line, with commas */
#define SLP_TOLD_TEXT (SLP_TOLD_LINE + SLP_TOLD_NAMES + 120)

typedef struct slp_told_line {
  int kind;
  uint32_t at_once; /* how many lines of the kind are told at once in five seconds; 0 means 1 */
  slp_str shard;    /* empty: the line is about no shard */
  slp_str what;     /* the line without the shard: if it is equal, several shards have the same trouble */
  const char *text; /* the whole line */
} slp_told_line;

typedef struct slp_told_kind { /* a kind of lines that was told */
  int kind;
  uint32_t n;     /* lines told at once since then */
  uint64_t at_us; /* when the present five seconds began; 0: the place is free */
} slp_told_kind;

typedef struct slp_told_held { /* lines that are held together */
  int kind;
  /* 1: lines with another text are counted in, because there was no other place to hold them */
  uint8_t mixed;
  uint32_t n;                 /* how many lines; 0: the place is free */
  uint32_t unnamed_n;         /* lines of shards for whose names there was no room */
  uint32_t names_n;           /* number of shards in names */
  uint64_t serial;            /* the lowest is the oldest, and is told first */
  uint64_t said;              /* a hash of slp_told_line.what */
  char shard[132];            /* the shard of `line` */
  char line[SLP_TOLD_LINE];   /* the first of the lines */
  char names[SLP_TOLD_NAMES]; /* further shards, as ", NAME, NAME" */
} slp_told_held;

typedef struct slp_told { /* all zeros at the beginning */
  slp_told_kind kinds[SLP_TOLD_KINDS];
  slp_told_held held[SLP_TOLD_HELD];
  uint64_t serial;
} slp_told;

/* Returns 1 if the line is to be told now; 0 if it is held, and slp_told_next will give it. */
int slp_told_now(slp_told *t, const slp_told_line *l, uint64_t now_us);
/* Writes the oldest held lines that are due as one line; `all`: due or not. Returns 0 if there are none. */
int slp_told_next(slp_told *t, uint64_t now_us, int all, char text[SLP_TOLD_TEXT]);

/* Forgets held lines with which `end` begins. `end` is the line that ends everything, so it tells them. */
void slp_told_drop(slp_told *t, const char *end);

#endif

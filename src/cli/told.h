/* told.h - which lines of trouble are told, and when: of each kind some at once and the others together, five
 * seconds later or at the end. Every line is told or counted, and every shard is named while there is room.
 * Pure. */
#ifndef SLP_CLI_TOLD_H
#define SLP_CLI_TOLD_H

#include "base/base.h"

#define SLP_TOLD_KINDS 16
#define SLP_TOLD_HELD 16
#define SLP_TOLD_AGAIN_US 5000000u
#define SLP_TOLD_LINE 400  /* a line as it comes, with its NUL */
#define SLP_TOLD_NAMES 400 /* the names of other shards that a line is of, with their commas */
#define SLP_TOLD_TEXT (SLP_TOLD_LINE + SLP_TOLD_NAMES + 120)

typedef struct slp_told_line {
  int kind;
  uint32_t at_once; /* so many lines of the kind are told at once in five seconds; 0: one */
  slp_str shard;    /* empty: of none */
  slp_str what;     /* the line without the shard, as one trouble of many shards is the same */
  const char *text; /* the line */
} slp_told_line;

typedef struct slp_told_kind {
  int kind;
  uint32_t n;     /* lines told at once since at_us */
  uint64_t at_us; /* 0: none was */
} slp_told_kind;

typedef struct slp_told_held { /* lines that wait and say the same */
  int kind;
  uint8_t mixed; /* some say something else: there was no room for them */
  uint32_t n;    /* 0: none */
  uint32_t unnamed_n;
  uint32_t names_n;
  uint64_t serial; /* the older one is told first */
  uint64_t said;   /* a hash of what they say */
  char shard[132]; /* of the line */
  char line[SLP_TOLD_LINE];
  char names[SLP_TOLD_NAMES]; /* ", NAME, NAME": the other shards */
} slp_told_held;

typedef struct slp_told { /* zeros: nothing was told */
  slp_told_kind kinds[SLP_TOLD_KINDS];
  slp_told_held held[SLP_TOLD_HELD];
  uint64_t serial;
} slp_told;

/* Returns 1 if the line is to be told now. 0: slp_told_next gives it later. */
int slp_told_now(slp_told *t, const slp_told_line *l, uint64_t now_us);
/* Writes lines that have waited long enough as one, or with `all` any that wait. Returns 0 when there are
 * none. */
int slp_told_next(slp_told *t, uint64_t now_us, int all, char text[SLP_TOLD_TEXT]);

/* Lines that wait and say what begins the line that ends it all: that one tells them. */
void slp_told_drop(slp_told *t, const char *end);

#endif

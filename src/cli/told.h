/* told.h - which lines of trouble are told, and when: of each kind one in five seconds. What is kept back is
 * counted, and when it says something else than the line before it, it is told once that time is over: a
 * library tells much only once. Pure. */
#ifndef SLP_CLI_TOLD_H
#define SLP_CLI_TOLD_H

#include "base/base.h"

#define SLP_TOLD_MAX 16
#define SLP_TOLD_AGAIN_US 5000000u
#define SLP_TOLD_LINE 400

typedef struct slp_told_kind {
  int kind;
  uint32_t kept_back;        /* since the last one */
  uint64_t at_us;            /* when one was told last; 0: never */
  uint64_t said;             /* a hash of what that one said */
  char later[SLP_TOLD_LINE]; /* kept back, and says something else; empty: none */
  uint64_t later_said;
} slp_told_kind;

typedef struct slp_told { /* zeros: nothing was told */
  slp_told_kind kinds[SLP_TOLD_MAX];
} slp_told;

/* what: the line without that of which it is told, as one trouble of many shards is the same. Returns 1 if
 * the line is to be told now; *ret_kept_back others like it were not. */
int slp_told_now(slp_told *t, int kind, slp_str what, const char *line, uint64_t now_us,
                 uint32_t *ret_kept_back);
/* Copies a line that was kept back long enough, and is to be told now. Returns 0 when there is none. */
int slp_told_later(slp_told *t, uint64_t now_us, char line[SLP_TOLD_LINE], uint32_t *ret_kept_back);

#endif

/* settings.h - the options of a consumer as text. One table has their names, bounds and meanings, for
 * sloop_opts_set(), for the checks of sloop_open(), and for stream-tail's -X. */
#ifndef SLP_API_SETTINGS_H
#define SLP_API_SETTINGS_H

#include "base/buf.h"

#define SLP_SETTING_WHY 200

typedef enum {
  SLP_SETTING_U16,
  SLP_SETTING_U32,
  SLP_SETTING_U64,
  SLP_SETTING_I64,
  SLP_SETTING_FLAG,
  SLP_SETTING_TEXT,  /* a text; the struct points to the caller's text, which is not copied */
  SLP_SETTING_CHOICE /* one of several words; the struct has an enum; the words are in `unit` */
} slp_setting_kind;

typedef struct slp_setting {
  const char *name;
  slp_setting_kind kind;
  size_t at;         /* the offset of the setting's member in the struct */
  uint64_t min, max; /* the least and the greatest value of a number */
  /* for a number: its unit. CHOICE: the words, separated by "|", in the order of their values, which begin at
   * 1 */
  const char *unit;
  const char *meaning;
  /* 1: stream-tail's -X does not offer this setting, because another option sets it, or because it would be
   * of no use there */
  uint8_t for_programs;
} slp_setting;

/* The settings of sloop_opts_t. */
extern const slp_setting slp_settings[];
extern const size_t slp_settings_n;

/* Returns the row with this name; NULL: there is none. */
const slp_setting *slp_setting_find(const slp_setting *rows, size_t n, slp_str name);
/* Writes a value, given as text, into the struct at `to`. Returns 0, or SLP_EINVAL with a sentence in `why`
 * that names the setting. */
int slp_setting_write(const slp_setting *s, void *to, slp_str value, char why[SLP_SETTING_WHY]);
/* Appends the value that the setting has in the struct at `from`, as a user would write it; "" for a text
 * that is NULL. */
int slp_setting_put(const slp_setting *s, const void *from, slp_buf *b);
/* Checks the value, a number or choice, that the setting has in the struct at `from`. Returns 0, or
 * SLP_EINVAL with a sentence in `why`. */
int slp_setting_check(const slp_setting *s, const void *from, char why[SLP_SETTING_WHY]);

#endif

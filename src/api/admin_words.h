/* admin_words.h - texts for people that say why an operator's command failed. */
#ifndef SLP_API_ADMIN_WORDS_H
#define SLP_API_ADMIN_WORDS_H

#include "admin/command.h"
#include "base/fail.h"

/* Replaces the message of f by a text about why->reason, unless that is SLP_ADMIN_TOLD. Leaves f's class and
 * code as they are. */
void slp_admin_words(slp_fail *f, const slp_admin_why *why);

#endif

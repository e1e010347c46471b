/* admin_words.h - texts for people that say why an operator's command failed. */
#ifndef SLP_API_ADMIN_WORDS_H
#define SLP_API_ADMIN_WORDS_H

#include "admin/command.h"
#include "base/fail.h"

/* puts the reason into the message of f; leaves f's class and code as they are */
void slp_admin_words(slp_fail *f, const slp_admin_why *why);

#endif

/* man_multilang.h - a section of the manual page, in roff. man.c writes it, and the keys of the daemon
 * behind it. */
#ifndef SLP_CLI_MAN_MULTILANG_H
#define SLP_CLI_MAN_MULTILANG_H

extern const char slp_man_multilang[];

#endif

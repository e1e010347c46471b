/* man_multilang.h - the section of the manual page for users of the MultiLangDaemon, in roff. man.c writes
 * this text, and after it a list of the daemon's keys. */
#ifndef SLP_CLI_MAN_MULTILANG_H
#define SLP_CLI_MAN_MULTILANG_H

extern const char slp_man_multilang[];

#endif

/* watch_style.h - the colours of --watch. The layout (watch_view.c) writes a control byte (below 0x20) where
 * a style begins or ends. Such a byte takes no column, and no text of a table or a service contains one.
 * slp_watch_add_frame replaces these bytes by control sequences of the terminal. */
#ifndef SLP_CLI_WATCH_STYLE_H
#define SLP_CLI_WATCH_STYLE_H

#include "base/buf.h"

#define SLP_STYLE_RED "\001"
#define SLP_STYLE_YELLOW "\002"
#define SLP_STYLE_GREEN "\003"
#define SLP_STYLE_FAINT "\004"
#define SLP_STYLE_BOLD "\005"
#define SLP_STYLE_REVERSE "\006" /* until the end of the line */
/* ends all styles but SLP_STYLE_REVERSE; the end of a line ends all styles */
#define SLP_STYLE_OFF "\016"

/* Appends what is to be sent to a terminal to draw the screen: from the upper left corner on, each line over
 * that of the frame before. colours 0: only SLP_STYLE_REVERSE has an effect. Returns 0, or the error of b. */
int slp_watch_add_frame(slp_buf *b, slp_str screen, int colours);
/* Returns how many columns the text takes: its characters of UTF-8, without the bytes of styles. */
size_t slp_watch_width(slp_str text);

#endif

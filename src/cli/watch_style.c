/* watch_style.c - turns a screen with styles into the control sequences of a terminal (ECMA-48). */
#include "cli/watch_style.h"

#include "base/buf.h"

size_t slp_watch_width(slp_str text) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++) {
    unsigned char c = (unsigned char)text.p[i];
    n += c >= 0x20 && (c & 0xc0) != 0x80;
  }
  return n;
}

static const char *sequence_of(char style) {
  static const struct {
    const char *style, *sequence;
  } styles[] = {{SLP_STYLE_RED, "\033[31m"},
                {SLP_STYLE_YELLOW, "\033[33m"},
                {SLP_STYLE_GREEN, "\033[32m"},
                {SLP_STYLE_FAINT, "\033[2m"},
                {SLP_STYLE_BOLD, "\033[1m"}};
  for (size_t i = 0; i < SLP_COUNT(styles); i++)
    if (styles[i].style[0] == style) return styles[i].sequence;
  return "";
}

typedef struct styled {
  uint8_t reverse; /* 1: the rest of the line is shown in reverse */
  uint8_t on;      /* 1: a style other than reverse is on */
} styled;

static void end_styles(slp_buf *b, styled *now) {
  if (now->reverse || now->on) slp_buf_add_z(b, "\033[0m");
  *now = (styled){0};
}

static void add_style(slp_buf *b, styled *now, char style, int colours) {
  if (style == *SLP_STYLE_REVERSE) {
    slp_buf_add_z(b, "\033[7m");
    now->reverse = 1;
  } else if (style == *SLP_STYLE_OFF) {
    if (now->on) slp_buf_add_z(b, now->reverse ? "\033[0m\033[7m" : "\033[0m");
    now->on = 0;
  } else if (colours) {
    slp_buf_add_z(b, sequence_of(style));
    now->on = 1;
  }
}

int slp_watch_add_frame(slp_buf *b, slp_str screen, int colours) {
  styled now = {0};
  /* ends a style in which the frame before may have been cut off */
  slp_buf_add_z(b, "\033[0m\033[H");
  for (size_t i = 0; i < screen.n; i++) {
    char c = screen.p[i];
    if (c == '\n') {
      /* erases the rest of the line without a style, because some terminals would fill it with the colour */
      end_styles(b, &now);
      slp_buf_add_z(b, "\033[K\r\n");
    } else if ((unsigned char)c < 0x20) {
      add_style(b, &now, c, colours);
    } else {
      slp_buf_add_char(b, c);
    }
  }
  end_styles(b, &now);
  return slp_buf_add_z(b, "\033[K\033[J");
}

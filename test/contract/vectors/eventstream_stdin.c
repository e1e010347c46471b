/* eventstream_stdin.c - a line is the pieces of an event stream, in hex; the answer is each message's headers
 * (name, type, value) and payload in hex, and at the end "more" or "error". The pieces are read as they come. */
#include "codec/eventstream.h"

#include "hex_lines.h"

static void put_message(const slp_event_message *m) {
  slp_str rest = m->headers;
  slp_event_header h;
  while (slp_event_header_next(&rest, &h)) {
    hex_put(h.name.p, h.name.n);
    if (h.type == SLP_EVENT_BYTES || h.type == SLP_EVENT_TEXT || h.type == SLP_EVENT_UUID) {
      putchar('=');
      hex_put(h.bytes.p, h.bytes.n);
    } else {
      printf("%c%lld", h.type <= SLP_EVENT_FALSE ? '?' : '#', (long long)h.number);
    }
    putchar(',');
  }
  putchar('/');
  hex_put(m->payload.p, m->payload.n);
  putchar(' ');
}

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  while (hex_line_read(&l, stdin)) {
    slp_event_reader reader = {0};
    slp_event_message m;
    char *p = NULL;
    size_t n = 0;
    int r = SLP_MORE;
    for (size_t i = 0; i < l.n; i++) {
      char *moved = malloc(n + l.field[i].n + 1);
      if (!moved) return 2;
      if (n) memcpy(moved, p, n);
      memcpy(moved + n, l.field[i].p, l.field[i].n);
      free(p);
      p = moved;
      n += l.field[i].n;
      while ((r = slp_event_read(&reader, p, n, &m)) == 0) {
        put_message(&m);
        if (i % 2) { /* every other time what was read goes */
          n -= reader.at;
          memmove(p, p + reader.at, n);
          slp_event_dropped(&reader, reader.at);
        }
      }
    }
    puts(r == SLP_MORE ? "more" : "error");
    free(p);
  }
  return 0;
}

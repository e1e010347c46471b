/* json_write.h - writes JSON into a slp_buf, and sets commas by itself.
 *
 * The writer checks nothing on the way: an error stays in the buffer, and slp_buf_failed() finds it at the
 * end. Text that is not UTF-8 is SLP_EBADDATA. The caller must end each object and array with the end of its
 * own kind. */
#ifndef SLP_CODEC_JSON_WRITE_H
#define SLP_CODEC_JSON_WRITE_H

#include "base/buf.h"

typedef struct slp_jw {
  slp_buf *b;       /* what it holds already stays in front */
  uint8_t one_line; /* 1: strings as slp_json_put_line_string() writes them */
  uint8_t spaced;   /* 1: a space behind each comma and colon */
  uint8_t comma;    /* the writer's own: 1: the next value or key follows another */
} slp_jw;

slp_jw slp_jw_begin(slp_buf *b); /* plain style; begins the outermost object, which the caller ends */
/* `name` is the member's name, plain ASCII; NULL in an array, after slp_jw_key() and for the outermost
 * value. */
void slp_jw_object(slp_jw *w, const char *name);
int slp_jw_object_end(slp_jw *w);
void slp_jw_array(slp_jw *w, const char *name);
int slp_jw_array_end(slp_jw *w);         /* returns 0 or the first error, as slp_jw_object_end does */
void slp_jw_key(slp_jw *w, slp_str key); /* a name that may be any text */
void slp_jw_str(slp_jw *w, const char *name, slp_str s);
void slp_jw_z(slp_jw *w, const char *name, const char *z);         /* NULL is an empty string */
void slp_jw_z_or_null(slp_jw *w, const char *name, const char *z); /* null when NULL or empty */
void slp_jw_base64(slp_jw *w, const char *name, slp_str bytes);
void slp_jw_u64(slp_jw *w, const char *name, uint64_t v);
void slp_jw_i64(slp_jw *w, const char *name, int64_t v);
void slp_jw_i64_or_null(slp_jw *w, const char *name, int64_t v);                /* null below 0: not known */
void slp_jw_scaled(slp_jw *w, const char *name, uint64_t v, unsigned decimals); /* as slp_buf_add_scaled() */
void slp_jw_bool(slp_jw *w, const char *name, int on);
void slp_jw_null(slp_jw *w, const char *name);
void slp_jw_raw(slp_jw *w, const char *name, slp_str json); /* one value, or "a":1,"b":2 inside an object */
/* Writes what stands before a value; the caller appends the value to the returned buffer by itself. */
slp_buf *slp_jw_value(slp_jw *w, const char *name);

/* Writes one string, quoted and escaped. If that fails, the buffer's content stays as it was. */
int slp_json_put_string(slp_buf *b, slp_str s);
/* Does the same, but what slp_unsafe_length() finds becomes a \u escape. So the text stays one line, and on a
 * terminal it moves nothing and does not change the direction of text. */
int slp_json_put_line_string(slp_buf *b, slp_str s);

#endif

/* json_write.h - writes JSON into a slp_buf, and sets commas by itself.
 *
 * The functions that write need no check: an error stays in the buffer, and slp_buf_failed() finds it at the
 * end. Text that is not UTF-8 is SLP_EBADDATA. The caller must end each object by slp_jw_object_end() and
 * each array by slp_jw_array_end(). */
#ifndef SLP_CODEC_JSON_WRITE_H
#define SLP_CODEC_JSON_WRITE_H

#include "base/buf.h"

typedef struct slp_jw {
  slp_buf *b;       /* the output; JSON is appended to what it holds */
  uint8_t one_line; /* 1: strings are written by slp_json_put_line_string(), so that the output is one line */
  uint8_t spaced;   /* 1: a space follows each comma and colon */
  uint8_t comma;    /* private to the writer: 1: a comma must be written before the next value or key */
} slp_jw;

/* Begins the outermost object, which the caller ends. one_line and spaced are 0. */
slp_jw slp_jw_begin(slp_buf *b);
/* In all functions that follow, `name` is the name of the member, in plain ASCII. It is NULL in an array,
 * after slp_jw_key() and for the outermost value. */
void slp_jw_object(slp_jw *w, const char *name);
int slp_jw_object_end(slp_jw *w);
void slp_jw_array(slp_jw *w, const char *name);
int slp_jw_array_end(slp_jw *w); /* returns 0 or the first error, as slp_jw_object_end does */
/* Writes a member's name, which may be any text. Its value comes next. */
void slp_jw_key(slp_jw *w, slp_str key);
void slp_jw_str(slp_jw *w, const char *name, slp_str s);
void slp_jw_z(slp_jw *w, const char *name, const char *z); /* writes a text; NULL is written as "" */
/* writes a text; NULL and "" are written as null */
void slp_jw_z_or_null(slp_jw *w, const char *name, const char *z);
void slp_jw_base64(slp_jw *w, const char *name, slp_str bytes);
void slp_jw_u64(slp_jw *w, const char *name, uint64_t v);
void slp_jw_i64(slp_jw *w, const char *name, int64_t v);
/* writes an integer; v < 0, which means not known, is written as null */
void slp_jw_i64_or_null(slp_jw *w, const char *name, int64_t v);
void slp_jw_scaled(slp_jw *w, const char *name, uint64_t v, unsigned decimals); /* writes v / 10^decimals */
void slp_jw_bool(slp_jw *w, const char *name, int on);
void slp_jw_null(slp_jw *w, const char *name);
/* Writes `json`, which is one value, or members such as "a":1,"b":2. */
void slp_jw_raw(slp_jw *w, const char *name, slp_str json);
/* Writes what comes before a value: a comma if needed, and the name. The caller then appends the value itself
 * to the returned buffer. */
slp_buf *slp_jw_value(slp_jw *w, const char *name);

/* Appends one string, quoted and escaped. Returns 0 or an error; after an error the buffer's content is as it
 * was. */
int slp_json_put_string(slp_buf *b, slp_str s);
/* Appends a string as slp_json_put_string() does, but each unsafe character (base/clean.h) as a \u escape. So
 * the text stays one line, and can't move the cursor of a terminal or change the direction of text. */
int slp_json_put_line_string(slp_buf *b, slp_str s);
/* Appends a string as slp_json_put_line_string() does, and reads it once only. Returns 0 if s is not UTF-8:
 * then the buffer's content is as it was, and it has no error. Otherwise returns 1; an error stays in the
 * buffer. */
int slp_json_try_line_string(slp_buf *b, slp_str s);

#endif

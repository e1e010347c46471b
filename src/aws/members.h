/* members.h - writes and reads members of JSON objects one by one, for the services' small calls. */
#ifndef SLP_AWS_MEMBERS_H
#define SLP_AWS_MEMBERS_H

#include "codec/json.h"
#include "codec/json_write.h"

void slp_put_text(slp_jw *w, const char *name, slp_str value); /* writes nothing if the value is empty */
void slp_put_seconds(slp_jw *w, const char *name, int64_t ms); /* a time in seconds */

/* Enters an object or array that may be null; `opening` is SLP_JSON_OBJECT or SLP_JSON_ARRAY. Returns 1 if it
 * is inside, 0 for a null, or an error. */
int slp_read_enter(slp_json *j, int opening);
/* reads a key of the current object; returns 1 with j->text, 0 at the object's end, or an error */
int slp_read_key(slp_json *j);
int slp_read_finish(slp_json *j);                   /* fails if anything follows */
int slp_read_bad(slp_json *j, const char *why);     /* returns SLP_EBADDATA */
int slp_read_z(slp_json *j, char *to, size_t size); /* a text that must fit */
int slp_read_time(slp_json *j, int64_t *ret_ms);    /* gives -1 for a time that can't be read */
int slp_read_u32(slp_json *j, uint32_t *ret);       /* clamped to the range of uint32_t */
int slp_read_name(slp_json *j, slp_str *ret);       /* an empty name counts as absent */

#endif

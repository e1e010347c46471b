/* json_members.h - writes and reads single members of JSON objects, for the small calls of the services. The
 * slp_read_ functions return 0 or an error unless they say otherwise. */
#ifndef SLP_AWS_JSON_MEMBERS_H
#define SLP_AWS_JSON_MEMBERS_H

#include "codec/json.h"
#include "codec/json_write.h"

void slp_put_text(slp_jw *w, const char *name, slp_str value); /* writes nothing if the value is empty */
/* ms: milliseconds since 1970; written as seconds */
void slp_put_seconds(slp_jw *w, const char *name, int64_t ms);

/* Reads the start of an object or array that may be null. `opening` is SLP_JSON_OBJECT or SLP_JSON_ARRAY.
 * Returns 1 if the reader is now inside it, 0 for a null, or an error. */
int slp_read_enter(slp_json *j, int opening);
/* Reads a key of the current object. Returns 1 with the key in j->text, 0 at the end of the object, or an
 * error. */
int slp_read_key(slp_json *j);
int slp_read_finish(slp_json *j);                   /* fails if anything follows in the text */
int slp_read_bad(slp_json *j, const char *why);     /* sets j->why to `why` and returns SLP_EBADDATA */
int slp_read_z(slp_json *j, char *to, size_t size); /* reads a text, which must fit into `to` */
int slp_read_time(slp_json *j, int64_t *ret_ms);    /* *ret_ms: -1 if the time makes no sense */
int slp_read_u32(slp_json *j, uint32_t *ret);       /* a number beyond uint32_t is clamped */
int slp_read_name(slp_json *j, slp_str *ret);       /* reads a text; an empty one is absent */

#endif

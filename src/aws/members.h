/* members.h - writes and reads members of JSON objects one by one, for the services' small calls. */
#ifndef SLP_AWS_MEMBERS_H
#define SLP_AWS_MEMBERS_H

#include "codec/json.h"
#include "codec/json_write.h"

void slp_put_text(slp_jw *w, const char *name, slp_str value); /* nothing when the value is empty */
void slp_put_seconds(slp_jw *w, const char *name, int64_t ms); /* a time, as JSON has it */

/* Goes into an object or array that may be null; opening: SLP_JSON_OBJECT or _ARRAY. 1: inside; 0: null; else
 * an error. */
int slp_read_enter(slp_json *j, int opening);
int slp_read_key(slp_json *j); /* of the object we are in. 1: j->text; 0: the object ended; else an error */
int slp_read_finish(slp_json *j);                   /* nothing may follow */
int slp_read_bad(slp_json *j, const char *why);     /* SLP_EBADDATA */
int slp_read_z(slp_json *j, char *to, size_t size); /* text that must fit */
int slp_read_time(slp_json *j, int64_t *ret_ms);    /* a time that can't be read is -1 */
int slp_read_u32(slp_json *j, uint32_t *ret);       /* clamped */
int slp_read_name(slp_json *j, slp_str *ret);       /* an empty name counts as none */

#endif

/* schemas.c - reads files of schemas, and keeps the schema versions that a registry returned. */
#include "cli/schemas.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/states.h"
#include "cli/avro_schema.h"
#include "cli/decoder_table.h"
#include "cli/protobuf_schema.h"
#include "program/local.h"
#include "program/program.h"

#include <stdio.h>

static const slp_set allowed[] = {
    [SLP_SCHEMA_ASKED] = SLP_BIT(SLP_SCHEMA_HERE) | SLP_BIT(SLP_SCHEMA_FAILED),
    [SLP_SCHEMA_HERE] = 0,
    [SLP_SCHEMA_FAILED] = SLP_BIT(SLP_SCHEMA_ASKED),
};

static void move(slp_version *v, slp_schema_state to) { SLP_MOVE(allowed, v->state, to); }

static slp_version *version_of(slp_list *it) { return SLP_OWNER(it, slp_version, link); }

void slp_schemas_init(slp_schemas *s, slp_mem *mem) {
  *s = (slp_schemas){.mem = mem};
  slp_list_init(&s->versions);
  slp_buf_init(&s->file_text, mem, SLP_AVRO_SCHEMA_BYTES);
}

static void free_schema(slp_schema *of) {
  slp_avro_schema_free(&of->avro);
  slp_pb_schema_free(&of->protobuf);
}

static void free_version(slp_schemas *s, slp_version *v) {
  slp_list_remove(&v->link);
  s->versions_n--;
  free_schema(&v->schema);
  slp_free(s->mem, v);
}

void slp_schemas_free(slp_schemas *s) {
  if (!s->mem) return;
  while (!slp_list_empty(&s->versions)) free_version(s, version_of(slp_list_first(&s->versions)));
  for (size_t i = 0; i < s->files_n; i++) free_schema(&s->files[i].schema);
  slp_avro_schema_free(&s->file_schema);
  slp_buf_free(&s->file_text);
  *s = (slp_schemas){.mem = NULL};
}

/* ---- ids ---- */

static const char id_form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

void slp_schema_id_text(const uint8_t id[SLP_SCHEMA_ID], char out[SLP_SCHEMA_ID_TEXT]) {
  static const char digits[] = "0123456789abcdef";
  size_t nibble = 0;
  for (size_t i = 0; i < SLP_SCHEMA_ID_TEXT; i++) {
    out[i] = id_form[i];
    if (id_form[i] != 'x') continue;
    out[i] = digits[id[nibble / 2] >> (nibble % 2 ? 0 : 4) & 15];
    nibble++;
  }
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Parses the id before the equals sign in "ID=FILE". Returns 1, or 0 if the text does not begin with an id
 * and an equals sign. */
static int parse_id(const char *text, uint8_t ret[SLP_SCHEMA_ID]) {
  size_t nibble = 0;
  memset(ret, 0, SLP_SCHEMA_ID);
  for (size_t i = 0; i + 1 < sizeof id_form; i++) {
    int v = hex_value(text[i]);
    if (id_form[i] == 'x' ? v < 0 : text[i] != id_form[i]) return 0;
    if (id_form[i] != 'x') continue;
    ret[nibble / 2] = (uint8_t)(ret[nibble / 2] << 4 | v);
    nibble++;
  }
  return text[sizeof id_form - 1] == '=';
}

int slp_schemas_has_id(const char *given) {
  uint8_t id[SLP_SCHEMA_ID];
  return parse_id(given, id);
}

/* ---- files ---- */

/* Returns 1 if the content of the file is a descriptor set, 0 if it is JSON. JSON has no control characters
 * except blanks, but a descriptor set always has some: the tags of its fields. */
static int is_binary(slp_str text) {
  for (size_t i = 0; i < text.n; i++) {
    uint8_t c = (uint8_t)text.p[i];
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') return 1;
  }
  return 0;
}

/* Writes to `why` why the file can't be read. */
static void explain_file_failure(const char *path, int error, char why[400]) {
  char reason[SLP_LOCAL_WHY];
  slp_local_explain(path, error, 0, reason);
  snprintf(why, 400, "--schema-file: %.150s: %.220s", path, reason);
}

static int parse_avro(slp_schemas *s, slp_schema *to, const char *path, slp_str text, char why[400]) {
  char reason[SLP_AVRO_SCHEMA_WHY] = "";
  int r = slp_avro_schema_read(&to->avro, s->mem, text, reason);
  to->format = SLP_SCHEMA_AVRO;
  if (r == SLP_EBADDATA) snprintf(why, 400, "--schema-file: %.200s is not an Avro schema: %s", path, reason);
  return r;
}

static int parse_protobuf(slp_schemas *s, slp_schema *to, const char *path, slp_str text, slp_str message,
                          char why[400]) {
  char reason[SLP_PB_WHY] = "";
  int r = slp_pb_schema_read(&to->protobuf, s->mem, text, message, reason);
  to->format = SLP_SCHEMA_PROTOBUF;
  if (r == SLP_EBADDATA) snprintf(why, 400, "--schema-file: %.200s: %s", path, reason);
  return r;
}

/* Reads the file `path`. `message` is the text after the # of FILE#MESSAGE; its p is NULL if the user gave
 * no #. */
static int read_file(slp_schemas *s, slp_schema *to, const char *path, slp_str message, char why[400]) {
  slp_buf text;
  slp_buf_init(&text, s->mem, SLP_PB_SET_BYTES);
  int r = slp_local_read(path, &text), was = r;
  int binary = message.p || is_binary(slp_buf_str(&text));
  if (!r && !binary && text.n > SLP_AVRO_SCHEMA_BYTES) r = SLP_ELIMIT;
  if (r == SLP_ELIMIT) {
    snprintf(why, 400, "--schema-file: %.200s is larger than %u bytes", path,
             was ? SLP_PB_SET_BYTES : SLP_AVRO_SCHEMA_BYTES);
  } else if (r && r != SLP_ENOMEM && r != SLP_ENOENT) {
    explain_file_failure(path, r, why);
  }
  if (!r)
    r = binary ? parse_protobuf(s, to, path, slp_buf_str(&text), message, why)
               : parse_avro(s, to, path, slp_buf_str(&text), why);
  slp_buf_free(&text);
  return !r || r == SLP_ENOMEM || (was == SLP_ENOENT) ? r : SLP_EINVAL;
}

/* If a file with the whole name `given` exists, reads that file. Otherwise takes `given` as FILE#MESSAGE, and
 * reads FILE. */
static int read_given(slp_schemas *s, slp_schema *to, const char *given, char why[400]) {
  const char *mark = strrchr(given, '#');
  int r = read_file(s, to, given, (slp_str){NULL, 0}, why);
  if (r == SLP_ENOENT && mark) {
    char *path = slp_strdup(s->mem, (slp_str){given, (size_t)(mark - given)});
    r = path ? read_file(s, to, path, slp_str_of(mark + 1), why) : SLP_ENOMEM;
    if (r == SLP_ENOENT) explain_file_failure(path, r, why);
    slp_free(s->mem, path);
  } else if (r == SLP_ENOENT) {
    explain_file_failure(given, r, why);
  }
  return r == SLP_ENOENT ? SLP_EINVAL : r;
}

int slp_schemas_add_file(slp_schemas *s, const char *given, char why[400]) {
  struct slp_schema_file f = {.has_id = 0};
  if (s->files_n == SLP_SCHEMA_FILES_MAX) {
    snprintf(why, 400, "--schema-file: more than %u", SLP_SCHEMA_FILES_MAX);
    return SLP_EINVAL;
  }
  f.has_id = (uint8_t)parse_id(given, f.id);
  for (size_t i = 0; i < s->files_n; i++) {
    if (s->files[i].has_id != f.has_id || memcmp(s->files[i].id, f.id, sizeof f.id) != 0) continue;
    snprintf(why, 400, "--schema-file: two files %s",
             f.has_id ? "for one id" : "without an id; give ID=FILE");
    return SLP_EINVAL;
  }
  int r = read_given(s, &f.schema, f.has_id ? given + sizeof id_form : given, why);
  if (!r) s->files[s->files_n++] = f;
  return r;
}

/* Returns the schema of the file that the user gave for this id, or else the schema of the file without an
 * id, or else NULL. */
static const slp_schema *file_for(slp_schemas *s, const uint8_t id[SLP_SCHEMA_ID]) {
  const slp_schema *any = NULL;
  for (size_t i = 0; i < s->files_n; i++) {
    if (!s->files[i].has_id) any = &s->files[i].schema;
    if (s->files[i].has_id && memcmp(s->files[i].id, id, SLP_SCHEMA_ID) == 0) return &s->files[i].schema;
  }
  if (!any) return NULL;
  if (!s->seen_any) memcpy(s->seen, id, SLP_SCHEMA_ID);
  s->seen_any = 1;
  if (memcmp(s->seen, id, SLP_SCHEMA_ID) != 0) s->seen_more = 1;
  return any;
}

const slp_pb_schema *slp_schemas_named(const slp_schemas *s) {
  for (size_t i = 0; i < s->files_n; i++) {
    const slp_pb_schema *of = &s->files[i].schema.protobuf;
    if (!s->files[i].has_id && of->mem && of->named != SLP_PB_NONE) return of;
  }
  return NULL;
}

int slp_schemas_of_file(slp_schemas *s, slp_str json, const slp_avro_schema **ret,
                        char why[SLP_DECODER_WHY]) {
  *ret = &s->file_schema;
  if (s->file_schema.mem && slp_str_eq(slp_buf_str(&s->file_text), json)) return 0;
  slp_avro_schema_free(&s->file_schema);
  slp_buf_clear(&s->file_text);
  int r = slp_avro_schema_read(&s->file_schema, s->mem, json, why);
  if (!r && slp_buf_add_str(&s->file_text, json)) slp_avro_schema_free(&s->file_schema), r = SLP_ENOMEM;
  return r;
}

/* ---- versions of a registry ---- */

static slp_version *version_for(const slp_schemas *s, const uint8_t id[SLP_SCHEMA_ID]) {
  SLP_LIST_EACH(&s->versions, it)
  if (memcmp(version_of(it)->id, id, SLP_SCHEMA_ID) == 0) return version_of(it);
  return NULL;
}

/* Makes room for one more version. Drops the version whose last use is longest ago; skips versions that
 * are in state ASKED. */
static void make_room(slp_schemas *s) {
  if (s->versions_n < SLP_SCHEMAS_MAX) return;
  SLP_LIST_EACH(&s->versions, it) {
    if (version_of(it)->state == SLP_SCHEMA_ASKED) continue;
    free_version(s, version_of(it));
    return;
  }
}

/* Asks the registry for v. If the registry can't be asked, v goes to state FAILED. */
static void ask_registry_for_version(slp_schemas *s, slp_version *v) {
  char why[SLP_DECODER_WHY] = "";
  if (s->ask(s, v, why) != 0) slp_schemas_refuse(s, v, why);
}

int slp_schemas_find(slp_schemas *s, const uint8_t id[SLP_SCHEMA_ID], const slp_schema **ret,
                     char why[SLP_DECODER_WHY]) {
  *ret = file_for(s, id);
  if (*ret) return 0;
  if (!s->ask) {
    char text[SLP_SCHEMA_ID_TEXT];
    slp_schema_id_text(id, text);
    snprintf(why, SLP_DECODER_WHY, "no --schema-file for %s", text);
    return SLP_EBADDATA;
  }
  slp_version *v = version_for(s, id);
  if (!v) {
    make_room(s);
    v = SLP_NEW(s->mem, slp_version);
    if (!v) return SLP_ENOMEM;
    memcpy(v->id, id, SLP_SCHEMA_ID);
    v->wait_us = SLP_SCHEMA_AGAIN_US;
    s->versions_n++;
    slp_list_add_last(&s->versions, &v->link);
    ask_registry_for_version(s, v);
  } else if (v->state == SLP_SCHEMA_FAILED && slp_program_mono_us() >= v->again_at_us) {
    move(v, SLP_SCHEMA_ASKED);
    ask_registry_for_version(s, v);
  }
  slp_list_remove(&v->link);
  slp_list_add_last(&s->versions, &v->link);
  if (v->state == SLP_SCHEMA_ASKED) return SLP_DECODE_WAITS;
  if (v->state == SLP_SCHEMA_FAILED) {
    snprintf(why, SLP_DECODER_WHY, "%s", v->why);
    return SLP_EBADDATA;
  }
  *ret = &v->schema;
  return 0;
}

void slp_schemas_refuse(slp_schemas *s, slp_version *v, const char *why) {
  (void)s;
  move(v, SLP_SCHEMA_FAILED);
  snprintf(v->why, sizeof v->why, "%s", why);
  v->again_at_us = slp_after_us(slp_program_mono_us(), v->wait_us);
  v->wait_us = slp_min_u64(v->wait_us * 2, SLP_SCHEMA_AGAIN_US_MAX);
}

void slp_schemas_give_up(slp_schemas *s, slp_version *v) {
  uint64_t wait_us = v->wait_us;
  slp_schemas_refuse(s, v, "its schema was not waited for");
  v->again_at_us = 0;
  v->wait_us = wait_us;
}

void slp_schemas_answer(slp_schemas *s, slp_version *v, slp_str format, slp_str definition) {
  char why[SLP_AVRO_SCHEMA_WHY] = "";
  int r = 0;
  if (slp_str_is(format, "AVRO")) {
    v->schema.format = SLP_SCHEMA_AVRO;
    r = slp_avro_schema_read(&v->schema.avro, s->mem, definition, why);
  } else if (slp_str_is(format, "JSON")) {
    v->schema.format = SLP_SCHEMA_JSON;
  } else if (slp_str_is(format, "PROTOBUF")) {
    v->schema.format = SLP_SCHEMA_PROTOBUF;
  } else {
    snprintf(why, sizeof why, "the registry names the format %.*s, which is not supported",
             (int)slp_min_u64(format.n, 20), format.n ? format.p : "");
    r = SLP_EBADDATA;
  }
  if (!r)
    move(v, SLP_SCHEMA_HERE);
  else
    slp_schemas_refuse(s, v, r == SLP_ENOMEM ? "no memory for the schema" : why);
}

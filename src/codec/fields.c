/* fields.c - reads named members in one pass over the object. */
#include "codec/fields.h"

#include "codec/json.h"

static slp_field *find_field_by_name(slp_field *fields, size_t fields_n, slp_str name) {
  for (size_t i = 0; i < fields_n; i++) {
    if (slp_str_is(name, fields[i].name)) return &fields[i];
  }
  return NULL;
}

static int take_field_value(slp_json *j, slp_field *field) {
  int token = slp_json_next(j);
  field->text = (slp_str){NULL, 0};
  if (token < 0) return token;
  if (token == SLP_JSON_STRING || token == SLP_JSON_NUMBER)
    field->text = j->text;
  else if (token != SLP_JSON_NULL) {
    j->why = "a member that must be a text is none";
    return SLP_EBADDATA;
  }
  return 0;
}

static void clear_field_texts(slp_field *fields, size_t fields_n) {
  for (size_t i = 0; i < fields_n; i++) fields[i].text = (slp_str){NULL, 0};
}

/* Reads the members of an object whose { was read, up to its }. Clears the fields first, so that the last
 * object counts if the object is given twice. */
static int read_members(slp_json *j, slp_field *fields, size_t fields_n) {
  clear_field_texts(fields, fields_n);
  for (;;) {
    int token = slp_json_next(j);
    if (token < 0) return token;
    if (token == SLP_JSON_OBJECT_END) return 0;
    slp_field *field = find_field_by_name(fields, fields_n, j->text);
    int r = field ? take_field_value(j, field) : slp_json_skip(j);
    if (r) return r;
  }
}

static int read_inside(slp_json *j, const char *inside, slp_field *fields, size_t fields_n) {
  for (;;) {
    int token = slp_json_next(j);
    if (token < 0) return token;
    if (token == SLP_JSON_OBJECT_END) return 0;
    int r;
    if (!slp_str_is(j->text, inside)) {
      r = slp_json_skip(j);
    } else if ((r = slp_json_next(j)) == SLP_JSON_OBJECT) {
      r = read_members(j, fields, fields_n);
    } else if (r >= 0) {
      j->why = "a member that must be an object is none";
      r = SLP_EBADDATA;
    }
    if (r) return r;
  }
}

int slp_fields_read(char *body, size_t n, const char *inside, slp_field *fields, size_t fields_n,
                    const char **ret_why) {
  slp_json j;
  clear_field_texts(fields, fields_n);
  slp_json_begin(&j, body, n);
  int r = slp_json_next(&j);
  if (r >= 0 && r != SLP_JSON_OBJECT) {
    *ret_why = "it is not a JSON object";
    return SLP_EBADDATA;
  }
  if (r >= 0) r = inside ? read_inside(&j, inside, fields, fields_n) : read_members(&j, fields, fields_n);
  if (!r) r = slp_json_next(&j); /* behind the object, slp_json_next() must return SLP_JSON_END, which is 0 */
  if (r < 0) *ret_why = j.why ? j.why : "it is not JSON";
  return r;
}

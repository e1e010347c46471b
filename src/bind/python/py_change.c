/* py_change.c - the change of a table's item as Python values, straight from the JSON of the service.
 *
 * An attribute is an object with one member, whose name is the type: {"N": "1.5"} becomes
 * Decimal("1.5"), {"B": ...} bytes, {"SS": ...} a set. The text comes from the network: every read is
 * bounded by `end`, and nesting by DEPTH_MAX. What is no JSON of this form raises ValueError;
 * Record.data has the raw text. */
#include "bind/python/py_native.h"

#include <string.h>

#define DEPTH_MAX 100 /* DynamoDB allows 32 levels */

typedef struct change_text {
  py_state *st;
  const char *at, *start, *end;
  int depth;
} change_text;

static PyObject *read_attribute(change_text *t);

static PyObject *raise_bad(const change_text *t, const char *what) {
  return PyErr_Format(PyExc_ValueError, "Record.change: byte %zd of the JSON: %s; the text is in data",
                      (Py_ssize_t)(t->at - t->start), what);
}
static void skip_space(change_text *t) {
  while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t' || *t->at == '\r')) t->at++;
}
/* Returns 1 if the next character is c, and passes it. */
static int pass_char(change_text *t, char c) {
  skip_space(t);
  if (t->at >= t->end || *t->at != c) return 0;
  t->at++;
  return 1;
}
/* Passes c, or raises and returns -1. */
static int need_char(change_text *t, char c) {
  char what[] = "'?' is missing";
  if (pass_char(t, c)) return 0;
  what[1] = c;
  raise_bad(t, what);
  return -1;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
/* Reads four hexadecimal digits. Returns -1 if there are none. */
static long read_hex4(change_text *t) {
  long code = 0;
  int i;
  if (t->end - t->at < 4) return -1;
  for (i = 0; i < 4; i++) {
    int digit = hex_digit(*t->at++);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}
static char *put_utf8(char *to, unsigned long code) {
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xc0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *to++ = (char)(0xe0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  } else {
    *to++ = (char)(0xf0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3f));
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  }
  return to;
}
/* Reads one escape, behind its backslash. Returns the new end of `to`, or NULL: it is none. */
static char *read_escape(change_text *t, char *to) {
  static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
  const char *found;
  char c = t->at < t->end ? *t->at++ : 0;
  long code, low;
  if (c != 'u') {
    found = c ? strchr(from, c) : NULL;
    if (!found) return NULL;
    *to++ = into[found - from];
    return to;
  }
  code = read_hex4(t);
  if (code < 0) return NULL;
  if (code >= 0xd800 && code < 0xdc00 && t->end - t->at >= 6 && t->at[0] == '\\' && t->at[1] == 'u') {
    const char *before = t->at;
    t->at += 2;
    low = read_hex4(t);
    if (low < 0) return NULL;
    if (low >= 0xdc00 && low < 0xe000)
      return put_utf8(to, 0x10000ul + (unsigned long)((code - 0xd800) << 10 | (low - 0xdc00)));
    t->at = before; /* half of a pair, and then something else */
  }
  return put_utf8(to, (unsigned long)code);
}
/* Returns the end of the string that begins at `at`, its closing quote; NULL: it has none. *escaped says
 * whether it has escapes. */
static const char *find_quote(const change_text *t, int *escaped) {
  const char *p = t->at, *quote = memchr(p, '"', (size_t)(t->end - p));
  *escaped = quote && memchr(p, '\\', (size_t)(quote - p)) != NULL;
  if (!*escaped) return quote;
  while (p < t->end && *p != '"') p += *p == '\\' ? 2 : 1;
  return p < t->end ? p : NULL;
}
/* Reads a string as str. */
static PyObject *read_string(change_text *t) {
  const char *quote;
  char *block, *to;
  int escaped;
  PyObject *text;
  if (need_char(t, '"')) return NULL;
  quote = find_quote(t, &escaped);
  if (!quote) return raise_bad(t, "a string without an end");
  if (!escaped) {
    text = PyUnicode_DecodeUTF8(t->at, quote - t->at, "surrogateescape");
    t->at = quote + 1;
    return text;
  }
  block = to = PyMem_Malloc((size_t)(quote - t->at) + 1);
  if (!block) return PyErr_NoMemory();
  while (t->at < quote && to) {
    if (*t->at != '\\') {
      *to++ = *t->at++;
    } else {
      t->at++;
      to = read_escape(t, to);
    }
  }
  text =
      to ? PyUnicode_DecodeUTF8(block, to - block, "surrogatepass") : raise_bad(t, "an escape that is none");
  PyMem_Free(block);
  t->at = quote + 1;
  return text;
}
/* Reads the name of an attribute as str. The items of a table have the same few names again and again. */
static PyObject *read_name(change_text *t) {
  const char *quote, *known;
  PyObject *name, **slot;
  unsigned hash = 2166136261u;
  Py_ssize_t len, known_len;
  int escaped;
  skip_space(t);
  if (t->at >= t->end || *t->at != '"') return read_string(t);
  t->at++;
  quote = find_quote(t, &escaped);
  len = quote ? quote - t->at : 0;
  if (!quote || escaped || len > 40) {
    t->at--;
    return read_string(t);
  }
  for (known = t->at; known < quote; known++) hash = (hash ^ (unsigned char)*known) * 16777619u;
  slot = &t->st->names[(hash ^ hash >> 16) % PY_NAMES_MAX];
  if (*slot) {
    known = PyUnicode_AsUTF8AndSize(*slot, &known_len);
    if (!known) {
      PyErr_Clear(); /* the name has bytes that are no UTF-8 */
    } else if (known_len == len && memcmp(known, t->at, (size_t)len) == 0) {
      t->at = quote + 1;
      PY_HOLD(*slot);
      return *slot;
    }
  }
  name = PyUnicode_DecodeUTF8(t->at, len, "surrogateescape");
  t->at = quote + 1;
  if (!name) return NULL;
  PY_HOLD(name);
  PY_DROP(*slot);
  *slot = name;
  return name;
}
static PyObject *read_number(change_text *t) {
  PyObject *text = read_string(t), *number;
  if (!text) return NULL;
  number = PyObject_CallFunctionObjArgs(t->st->decimal, text, NULL);
  PY_DROP(text);
  if (number) return number;
  PyErr_Clear();
  return raise_bad(t, "a number that is none");
}
static PyObject *read_binary(change_text *t) {
  PyObject *text = read_string(t), *bytes;
  if (!text) return NULL;
  bytes = PyObject_CallFunctionObjArgs(t->st->unbase64, text, NULL);
  PY_DROP(text);
  if (bytes) return bytes;
  PyErr_Clear();
  return raise_bad(t, "base64 that is none");
}

/* Reads "[...]" into a new set or list of what `one` reads. */
static PyObject *read_array(change_text *t, PyObject *(*one)(change_text *), PyObject *into, int is_set) {
  if (!into) return NULL;
  if (need_char(t, '[')) goto bad;
  if (pass_char(t, ']')) return into;
  do {
    PyObject *value = one(t);
    int status = !value ? -1 : is_set ? PySet_Add(into, value) : PyList_Append(into, value);
    PY_DROP(value);
    if (status) goto bad;
  } while (pass_char(t, ','));
  if (!need_char(t, ']')) return into;
bad:
  PY_DROP(into);
  return NULL;
}
/* Reads "{...}" into a new dict of attributes. */
static PyObject *read_map(change_text *t) {
  PyObject *map = PyDict_New();
  if (!map) return NULL;
  if (need_char(t, '{')) goto bad;
  if (pass_char(t, '}')) return map;
  do {
    PyObject *name = read_name(t), *value = NULL;
    int status = -1;
    if (name && !need_char(t, ':')) value = read_attribute(t);
    if (value) status = PyDict_SetItem(map, name, value);
    PY_DROP(name);
    PY_DROP(value);
    if (status) goto bad;
  } while (pass_char(t, ','));
  if (!need_char(t, '}')) return map;
bad:
  PY_DROP(map);
  return NULL;
}
static int pass_word(change_text *t, const char *word) {
  size_t len = strlen(word);
  skip_space(t);
  if ((size_t)(t->end - t->at) < len || memcmp(t->at, word, len) != 0) return 0;
  t->at += len;
  return 1;
}
static PyObject *read_truth(change_text *t) {
  if (pass_word(t, "true")) Py_RETURN_TRUE;
  if (pass_word(t, "false")) Py_RETURN_FALSE;
  return raise_bad(t, "neither true nor false");
}
static PyObject *read_null(change_text *t) {
  if (!pass_word(t, "true")) return raise_bad(t, "a NULL that is not true");
  Py_RETURN_NONE;
}

/* Reads the value behind the name of its type. */
static PyObject *read_typed(change_text *t, const char *type, size_t len) {
#define TYPE(name) (len == sizeof(name) - 1 && memcmp(type, name, len) == 0)
  if (TYPE("S")) return read_string(t);
  if (TYPE("N")) return read_number(t);
  if (TYPE("B")) return read_binary(t);
  if (TYPE("BOOL")) return read_truth(t);
  if (TYPE("NULL")) return read_null(t);
  if (TYPE("M")) return read_map(t);
  if (TYPE("L")) return read_array(t, read_attribute, PyList_New(0), 0);
  if (TYPE("SS")) return read_array(t, read_string, PySet_New(NULL), 1);
  if (TYPE("NS")) return read_array(t, read_number, PySet_New(NULL), 1);
  if (TYPE("BS")) return read_array(t, read_binary, PySet_New(NULL), 1);
#undef TYPE
  return raise_bad(t, "an attribute of a type that is not known");
}
static PyObject *read_attribute(change_text *t) {
  const char *type, *quote;
  int escaped;
  PyObject *value = NULL;
  if (++t->depth > DEPTH_MAX) return raise_bad(t, "attributes too deep in each other");
  if (need_char(t, '{') || need_char(t, '"')) return NULL;
  type = t->at;
  quote = find_quote(t, &escaped);
  if (!quote) return raise_bad(t, "a string without an end");
  t->at = quote + 1;
  if (!need_char(t, ':')) value = read_typed(t, type, (size_t)(quote - type));
  if (value && need_char(t, '}')) {
    PY_DROP(value);
    value = NULL;
  }
  t->depth--;
  return value;
}

/* Passes any JSON value. Returns 0, or raises and returns -1. Strings and brackets are all that it
 * looks at. */
static int skip_value(change_text *t) {
  int open = 0, escaped;
  do {
    skip_space(t);
    if (t->at >= t->end) return raise_bad(t, "the text is cut off"), -1;
    if (*t->at == '"') {
      t->at++;
      t->at = find_quote(t, &escaped);
      if (!t->at) return t->at = t->end, raise_bad(t, "a string without an end"), -1;
      t->at++;
    } else if (*t->at == '{' || *t->at == '[') {
      open++;
      t->at++;
    } else if (*t->at == '}' || *t->at == ']') {
      if (--open < 0) return raise_bad(t, "a value is missing"), -1;
      t->at++;
    } else {
      t->at++;
      while (!open && t->at < t->end && *t->at != ',' && *t->at != '}' && *t->at != ']') t->at++;
    }
  } while (open > 0);
  return 0;
}

PyObject *py_change_values(py_state *st, const char *text, size_t len) {
  static const struct {
    const char *json, *name;
  } maps[] = {{"Keys", "keys"}, {"NewImage", "new"}, {"OldImage", "old"}};
  change_text t = {st, text, text, text + len, 0};
  PyObject *dict = PyDict_New();
  if (!dict) return NULL;
  if (need_char(&t, '{')) goto bad;
  if (pass_char(&t, '}')) return dict;
  do {
    const char *name, *quote;
    size_t i, name_len;
    int escaped;
    if (need_char(&t, '"')) goto bad;
    name = t.at;
    quote = find_quote(&t, &escaped);
    if (!quote) {
      raise_bad(&t, "a string without an end");
      goto bad;
    }
    name_len = (size_t)(quote - name);
    t.at = quote + 1;
    if (need_char(&t, ':')) goto bad;
    for (i = 0; i < 3 && (strlen(maps[i].json) != name_len || memcmp(maps[i].json, name, name_len) != 0);
         i++) {
    }
    if (i == 3) {
      if (skip_value(&t)) goto bad;
    } else {
      PyObject *map = read_map(&t);
      int status = map ? PyDict_SetItemString(dict, maps[i].name, map) : -1;
      PY_DROP(map);
      if (status) goto bad;
    }
  } while (pass_char(&t, ','));
  if (!need_char(&t, '}')) return dict;
bad:
  PY_DROP(dict);
  return NULL;
}

/* py_change.c - the change of a table's item as Python values, straight from the JSON of the service.
 *
 * An attribute is an object with one member, whose name is the type: {"N": "1.5"} becomes
 * Decimal("1.5"), {"B": ...} bytes, {"SS": ...} a set. The text comes from the network: every read is
 * bounded by `end`, and nesting by DEPTH_MAX. What is no JSON of this form raises ValueError;
 * Record.data has the raw text. */
#include "bind/python/py_native.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define DEPTH_MAX 100 /* DynamoDB allows 32 levels */
#define SHORT_NUMBER 4

typedef struct change_text {
  py_state *st;
  const char *at, *start, *end;
  int depth;
  py_known *last; /* the name that was read last; NULL: none was */
} change_text;

static PyObject *read_attribute(change_text *t);

static PyObject *raise_bad(const change_text *t, const char *what) {
  return PyErr_Format(PyExc_ValueError, "Record.change: byte %zd of the JSON: %s; the text is in data",
                      (Py_ssize_t)(t->at - t->start), what);
}
static inline void skip_space(change_text *t) {
  while (t->at < t->end && *t->at <= ' ' &&
         (*t->at == ' ' || *t->at == '\n' || *t->at == '\t' || *t->at == '\r'))
    t->at++;
}
/* Returns 1 if the next character is c, and passes it. */
static inline int pass_char(change_text *t, char c) {
  skip_space(t);
  if (t->at >= t->end || *t->at != c) return 0;
  t->at++;
  return 1;
}
static int raise_missing(const change_text *t, char c) {
  char what[] = "'?' is missing";
  what[1] = c;
  raise_bad(t, what);
  return -1;
}
/* Passes c, or raises and returns -1. */
static inline int need_char(change_text *t, char c) { return pass_char(t, c) ? 0 : raise_missing(t, c); }

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
    int nibble = hex_digit(*t->at++);
    if (nibble < 0) return -1;
    code = code * 16 + nibble;
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
#ifdef __SSE2__
/* Returns the first quote or backslash, or a place before it with less than 16 bytes to the end. */
static inline const char *pass_plain(const char *p, const char *end) {
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  for (; end - p >= 16; p += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    int found =
        _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    if (found) return p + __builtin_ctz((unsigned)found);
  }
  return p;
}
#else
/* Returns a word with bits set if one of the eight bytes of `word` is c, and 0 otherwise. */
static inline uint64_t find_byte(uint64_t word, unsigned char c) {
  uint64_t same = word ^ 0x0101010101010101u * c;
  return (same - 0x0101010101010101u) & ~same & 0x8080808080808080u;
}
/* Returns a place at or before the first quote or backslash, with no such byte before it. */
static inline const char *pass_plain(const char *p, const char *end) {
  for (; end - p >= 8; p += 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    if (find_byte(word, '"') | find_byte(word, '\\')) break;
  }
  return p;
}
#endif
/* Returns the closing quote of a string behind its first escape, which is at p; NULL: it has none. */
static const char *find_quote_behind(const char *p, const char *end) {
  while (p < end && *p != '"') p += *p == '\\' ? 2 : 1;
  return p < end ? p : NULL;
}
/* Returns the end of the string that begins at `at`, its closing quote; NULL: it has none. *escaped says
 * whether it has escapes. */
static inline const char *find_quote(const change_text *t, int *escaped) {
  const char *p = pass_plain(t->at, t->end);
  while (p < t->end && *p != '"' && *p != '\\') p++;
  *escaped = p < t->end && *p == '\\';
  return p < t->end && !*escaped ? p : find_quote_behind(p, t->end);
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
/* Returns where a text of at most PY_TEXT_MAX bytes is kept in a table of PY_KNOWN_MAX. */
static unsigned known_at(const char *text, size_t len) {
  uint64_t first = 0, last = 0;
  if (len >= 8) {
    memcpy(&first, text, 8);
    memcpy(&last, text + len - 8, 8);
  } else if (len >= 4) {
    uint32_t half;
    memcpy(&half, text, 4);
    first = half;
    memcpy(&half, text + len - 4, 4);
    last = half;
  } else if (len) {
    first = (unsigned char)text[0] | (unsigned)(unsigned char)text[len / 2] << 8;
    last = (unsigned char)text[len - 1];
  }
  first = (first ^ (last << 5 | last >> 59) ^ len) * 0x9e3779b97f4a7c15u;
  return (unsigned)(first >> 40) % PY_KNOWN_MAX;
}
/* Returns whether two texts of `len` bytes are equal. Most are short, and a call would cost more than the
 * comparison. */
static inline int same_text(const char *a, const char *b, size_t len) {
  size_t i;
  uint64_t one, other;
  for (i = 0; i + 8 <= len; i += 8) {
    memcpy(&one, a + i, 8);
    memcpy(&other, b + i, 8);
    if (one != other) return 0;
  }
  for (; i < len; i++)
    if (a[i] != b[i]) return 0;
  return 1;
}
/* Returns a new reference to the object that is kept for a text, or NULL. */
static inline PyObject *find_known(const py_known *known, const char *text, size_t len) {
  if (known->len != len || !known->object || !same_text(known->text, text, len)) return NULL;
  PY_HOLD(known->object);
  return known->object;
}
/* Keeps the object for the text, in the place of what was kept there. */
static void keep_known(py_known *known, const char *text, size_t len, PyObject *object) {
  PyObject *before = known->object;
  PY_HOLD(object);
  known->object = object;
  known->len = (unsigned char)len;
  memcpy(known->text, text, len);
  PY_DROP(before);
}

/* Reads the name of an attribute as str. The items of a table have the same few names again and again,
 * mostly in the same order. */
static PyObject *read_name(change_text *t) {
  const char *text, *quote;
  PyObject *name;
  py_known *known;
  size_t len;
  int escaped;
  if (need_char(t, '"')) return NULL;
  text = t->at;
  known = t->last ? t->last->next : NULL;
  if (known && (size_t)(t->end - text) > known->len && text[known->len] == '"') {
    name = find_known(known, text, known->len);
    if (name) {
      t->at = text + known->len + 1;
      t->last = known;
      return name;
    }
  }
  quote = find_quote(t, &escaped);
  len = quote ? (size_t)(quote - text) : 0;
  if (!quote || escaped || len > PY_TEXT_MAX) {
    t->at--;
    return read_string(t);
  }
  t->at = quote + 1;
  known = &t->st->names[known_at(text, len)];
  if (t->last) t->last->next = known;
  t->last = known;
  name = find_known(known, text, len);
  if (name) return name;
  name = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogateescape");
  if (name) keep_known(known, text, len, name);
  return name;
}

/* Returns the value of a whole number of at most 18 digits, as a new int. Returns NULL for other numbers,
 * and for those that have zeros in front, as -0 has. */
static PyObject *make_int(const char *text, size_t len) {
  const char *p = text, *end = text + len;
  long long value = 0;
  if (p < end && *p == '-') p++;
  if (p == end || end - p > 18 || *p == '0') return NULL;
  for (; p < end && *p >= '0' && *p <= '9'; p++) value = value * 10 + (*p - '0');
  return p == end ? PyLong_FromLongLong(*text == '-' ? -value : value) : NULL;
}
/* Calls a function that is written in C with a tuple of one argument, and takes the reference to it.
 * The tuple is kept for the next call. While it is in use the state does not have it, because a collection
 * may run finalizers, and these may come here. */
static PyObject *call_with_tuple(py_state *st, const py_maker *maker, PyObject *value) {
  PyObject *args = st->spare_args, *made;
  st->spare_args = NULL;
  if (args && Py_REFCNT(args) != 1) {
    PY_DROP(args);
    args = NULL;
  }
  if (!args) args = PyTuple_New(1);
  if (!args) {
    PY_DROP(value);
    return NULL;
  }
  if (PyTuple_SetItem(args, 0, value)) {
    PY_DROP(args);
    return NULL;
  }
  made = maker->function(maker->self, args);
  if (st->spare_args) {
    PY_DROP(args);
  } else {
    st->spare_args = args;
  }
  return made;
}
/* Makes a Decimal of a str or int, and takes the reference to it, which may be NULL. */
static PyObject *make_decimal(const change_text *t, const py_maker *maker, PyObject *value) {
  PyObject *number;
  if (!value) return NULL;
  if (maker->flags == METH_VARARGS) return call_with_tuple(t->st, maker, value);
  number = maker->flags == METH_O ? maker->function(maker->self, value)
                                  : PyObject_CallFunctionObjArgs(maker->callable, value, NULL);
  PY_DROP(value);
  return number;
}
/* Makes a Decimal of the text of a number. That of an int takes half of the time. */
static PyObject *decimal_of(const change_text *t, const char *text, size_t len) {
  PyObject *whole = make_int(text, len);
  if (whole) return make_decimal(t, &t->st->make_from_int, whole);
  if (PyErr_Occurred()) return NULL;
  return make_decimal(t, &t->st->make_decimal,
                      PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogateescape"));
}
/* Reads a number as Decimal. Short numbers (counters, small amounts) come again and again, and a Decimal
 * never changes, so those that came last are kept. */
static PyObject *read_number(change_text *t) {
  const char *text, *quote;
  PyObject *number;
  py_known *known = NULL;
  size_t len;
  int escaped;
  if (need_char(t, '"')) return NULL;
  text = t->at;
  quote = find_quote(t, &escaped);
  len = quote ? (size_t)(quote - text) : 0;
  if (!quote || escaped) {
    PyObject *whole;
    t->at--;
    whole = read_string(t);
    if (!whole) return NULL;
    number = make_decimal(t, &t->st->make_decimal, whole);
  } else {
    t->at = quote + 1;
    if (len <= SHORT_NUMBER) {
      known = &t->st->numbers[known_at(text, len)];
      number = find_known(known, text, len);
      if (number) return number;
    }
    number = decimal_of(t, text, len);
    if (number && known) keep_known(known, text, len, number);
  }
  if (number || PyErr_ExceptionMatches(PyExc_MemoryError)) return number;
  PyErr_Clear();
  return raise_bad(t, "a number that is none");
}

/* The value of each digit of base64, and 1 more; 0 for what is no digit. */
static const unsigned char digits[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};
/* Reads four digits of base64. Returns the 24 bits, or more than 24 bits: one of them is no digit. */
static inline uint32_t read_digits(const unsigned char *from) {
  uint32_t a = digits[from[0]] - 1u, b = digits[from[1]] - 1u, c = digits[from[2]] - 1u,
           d = digits[from[3]] - 1u;
  return a << 18 | b << 12 | c << 6 | d | ((a | b | c | d) & 0x80000000u);
}
/* Decodes base64 in its usual form, padded and without anything between. Returns new bytes; NULL: the text
 * has another form, or, with an exception set, there is no memory. */
static PyObject *decode_base64(const char *text, size_t len) {
  const unsigned char *from = (const unsigned char *)text, *end = from + len;
  size_t padding;
  PyObject *bytes;
  unsigned char *to;
  uint32_t bits;
  if (!len) return PyBytes_FromStringAndSize(NULL, 0);
  if (len % 4) return NULL;
  padding = end[-1] != '=' ? 0 : end[-2] != '=' ? 1 : 2;
  bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(len / 4 * 3 - padding));
  if (!bytes) return NULL;
  to = (unsigned char *)PyBytes_AsString(bytes);
  if (padding) end -= 4;
  for (; from < end; from += 4) {
    bits = read_digits(from);
    if (bits >> 24) goto bad;
    *to++ = (unsigned char)(bits >> 16);
    *to++ = (unsigned char)(bits >> 8);
    *to++ = (unsigned char)bits;
  }
  if (padding) {
    unsigned char last[4] = {from[0], from[1], padding == 2 ? 'A' : from[2], 'A'};
    bits = read_digits(last);
    if (bits >> 24) goto bad;
    *to++ = (unsigned char)(bits >> 16);
    if (padding == 1) *to = (unsigned char)(bits >> 8);
  }
  return bytes;
bad:
  PY_DROP(bytes);
  return NULL;
}
/* Reads base64 as bytes. In other forms than the usual one it is what binascii says. */
static PyObject *read_binary(change_text *t) {
  const char *text, *quote;
  PyObject *bytes, *whole;
  int escaped;
  if (need_char(t, '"')) return NULL;
  text = t->at;
  quote = find_quote(t, &escaped);
  if (quote && !escaped) {
    bytes = decode_base64(text, (size_t)(quote - text));
    if (bytes) t->at = quote + 1;
    if (bytes || PyErr_Occurred()) return bytes;
  }
  t->at--;
  whole = read_string(t);
  if (!whole) return NULL;
  bytes = PyObject_CallFunctionObjArgs(t->st->unbase64, whole, NULL);
  PY_DROP(whole);
  if (bytes || PyErr_ExceptionMatches(PyExc_MemoryError)) return bytes;
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
/* Makes the dict of the last item with such names the form of those to come, unless it holds a name twice. */
static void keep_shape(py_shape *shape, PyObject *const *names, Py_ssize_t n) {
  PyObject *form = PyDict_New();
  Py_ssize_t i;
  for (i = 0; form && i < n; i++) {
    if (PyDict_SetItem(form, names[i], Py_None)) {
      PY_DROP(form);
      form = NULL;
    }
  }
  if (!form || PyDict_Size(form) != n) { /* nothing is lost but speed */
    PyErr_Clear();
    PY_DROP(form);
    return;
  }
  for (i = 0; i < shape->n; i++) PY_DROP(shape->names[i]);
  PY_DROP(shape->form);
  for (i = 0; i < n; i++) {
    PY_HOLD(names[i]);
    shape->names[i] = names[i];
  }
  shape->n = n;
  shape->form = form;
}
/* Makes a dict of names and values. Most items of a table have the names of the one before, in its order:
 * a copy of a dict that has them costs less than one that grows. */
static PyObject *make_map(change_text *t, PyObject *const *names, PyObject *const *values, Py_ssize_t n) {
  py_shape *shape = &t->st->shapes[((uintptr_t)names[0] >> 5 ^ (size_t)n) % PY_SHAPES_MAX];
  size_t size = (size_t)n * sizeof *names;
  int same = n > 2 && shape->n == n && memcmp(shape->names, names, size) == 0;
  PyObject *form = same ? shape->form : NULL, *map;
  Py_ssize_t i;
  if (form) PY_HOLD(form); /* a finalizer that the copying runs may read another change, and drop the form */
  map = form ? PyDict_Copy(form) : PyDict_New();
  PY_DROP(form);
  for (i = 0; map && i < n; i++) {
    if (PyDict_SetItem(map, names[i], values[i])) {
      PY_DROP(map);
      map = NULL;
    }
  }
  /* Where each item has other names, most are not kept. */
  if (map && n > 2 && !same && (!shape->form || ++shape->misses % 8 == 0)) keep_shape(shape, names, n);
  return map;
}
/* Reads on into the dict from the names and values that are read, when there are more of them than fit. */
static PyObject *read_more(change_text *t, PyObject *map) {
  while (map && pass_char(t, ',')) {
    PyObject *name = read_name(t), *value = NULL;
    int status = -1;
    if (name && !need_char(t, ':')) value = read_attribute(t);
    if (value) status = PyDict_SetItem(map, name, value);
    PY_DROP(name);
    PY_DROP(value);
    if (status) {
      PY_DROP(map);
      return NULL;
    }
  }
  return map;
}
/* Reads "{...}" into a new dict of attributes. */
static PyObject *read_map(change_text *t) {
  PyObject *names[PY_SHAPE_MAX], *values[PY_SHAPE_MAX], *map = NULL;
  Py_ssize_t n = 0, i;
  if (need_char(t, '{')) return NULL;
  if (pass_char(t, '}')) return PyDict_New();
  do {
    names[n] = read_name(t);
    values[n] = names[n] && !need_char(t, ':') ? read_attribute(t) : NULL;
    if (!values[n]) {
      PY_DROP(names[n]);
      goto out;
    }
  } while (++n < PY_SHAPE_MAX && pass_char(t, ','));
  map = make_map(t, names, values, n);
  if (n == PY_SHAPE_MAX) map = read_more(t, map);
  if (map && need_char(t, '}')) {
    PY_DROP(map);
    map = NULL;
  }
out:
  for (i = 0; i < n; i++) {
    PY_DROP(names[i]);
    PY_DROP(values[i]);
  }
  return map;
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
  if (len == 1) {
    switch (*type) {
      case 'S': return read_string(t);
      case 'N': return read_number(t);
      case 'B': return read_binary(t);
      case 'M': return read_map(t);
      case 'L': return read_array(t, read_attribute, PyList_New(0), 0);
      default: break;
    }
  }
  if (TYPE("BOOL")) return read_truth(t);
  if (TYPE("NULL")) return read_null(t);
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
  type = t->at + 2;
  if (t->end - t->at > 5 && t->at[0] == '{' && t->at[1] == '"' && t->at[3] == '"' && t->at[4] == ':') {
    t->at += 5; /* as nearly all are: one letter, and no space */
    value = read_typed(t, type, 1);
  } else {
    if (need_char(t, '{') || need_char(t, '"')) return NULL;
    type = t->at;
    quote = find_quote(t, &escaped);
    if (!quote) return raise_bad(t, "a string without an end");
    t->at = quote + 1;
    if (!need_char(t, ':')) value = read_typed(t, type, (size_t)(quote - type));
  }
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

int py_change_read(py_state *st, const char *text, size_t len, PyObject *parts[3]) {
  static const struct {
    const char *json;
    size_t len;
  } maps[] = {{"Keys", 4}, {"NewImage", 8}, {"OldImage", 8}};
  change_text t = {st, text, text, text + len, 0, NULL};
  size_t i;
  for (i = 0; i < 3; i++) parts[i] = NULL;
  if (need_char(&t, '{')) return -1;
  if (pass_char(&t, '}')) return 0;
  do {
    const char *name, *quote;
    size_t name_len;
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
    for (i = 0; i < 3 && (maps[i].len != name_len || memcmp(maps[i].json, name, name_len) != 0); i++) {
    }
    if (i == 3) {
      if (skip_value(&t)) goto bad;
    } else {
      PyObject *map = read_map(&t), *before = parts[i];
      parts[i] = map;
      PY_DROP(before);
      if (!map) goto bad;
    }
  } while (pass_char(&t, ','));
  if (!need_char(&t, '}')) return 0;
bad:
  for (i = 0; i < 3; i++) {
    PY_DROP(parts[i]);
    parts[i] = NULL;
  }
  return -1;
}

static PyObject *none_for_null(PyObject *value) {
  if (value) return value;
  PY_HOLD(Py_None);
  return Py_None;
}
static PyObject *read_kind(py_state *st, sloop_str_t event) {
  static const char *const names[] = {"INSERT", "MODIFY", "REMOVE"};
  size_t i;
  for (i = 0; i < 3; i++) {
    if (event.len == 6 && memcmp(event.base, names[i], 6) == 0) {
      PY_HOLD(st->kinds[i]);
      return st->kinds[i];
    }
  }
  return py_text(event.base, event.len);
}
/* Returns a new Change of the four, and takes the references to them. */
static PyObject *call_change(py_state *st, PyObject *kind, PyObject *keys, PyObject *new, PyObject *old) {
  PyObject *change = PyObject_CallFunctionObjArgs((PyObject *)(void *)st->change, kind, keys, new, old, NULL);
  PY_DROP(kind);
  PY_DROP(keys);
  PY_DROP(new);
  PY_DROP(old);
  return change;
}
PyObject *py_change_new(py_state *st, sloop_str_t event, const char *text, size_t len) {
  PyObject *parts[3], *kind, *change;
  Py_ssize_t i;
  if (py_change_read(st, text, len, parts)) return NULL;
  if (!parts[0]) parts[0] = PyDict_New();
  kind = read_kind(st, event);
  if (parts[0] && kind && !st->alloc_change)
    return call_change(st, kind, parts[0], none_for_null(parts[1]), none_for_null(parts[2]));
  change = parts[0] && kind ? st->alloc_change(st->change, 4) : NULL;
  if (!change) {
    PY_DROP(kind);
    for (i = 0; i < 3; i++) PY_DROP(parts[i]);
    return NULL;
  }
  PyTuple_SetItem(change, 0, kind);
  for (i = 0; i < 3; i++) PyTuple_SetItem(change, i + 1, none_for_null(parts[i]));
  return change;
}

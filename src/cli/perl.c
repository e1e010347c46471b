/* perl.c - searches text with PCRE2. Only slp_perl_step() may take long; the comment at slp_perl_step() says
 * how long. */
#include "cli/perl.h"

#include "base/mem.h"
#include "cli/matcher.h"
#include "cli/regex.h"

#ifndef SLP_HAVE_PCRE2
#define SLP_HAVE_PCRE2 0
#endif

int slp_perl_known(void) { return SLP_HAVE_PCRE2; }

#if SLP_HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>

#include "codec/json.h"

/* Bounds for one call of PCRE2 with SLP_PERL_FINITE. A place is an offset in the text at which a match may
 * begin; a way is one path through the expression. WAYS_MAX: ways that are tried at one place. FINITE_PLACES:
 * places that are tried. FINITE_WORK: the largest product of places and `steps`. */
#define WAYS_MAX 64u
#define FINITE_PLACES 65536u
#define FINITE_WORK (UINT64_C(1) << 22)
/* Bounds for SLP_PERL_COUNTED are in units of about 10 ns. Each callback between two parts of the expression
 * costs one unit, and one more for every BYTES_A_UNIT bytes that PCRE2 passed over since the callback
 * before. */
#define BYTES_A_UNIT 32u
/* SLICE_UNITS: a slice ends when it has spent this many units, but not before its first place is tried.
 * PLACE_UNITS: the most units for one place. TEXT_UNITS plus TEXT_UNITS_A_BYTE for each byte of the text: the
 * most units for one record. */
#define SLICE_UNITS UINT64_C(20000)
#define PLACE_UNITS UINT64_C(200000)
#define TEXT_UNITS UINT64_C(2000000)
#define TEXT_UNITS_A_BYTE 16u
#define STACK_FIRST ((size_t)32 << 10)
#define STACK_MAX ((size_t)1 << 20) /* the most bytes that PCRE2 may use for backtracking */

struct slp_perl {
  slp_mem *mem;
  slp_perl_kind kind;
  /* SLP_PERL_FINITE: at how many offsets of the text one call of PCRE2 tries to find a match */
  uint64_t places;
  pcre2_general_context *general;
  pcre2_match_context *context;
  pcre2_code *code;
  pcre2_match_data *data;
  pcre2_jit_stack *stack;
  slp_str text;
  size_t from;      /* offset in the text at which the next slice begins; no match begins before it */
  size_t at, first; /* offsets in the text. at: where the last callback was. first: where the slice began */
  uint64_t slice_units, text_units; /* units spent in this slice, and units spent on this text */
  const char *bound; /* a sentence that says which bound was reached; NULL: no bound was reached */
  char said[80];     /* PCRE2's message for an error; `bound` may point here */
};

static void *alloc_for_pcre2(size_t n, void *mem) { return slp_alloc((slp_mem *)mem, n); }
static void free_for_pcre2(void *p, void *mem) { slp_free((slp_mem *)mem, p); }

/* PCRE2 calls this between two parts of the expression. Returns 0 to let PCRE2 continue. Another value ends
 * the call of PCRE2: either a bound was reached, and p->bound is set; or the slice is over, and p->from is
 * the place where the next slice begins. */
static int count_work(pcre2_callout_block *b, void *arg) {
  slp_perl *p = (slp_perl *)arg;
  size_t at = b->current_position, moved = at > p->at ? at - p->at : p->at - at;
  uint64_t units = 1 + moved / BYTES_A_UNIT;
  p->at = at;
  p->slice_units += units;
  p->text_units += units;
  if (p->text_units > TEXT_UNITS + (uint64_t)p->text.n * TEXT_UNITS_A_BYTE) {
    p->bound = "too much work for this record";
  } else if (p->slice_units > SLICE_UNITS && b->start_match > p->first) {
    p->from = b->start_match;
  } else if (p->slice_units > PLACE_UNITS) {
    p->bound = "too much work at one place";
  } else {
    return 0;
  }
  return PCRE2_ERROR_CALLOUT;
}

/* Writes PCRE2's message for an error to `why`, and where in the expression the error is, as a byte number
 * from 1. */
static int tell_wrong(int error, size_t at, char why[SLP_REGEX_WHY]) {
  char said[90] = "";
  pcre2_get_error_message(error, (PCRE2_UCHAR *)said, sizeof said);
  snprintf(why, SLP_REGEX_WHY, "%s, at byte %zu", said, at + 1);
  return SLP_EINVAL;
}

/* Returns a copy of the expression in which \D \W \S are replaced by [\D] [\W] [\S]; NULL: no memory. Both
 * forms mean the same. But with PCRE2_MATCH_INVALID_UTF, the JIT of PCRE2 10.42 lets only the form in
 * brackets match characters beyond ASCII. */
static char *go_round_jit(slp_mem *mem, const char *text) {
  char *copy = slp_alloc(mem, strlen(text) * 2 + 1), *to = copy;
  if (!copy) return NULL;
  for (const char *c = text, *end; *c; c = end) {
    end = slp_regex_next(c);
    int negates = c[0] == '\\' && (c[1] == 'D' || c[1] == 'W' || c[1] == 'S');
    if (negates) *to++ = '[';
    memcpy(to, c, (size_t)(end - c));
    to += end - c;
    if (negates) *to++ = ']';
  }
  *to = 0;
  return copy;
}

static int compile_pcre2_pattern(slp_perl *p, const char *text, const slp_perl_opts *o,
                                 char why[SLP_REGEX_WHY]) {
  uint32_t options = PCRE2_USE_OFFSET_LIMIT;
  int error = 0, utf = !o->bytes && slp_utf8_valid(slp_str_of(text));
  size_t at = 0;
  if (utf) options |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
  options |= o->literal ? PCRE2_LITERAL : PCRE2_NEVER_BACKSLASH_C;
  if (o->folds) options |= PCRE2_CASELESS;
  if (o->kind == SLP_PERL_COUNTED) options |= PCRE2_AUTO_CALLOUT;
  pcre2_compile_context *how = pcre2_compile_context_create(p->general);
  if (!how) return SLP_ENOMEM;
  pcre2_set_newline(how, PCRE2_NEWLINE_LF);
  pcre2_set_bsr(how, PCRE2_BSR_UNICODE);
  p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options, &error, &at, how);
  int r = p->code ? 0 : error == PCRE2_ERROR_HEAP_FAILED ? SLP_ENOMEM : tell_wrong(error, at, why);
  if (!r && utf && !o->literal) {
    char *copy = go_round_jit(p->mem, text);
    pcre2_code_free(p->code);
    p->code = copy ? pcre2_compile((PCRE2_SPTR)copy, PCRE2_ZERO_TERMINATED, options, &error, &at, how) : NULL;
    r = p->code ? 0 : !copy || error == PCRE2_ERROR_HEAP_FAILED ? SLP_ENOMEM : tell_wrong(error, at, why);
    slp_free(p->mem, copy);
  }
  pcre2_compile_context_free(how);
  /* The JIT compiler fails on systems that forbid creating code at run time. Then PCRE2 interprets the
   * expression. */
  if (!r) (void)pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE);
  return r;
}

static int make_room(slp_perl *p) {
  p->data = pcre2_match_data_create(1, p->general);
  p->context = pcre2_match_context_create(p->general);
  p->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MAX, p->general);
  if (!p->data || !p->context || !p->stack) return SLP_ENOMEM;
  pcre2_jit_stack_assign(p->context, NULL, p->stack);
  pcre2_set_heap_limit(p->context, STACK_MAX / 1024);
  if (p->kind == SLP_PERL_FINITE)
    pcre2_set_match_limit(p->context, WAYS_MAX);
  else
    pcre2_set_callout(p->context, count_work, p);
  return 0;
}

int slp_perl_new(slp_mem *mem, const char *text, const slp_perl_opts *o, slp_perl **ret,
                 char why[SLP_REGEX_WHY]) {
  slp_perl *p = SLP_NEW(mem, slp_perl);
  if (!p) return SLP_ENOMEM;
  p->mem = mem;
  p->kind = o->kind;
  p->places = slp_min_u64(FINITE_PLACES, FINITE_WORK / (o->steps + 1) + 1);
  p->general = pcre2_general_context_create(alloc_for_pcre2, free_for_pcre2, mem);
  int r = p->general ? compile_pcre2_pattern(p, text, o, why) : SLP_ENOMEM;
  if (!r) r = make_room(p);
  if (r)
    slp_perl_free(p);
  else
    *ret = p;
  return r;
}

void slp_perl_free(slp_perl *p) {
  if (!p) return;
  pcre2_jit_stack_free(p->stack);
  pcre2_match_context_free(p->context);
  pcre2_match_data_free(p->data);
  pcre2_code_free(p->code);
  pcre2_general_context_free(p->general);
  slp_free(p->mem, p);
}

void slp_perl_begin(slp_perl *p, slp_str text) {
  p->text = text.n ? text : SLP_STR("");
  p->from = 0;
  p->text_units = 0;
  p->bound = NULL;
}

/* A call takes at most:
 *   - SLP_PERL_FINITE: usually some microseconds. Some milliseconds at worst, when PCRE2 tries WAYS_MAX ways
 *     of `steps` steps at each place;
 *   - SLP_PERL_COUNTED: PLACE_UNITS, plus the work of one part of the expression between two callbacks. One
 *     part goes over the text once. */
slp_match slp_perl_step(slp_perl *p) {
  size_t from = p->from;
  p->first = p->at = from;
  p->slice_units = 0;
  if (p->kind == SLP_PERL_FINITE) pcre2_set_offset_limit(p->context, from + (size_t)p->places - 1);
  int r = pcre2_match(p->code, (PCRE2_SPTR)p->text.p, p->text.n, from, 0, p->data, p->context);
  if (r >= 0) return SLP_MATCH_YES;
  if (r == PCRE2_ERROR_CALLOUT && !p->bound) return SLP_MATCH_MORE;
  if (r != PCRE2_ERROR_NOMATCH) {
    pcre2_get_error_message(r, (PCRE2_UCHAR *)p->said, sizeof p->said);
    if (!p->bound) p->bound = p->said;
    return SLP_MATCH_UNDECIDED;
  }
  if (p->kind == SLP_PERL_COUNTED || p->places > p->text.n - from) return SLP_MATCH_NO;
  p->from = from + (size_t)p->places;
  return SLP_MATCH_MORE;
}

const char *slp_perl_bound(const slp_perl *p) { return p->bound ? p->bound : "no bound"; }

void slp_perl_span(const slp_perl *p, size_t *ret_from, size_t *ret_to) {
  const PCRE2_SIZE *pair = pcre2_get_ovector_pointer(p->data);
  *ret_to = pair[1];
  *ret_from =
      pair[0] < pair[1] ? pair[0] : pair[1]; /* \K in a lookahead moves the beginning behind the end */
}

void slp_perl_go_on(slp_perl *p, size_t from) { p->from = from; }

#else /* a build without PCRE2 never calls the functions below */

int slp_perl_new(slp_mem *mem, const char *text, const slp_perl_opts *o, slp_perl **ret,
                 char why[SLP_REGEX_WHY]) {
  (void)mem, (void)text, (void)o, (void)ret, (void)why;
  return SLP_EINVAL;
}
void slp_perl_free(slp_perl *p) { (void)p; }
void slp_perl_begin(slp_perl *p, slp_str text) { (void)p, (void)text; }
slp_match slp_perl_step(slp_perl *p) {
  (void)p;
  return SLP_MATCH_UNDECIDED;
}
const char *slp_perl_bound(const slp_perl *p) {
  (void)p;
  return "";
}
void slp_perl_span(const slp_perl *p, size_t *ret_from, size_t *ret_to) {
  (void)p;
  *ret_from = *ret_to = 0;
}
void slp_perl_go_on(slp_perl *p, size_t from) { (void)p, (void)from; }

#endif

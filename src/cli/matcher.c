/* matcher.c - a deterministic automaton (DFA) for a program of regex.h. Its states are created when they are
 * first needed.
 *
 * State: the set of the program's steps that are active between two bytes of the text, and the kind of the
 * byte before (a byte of a word, another byte, or none). Class: bytes that the program never tells apart.
 * Symbol: a class, or one of two ends of the text; tables have one entry for each symbol, which is fewer than
 * 256. When the memory for states is full, all states are dropped, and states are created again as they are
 * needed. */
#include "cli/matcher.h"

#include "base/mem.h"
#include "cli/regex.h"

#define ROOM_BYTES ((size_t)512 << 10) /* the largest size of `pool`, and also of `nexts` */
#define STATES_MAX 4096u
#define SLICE_BYTES ((size_t)64 << 10)
/* the most work of a slice; the unit is one step of the program that is visited to create a state */
#define SLICE_WORK 32768u

/* in `nexts`: the next state is not created yet; in split: the class has no new number yet */
#define NOT_MADE UINT32_MAX
#define MATCHED (UINT32_MAX - 1) /* in `nexts`: the expression matches, whatever bytes follow */

/* The kind of the byte before the current position: no byte (BEGIN), a byte of a word, or any other byte. \b
 * and the other checks of the program need to know nothing else about what came before. */
typedef enum { BEGIN, WORD, NO_WORD } before;

typedef struct state {
  uint32_t hash;
  /* offset in `pool` of the state's steps, in rising order. Step 0 is not stored, because it is in every
   * state: a match may begin anywhere. */
  uint32_t set;
  uint16_t set_n;
  uint8_t before;
} state;

struct slp_matcher {
  slp_mem *mem;
  const slp_regex *r;
  /* class_of: the class of each byte. Two bytes share a class if no set of the program contains only one of
   * them. byte_of: one byte of each class. */
  uint8_t class_of[256], byte_of[256];
  slp_regex_set of_words; /* the set of the bytes that words consist of */
  /* The number of classes. Each row of `nexts` has two more symbols: number `classes` is the end of the text,
   * and number `classes` + 1 is a newline that is the last byte. */
  uint32_t classes;
  uint32_t row; /* length of a row of `nexts`: classes + 2 */
  uint32_t states_n, states_max, slots;
  state *states; /* owned, as are the next six members */
  /* one row for each state, with an entry for each symbol: the next state's number times `row`, NOT_MADE or
   * MATCHED */
  uint32_t *nexts;
  uint16_t *index;  /* hash table of states with `slots` slots; a slot has the state's number + 1; 0: free */
  uint16_t *pool;   /* the steps of all states, one state after the other */
  uint64_t *marks;  /* one bit for each step: 1 if go_through has visited the step */
  uint64_t *target; /* one bit for each step: the set of the next state while it is built; otherwise all 0 */
  uint16_t *stack;  /* the steps that go_through still has to visit */
  /* pool_n, pool_max: used and largest length of `pool`; words: length of `marks` and `target` in 64-bit
   * words */
  size_t pool_n, pool_max, words;
  slp_str text; /* the part of the text that is not searched yet */
  uint32_t at;  /* the current state, as its number times `row`, which is its place in `nexts`; or MATCHED */
};

/* ---- classes ------------------------------------------------------------------------------------------- */

/* Splits each class that `set` divides: bytes inside the set and bytes outside it get different classes. */
static void split_byte_classes(slp_matcher *m, const slp_regex_set *set) {
  uint32_t in[256];
  for (size_t i = 0; i < 256; i++) in[i] = NOT_MADE;
  /* A byte keeps its class if byte_of[class] is on the same side of `set` (inside or outside). Otherwise the
   * byte moves to a new class. */
  for (uint32_t c = 0; c < 256; c++) {
    uint8_t class = m->class_of[c];
    if (slp_regex_in(set, (uint8_t)c) == slp_regex_in(set, m->byte_of[class])) continue;
    if (in[class] == NOT_MADE) {
      in[class] = m->classes++;
      m->byte_of[in[class]] = (uint8_t)c;
    }
    m->class_of[c] = (uint8_t)in[class];
  }
}

static void make_classes(slp_matcher *m) {
  slp_regex_put_words(&m->of_words);
  m->classes = 1;
  for (size_t i = 0; i < m->r->sets_n && m->classes < 256; i++) split_byte_classes(m, &m->r->sets[i]);
  if (m->r->words) split_byte_classes(m, &m->of_words);
}

/* ---- creating and freeing ------------------------------------------------------------------------------ */

/* Drops all states of the automaton: at the beginning, and when the memory for states is full. */
static void drop_matcher_states(slp_matcher *m) {
  m->states_n = 0;
  m->pool_n = 0;
  memset(m->index, 0, m->slots * sizeof *m->index);
}

slp_matcher *slp_matcher_new(slp_mem *mem, const slp_regex *r) {
  slp_matcher *m = SLP_NEW(mem, slp_matcher);
  if (!m) return NULL;
  m->mem = mem;
  m->r = r;
  make_classes(m);
  m->row = m->classes + 2;
  size_t row = m->row * sizeof *m->nexts;
  m->states_max = (uint32_t)slp_min_u64(STATES_MAX, ROOM_BYTES / row);
  m->slots = STATES_MAX * 2;
  m->pool_max = ROOM_BYTES / sizeof *m->pool;
  m->words = r->n / 64 + 1;
  m->states = slp_alloc(mem, m->states_max * sizeof *m->states);
  m->nexts = slp_alloc(mem, m->states_max * row);
  m->index = slp_alloc(mem, m->slots * sizeof *m->index);
  m->pool = slp_alloc(mem, m->pool_max * sizeof *m->pool);
  m->marks = slp_zalloc_n(mem, m->words, sizeof *m->marks);
  m->target = slp_zalloc_n(mem, m->words, sizeof *m->target);
  m->stack = slp_alloc(mem, (r->n + 1) * sizeof *m->stack);
  if (!m->states || !m->nexts || !m->index || !m->pool || !m->marks || !m->target || !m->stack) {
    slp_matcher_free(m);
    return NULL;
  }
  drop_matcher_states(m);
  return m;
}

void slp_matcher_free(slp_matcher *m) {
  if (!m) return;
  slp_free(m->mem, m->states);
  slp_free(m->mem, m->nexts);
  slp_free(m->mem, m->index);
  slp_free(m->mem, m->pool);
  slp_free(m->mem, m->marks);
  slp_free(m->mem, m->target);
  slp_free(m->mem, m->stack);
  slp_free(m->mem, m);
}

/* ---- states -------------------------------------------------------------------------------------------- */

/* Finds or creates the state with the steps m->target and a byte before it of the kind b. Empties m->target.
 * Returns the state's number times `row`. The caller has checked that there is room for one more state. */
static uint32_t state_of_target(slp_matcher *m, before b) {
  uint16_t *set = m->pool + m->pool_n;
  uint32_t n = 0, hash = 2166136261u ^ (uint32_t)b;
  for (size_t w = 0; w < m->words; w++) {
    for (uint64_t bits = m->target[w]; bits; bits &= bits - 1) {
      set[n] = (uint16_t)(w * 64 + (size_t)__builtin_ctzll(bits));
      hash = (hash ^ set[n++]) * 16777619u;
    }
    m->target[w] = 0;
  }
  uint32_t slot = hash % m->slots;
  for (; m->index[slot]; slot = (slot + 1) % m->slots) {
    const state *s = &m->states[m->index[slot] - 1u];
    if (s->hash == hash && s->before == b && s->set_n == n &&
        memcmp(m->pool + s->set, set, n * sizeof *set) == 0)
      return (m->index[slot] - 1u) * m->row;
  }
  uint32_t i = m->states_n++;
  m->states[i] =
      (state){.hash = hash, .set = (uint32_t)m->pool_n, .set_n = (uint16_t)n, .before = (uint8_t)b};
  uint32_t *nexts = m->nexts + (size_t)i * m->row;
  for (uint32_t k = 0; k < m->row; k++) nexts[k] = NOT_MADE;
  m->pool_n += n;
  m->index[slot] = (uint16_t)(i + 1);
  return i * m->row;
}

/* What checks need to know about the next byte. end: the text ends here. last_newline: the byte is a newline
 * and the last byte of the text. word: the byte is part of a word. */
typedef struct after {
  uint8_t end, last_newline, word;
} after;

/* Returns 1 if the check holds at a position whose byte before is of the kind b and whose next byte is
 * `next`. */
static int does_check_hold(int check, before b, after next) {
  int word_before = b == WORD;
  switch ((slp_regex_check)check) {
    case SLP_REGEX_BEGIN: return b == BEGIN;
    case SLP_REGEX_END: return next.end || next.last_newline;
    case SLP_REGEX_VERY_END: return next.end;
    case SLP_REGEX_WORD_EDGE: return word_before != next.word;
    case SLP_REGEX_NO_WORD_EDGE: return word_before == next.word;
  }
  return 0;
}

/* Pushes a step onto the stack, unless go_through has visited it. */
static void go_to(slp_matcher *m, size_t *n, size_t step) {
  uint64_t bit = UINT64_C(1) << (step % 64);
  if (m->marks[step / 64] & bit) return;
  m->marks[step / 64] |= bit;
  m->stack[(*n)++] = (uint16_t)step;
}

/* Runs the program from every step of s over one symbol, `class`. Returns 1 if the expression matches before
 * that symbol. Otherwise returns 0, and m->target holds the steps after the symbol. Adds the number of
 * visited steps to *work. */
static int go_through(slp_matcher *m, const state *s, uint32_t class, uint32_t *work) {
  const slp_regex *r = m->r;
  int matched = 0;
  after next = {.end = class == m->classes, .last_newline = class > m->classes};
  uint8_t c = class < m->classes ? m->byte_of[class] : '\n';
  next.word = !next.end && slp_regex_in(&m->of_words, c);
  size_t n = 0;
  memset(m->marks, 0, m->words * sizeof *m->marks);
  go_to(m, &n, 0);
  for (uint32_t i = 0;; i++) {
    for (; n > 0 && !matched; ++*work) {
      size_t at = m->stack[--n];
      if (at == r->n) {
        matched = 1;
        break;
      }
      const slp_regex_step *step = &r->steps[at];
      size_t to = at + (size_t)step->to; /* step->to may be negative: unsigned arithmetic wraps around */
      switch ((slp_regex_op)step->op) {
        case SLP_REGEX_BYTE:
          if (!next.end && slp_regex_in(&r->sets[step->to], c))
            m->target[(at + 1) / 64] |= UINT64_C(1) << ((at + 1) % 64);
          break;
        case SLP_REGEX_FORK:
          go_to(m, &n, to);
          go_to(m, &n, at + (size_t)step->or_to);
          break;
        case SLP_REGEX_JUMP: go_to(m, &n, to); break;
        case SLP_REGEX_CHECK:
          if (does_check_hold(step->to, (before)s->before, next)) go_to(m, &n, at + 1);
      }
    }
    if (matched || i == s->set_n) break;
    go_to(m, &n, m->pool[s->set + i]);
  }
  if (matched) memset(m->target, 0, m->words * sizeof *m->target);
  return matched;
}

static uint32_t first_state(slp_matcher *m) { return state_of_target(m, BEGIN); }

/* Creates the state that follows the current state on the symbol `class`, and returns the value for `nexts`.
 * If there is no room, drops all states first; then the numbers of older states are no longer valid. */
static uint32_t make_next(slp_matcher *m, uint32_t class, uint32_t *work) {
  const state *s = &m->states[m->at / m->row];
  uint32_t *next = &m->nexts[m->at + class];
  *work += (uint32_t)m->words * 3;
  if (go_through(m, s, class, work)) return *next = MATCHED;
  if (class == m->classes) return *next = m->at;
  before b =
      class < m->classes && m->r->words && slp_regex_in(&m->of_words, m->byte_of[class]) ? WORD : NO_WORD;
  if (m->states_n == m->states_max || m->pool_n + m->r->n + 1 > m->pool_max) {
    drop_matcher_states(m);
    return state_of_target(m, b);
  }
  return *next = state_of_target(m, b);
}

/* ---- texts --------------------------------------------------------------------------------------------- */

void slp_matcher_begin(slp_matcher *m, slp_str text) {
  m->text = text.n ? text : SLP_STR("");
  if (m->states_n == m->states_max || m->pool_n + m->r->n + 1 > m->pool_max) drop_matcher_states(m);
  m->at = first_state(m);
}

/* Returns the entry of `nexts` for the current state and the symbol `class`. Creates the next state if it
 * does not exist yet. */
static uint32_t go_on(slp_matcher *m, uint32_t class, uint32_t *work) {
  uint32_t next = m->nexts[m->at + class];
  return next == NOT_MADE ? make_next(m, class, work) : next;
}

/* Moves the automaton over up to n bytes of the text, and returns over how many. The inner loop runs while
 * the next states exist already: each byte then costs one load, which must wait for the load of the byte
 * before. */
static size_t go_over(slp_matcher *m, const uint8_t *text, size_t n, uint32_t *work) {
  size_t i = 0;
  while (i < n && m->at != MATCHED && *work < SLICE_WORK) {
    const uint32_t *nexts = m->nexts;
    uint32_t at = m->at;
    for (; i < n; i++) {
      uint32_t next = nexts[at + m->class_of[text[i]]];
      if (next >= MATCHED) break;
      at = next;
    }
    m->at = at;
    if (i < n) m->at = go_on(m, m->class_of[text[i++]], work);
  }
  return i;
}

slp_match slp_matcher_step(slp_matcher *m) {
  size_t n = m->text.n < SLICE_BYTES ? m->text.n : SLICE_BYTES;
  int ends_with_newline = m->text.n && n == m->text.n && m->text.p[n - 1] == '\n';
  uint32_t work = 0;
  size_t i = go_over(m, (const uint8_t *)m->text.p, n - (size_t)ends_with_newline, &work);
  if (ends_with_newline && i == n - 1 && m->at != MATCHED) {
    m->at = go_on(m, m->classes + 1, &work);
    i++;
  }
  m->text = (slp_str){m->text.p + i, m->text.n - i};
  if (m->at == MATCHED) return SLP_MATCH_YES;
  if (m->text.n) return SLP_MATCH_MORE;
  return go_on(m, m->classes, &work) == MATCHED ? SLP_MATCH_YES : SLP_MATCH_NO;
}

/* The reader of an aggregate's message by itself: tokens, and what is no message. */
#include "codec/kpl_message.h"
#include "base/base.h"

#include "check.h"

/* "KEY:a HASH:0 REC:0,-,hello END" or "... BAD". */
static const char *tokens(const void *p, size_t n) {
  static char text[2000];
  size_t at = 0;
  slp_kpl_message m;
  text[0] = 0;
  slp_kpl_message_begin(&m, p, 0, n);
  for (size_t calls = 0;; calls++) {
    int t = slp_kpl_message_next(&m);
    const char *of = (const char *)p + m.text_at;
    CHECK(m.at <= n && calls <= 2 * n);
    if (t == SLP_KPL_KEY || t == SLP_KPL_HASH) {
      at += (size_t)snprintf(text + at, sizeof text - at, "%s:%.*s ", t == SLP_KPL_KEY ? "KEY" : "HASH",
                             (int)m.text_n, of);
    } else if (t == SLP_KPL_RECORD) {
      at += (size_t)snprintf(text + at, sizeof text - at, "REC:%" PRIu64 ",%s,%.*s ", m.key_index,
                             m.has_hash ? "hash" : "-", (int)m.text_n, of);
    } else if (t != SLP_KPL_NOTHING) {
      CHECK(t == SLP_KPL_END || t == SLP_EBADDATA);
      snprintf(text + at, sizeof text - at, "%s", t == SLP_KPL_END ? "END" : "BAD");
      return text;
    }
    CHECK(at + 100 < sizeof text);
  }
}
#define TOKENS(literal) tokens(literal, sizeof(literal) - 1)

TEST(a_message_as_the_producer_library_writes_it) {
  CHECK_STR(TOKENS("\n\1a\n\1b\22\0010\32\11\10\0\32\5hello\32\13\10\1\20\0\32\5world"),
            "KEY:a KEY:b HASH:0 REC:0,-,hello REC:1,hash,world END");
  CHECK_STR(TOKENS(""), "END");
}

TEST(of_a_field_given_twice_the_last_one_counts) {
  CHECK_STR(TOKENS("\32\14\10\1\32\1x\10\7\32\2yz\20"), "BAD"); /* its last field has no value */
  CHECK_STR(TOKENS("\32\13\10\1\32\1x\10\7\32\2yz"), "REC:7,-,yz END");
}

TEST(unknown_fields_and_groups_are_passed_over) {
  /* 4: varint; 5: fixed64; 6: bytes; 7: fixed32; 15: group { 1: bytes, 16: group {} } */
  CHECK_STR(TOKENS("\40\377\1\51abcdefgh\62\3xyz\75abcd\173\n\1k\203\1\204\1\174\n\1k"), "KEY:k END");
  CHECK_STR(TOKENS("\32\22\10\0\32\1d\"\3\n\1t\53\62\4\10\1\10\2\54"), "REC:0,-,d END");
}

TEST(known_numbers_of_another_kind_are_unknown_fields) {
  CHECK_STR(TOKENS("\10\5\20\6\30\7\n\1k"), "KEY:k END");                  /* tables and records as numbers */
  CHECK_STR(TOKENS("\32\12\n\1\0\10\1\32\3\1\2\3"), "REC:1,-,\1\2\3 END"); /* the index packed */
  CHECK_STR(TOKENS("\32\4\n\1\0\32"), "BAD");
}

TEST(what_is_no_message) {
  static const struct {
    const char *name, *p;
    size_t n;
  } bad[] = {
#define BAD(name, literal) {name, literal, sizeof(literal) - 1}
      BAD("a length past the end", "\n\2k"),
      BAD("a length of 64 bits", "\n\377\377\377\377\377\377\377\377\377\1k"),
      BAD("a record past the end", "\32\5\10\0\32\1"),
      BAD("a field past its record", "\32\4\10\0\32\1d"),
      BAD("a varint past its record", "\32\1\10\0"),
      BAD("no data", "\32\2\10\0"),
      BAD("no key", "\32\2\32\0"),
      BAD("an empty record", "\32\0"),
      BAD("a tag without key", "\32\10\10\0\32\0\"\2\22\0"),
      BAD("a varint of 11 bytes", "\40\200\200\200\200\200\200\200\200\200\200\1"),
      BAD("a varint that never ends", "\40\200\200"),
      BAD("field 0", "\2\0"),
      BAD("a field beyond 29 bits", "\200\200\200\200\20\0"),
      BAD("wire type 6", "\16\0"),
      BAD("wire type 7", "\17\0"),
      BAD("a group's end alone", "\14"),
      BAD("another group's end", "\53\64"),
      BAD("a group without end", "\53\n\1k"),
      BAD("a group past its record", "\32\5\10\0\32\0\53\54"),
      /* Python's protobuf passes over these two, Java's refuses them: "invalid tag (zero)". */
      BAD("a field of number zero in a group", "\43\0\1\44"),
      BAD("a field of number zero in two bytes, in a group", "\43\200\0\1\44"),
      BAD("half a fixed64", "\51abcd"),
      BAD("half a fixed32", "\75ab"),
  };
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    const char *got = tokens(bad[i].p, bad[i].n);
    size_t n = strlen(got);
    if (n < 3 || strcmp(got + n - 3, "BAD") != 0) CHECK_FAIL("%s: %s", bad[i].name, got);
  }
}

TEST(a_varint_of_ten_bytes_is_taken_and_loses_what_is_beyond_64_bits) {
  CHECK_STR(TOKENS("\32\16\10\377\377\377\377\377\377\377\377\377\177\32\1d"),
            "REC:18446744073709551615,-,d END");
}

TEST(groups_nest_as_deep_as_in_protobuf) {
  char text[2 * SLP_KPL_GROUPS_MAX + 2];
  memset(text, '\53', SLP_KPL_GROUPS_MAX);
  memset(text + SLP_KPL_GROUPS_MAX, '\54', SLP_KPL_GROUPS_MAX);
  CHECK_STR(tokens(text, (size_t)2 * SLP_KPL_GROUPS_MAX), "END");
  memset(text, '\53', SLP_KPL_GROUPS_MAX + 1);
  memset(text + SLP_KPL_GROUPS_MAX + 1, '\54', SLP_KPL_GROUPS_MAX + 1);
  CHECK_STR(tokens(text, sizeof text), "BAD");
}

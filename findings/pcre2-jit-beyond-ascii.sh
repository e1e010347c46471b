#!/bin/sh
# Whether \D, \W and \S match a character beyond ASCII in PCRE2's JIT where a text may hold bytes that are not UTF-8.
#
# With PCRE2_MATCH_INVALID_UTF bytes that are not UTF-8 match nothing, and are no error (pcre2unicode(3)). One would expect
# that a text in UTF-8 is matched as without that option: \D matches a euro sign, as [^0-9] and [\D] do, as PCRE2's
# interpreter says, and as its JIT says without the option. GNU grep -P uses the two together. Asked are the PCRE2 of Debian
# 12, by a program in C, and Debian's grep. Needs gcc and libpcre2-dev.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/ask.c" <<'END'
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

static int matches(const char *expression, const char *text, uint32_t options, int jit) {
  int error;
  PCRE2_SIZE at;
  pcre2_code *code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED, options, &error, &at, NULL);
  pcre2_match_data *data = pcre2_match_data_create(1, NULL);
  if (jit) pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  int r = pcre2_match(code, (PCRE2_SPTR)text, strlen(text), 0, 0, data, NULL) >= 0;
  pcre2_match_data_free(data);
  pcre2_code_free(code);
  return r;
}

int main(void) {
  static const char *const expressions[] = {"\\D", "\\W", "\\S", "^\\D{2}$", "[\\D]", "[^0-9]"};
  char version[64];
  int wrong = 0;
  pcre2_config(PCRE2_CONFIG_VERSION, version);
  printf("PCRE2 %s, on two euro signs\n", version);
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
    int plain = matches(expressions[i], "\xe2\x82\xac\xe2\x82\xac", PCRE2_UTF, 1);
    int interpreted = matches(expressions[i], "\xe2\x82\xac\xe2\x82\xac", PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, 0);
    int jit = matches(expressions[i], "\xe2\x82\xac\xe2\x82\xac", PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, 1);
    printf("  %-8s expected: 1; found: JIT %d, with the option: interpreted %d, JIT %d\n", expressions[i], plain, interpreted, jit);
    wrong += plain && interpreted && !jit;
  }
  int end = matches("a\\z", "a\xff", PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, 0);
  printf("  a\\z      on an a and a byte that is no UTF-8; expected: 0; found: interpreted %d, JIT %d\n", end,
         matches("a\\z", "a\xff", PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, 1));
  return wrong != 4 || !end;
}
END
cc -o "$dir/ask" "$dir/ask.c" -lpcre2-8
changed=0
"$dir/ask" || changed=1
grep --version | head -n 1
found=$(printf '\342\202\254\n' | LC_ALL=C.UTF-8 grep -cP '\D' || true)
echo "  grep -cP '\\D' of a euro sign, expected: 1; found: $found"
[ "$found" = 0 ] || changed=1
[ $changed = 0 ] || { echo "this has changed"; exit 1; }

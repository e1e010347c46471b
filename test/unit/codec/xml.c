/* xml.c - finding text in XML; test/fuzz compares with Python's ElementTree. */
#include "codec/xml.h"

#include "check.h"

static const char *find(const char *document, const char *path) {
  static char got[300];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf text;
  slp_buf_init(&text, mem, 200);
  int r = slp_xml_text(slp_str_of(document), path, &text);
  snprintf(got, sizeof got, "%d %s", r, r ? "" : slp_buf_z(&text));
  slp_buf_free(&text);
  slp_mem_drop(mem);
  return got;
}

#define NONE "-2 "
#define BAD "-6001 "

TEST(found) {
  CHECK_STR(find("<a>x</a>", "a"), "0 x");
  CHECK_STR(find("<?xml version='1.0'?>\n<!-- <b>no</b> --><a><b>x</b><b>y</b></a>\n", "a/b"), "0 x");
  CHECK_STR(find("\xEF\xBB\xBF<a><c><b>no</b></c><b>x</b></a>", "a/b"), "0 x");
  CHECK_STR(find("<a xmlns=\"u>v\" k='<'><b/></a>", "a/b"), BAD); /* < in an attribute is no XML */
  CHECK_STR(find("<a xmlns=\"u>v\"><b /></a>", "a/b"), "0 ");
  CHECK_STR(find("<n:a><m:b>x</m:b></n:a>", "a/b"), "0 x");
  CHECK_STR(find("<a><b>1<c>no</c>2<!-- 3 -->4<![CDATA[<&]]></b></a>", "a/b"), "0 124<&");
  CHECK_STR(find("<a>&lt;&amp;&gt;&quot;&apos;&#65;&#x20AC;&#x1F600;</a>", "a"),
            "0 <&>\"'A\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK_STR(find("<a><b><b>x</b></b></a>", "a/b/b"), "0 x");
  CHECK_STR(find("<a><bb>no</bb><b>x</b></a>", "a/b"), "0 x");
}

TEST(not_there) {
  CHECK_STR(find("<a>x</a>", "b"), NONE);
  CHECK_STR(find("<a><c><b>x</b></c></a>", "a/b"), NONE);
  CHECK_STR(find("<a><b>x</b></a>", "a/b/c"), NONE);
}

TEST(not_xml) {
  static const char *const bad[] = {"",
                                    "x",
                                    "{}",
                                    "<a>",
                                    "<a>x",
                                    "<a>x</b>",
                                    "</a>",
                                    "<a></a><b></b>",
                                    "<a></a>x",
                                    "<a>x</a",
                                    "<a><b>x</a></b>",
                                    "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
                                    "<a>&x;</a>",
                                    "<a>&amp</a>",
                                    "<a>&#0;</a>",
                                    "<a>&#xD800;</a>",
                                    "<a>&#x110000;</a>",
                                    "<a>&#99999999999;</a>",
                                    "<a>&#;</a>",
                                    "<a><!-- </a>",
                                    "<a><![CDATA[x</a>",
                                    "< a>x</a>",
                                    "<>x</>"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (strcmp(find(bad[i], "a"), BAD) != 0) CHECK_FAIL("%s: %s", bad[i], find(bad[i], "a"));
  }
}

TEST(deeper_than_its_stack) {
  char deep[1000] = "";
  for (int i = 0; i < 33; i++) strcat(deep, "<a>");
  CHECK_STR(find(deep, "b"), "-6002 ");
}

/* xml.h - finds the text of one element in a small XML document, such as an answer of STS. No DTDs. Little is
 * validated: tags must nest, and there must be one root. */
#ifndef SLP_CODEC_XML_H
#define SLP_CODEC_XML_H

#include "base/buf.h"

#define SLP_XML_DEPTH_MAX 32

/* Appends the text of the first element at `path` ("Root/Child/Name", names without prefixes). Entities are
 * decoded, and child elements are left out. Returns 0, SLP_ENOENT, SLP_EBADDATA (not XML, or cut short),
 * SLP_ELIMIT (nested too deeply), or an error of the buffer. */
int slp_xml_text(slp_str document, const char *path, slp_buf *into);

#endif

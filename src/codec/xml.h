/* xml.h - finds the text of one element in a small XML document: the answers of STS. No DTDs, no validation
 * beyond what finding needs: tags must nest, and there is one root. */
#ifndef SLP_CODEC_XML_H
#define SLP_CODEC_XML_H

#include "base/buf.h"

#define SLP_XML_DEPTH_MAX 32

/* Appends the text of the first element at `path` ("Root/Child/Name": names without prefixes), with entities
 * decoded and child elements left out. Returns 0, SLP_ENOENT, SLP_EBADDATA (not XML, or cut short),
 * SLP_ELIMIT (too deep), or an error of the buf. */
int slp_xml_text(slp_str document, const char *path, slp_buf *into);

#endif

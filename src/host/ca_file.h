/* ca_file.h - finds the file of certificates to trust if nobody has named one. A program that is linked
 * statically runs on any distribution, and each of them keeps the file elsewhere. */
#ifndef SLP_HOST_CA_FILE_H
#define SLP_HOST_CA_FILE_H

/* Returns the file of certificates to trust. The first of these is taken:
 *   1. `named` (SSL_CERT_FILE), if it is not NULL and not empty;
 *   2. `built_in`, where libcurl was told to look, if `is_readable` says so;
 *   3. the first of the known places that is readable;
 *   4. `built_in`, or otherwise the best known place. Reading it fails, and the error names it.
 * The result is one of the arguments or a static text. */
const char *slp_ca_file_find(const char *named, const char *built_in, int (*is_readable)(const char *path));
/* Does the same with SSL_CERT_FILE and with the files of this machine. by_folder: 1 if libcurl was told of a
 * folder of certificates and of no file. Then NULL is returned unless SSL_CERT_FILE is set. */
const char *slp_ca_file(const char *built_in, int by_folder);
/* Returns the i-th known place, or NULL behind the last one. */
const char *slp_ca_file_place(unsigned i);

#endif

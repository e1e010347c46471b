/* executable.h - finds a program, or says why it can't be started. (If the interpreter of a script is
 * missing, execvp() itself fails with only "no such file".) Blocks, because it looks at files. */
#ifndef SLP_HOST_EXECUTABLE_H
#define SLP_HOST_EXECUTABLE_H

#define SLP_EXECUTABLE_PATH 512
#define SLP_EXECUTABLE_WHY 160

/* Looks for the program as execvp() does. Returns 1 and its path, or 0 and why it can't be started:
 * "is not in PATH", "is a folder", ... */
int slp_executable_find(const char *name, char path[SLP_EXECUTABLE_PATH], char why[SLP_EXECUTABLE_WHY]);

#endif

/* What is watched, and the records of it; see disk.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The function of this name that the program would call without us. */
#define NEXT(name)                                              \
  ({                                                            \
    static __typeof__(&name) found;                             \
    if (!found) found = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    found;                                                      \
  })

/*
 * Kinds: o opened (value 1: the name was not there), l the name is one more for the file, u it is one less, w written at
 * value, t truncated to value, s a sync began, e it succeeded (value: its number), x something that is not modelled.
 */
struct record {
  uint32_t kind;
  uint32_t name_length;
  uint32_t data_length;
  uint32_t process;
  uint64_t file; /* the inode */
  uint64_t value;
};

/* A variable of the environment as a number. */
long number_of(const char *variable, long otherwise);

/* The name to record a path by: what follows the folder; empty for the folder itself, NULL when it is not watched. */
const char *name_of(const char *path);

/* The inode of a watched file, or 0; a descriptor is watched from `watch` until `forget`, or until it is another file. */
uint64_t file_of(int fd);
void watch(int fd, const struct stat *about);
void forget(int fd);

/* Between the two nobody else records: a call and its record are made there. */
void lock(void);
void unlock(void);

/* Appends a record with its name and its data. Keeps errno. */
void record(char kind, uint64_t file, uint64_t value, const char *name, const void *data, size_t length);

/*
 * A disk between a program and its own: loaded into a program by LD_PRELOAD (Linux with the GNU C library), it makes
 * syncs slow, and records what reaches files, so that a power cut at any moment can be played later: what a disk may
 * hold then is said in test/power/disk.ts.
 *
 *   DISK_SYNC_DELAY_US   every fsync and fdatasync, of any file, takes so many microseconds longer
 *   DISK_FAILING_FILE    the file that the next two are about
 *   DISK_SYNC_FAILS_ONCE a file at this path goes with the next fsync of that file, which fails with EIO; not fdatasync,
 *                        which is how the service syncs its log by itself
 *   DISK_WRITES_FAIL     as long as there is a file at this path, what is written to that file fails with EIO
 *   DISK_IS_FULL         as long as there is a file at this path, what is written to that file fails with ENOSPC
 *   DISK_WATCH           an absolute path; files whose path begins with it are recorded, and the folder they are in
 *   DISK_RECORD          the file to which records are appended, by any number of processes
 *   DISK_KILL_AFTER      the process kills itself with SIGKILL when it begins to sync after so many records of its own:
 *                        what it wrote is there for the next process, and on no disk
 *
 * A recorded call and its record are one step: no other recorded call, of any thread or process, comes between. So the
 * records are in the order in which things happened, and the length of their file is a clock. A sync has two records,
 * since what is written while it runs may or may not be covered. A call that failed has none.
 *
 * A watched file that is written in a way that is not recorded, such as through memory, leaves a record "x", at which
 * whoever reads the records gives up. The index of a log in shared memory (-shm) is not watched: after a crash SQLite
 * makes it anew.
 */
#include "record.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static void not_modelled(int fd, const char *call) {
  if (!file_of(fd)) return;
  lock();
  record('x', file_of(fd), 0, call, NULL, 0);
  unlock();
}

/* ---- names ---- */

static int open_watched(const char *name, int directory, const char *path, int flags, mode_t mode) {
  struct stat about;
  lock();
  int is_new = (flags & O_CREAT) && fstatat(directory, path, &about, 0) != 0;
  int fd = NEXT(openat)(directory, path, flags, mode);
  if (fd >= 0 && fstat(fd, &about) == 0) {
    watch(fd, &about);
    record('o', about.st_ino, is_new, name, NULL, 0);
    if (flags & O_TRUNC) record('t', about.st_ino, 0, "", NULL, 0);
  }
  unlock();
  return fd;
}

static int opened(int directory, const char *path, int flags, va_list rest) {
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  const char *name = name_of(path);
  return name ? open_watched(name, directory, path, flags, mode) : NEXT(openat)(directory, path, flags, mode);
}

#define OPEN(name)                                          \
  EXPORTED int name(const char *path, int flags, ...) {     \
    va_list rest;                                           \
    va_start(rest, flags);                                  \
    int fd = opened(AT_FDCWD, path, flags, rest);           \
    va_end(rest);                                           \
    return fd;                                              \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                     \
  EXPORTED int name(int directory, const char *path, int flags, ...) {   \
    va_list rest;                                                        \
    va_start(rest, flags);                                               \
    int fd = opened(directory, path, flags, rest);                       \
    va_end(rest);                                                        \
    return fd;                                                           \
  }
OPENAT(openat)
OPENAT(openat64)

EXPORTED int close(int fd) {
  if (file_of(fd)) forget(fd);
  return NEXT(close)(fd);
}

EXPORTED int unlink(const char *path) {
  const char *name = name_of(path);
  if (!name) return NEXT(unlink)(path);
  lock();
  int result = NEXT(unlink)(path);
  if (result == 0) record('u', 0, 0, name, NULL, 0);
  unlock();
  return result;
}

/* A name was added to a file, and taken away where it was renamed; ends what its caller began under the lock. */
static int bound(int result, const char *from, const char *to, int is_rename) {
  struct stat about;
  const char *before = name_of(from), *after = name_of(to);
  if (result == 0 && after && stat(to, &about) == 0) record('l', about.st_ino, 0, after, NULL, 0);
  if (result == 0 && before && is_rename) record('u', 0, 0, before, NULL, 0);
  unlock();
  return result;
}

#define BIND(name, is_rename)                                             \
  EXPORTED int name(const char *from, const char *to) {                   \
    if (!name_of(from) && !name_of(to)) return NEXT(name)(from, to);      \
    lock();                                                               \
    return bound(NEXT(name)(from, to), from, to, is_rename);              \
  }
BIND(link, 0)
BIND(rename, 1)

/* ---- contents ---- */

/* Whether the file that was opened is the one that fails, and the variable names a path. */
static const char *path_of_fault(const char *variable, int fd) {
  const char *path = getenv(variable), *file = path ? getenv("DISK_FAILING_FILE") : NULL;
  struct stat wanted, about;
  if (!file || stat(file, &wanted) != 0 || fstat(fd, &about) != 0) return NULL;
  return about.st_ino == wanted.st_ino && about.st_dev == wanted.st_dev ? path : NULL;
}

static int has_fault(const char *variable, int fd) {
  const char *path = path_of_fault(variable, fd);
  int error = errno;
  if (path && access(path, F_OK) == 0) return 1;
  errno = error;
  return 0;
}

EXPORTED ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
  int error = has_fault("DISK_WRITES_FAIL", fd) ? EIO : has_fault("DISK_IS_FULL", fd) ? ENOSPC : 0;
  if (error) {
    errno = error;
    return -1;
  }
  if (!file_of(fd)) return NEXT(pwrite64)(fd, data, length, at);
  lock();
  ssize_t written = NEXT(pwrite64)(fd, data, length, at);
  if (written > 0) record('w', file_of(fd), at, "", data, written);
  unlock();
  return written;
}

EXPORTED ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return pwrite64(fd, data, length, at); }

EXPORTED ssize_t write(int fd, const void *data, size_t length) {
  if (!file_of(fd)) return NEXT(write)(fd, data, length);
  lock();
  off64_t at = lseek64(fd, 0, SEEK_CUR);
  ssize_t written = NEXT(write)(fd, data, length);
  if (written > 0) record('w', file_of(fd), at, "", data, written);
  unlock();
  return written;
}

EXPORTED int ftruncate64(int fd, off64_t length) {
  if (!file_of(fd)) return NEXT(ftruncate64)(fd, length);
  lock();
  int result = NEXT(ftruncate64)(fd, length);
  if (result == 0) record('t', file_of(fd), length, "", NULL, 0);
  unlock();
  return result;
}

EXPORTED int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

#define NOT_MODELLED(type, name, fd, parameters, arguments) \
  EXPORTED type name parameters {                           \
    not_modelled(fd, #name);                                \
    return NEXT(name) arguments;                            \
  }
NOT_MODELLED(ssize_t, writev, fd, (int fd, const struct iovec *parts, int count), (fd, parts, count))
NOT_MODELLED(ssize_t, pwritev, fd, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
NOT_MODELLED(ssize_t, pwritev64, fd, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
NOT_MODELLED(int, posix_fallocate, fd, (int fd, off_t at, off_t length), (fd, at, length))
NOT_MODELLED(int, posix_fallocate64, fd, (int fd, off64_t at, off64_t length), (fd, at, length))
NOT_MODELLED(int, fallocate, fd, (int fd, int mode, off_t at, off_t length), (fd, mode, at, length))
NOT_MODELLED(int, fallocate64, fd, (int fd, int mode, off64_t at, off64_t length), (fd, mode, at, length))

EXPORTED void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t at) {
  if ((protection & PROT_WRITE) && (flags & MAP_SHARED)) not_modelled(fd, "mmap");
  return NEXT(mmap64)(address, length, protection, flags, fd, at);
}

EXPORTED void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t at) {
  return mmap64(address, length, protection, flags, fd, at);
}

/* ---- syncs ---- */

static void delay(void) {
  static long us = -1;
  int error = errno;
  if (us < 0) us = number_of("DISK_SYNC_DELAY_US", 0);
  struct timespec time = {us / 1000000, us % 1000000 * 1000};
  while (us > 0 && nanosleep(&time, &time) != 0 && errno == EINTR) continue;
  errno = error;
}

static void record_sync(char kind, uint64_t file, uint64_t number) {
  if (!file) return;
  lock();
  record(kind, file, number, "", NULL, 0);
  unlock();
}

static int synced(int fd, int (*sync)(int)) {
  static uint64_t syncs;
  uint64_t file = file_of(fd), number = file ? __atomic_add_fetch(&syncs, 1, __ATOMIC_RELAXED) : 0;
  record_sync('s', file, number);
  int result = sync(fd);
  delay();
  if (result == 0) record_sync('e', file, number);
  return result;
}

static int failing_fsync(int fd) {
  const char *path = path_of_fault("DISK_SYNC_FAILS_ONCE", fd);
  if (!path || NEXT(unlink)(path) != 0) return NEXT(fsync)(fd);
  errno = EIO;
  return -1;
}

EXPORTED int fsync(int fd) { return synced(fd, failing_fsync); }
EXPORTED int fdatasync(int fd) { return synced(fd, NEXT(fdatasync)); }

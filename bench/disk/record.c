/* What is watched, and the records of it; see disk.c. */
#include "record.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 65536

static pthread_mutex_t threads = PTHREAD_MUTEX_INITIALIZER;
static int output = -1;
static const char *prefix;
static char folder[PATH_MAX];
static struct { uint64_t file; dev_t device; } opened[MOST_DESCRIPTORS]; /* by descriptor */
static long kill_after = -1;

long number_of(const char *variable, long otherwise) {
  const char *text = getenv(variable);
  return text ? atol(text) : otherwise;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("DISK_RECORD");
  prefix = getenv("DISK_WATCH");
  if (!path || !prefix || *prefix != '/' || strlen(prefix) >= PATH_MAX) return;
  kill_after = number_of("DISK_KILL_AFTER", -1);
  strcpy(folder, prefix);
  *strrchr(folder, '/') = '\0';
  output = NEXT(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output < 0) abort();
}

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), of_end = strlen(end);
  return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

const char *name_of(const char *path) {
  if (output < 0 || !path) return NULL;
  if (strcmp(path, folder) == 0) return "";
  if (strncmp(path, prefix, strlen(prefix)) != 0 || ends_with(path, "-shm")) return NULL;
  return path + strlen(folder) + 1;
}

/* libuv closes by a system call that nobody sees: a descriptor that was watched may be another file by now, or a socket. */
uint64_t file_of(int fd) {
  struct stat about;
  if (fd < 0 || fd >= MOST_DESCRIPTORS || opened[fd].file == 0) return 0;
  int error = errno;
  int is_same = fstat(fd, &about) == 0 && about.st_ino == opened[fd].file && about.st_dev == opened[fd].device;
  errno = error;
  return is_same ? opened[fd].file : 0;
}

void watch(int fd, const struct stat *about) {
  if (fd >= MOST_DESCRIPTORS) abort();
  opened[fd].file = about->st_ino;
  opened[fd].device = about->st_dev;
}

void forget(int fd) { opened[fd].file = 0; }

/* One lock for the threads and one for the processes, which ends with a process that is killed. */
void lock(void) {
  pthread_mutex_lock(&threads);
  while (flock(output, LOCK_EX) != 0 && errno == EINTR) continue;
}

void unlock(void) {
  int error = errno;
  flock(output, LOCK_UN);
  pthread_mutex_unlock(&threads);
  errno = error;
}

void record(char kind, uint64_t file, uint64_t value, const char *name, const void *data, size_t length) {
  int error = errno;
  struct record head = {kind, strlen(name), length, getpid(), file, value};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)name, head.name_length}, {(void *)data, length}};
  ssize_t size = sizeof head + head.name_length + length;
  if (NEXT(writev)(output, parts, 3) != size) abort();
  if (kill_after > 0) kill_after--;
  if (kill_after == 0 && kind == 's') kill(getpid(), SIGKILL);
  errno = error;
}

/* own_file.c - holds a lock file beside the file, and replaces the file by renaming a new one. If the file
 * can't be replaced, its content is written in place. */
#include "host/own_file.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "host/in_place.h"
#include "host/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* the most links followed, as in the kernel */
#define TRIES 100
#define FILE_BYTES_MAX (UINT64_C(64) << 20)
#define TRIAL_BYTES 4096

struct slp_own_file {
  slp_mem *mem;
  char name[NAME_MAX + 1], lock_name[NAME_MAX + 1];
  int folder, lock;  /* descriptors of the folder and of the lock file */
  uint8_t made_lock; /* 1: this process has made the lock file */
  /* a slp_own_file_loss; not 0: another process has taken the file, so this process never writes it again */
  uint8_t taken;
  /* 1: the three members below describe the file as this process found it or last wrote it */
  uint8_t known;
  dev_t device;
  ino_t number;
  struct timespec changed;
  uint32_t written_n; /* number of temporary names used, for new names */
  int in_place;       /* why the file is written in place: a negative code; 0: it is replaced by a rename */
  int file;           /* descriptor of the file, which is locked; only if it is written in place */
};

/* If `path` is a link, replaces it by the path to which the link leads. So the link itself stays, and the
 * file behind it is written, even if that file does not exist yet. Returns 0 or -errno. */
static int follow_links(char path[PATH_MAX]) {
  char to[PATH_MAX], whole[PATH_MAX];
  for (int i = 0; i < LINKS_MAX; i++) {
    ssize_t n = readlink(path, to, sizeof to - 1);
    /* the path is no link, or does not exist yet */
    if (n < 0) return errno == EINVAL || errno == ENOENT ? 0 : -errno;
    to[n] = 0;
    const char *slash = *to == '/' ? NULL : strrchr(path, '/');
    int folder = slash ? (int)(slash - path + 1) : 0;
    if (snprintf(whole, sizeof whole, "%.*s%s", folder, path, to) >= (int)sizeof whole) return -ENAMETOOLONG;
    memcpy(path, whole, strlen(whole) + 1);
  }
  return -ELOOP;
}

/* Looks up a name in the folder. Returns 1: a regular file has the name; 0: nothing has it; -EISDIR: a folder
 * has it; SLP_EINVAL: something else has it; or -errno. */
static int stat_name_in_folder(int folder, const char *name, struct stat *st) {
  if (fstatat(folder, name, st, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : -errno;
  return S_ISREG(st->st_mode) ? 1 : S_ISDIR(st->st_mode) ? -EISDIR : SLP_EINVAL;
}

static int open_folder(slp_own_file *f, const char *given) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s", given) >= (int)sizeof path) return -ENAMETOOLONG;
  int r = follow_links(path);
  if (r) return r;
  char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (snprintf(f->name, sizeof f->name, "%s", name) >= (int)sizeof f->name ||
      snprintf(f->lock_name, sizeof f->lock_name, ".%s.lock", name) >= (int)sizeof f->lock_name)
    return -ENAMETOOLONG;
  if (!*name) return -EISDIR;
  if (slash) slash[1] = 0;
  /* `path` now ends behind its last '/', so `name` must not be used from here on. */
  f->folder = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return f->folder < 0 ? -errno : 0;
}

/* Opens the lock file, or makes it. Returns 0; SLP_MORE: the file was removed between two attempts, so try
 * again; or -errno. */
static int open_lock(slp_own_file *f) {
  static const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  /* mode 0666: the umask takes bits off */
  f->lock = openat(f->folder, f->lock_name, O_RDWR | O_CREAT | O_EXCL | flags, 0666);
  f->made_lock = f->lock >= 0;
  int there = f->lock < 0 && errno == EEXIST;
  if (there) f->lock = openat(f->folder, f->lock_name, O_RDWR | flags);
  if (f->lock < 0 && errno == EACCES) {
    f->lock = openat(f->folder, f->lock_name, O_RDONLY | flags);
    /* the lock file does not exist, and this process may not make it */
    if (f->lock < 0 && errno == ENOENT && !there) return -EACCES;
  }
  return f->lock >= 0 ? 0 : there && errno == ENOENT ? SLP_MORE : -errno;
}

/* Returns 1 if the lock file that this process has open still has its name. Another process may have removed
 * the file, when it gave the lock up or cleaned up. A lock on the removed file keeps no other process out. */
static int is_still_there(const slp_own_file *f) {
  struct stat there, ours;
  return fstat(f->lock, &ours) == 0 && fstatat(f->folder, f->lock_name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

static void drop_lock(slp_own_file *f) {
  if (f->lock >= 0) close(f->lock);
  f->lock = -1;
  f->made_lock = 0;
}

/* Gives the lock up. Removes the lock file if this process made it. */
static void remove_lock(slp_own_file *f) {
  if (f->made_lock && is_still_there(f)) (void)unlinkat(f->folder, f->lock_name, 0);
  drop_lock(f);
}

static int try_lock(slp_own_file *f) {
  for (int i = 0; i < TRIES; i++) {
    struct stat st;
    int r = open_lock(f);
    if (r == SLP_MORE) continue;
    if (r) return r;
    if (fstat(f->lock, &st) != 0) return -errno;
    if (!S_ISREG(st.st_mode)) return SLP_EINVAL;
    if (flock(f->lock, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK ? SLP_EBUSY : -errno;
    if (is_still_there(f)) return 0;
    drop_lock(f);
  }
  return SLP_EBUSY;
}

/* ---- whether another process wrote the file -------------------------------------------------------- */

static void remember_file_identity(slp_own_file *f, const struct stat *st) {
  f->known = 1;
  f->device = st->st_dev;
  f->number = st->st_ino;
  f->changed = slp_os_changed(st);
}

/* Returns 1 if the file is not the one that this process found or last wrote: another process wrote it while
 * our lock file was gone. */
static int is_anothers(const slp_own_file *f) {
  struct stat st;
  if (stat_name_in_folder(f->folder, f->name, &st) != 1) return 0;
  struct timespec changed = slp_os_changed(&st);
  return !f->known || st.st_dev != f->device || st.st_ino != f->number ||
         changed.tv_sec != f->changed.tv_sec || changed.tv_nsec != f->changed.tv_nsec;
}

/* ---- writing in place ------------------------------------------------------------------------------ */

/* Returns 1 if r is a reason for which the file can't be replaced, but may still be written in place. */
static int calls_for_place(int r) { return r == -EACCES || r == -EPERM || r == -EROFS || r == -EXDEV; }

/* Opens the file itself and locks it. Returns 0, SLP_EBUSY or -errno. */
static int lock_file(slp_own_file *f) {
  static const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  f->file = openat(f->folder, f->name, flags);
  if (f->file < 0) return -errno;
  int r = flock(f->file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno == EWOULDBLOCK ? SLP_EBUSY : -errno;
  if (r) {
    close(f->file);
    f->file = -1;
  }
  return r;
}

/* Changes to writing in place, because of `why`: locks the file itself, and removes the lock beside it.
 * Returns 0, SLP_EBUSY or -errno. */
static int go_in_place(slp_own_file *f, int why) {
  int r = lock_file(f);
  if (r) return r;
  f->in_place = why;
  remove_lock(f);
  return 0;
}

/* Returns 1 if another process has locked the file itself, to write it in place. That process may see the
 * file by another mount, and so hold no lock beside it. */
static int is_locked_itself(const slp_own_file *f) {
  int fd = openat(f->folder, f->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return 0;
  int locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return locked;
}

/* Returns 1 if the name of the file still leads to the file that is written in place. */
static int is_our_name(const slp_own_file *f) {
  struct stat there, ours;
  return fstat(f->file, &ours) == 0 && stat_name_in_folder(f->folder, f->name, &there) == 1 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

int slp_own_file_in_place(const slp_own_file *f) { return f->in_place; }

slp_own_file_loss slp_own_file_lost_by(const slp_own_file *f) { return (slp_own_file_loss)f->taken; }

int slp_own_file_is_nameless(const slp_own_file *f) {
  struct stat st;
  return f->in_place && fstat(f->file, &st) == 0 && st.st_nlink == 0;
}

/* ---- checking that the lock is still held ---------------------------------------------------------- */

/* Takes the lock. After a failure this process holds no lock, and does not treat another process's lock file
 * as its own. */
static int take_lock(slp_own_file *f) {
  int r = try_lock(f);
  if (r) drop_lock(f);
  return r;
}

int slp_own_file_keep(slp_own_file *f) {
  if (f->taken) return SLP_EBUSY;
  if (f->in_place) return is_our_name(f) ? 0 : -ESTALE;
  if (is_still_there(f)) return 0;
  drop_lock(f);
  int r = take_lock(f);
  if (r == SLP_EBUSY) f->taken = SLP_OWN_FILE_LOCK_LOST;
  /* another process has written the file and ended since; its content must not be overwritten */
  if (!r && is_anothers(f)) {
    remove_lock(f);
    f->taken = SLP_OWN_FILE_CHANGED;
    r = SLP_EBUSY;
  }
  return r;
}

/* ---- files left by dead processes ------------------------------------------------------------------ */

/* Makes the temporary name of a file with new content. Returns 0 or -ENAMETOOLONG. */
static int name_beside(const slp_own_file *f, uint64_t pid, uint64_t number, char name[NAME_MAX + 1]) {
  int n = snprintf(name, NAME_MAX + 1, ".%s.%" PRIu64 "-%" PRIu64, f->name, pid, number);
  return n > NAME_MAX ? -ENAMETOOLONG : 0;
}

/* Returns 1 if no process with this pid lives. Our own pid counts as dead: this process holds the lock and
 * has written nothing yet, so the file is of another process with the same pid, in an earlier container. */
static int is_dead(uint64_t pid) {
  if (pid == 0 || pid > INT_MAX) return 0;
  return pid == (uint64_t)getpid() || (kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

static int is_left(const slp_own_file *f, const char *name) {
  char same[NAME_MAX + 1];
  uint64_t pid, number;
  struct stat st;
  size_t n = strlen(f->name);
  if (name[0] != '.' || strncmp(name + 1, f->name, n) != 0 || name[1 + n] != '.') return 0;
  const char *numbers = name + n + 2, *dash = strchr(numbers, '-');
  if (!dash || slp_parse_u64((slp_str){numbers, (size_t)(dash - numbers)}, &pid) ||
      slp_parse_u64(slp_str_of(dash + 1), &number))
    return 0;
  /* A file of another program may have a similar name, but with a number such as 007, which name_beside()
   * never writes. */
  if (name_beside(f, pid, number, same) || strcmp(same, name) != 0) return 0;
  return is_dead(pid) && stat_name_in_folder(f->folder, name, &st) == 1 && st.st_uid == geteuid();
}

/* Removes files with new content that dead processes have never renamed. A file that can't be removed stays,
 * and does no harm. */
static void remove_left(const slp_own_file *f) {
  int fd = openat(f->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = fd < 0 ? NULL : fdopendir(fd);
  if (!folder) {
    if (fd >= 0) close(fd);
    return;
  }
  for (const struct dirent *e; (e = readdir(folder));)
    if (is_left(f, e->d_name)) (void)unlinkat(f->folder, e->d_name, 0);
  closedir(folder);
}

static int open_and_lock_own_file(slp_own_file *f, const char *path) {
  struct stat st;
  int r = open_folder(f, path);
  if (!r) r = stat_name_in_folder(f->folder, f->name, &st);
  if (r < 0) return r;
  int there = r;
  r = take_lock(f);
  if (there && calls_for_place(r)) return go_in_place(f, r);
  if (r) return r;
  if (is_locked_itself(f)) return SLP_EBUSY;
  /* looks again, because the process that held the lock before may just have written the file */
  if (stat_name_in_folder(f->folder, f->name, &st) == 1) remember_file_identity(f, &st);
  remove_left(f);
  return 0;
}

int slp_own_file_open(slp_mem *mem, const char *path, slp_own_file **ret) {
  slp_own_file *f = SLP_NEW(mem, slp_own_file);
  if (!f) return SLP_ENOMEM;
  f->mem = mem;
  f->folder = f->lock = f->file = -1;
  int r = open_and_lock_own_file(f, path);
  if (r)
    slp_own_file_close(f);
  else
    *ret = f;
  return r;
}

void slp_own_file_close(slp_own_file *f) {
  if (!f) return;
  remove_lock(f);
  if (f->file >= 0) close(f->file);
  if (f->folder >= 0) close(f->folder);
  slp_free(f->mem, f);
}

/* ---- new content ---------------------------------------------------------------------------------- */

/* Makes a new file in the folder, under a name that does not exist yet. Returns its descriptor, or -errno. */
static int make_beside(slp_own_file *f, int mode, char name[NAME_MAX + 1]) {
  for (int i = 0; i < TRIES; i++) {
    if (name_beside(f, (uint64_t)getpid(), f->written_n++, name)) return -ENAMETOOLONG;
    int fd = openat(f->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd < 0 ? -errno : fd;
  }
  return -EEXIST;
}

static int write_all(int fd, slp_str bytes) {
  while (bytes.n > 0) {
    ssize_t n = write(fd, bytes.p, bytes.n);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    bytes.p += n;
    bytes.n -= (size_t)n;
  }
  return 0;
}

/* Gives a new file the owner and the mode of the old one. If that fails, the old file is not replaced. The
 * owner comes first, because changing it clears bits of the mode. */
static int keep_owner_and_mode(int fd, const struct stat *old) {
  struct stat now;
  if (fstat(fd, &now) != 0) return -errno;
  if ((now.st_uid != old->st_uid || now.st_gid != old->st_gid) && fchown(fd, old->st_uid, old->st_gid) != 0)
    return errno == EINVAL ? -EPERM : -errno; /* EINVAL: the owner has no id in this user namespace */
  return fchmod(fd, old->st_mode & 07777) != 0 ? -errno : 0;
}

/* Syncs the folder, because only then the new name survives a crash. On a file system that can't sync
 * folders, fsync() fails with EINVAL. */
static int sync_folder(const slp_own_file *f) {
  return fsync(f->folder) != 0 && errno != EINVAL ? -errno : 0;
}

/* Replaces the file, or makes it. Returns 0; SLP_EINVAL: the name belongs to something that is no regular
 * file; or another error. */
static int replace_by_rename(slp_own_file *f, slp_str bytes) {
  struct stat old, made = {0};
  char name[NAME_MAX + 1];
  int known = stat_name_in_folder(f->folder, f->name, &old);
  if (known < 0) return known;
  if (known && is_locked_itself(f)) {
    f->taken = SLP_OWN_FILE_LOCKED_ITSELF;
    return SLP_EBUSY;
  }
  int fd = make_beside(f, known ? 0600 : 0666, name); /* mode 0666: the umask takes bits off */
  if (fd < 0) return fd;
  int r = known ? keep_owner_and_mode(fd, &old) : 0;
  if (!r) r = write_all(fd, bytes);
  if (!r && (fsync(fd) != 0 || fstat(fd, &made) != 0)) r = -errno;
  if (close(fd) != 0 && !r) r = -errno;
  if (!r && renameat(f->folder, name, f->folder, f->name) != 0)
    r = errno == EBUSY ? -EXDEV : -errno; /* EBUSY: the file is mounted by itself */
  if (!r) {
    remember_file_identity(f, &made);
    return sync_folder(f);
  }
  (void)unlinkat(f->folder, name, 0);
  return r;
}

int slp_own_file_replace(slp_own_file *f, slp_str bytes) {
  struct stat st;
  int r = slp_own_file_keep(f);
  if (r) return r;
  if (!f->in_place) {
    r = replace_by_rename(f, bytes);
    if (!calls_for_place(r) || stat_name_in_folder(f->folder, f->name, &st) != 1) return r;
    r = go_in_place(f, r);
  }
  return r ? r : slp_in_place_write(f->mem, f->file, bytes);
}

/* Writes some bytes to a new file in the folder, and removes that file. Returns 0 or an error. */
static int try_beside(slp_own_file *f) {
  static const char bytes[TRIAL_BYTES];
  char name[NAME_MAX + 1];
  int fd = make_beside(f, 0600, name);
  if (fd < 0) return fd;
  int r = write_all(fd, (slp_str){bytes, sizeof bytes});
  if (!r && fsync(fd) != 0) r = -errno;
  if (close(fd) != 0 && !r) r = -errno;
  (void)unlinkat(f->folder, name, 0);
  return r;
}

int slp_own_file_try(slp_own_file *f) {
  slp_buf now;
  struct stat st;
  int r = stat_name_in_folder(f->folder, f->name, &st);
  if (r <= 0) return r < 0 ? r : try_beside(f);
  int fd = openat(f->folder, f->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return -errno;
  slp_buf_init(&now, f->mem, FILE_BYTES_MAX);
  r = slp_in_place_read(fd, &now);
  close(fd);
  if (!r) r = slp_own_file_replace(f, slp_in_place_good(slp_buf_str(&now)));
  slp_buf_free(&now);
  return r;
}

/* curl_socket.c - keeps one libuv poll handle for each socket of a lane, from its opening to its closing.
 *
 * libcurl asks to watch a socket at the start of every transfer and to stop at its end. A poll handle made
 * and closed each time would cost five system calls a request. So a handle lives as long as its socket. When
 * curl asks to stop watching, libuv goes on watching until an event comes for which curl does not wait.
 * Between requests on a kept connection there is no system call at all.
 *
 * A readable socket is not handed to curl from libuv's callback, but by an event. So curl's work is part of
 * the turn (bounded, measured), and sockets take turns with all other work. */
#include "base/list.h"
#include "base/mem.h"
#include "host/curl_transfer.h"
#include "host/host.h"
#include "host/os.h"
#include "host/uv_host.h"

#include <sys/socket.h>
#include <unistd.h>

struct slp_curl_socket {
  uv_poll_t poll;
  slp_curl_lane *lane;
  curl_socket_t fd;
  slp_event ev; /* hands the collected `events` to curl in a later turn */
  /* 1: on_open opened the socket, so on_close_socket will be called for it. 0: the socket is the wake-up pair
   * of a resolver thread. curl closes that pair without on_close_socket, right after CURL_POLL_REMOVE. */
  uint8_t ours;
  uint8_t gone;   /* 1: uv_close was called; only the memory is left */
  uint8_t wanted; /* bits UV_READABLE and UV_WRITABLE: what curl waits for now */
  uint8_t armed;  /* bits UV_READABLE and UV_WRITABLE: what libuv watches for now */
  uint8_t events; /* CURL_CSELECT_* bits that have come and were not passed to curl yet */
};
typedef struct slp_curl_socket curl_socket;

static curl_socket *find_socket_by_fd(slp_curl_lane *lane, curl_socket_t fd) {
  return (size_t)fd < lane->sockets_n ? lane->sockets[fd] : NULL;
}

static void on_poll_closed(uv_handle_t *handle) {
  curl_socket *s = handle->data;
  slp_uv_host *u = s->lane->u;
  slp_free(u->host.mem, s);
  slp_uv_drop(u);
}

/* Closes the poll handle of a socket, and forgets the socket. This must happen before the descriptor is
 * closed: libuv 1.44 aborts the process when it changes the mask of a descriptor that is gone (uv__io_poll in
 * its src/unix/epoll.c, where epoll_ctl fails). */
static void close_socket_poll(curl_socket *s) {
  s->gone = 1;
  s->wanted = s->armed = 0;
  slp_unpost(&s->ev);
  s->lane->sockets[s->fd] = NULL;
  uv_close((uv_handle_t *)&s->poll, on_poll_closed);
}

static void arm_socket_poll(curl_socket *s);

/* Returns 1 if no transfer uses the connection. A paused transfer's socket is not watched, but data on it
 * belongs to the transfer. Returns 0 also while the socket of some transfer is not known, because that
 * transfer may use any connection: curl does not name the socket if the previous transfer on it was watched
 * in the same way. */
static int has_no_transfer(const curl_socket *s) {
  if (!s->ours) return 0;
  SLP_LIST_EACH(&s->lane->running, it) {
    const slp_transfer *t = SLP_OWNER(it, slp_http, link)->transfer;
    if (t->fd == s->fd || t->fd == CURL_SOCKET_BAD) return 0;
  }
  return 1;
}

/* Ends a connection on which data arrived while no transfer uses it, such as a second answer or a message
 * before closing. libcurl 7.88 would take that data for the answer to the next request. So the data is read
 * and thrown away, and the socket is shut down: curl finds the connection dead, and takes another connection
 * before it sends the next request. Over TLS, a session ticket that arrives so late costs a connection,
 * nothing else. */
static void end_if_spoken_on(const curl_socket *s) {
  char bytes[16 << 10];
  if (!has_no_transfer(s) || recv(s->fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0) return;
  shutdown(s->fd, SHUT_RDWR);
  for (int i = 0; i < 64 && recv(s->fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0; i++) {
  }
}

static void on_poll(uv_poll_t *poll, int status, int events) {
  curl_socket *s = poll->data;
  if (status < 0) {
    /* libuv reports an error on the socket as a negative status and has stopped the handle. */
    uv_poll_stop(poll);
    s->armed = 0;
    if (!s->wanted) return;
    s->events |= CURL_CSELECT_ERR | CURL_CSELECT_IN | CURL_CSELECT_OUT;
  } else if (!(s->wanted & events)) {
    uv_poll_stop(poll); /* curl's CURL_POLL_REMOVE, which came earlier, is carried out only now */
    s->armed = 0;
    if (s->wanted)
      arm_socket_poll(s);
    else
      end_if_spoken_on(s);
    return;
  } else {
    if (events & UV_READABLE) s->events |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE) s->events |= CURL_CSELECT_OUT;
  }
  slp_post(&s->lane->u->host, &s->ev);
}

static void arm_socket_poll(curl_socket *s) {
  if (s->armed == s->wanted) return;
  /* uv_poll_start fails only for a descriptor that is not open, which on_close_socket rules out. If it
   * failed, the deadline of the call would end the call. */
  if (uv_poll_start(&s->poll, s->wanted, on_poll) == 0) s->armed = s->wanted;
}

static void on_ready(slp_event *ev) {
  curl_socket *s = SLP_OWNER(ev, curl_socket, ev);
  int events = s->events;
  s->events = 0;
  slp_uv_host *u = s->lane->u;
  /* libuv stops a handle after an error, and curl does not ask again for the events that it asked for before.
   * So the handle is started again here. The memory of s outlives this function: only libuv's close callback
   * frees s, and libuv never calls it inside a turn. */
  s->lane->act(s->lane, s->fd, events);
  if (!u->closing && !s->gone && s->wanted) arm_socket_poll(s);
}

static curl_socket *make_socket_entry(slp_curl_lane *lane, curl_socket_t fd, int ours) {
  slp_mem *mem = lane->u->host.mem;
  size_t need = (size_t)fd + 1;
  if (need > lane->sockets_n) {
    need = (need + 63) & ~(size_t)63;
    curl_socket **grown = slp_realloc(mem, lane->sockets, need * sizeof(void *));
    if (!grown) return NULL;
    for (size_t i = lane->sockets_n; i < need; i++) grown[i] = NULL;
    lane->sockets = grown;
    lane->sockets_n = need;
  }
  /* If there is an entry for this number already, its socket was closed without on_close_socket. libcurl 7.88
   * does so when it stops trying one address and tries the next (cf_socket_close: "we did never publish it").
   * Then curl believes that the number is still watched as before, so the new socket is watched like the old
   * one. */
  curl_socket *stale = lane->sockets[fd];
  uint8_t wanted = stale ? stale->wanted : 0;
  if (stale) close_socket_poll(stale);
  curl_socket *s = SLP_NEW(mem, curl_socket);
  if (!s) return NULL;
  if (uv_poll_init(lane->u->loop, &s->poll, fd)) {
    slp_free(mem, s);
    return NULL;
  }
  uv_unref((uv_handle_t *)&s->poll);
  s->poll.data = s;
  s->lane = lane;
  s->fd = fd;
  s->ours = (uint8_t)ours;
  s->ev.run = on_ready;
  s->wanted = wanted;
  lane->sockets[fd] = s;
  slp_uv_hold(lane->u);
  if (wanted) arm_socket_poll(s);
  return s;
}

/* The functions from here to on_close_socket are curl's callbacks, so they must not call curl. */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *unused) {
  slp_curl_lane *lane = arg;
  curl_socket *s = find_socket_by_fd(lane, fd);
  char *t = NULL;
  (void)unused;
  if (what == CURL_POLL_REMOVE) {
    if (!s) return 0;
    if (!s->ours) {
      close_socket_poll(s);
      return 0;
    }
    s->wanted = s->events = 0;
    slp_unpost(&s->ev);
    /* UV_READABLE may stay armed, see the head of this file. UV_WRITABLE would wake the loop at once. */
    if (s->armed & UV_WRITABLE) {
      uv_poll_stop(&s->poll);
      s->armed = 0;
    }
    return 0;
  }
  if (lane->u->closing) return 0;
  slp_transfer *transfer = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, &t) == CURLE_OK && t) transfer = (slp_transfer *)(void *)t;
  if (transfer) transfer->fd = fd;
  if (transfer && s && s->ours && what == CURL_POLL_IN) transfer->awaited_peer = 1;
  if (!s) s = make_socket_entry(lane, fd, 0);
  /* Without memory the wake-up pair of a resolver is not watched, but the transfer continues: curl looks at
   * the pair by a timer as well. A negative result here would end every transfer of the lane. */
  if (!s) return 0;
  s->wanted = (uint8_t)((what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0));
  arm_socket_poll(s);
  return 0;
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *address) {
  slp_curl_lane *lane = arg;
  (void)purpose;
  int fd = slp_os_socket(address->family, address->socktype, address->protocol);
  lane->socket_error = fd < 0 ? errno : 0; /* kept for messages, because libcurl does not report this errno */
  if (fd < 0) return CURL_SOCKET_BAD;
  if (lane->u->closing || !make_socket_entry(lane, fd, 1)) {
    close(fd);
    errno = ENOMEM;
    return CURL_SOCKET_BAD;
  }
  lane->u->host.turns.connections_opened++;
  return fd;
}

static int on_close_socket(void *arg, curl_socket_t fd) {
  curl_socket *s = find_socket_by_fd(arg, fd);
  if (s) close_socket_poll(s);
  return close(fd);
}

int slp_curl_sockets_multi(slp_curl_lane *lane) {
  if (curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, on_socket) ||
      curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane))
    return SLP_ENOMEM;
  return 0;
}

int slp_curl_sockets_easy(slp_curl_lane *lane, CURL *easy) {
  if (curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open) ||
      curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, lane) ||
      curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket) ||
      curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, lane))
    return SLP_ENOMEM;
  return 0;
}

void slp_curl_sockets_close(slp_curl_lane *lane) {
  for (size_t i = 0; i < lane->sockets_n; i++)
    if (lane->sockets[i]) close_socket_poll(lane->sockets[i]);
  slp_free(lane->u->host.mem, lane->sockets);
  lane->sockets = NULL;
  lane->sockets_n = 0;
}

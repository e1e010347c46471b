/* A process without a file descriptor left: calls fail, and are told so; calls on a connection that is there
 * go on; nothing runs in circles; all is well once there are some again. */
#include <sys/resource.h>

#include "cpu.h"
#include "wire.h"

static void serve(int listener, void *arg) {
  static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
  (void)arg;
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    char rq[4096];
    int fd = accept(listener, NULL, NULL);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (wire_read_request(fd, rq, sizeof rq)) wire_write(fd, answer, sizeof answer - 1);
      _exit(0);
    }
    close(fd);
  }
}

static void allow(rlim_t most) {
  struct rlimit limit;
  CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = most;
  CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* The lowest that is free: nothing else can be opened when no more are allowed. */
static rlim_t next_one(void) {
  int fd = dup(0);
  CHECK(fd >= 0);
  close(fd);
  return (rlim_t)fd;
}

static void on_over(uv_timer_t *t) { *(int *)t->data = 1; }

TEST(no_descriptor_is_left) {
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve, NULL), elsewhere = wire_child_start(serve, NULL);
  wire_call first, again, other;
  wire_call_make(&first, &w, "http", server.port, "/first");
  wire_call_run(&first, &w); /* this connection stays */
  CHECK_INT(first.http.status, 200);
  allow(next_one());
  wire_call_make(&again, &w, "http", server.port, "/again");
  wire_call_make(&other, &w, "http", elsewhere.port, "/other");
  slp_http_send(w.h, &again.http);
  slp_http_send(w.h, &other.http);
  WIRE_UNTIL(&w, &again.done);
  WIRE_UNTIL(&w, &other.done);
  CHECK_INT(again.http.status, 200);
  CHECK(again.http.reused);
  CHECK_INT(other.http.error, UV_EMFILE);
  CHECK(strstr(other.http.error_text, "too many open files"));
  uint64_t before = cpu_us();
  uv_timer_t second;
  int over = 0;
  uv_timer_init(w.loop, &second);
  second.data = &over;
  uv_timer_start(&second, on_over, 1000, 0);
  while (!over) uv_run(w.loop, UV_RUN_ONCE);
  uv_close((uv_handle_t *)&second, NULL);
  CHECK(cpu_us() - before < 300000);
  allow(256);
  wire_call_again(&again);
  wire_call_again(&other);
  slp_http_send(w.h, &again.http);
  slp_http_send(w.h, &other.http);
  WIRE_UNTIL(&w, &again.done);
  WIRE_UNTIL(&w, &other.done);
  CHECK(again.http.status == 200 && other.http.status == 200);
  slp_buf_free(&first.body);
  slp_buf_free(&again.body);
  slp_buf_free(&other.body);
  wire_child_stop(&server);
  wire_child_stop(&elsewhere);
  wire_close(&w);
}

/* asio.cpp - sloop inside an asio::io_context, with asio alone or Boost's: libuv's loop is one descriptor and one timer.
 * usage: asio STREAM; prints payloads until its standard input, which is not a file, ends. */
#include <asio.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sloop.h>
#include <unistd.h>
#include <uv.h>

class uv_in_asio {
 public:
  explicit uv_in_asio(asio::io_context &io) : ready_(io), timer_(io) {
    if (uv_loop_init(&loop_)) std::abort();
    ready_.assign(::dup(uv_backend_fd(&loop_))); /* asio closes its own copy */
  }
  uv_in_asio(const uv_in_asio &) = delete;
  uv_in_asio &operator=(const uv_in_asio &) = delete;
  ~uv_in_asio() {
    uv_run(&loop_, UV_RUN_DEFAULT); /* to its end: all that was open is being closed */
    uv_loop_close(&loop_);
  }
  uv_loop_t *loop() { return &loop_; }
  void start() {
    wait_ready();
    turn();
  }
  void stop() {
    ready_.close();
    timer_.cancel();
  }
  /* A turn of libuv's loop. It is due when its descriptor is ready or its time has come, and after each call of
   * sloop or libuv outside of its callbacks: only a turn tells the kernel what that call waits for. */
  void turn() {
    uv_run(&loop_, UV_RUN_NOWAIT);
    int ms = uv_backend_timeout(&loop_); /* 0: at once; -1: nothing waits for a time */
    timer_.cancel();
    if (ms < 0) return;
    timer_.expires_after(std::chrono::milliseconds(ms));
    timer_.async_wait([this](const asio::error_code &e) {
      if (!e) turn();
    });
  }

 private:
  void wait_ready() {
    ready_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code &e) {
      if (e) return;
      turn();
      wait_ready();
    });
  }
  uv_loop_t loop_;
  asio::posix::stream_descriptor ready_;
  asio::steady_timer timer_;
};

static void on_batch(sloop_t *, sloop_batch_t *batch, void *) {
  size_t n = sloop_batch_count(batch);
  for (size_t i = 0; i < n; i++) {
    const sloop_record_t *r = sloop_batch_at(batch, i);
    std::fwrite(r->data.base, 1, r->data.len, stdout);
    std::putchar('\n');
  }
  if (std::fflush(stdout)) std::exit(1); /* nobody reads it any more */
  sloop_batch_done(batch, n);
}

int main(int argc, char **argv) {
  asio::io_context io;
  uv_in_asio uv(io);
  if (argc != 2) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  sloop_opts_t o;
  sloop_t *s;
  char why[160];
  sloop_opts_init(&o);
  o.stream = argv[1];
  o.start.kind = SLOOP_OLDEST;
  o.on_batch = on_batch;
  if (sloop_open(&s, uv.loop(), &o, why, sizeof why)) return std::fprintf(stderr, "%s\n", why), 2;
  sloop_start(s);
  uv.start();
  asio::posix::stream_descriptor input(io, ::dup(0)); /* the program's own business */
  char some[256];
  std::function<void()> wait_input = [&] {
    input.async_read_some(asio::buffer(some), [&](const asio::error_code &e, std::size_t) {
      if (!e) return wait_input();
      uv.stop();
    });
  };
  wait_input();
  io.run();
  sloop_close(s, nullptr, nullptr);
  return 0;
}

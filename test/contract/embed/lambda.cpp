// lambda.cpp - a consumer as a C++ object: closed when it goes out of scope, records go to a lambda.
// usage: lambda STREAM COUNT
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sloop.h>
#include <stdexcept>
#include <string>
#include <uv.h>

class Consumer {
 public:
  using OnRecord = std::function<void(const sloop_record_t &)>;
  Consumer(uv_loop_t *loop, const std::string &stream, OnRecord on_record)
      : on_record_(std::move(on_record)) {
    sloop_opts_t o;
    char why[160];
    sloop_opts_init(&o);
    o.stream = stream.c_str();  // copied
    o.start.kind = SLOOP_OLDEST;
    o.arg = this;
    o.on_batch = [](sloop_t *, sloop_batch_t *batch, void *arg) {
      const size_t n = sloop_batch_count(batch);
      for (size_t i = 0; i < n; i++) static_cast<Consumer *>(arg)->on_record_(*sloop_batch_at(batch, i));
      sloop_batch_done(batch, n);  // no exception may pass through the library
    };
    if (sloop_open(&s_, loop, &o, why, sizeof why)) throw std::runtime_error(why);
    sloop_start(s_);
  }
  ~Consumer() { sloop_close(s_, nullptr, nullptr); }  // the loop has to run on until it is gone
  Consumer(const Consumer &) = delete;
  Consumer &operator=(const Consumer &) = delete;

 private:
  sloop_t *s_ = nullptr;
  OnRecord on_record_;
};

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  uv_loop_t *loop = uv_default_loop();
  int left = std::atoi(argv[2]);
  try {
    Consumer orders(loop, argv[1], [&](const sloop_record_t &r) {
      if (left == 0) return;
      std::printf("%.*s\n", static_cast<int>(r.data.len), r.data.base);
      if (--left == 0) uv_stop(loop);
    });
    uv_run(loop, UV_RUN_DEFAULT);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  uv_run(loop, UV_RUN_DEFAULT);  // closes what the destructor let go
  return uv_loop_close(loop) ? 1 : 0;
}

/* nd_module.c - what the native part shows to lib/, and the life of an environment.
 *
 * An environment that ends while consumers are open waits for them: its cleanup hook closes them, and is
 * removed by the last callback of the last one. Without that the end of a worker thread would find open
 * handles in its loop, and end the process. */
#include "bind/node/nd_native.h"

#include "host/err.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

nd_world *nd_world_hold(nd_world *w) {
  w->holds++;
  return w;
}
void nd_world_drop(nd_world *w) {
  slp_mem *mem = w->mem;
  if (--w->holds) return;
  nd_slabs_free(w);
  slp_free(mem, w);
  slp_mem_drop(mem);
}

void nd_world_settle(nd_world *w) {
  napi_async_cleanup_hook_handle hook = w->hook;
  if (!w->ending || w->first || w->admins || !hook) return;
  w->hook = NULL;
  napi_async_destroy(w->env, w->context);
  napi_remove_async_cleanup_hook(hook);
}

static void on_environment_ends(napi_async_cleanup_hook_handle hook, void *arg) {
  nd_world *w = arg;
  nd_consumer *c;
  nd_admin *a;
  (void)hook;
  w->ending = 1;
  for (a = w->admins; a; a = a->next) nd_admin_close(a);
  for (c = w->first; c; c = c->next) nd_consumer_close(c);
  nd_world_settle(w);
}

static void on_world_dropped(napi_env env, void *data, void *hint) {
  nd_world *w = data;
  (void)env, (void)hint;
  w->ending = 1;
  nd_world_drop(w);
}

static napi_value get_features(napi_env env, napi_callback_info info) {
  (void)info;
  return nd_string(env, sloop_features());
}
/* Returns the lines of sloop_running(). */
static napi_value get_running(napi_env env, napi_callback_info info) {
  nd_args a;
  size_t len = 0;
  char *text;
  napi_value value = NULL;
  nd_args_begin(&a, env, info);
  sloop_running(NULL, &len);
  text = slp_alloc(a.world->mem, len);
  if (text && !sloop_running(text, &len)) napi_create_string_utf8(env, text, len, &value);
  slp_free(a.world->mem, text);
  return value ? value : nd_string(env, "");
}
static napi_value get_err_name(napi_env env, napi_callback_info info) {
  nd_args a;
  nd_args_begin(&a, env, info);
  return nd_string(env, sloop_err_name(nd_arg_int(&a, 0)));
}
static napi_value get_strerror(napi_env env, napi_callback_info info) {
  nd_args a;
  nd_args_begin(&a, env, info);
  return nd_string(env, sloop_strerror(nd_arg_int(&a, 0)));
}
/* checkOptions(options): [status, why]. */
static napi_value check_options(napi_env env, napi_callback_info info) {
  nd_args a;
  sloop_opts_t o;
  char why[160] = "";
  int status;
  nd_args_begin(&a, env, info);
  sloop_opts_init(&o);
  status = nd_fill_options(&a, a.at[0], &o, why, sizeof why);
  nd_args_end(&a);
  return nd_outcome(env, status, nd_string(env, why));
}

static nd_world *new_world(napi_env env) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  nd_world *w = mem ? SLP_NEW(mem, nd_world) : NULL;
  napi_value name = nd_string(env, "sloop");
  if (!w) {
    slp_mem_drop(mem);
    return NULL;
  }
  w->mem = mem;
  w->env = env;
  w->holds = 1;
  if (!name || napi_get_uv_event_loop(env, &w->loop) != napi_ok ||
      napi_async_init(env, NULL, name, &w->context) != napi_ok ||
      napi_set_instance_data(env, w, on_world_dropped, NULL) != napi_ok) {
    nd_world_drop(w);
    return NULL;
  }
  if (napi_add_async_cleanup_hook(env, on_environment_ends, w, &w->hook) != napi_ok) return NULL;
  return w;
}

/* Returns the posix_memalign() that most of the process calls. It is another one than ours if somebody
 * preloads an allocator while this module is loaded by RTLD_DEEPBIND. Memory of the one allocator would then
 * be given to the other's free(). malloc() itself tells nothing: its address is that of a stub in node. */
static void (*allocator_of_process(void))(void) {
  void *process = dlopen(NULL, RTLD_NOW); /* RTLD_DEFAULT would look where this module looks first */
  void *found = process ? dlsym(process, "posix_memalign") : NULL;
  void (*function)(void) = NULL;
  if (process) dlclose(process);
  memcpy(&function, &found, sizeof function);
  return function;
}
static int throw_foreign_allocator(napi_env env) {
  void (*others)(void) = allocator_of_process();
  char why[512];
  if (!others || others == (void (*)(void))posix_memalign) return 0;
  snprintf(why, sizeof why,
           "%.200s allocates the memory of this process. This binary, which uses the system's libcurl, "
           "would mix it with libc's: use a binary that the package brings, or run node without LD_PRELOAD",
           slp_code_file(others));
  napi_throw_error(env, NULL, why);
  return 1;
}

/* node looks for these two names. */
NAPI_MODULE_EXPORT int32_t node_api_module_get_api_version_v1(void);
NAPI_MODULE_EXPORT napi_value napi_register_module_v1(napi_env env, napi_value exports);

int32_t node_api_module_get_api_version_v1(void) { return NAPI_VERSION; }

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  static const struct {
    const char *name;
    napi_callback call;
  } calls[] = {
#define X(name) {#name, nd_##name},
      ND_CONSUMER_CALLS(X) ND_ADMIN_CALLS(X)
#undef X
          {"batchDone", nd_batch_done},
      {"batchAck", nd_batch_ack},
      {"batchOwned", nd_batch_owned},
      {"features", get_features},
      {"running", get_running},
      {"errName", get_err_name},
      {"strerror", get_strerror},
      {"checkOptions", check_options},
  };
  static const struct {
    const char *name;
    int number;
  } constants[] = {
#define X(name, number) {#name, number},
      ND_EVENTS(X)
#undef X
#define X(name, number, text) {#name, number},
          SLOOP_ERRORS(X)
#undef X
              {"ENOMEM", UV_ENOMEM},
      {"ETIMEDOUT", UV_ETIMEDOUT},
      {"ECANCELED", UV_ECANCELED},
  };
  nd_world *w;
  napi_value function = NULL, numbers;
  size_t i;
  if (throw_foreign_allocator(env)) return NULL;
  w = new_world(env);
  if (!w) {
    napi_throw_error(env, NULL, "sloop: no memory, or the thread ends");
    return NULL;
  }
  for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    if (napi_create_function(env, calls[i].name, NAPI_AUTO_LENGTH, calls[i].call, w, &function) == napi_ok)
      nd_set(env, exports, calls[i].name, function);
  }
  numbers = nd_object(env);
  for (i = 0; i < sizeof constants / sizeof constants[0]; i++)
    nd_set_number(env, numbers, constants[i].name, constants[i].number);
  nd_set(env, exports, "numbers", numbers);
  nd_set_text(env, exports, "version", sloop_version());
  return exports;
}

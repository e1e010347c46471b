/* uv_hold.c - counts the objects that libuv may still call back, and frees the host when none is left. */
#include "base/mem.h"
#include "host/host.h"
#include "host/uv_host.h"

void slp_uv_hold(slp_uv_host *u) { u->holds++; }

void slp_uv_release(slp_uv_host *u) {
  slp_mem *mem = slp_mem_hold(u->host.mem);
  slp_free(mem, u->ca_file);
  slp_free(mem, u->ca_path);
  slp_free(mem, u->user_agent);
  u->ca_file = u->ca_path = u->user_agent = NULL;
  slp_host_closed(&u->host);
  slp_free(mem, u);
  slp_mem_drop(mem);
}

void slp_uv_drop(slp_uv_host *u) {
  SLP_CHECK(u->holds > 0);
  if (--u->holds == 0 && u->closing) slp_uv_release(u);
}

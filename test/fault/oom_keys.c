/* oom_keys.c - a stream is read with credentials from each place they can come from: files and roles, web
 * identity, a container, a machine's metadata, a sign-in, a program. What is asked for them is answered over
 * the simulated network. */
#include "fault/oom_reader.h"

#include <stdio.h>

#include "swarm/inside.h"

typedef struct pair {
  const char *name, *value;
} pair;

typedef struct answer { /* to a request whose URL holds this text; the first that does */
  const char *of, *type, *body;
} answer;

typedef struct how_keys {
  pair env[8], files[3];
  answer answers[5];
  const char *program; /* what a credential_process writes */
} how_keys;

typedef struct scene {
  const how_keys *how;
  slp_host_ops ops;
  void (*serve)(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply);
  void *serve_arg;
} scene;
static scene *here; /* the functions of a host are not given one */

static const char *environment(void *ctx, const char *name) {
  const how_keys *how = ctx;
  for (const pair *p = how->env; p->name; p++)
    if (strcmp(p->name, name) == 0) return p->value;
  return NULL;
}

static void serve(void *arg, const slp_sim_ask *rq, slp_sim_reply *reply) {
  scene *c = arg;
  for (const answer *a = c->how->answers; a->of; a++) {
    size_t n = strlen(a->of);
    int in_url = rq->url.n && memmem(rq->url.p, rq->url.n, a->of, n) != NULL;
    if (!in_url && !(rq->body.n && memmem(rq->body.p, rq->body.n, a->of, n))) continue;
    reply->status = 200;
    snprintf(reply->content_type, sizeof reply->content_type, "%s", a->type);
    SLP_CHECK(slp_buf_add_z(&reply->body, a->body) == 0);
    return;
  }
  c->serve(c->serve_arg, rq, reply);
}

static void run_child(slp_event *ev) {
  slp_child *child = SLP_OWNER(ev, slp_child, ev);
  child->error = slp_buf_add_z(child->into, here->how->program);
  child->on_done(child);
}
static void op_spawn(slp_host *h, slp_child *child) {
  child->ev.run = run_child;
  slp_post(h, &child->ev);
}

static void play(oom_run *r, const void *arg) {
  oom_marks marks = {.n = 0};
  scene c = {.how = arg};
  here = &c;
  slp_world *w = oom_world(r, NULL);
  slp_known_stream *s = slp_world_stream(w, "orders", 1);
  slp_world_put_many(w, s, 10, 50);
  marks.n = w->ids;
  c.serve = w->sim->serve;
  c.serve_arg = w->sim->serve_arg;
  slp_sim_serve(w->sim, serve, &c);
  oom_reader x;
  oom_reader_init(&x, r, w, "orders", &marks, oom_mem(r));
  x.opts.creds = NULL;
  x.outside.getenv_fn = environment;
  x.outside.getenv_ctx = (void *)(uintptr_t)arg;
  for (const pair *p = c.how->files; p->name; p++) slp_sim_file(x.host, p->name, p->value);
  c.ops = *x.host->ops;
  if (c.how->program) c.ops.spawn = op_spawn;
  x.host->ops = &c.ops;
  r->armed = 1;
  if (oom_reader_begin(&x) == 0) {
    if (r->way != OOM_FOREVER) oom_reader_read_all(&x, 180000);
    oom_reader_pass(&x, r->way == OOM_FOREVER ? 120000 : 2000);
    if (x.fatal) oom_answer(r, "on_error", x.fatal, 0);
  }
  r->armed = 0;
  oom_reader_end(&x);
  if (!r->bad[0]) slp_world_free(w);
}

/* ---- where keys come from ------------------------------------------------------------------------------ */
#define LATER "2037-01-01T00:00:00Z"
#define NO_MACHINE \
  {"HOME", "/h"}, { "AWS_EC2_METADATA_DISABLED", "true" }
#define STS(action)                                                                               \
  "<" action "Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><" action              \
  "Result><Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>s+1/=</SecretAccessKey>"  \
  "<SessionToken>t&#43;1</SessionToken><Expiration>" LATER "</Expiration></Credentials></" action \
  "Result></" action "Response>"
#define JSON_KEYS                                                                                        \
  "{\"Code\":\"Success\",\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"Token\":\"C\"," \
  "\"SessionToken\":\"C\",\"Expiration\":\"" LATER "\"}"

static const how_keys roles = {
    .env = {NO_MACHINE, {"AWS_PROFILE", "a"}},
    .files = {{"/h/.aws/config",
               "[profile a]\nrole_arn = arn:a\nsource_profile = b\nregion = eu-west-1\n[profile b]\n"
               "role_arn = arn:b\nsource_profile = c\n"},
              {"/h/.aws/credentials", "[c]\naws_access_key_id = KC\naws_secret_access_key = SC\n"}},
    .answers = {{"Action=AssumeRole&", "text/xml", STS("AssumeRole")}}};
static const how_keys web = {
    .env = {NO_MACHINE, {"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"}, {"AWS_ROLE_ARN", "arn:aws:iam::1:role/x"}},
    .files = {{"/t", "a.web.token\n"}},
    .answers = {{"Action=AssumeRoleWithWebIdentity", "text/xml", STS("AssumeRoleWithWebIdentity")}}};
static const how_keys container = {
    .env = {NO_MACHINE,
            {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"},
            {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/t"}},
    .files = {{"/t", "token"}},
    .answers = {{"169.254.170.23", "application/json", JSON_KEYS}}};
static const how_keys machine = {.env = {{"HOME", "/h"}},
                                 .answers = {{"/latest/api/token", "text/plain", "TOKEN1"},
                                             {"credentials/my-role", "text/plain", JSON_KEYS},
                                             {"/iam/security-credentials/", "text/plain", "my-role\n"}}};
static const how_keys sign_in = {
    .env = {NO_MACHINE, {"AWS_PROFILE", "a"}},
    .files =
        {{"/h/.aws/config",
          "[profile a]\nsso_session = my sso\nsso_account_id = 123456789012\nsso_role_name = Read Only\n"
          "[sso-session \"my sso\"]\nsso_region = us-west-2\nsso_start_url = https://x.awsapps.com/start\n"},
         {"/h/.aws/sso/cache/b3902c2d49b36c95af74dedb0f77c5828749e230.json", /* sha1 of "my sso" */
          "{\"accessToken\":\"T\",\"expiresAt\":\"2020-01-01T00:00:00Z\",\"refreshToken\":\"R\",\"clientId\":"
          "\"c\",\"clientSecret\":\"C\",\"registrationExpiresAt\":\"" LATER "\"}"}},
    .answers = {
        {"/token", "application/json",
         "{\"accessToken\":\"N\",\"expiresIn\":28800,\"refreshToken\":\"R2\",\"tokenType\":\"B\"}"},
        {"/federation/credentials", "application/json",
         "{\"roleCredentials\":{\"accessKeyId\":\"A\",\"secretAccessKey\":\"B\",\"sessionToken\":\"C\","
         "\"expiration\":2114380800000}}"}}};
static const how_keys program = {
    .env = {NO_MACHINE, {"AWS_PROFILE", "p"}},
    .files = {{"/h/.aws/config", "[profile p]\ncredential_process = /opt/tool --name \"a b\"\n"}},
    .program = JSON_KEYS};

const oom_story oom_keys_stories[] = {{"keys_roles", play, &roles},
                                      {"keys_web", play, &web},
                                      {"keys_container", play, &container},
                                      {"keys_machine", play, &machine},
                                      {"keys_sign_in", play, &sign_in},
                                      {"keys_program", play, &program},
                                      {NULL, NULL, NULL}};

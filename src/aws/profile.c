/* profile.c - reads profiles like botocore: `[name]` in the credentials file, `[profile name]` and
 * `[default]` in the config file. Also reads `[services name]` for endpoints, and `[sso-session name]` for
 * signing in. */
#include "aws/profile.h"

#include "aws/aws.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "codec/ini.h"
#include "host/err.h"
#include "host/host.h"

#include <stdio.h>

#define FILE_BYTES_MAX (1024u * 1024)
#define PATH_MAX_N 4096u

static const char *const key_names[SLP_PROFILE_KEYS] = {
    [SLP_PROFILE_KEY_ID] = "aws_access_key_id",
    [SLP_PROFILE_SECRET] = "aws_secret_access_key",
    [SLP_PROFILE_TOKEN] = "aws_session_token",
    [SLP_PROFILE_OLD_TOKEN] = "aws_security_token",
    [SLP_PROFILE_ACCOUNT] = "aws_account_id",
    [SLP_PROFILE_REGION] = "region",
    [SLP_PROFILE_ENDPOINT] = "endpoint_url",
    [SLP_PROFILE_SERVICES] = "services",
    [SLP_PROFILE_IGNORE_ENDPOINTS] = "ignore_configured_endpoint_urls",
    [SLP_PROFILE_FIPS] = "use_fips_endpoint",
    [SLP_PROFILE_DUALSTACK] = "use_dualstack_endpoint",
    [SLP_PROFILE_ACCOUNT_MODE] = "account_id_endpoint_mode",
    [SLP_PROFILE_CA_BUNDLE] = "ca_bundle",
    [SLP_PROFILE_RETRY_MODE] = "retry_mode",
    [SLP_PROFILE_MAX_ATTEMPTS] = "max_attempts",
    [SLP_PROFILE_ROLE_ARN] = "role_arn",
    [SLP_PROFILE_SOURCE_PROFILE] = "source_profile",
    [SLP_PROFILE_CREDENTIAL_SOURCE] = "credential_source",
    [SLP_PROFILE_EXTERNAL_ID] = "external_id",
    [SLP_PROFILE_ROLE_SESSION_NAME] = "role_session_name",
    [SLP_PROFILE_DURATION_SECONDS] = "duration_seconds",
    [SLP_PROFILE_MFA_SERIAL] = "mfa_serial",
    [SLP_PROFILE_WEB_IDENTITY] = "web_identity_token_file",
    [SLP_PROFILE_SSO_SESSION] = "sso_session",
    [SLP_PROFILE_SSO_START_URL] = "sso_start_url",
    [SLP_PROFILE_SSO_REGION] = "sso_region",
    [SLP_PROFILE_SSO_ACCOUNT_ID] = "sso_account_id",
    [SLP_PROFILE_SSO_ROLE_NAME] = "sso_role_name",
    [SLP_PROFILE_LOGIN_SESSION] = "login_session",
    [SLP_PROFILE_PROCESS] = "credential_process",
    [SLP_PROFILE_METADATA_URL] = "ec2_metadata_service_endpoint",
    [SLP_PROFILE_METADATA_URL_MODE] = "ec2_metadata_service_endpoint_mode",
    [SLP_PROFILE_METADATA_V1_DISABLED] = "ec2_metadata_v1_disabled",
    [SLP_PROFILE_METADATA_TIMEOUT] = "metadata_service_timeout",
    [SLP_PROFILE_METADATA_TRIES] = "metadata_service_num_attempts",
};

/* The names of the services in a [services] section. */
static const char *const service_names[SLP_SVCS] = {
    [SLP_SVC_KINESIS] = "kinesis",
    [SLP_SVC_DYNAMODB] = "dynamodb",
    [SLP_SVC_STREAMS] = "dynamodb_streams",
    [SLP_SVC_STS] = "sts",
    [SLP_SVC_CLOUDWATCH] = "cloudwatch",
    [SLP_SVC_SSO] = "sso",
    [SLP_SVC_LEASES] = "dynamodb",
    [SLP_SVC_SSO_OIDC] = "sso_oidc",
    [SLP_SVC_SIGNIN] = "signin",
    [SLP_SVC_GLUE] = "glue",
};

void slp_profile_init(slp_profile *p, slp_mem *mem) { *p = (slp_profile){.mem = mem}; }

static void drop_text(slp_mem *mem, char **z) {
  if (*z) slp_wipe(*z, strlen(*z));
  slp_free(mem, *z);
  *z = NULL;
}

static void drop_values(slp_mem *mem, char **values, size_t n) {
  for (size_t i = 0; i < n; i++) drop_text(mem, &values[i]);
}

void slp_profile_free(slp_profile *p) {
  drop_values(p->mem, p->in_config, SLP_PROFILE_KEYS);
  drop_values(p->mem, p->in_credentials, SLP_PROFILE_KEYS);
  drop_values(p->mem, p->service_endpoint, SLP_SVCS);
  drop_text(p->mem, &p->session_region);
  drop_text(p->mem, &p->session_url);
  p->found = p->services_found = p->session_found = 0;
}

const char *slp_profile_get(const slp_profile *p, slp_profile_key key) {
  const char *value = p->in_credentials[key] ? p->in_credentials[key] : p->in_config[key];
  return value && value[0] ? value : NULL;
}

int slp_setting_is(const char *value, const char *lower) {
  if (!value || strlen(value) != strlen(lower)) return 0;
  for (; *value; value++, lower++) {
    char c = *value >= 'A' && *value <= 'Z' ? (char)(*value + 32) : *value;
    if (c != *lower) return 0;
  }
  return 1;
}

const char *slp_profile_key_name(slp_profile_key key) { return key_names[key]; }

const char *slp_profile_where(const slp_profile *p, slp_profile_key key) {
  const char *path = p->path[p->in_credentials[key] ? 0 : 1];
  return path ? path : "~/.aws";
}

/* ---- parsing ------------------------------------------------------------------------------------------- */
static int is_space(char c) { return c == ' ' || c == '\t'; }

static slp_str trim_section_title(slp_str s) {
  while (s.n && is_space(s.p[0])) s.p++, s.n--;
  while (s.n && is_space(s.p[s.n - 1])) s.n--;
  return s;
}

/* Returns 1 if the title `section` is KIND NAME. NAME may be quoted, as in `profile "my profile"`. */
static int is_section(slp_str section, const char *kind, slp_str name) {
  size_t kind_n = strlen(kind);
  section = trim_section_title(section);
  if (section.n <= kind_n || memcmp(section.p, kind, kind_n) != 0 || !is_space(section.p[kind_n])) return 0;
  slp_str rest = trim_section_title((slp_str){section.p + kind_n, section.n - kind_n});
  if (rest.n >= 2 && (rest.p[0] == '"' || rest.p[0] == '\'') && rest.p[rest.n - 1] == rest.p[0]) {
    rest = (slp_str){rest.p + 1, rest.n - 2};
  } else {
    for (size_t i = 0; i < rest.n; i++) {
      if (is_space(rest.p[i])) return 0; /* a name is one word, unless it is quoted */
    }
  }
  return slp_str_eq(rest, name);
}

/* Returns 1 if the key is `name`; upper and lower case are the same. */
static int is_key(slp_str key, const char *name) {
  if (key.n != strlen(name)) return 0;
  for (size_t i = 0; i < key.n; i++) {
    char c = key.p[i];
    if (c >= 'A' && c <= 'Z') c = (char)(c + 32);
    if (c != name[i]) return 0;
  }
  return 1;
}

typedef struct reading {
  slp_profile *p;
  slp_str name; /* the name of the profile, or of the services or sso-session section */
  int config;   /* 1: reads the config file, 0: the credentials file */
  /* the section of the last key; a section with another title that also matches, such as `[default]` after
   * `[profile default]`, replaces the values read so far */
  slp_str last;
} reading;

static int keep_copy_of_value(slp_mem *mem, char **into, slp_str value) {
  char *copy = slp_strdup(mem, value);
  if (!copy) return SLP_ENOMEM;
  drop_text(mem, into);
  *into = copy;
  return 0;
}

static int is_profile(int config, slp_str section, slp_str name) {
  if (!config) return slp_str_eq(section, name);
  return is_section(section, "profile", name) ||
         (slp_str_is(section, "default") && slp_str_is(name, "default"));
}

/* Returns 1 if the text has a section whose title `match` accepts. slp_ini_read does not serve here, because
 * it reports only keys, and a section may be empty. */
static int has_section(slp_str text, int (*match)(slp_str title, slp_str name, int config), slp_str name,
                       int config) {
  if (text.n >= 3 && !memcmp(text.p, "\xEF\xBB\xBF", 3)) text = (slp_str){text.p + 3, text.n - 3};
  while (text.n) {
    const char *end = memchr(text.p, '\n', text.n);
    slp_str line = {text.p, end ? (size_t)(end - text.p) : text.n};
    text = (slp_str){line.p + line.n + (end ? 1 : 0), text.n - line.n - (end ? 1 : 0)};
    const char *close = line.n && line.p[0] == '[' ? slp_last_char(line.p, ']', line.n) : NULL;
    if (close && match((slp_str){line.p + 1, (size_t)(close - line.p - 1)}, name, config)) return 1;
  }
  return 0;
}

static int match_profile(slp_str title, slp_str name, int config) {
  return is_profile(config, trim_section_title(title), name);
}
static int match_services(slp_str title, slp_str name, int config) {
  (void)config;
  return is_section(title, "services", name);
}

static int on_profile_line(void *arg, slp_str section, slp_str parent, slp_str key, slp_str value,
                           uint32_t line) {
  reading *r = arg;
  slp_profile *p = r->p;
  char **values = r->config ? p->in_config : p->in_credentials;
  (void)line;
  if (!is_profile(r->config, section, r->name)) return 0;
  if (r->last.p && !slp_str_eq(r->last, section)) drop_values(p->mem, values, SLP_PROFILE_KEYS);
  r->last = section;
  if (parent.p) return 0;
  for (int i = 0; i < SLP_PROFILE_KEYS; i++) {
    if (is_key(key, key_names[i])) return keep_copy_of_value(p->mem, &values[i], value);
  }
  return 0;
}

static int on_services_line(void *arg, slp_str section, slp_str parent, slp_str key, slp_str value,
                            uint32_t line) {
  reading *r = arg;
  (void)line;
  if (!parent.p || !is_key(key, "endpoint_url") || !is_section(section, "services", r->name)) return 0;
  int bad = 0;
  for (int svc = 0; svc < SLP_SVCS && !bad; svc++) {
    if (is_key(parent, service_names[svc]))
      bad = keep_copy_of_value(r->p->mem, &r->p->service_endpoint[svc], value);
  }
  return bad;
}

static int match_session(slp_str title, slp_str name, int config) {
  (void)config;
  return is_section(title, "sso-session", name);
}

static int on_session_line(void *arg, slp_str section, slp_str parent, slp_str key, slp_str value,
                           uint32_t line) {
  reading *r = arg;
  (void)line;
  if (parent.p || !is_section(section, "sso-session", r->name)) return 0;
  if (is_key(key, "sso_region")) return keep_copy_of_value(r->p->mem, &r->p->session_region, value);
  if (is_key(key, "sso_start_url")) return keep_copy_of_value(r->p->mem, &r->p->session_url, value);
  return 0;
}

/* Reads the services section and the sso-session section that the profile names. */
static int parse_referred(slp_profile *p, slp_str config, uint32_t *ret_line) {
  const char *services = slp_profile_get(p, SLP_PROFILE_SERVICES);
  const char *session = slp_profile_get(p, SLP_PROFILE_SSO_SESSION);
  int r = 0;
  if (services) {
    reading in_services = {.p = p, .name = slp_str_of(services), .config = 1};
    p->services_found = has_section(config, match_services, in_services.name, 1) != 0;
    r = slp_ini_read(config, on_services_line, &in_services, ret_line);
  }
  if (session && !r) {
    reading in_session = {.p = p, .name = slp_str_of(session), .config = 1};
    p->session_found = has_section(config, match_session, in_session.name, 1) != 0;
    r = slp_ini_read(config, on_session_line, &in_session, ret_line);
  }
  return r;
}

int slp_profile_parse(slp_profile *p, slp_str credentials, slp_str config, slp_str name, int *ret_bad_file,
                      uint32_t *ret_line) {
  reading in_credentials = {.p = p, .name = name, .config = 0};
  reading in_config = {.p = p, .name = name, .config = 1};
  snprintf(p->name, sizeof p->name, "%.*s", (int)slp_min_u64(name.n, 127), name.p);
  *ret_bad_file = 0;
  int r = slp_ini_read(credentials, on_profile_line, &in_credentials, ret_line);
  if (r) return r;
  *ret_bad_file = 1;
  r = slp_ini_read(config, on_profile_line, &in_config, ret_line);
  p->found = in_credentials.last.p || in_config.last.p || has_section(credentials, match_profile, name, 0) ||
             has_section(config, match_profile, name, 1);
  return r ? r : parse_referred(p, config, ret_line);
}

/* ---- waiting ------------------------------------------------------------------------------------------- */
void slp_wait_add(slp_list *waiting, slp_wait *wait) { slp_list_add_last(waiting, &wait->link); }
void slp_wait_cancel(slp_wait *wait) { slp_list_remove(&wait->link); }

void slp_wait_run_all(slp_list *waiting) {
  slp_list now;
  slp_list_init(&now);
  for (slp_list *node; (node = slp_list_pop(waiting)) != NULL;) slp_list_add_last(&now, node);
  for (slp_list *node; (node = slp_list_pop(&now)) != NULL;) {
    slp_wait *wait = SLP_OWNER(node, slp_wait, link);
    wait->run(wait); /* `run` may cancel other waits, even those in `now`; a cancelled wait unlinks itself */
  }
}

/* ---- loading ------------------------------------------------------------------------------------------- */
static const char *env(const slp_profiles *p, const char *name) {
  const char *value = p->getenv_fn(p->getenv_ctx, name);
  return value && value[0] ? value : NULL;
}

static const char *chosen_name(const slp_profiles *p) {
  const char *name = p->chosen;
  if (!name) name = env(p, "AWS_PROFILE");
  if (!name) name = env(p, "AWS_DEFAULT_PROFILE");
  return name;
}

int slp_profiles_chosen(const slp_profiles *p) { return chosen_name(p) != NULL; }

static void finish_load(slp_profiles *p);
static void on_load_event(slp_event *ev) { finish_load(SLP_OWNER(ev, slp_profiles, ev)); }

void slp_profiles_init(slp_profiles *p, slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx,
                       const char *chosen) {
  *p = (slp_profiles){.h = h, .getenv_fn = getenv_fn, .getenv_ctx = getenv_ctx, .chosen = chosen};
  p->ev.run = on_load_event;
  slp_list_init(&p->waiting);
  slp_profile_init(&p->profile, h->mem);
  for (size_t i = 0; i < SLP_PROFILE_SOURCES_MAX; i++) slp_profile_init(&p->sources[i], h->mem);
  for (int i = 0; i < 2; i++) {
    p->files[i].owner = p;
    slp_buf_init(&p->files[i].path, h->mem, PATH_MAX_N);
    slp_buf_init(&p->files[i].text, h->mem, FILE_BYTES_MAX);
  }
}

static void drop_texts(slp_profiles *p) {
  for (int i = 0; i < 2; i++) {
    slp_buf *text = &p->files[i].text;
    if (text->p) slp_wipe(text->p, text->cap);
    slp_buf_free(text);
  }
}

static void drop_profiles(slp_profiles *p) {
  slp_profile_free(&p->profile);
  for (size_t i = 0; i < SLP_PROFILE_SOURCES_MAX; i++) slp_profile_free(&p->sources[i]);
  p->sources_n = 0;
}

static void drop_keys(slp_profile *p) {
  for (int key = SLP_PROFILE_KEY_ID; key <= SLP_PROFILE_OLD_TOKEN; key++) {
    drop_text(p->mem, &p->in_config[key]);
    drop_text(p->mem, &p->in_credentials[key]);
  }
}

void slp_profiles_forget_keys(slp_profiles *p) {
  drop_keys(&p->profile);
  for (size_t i = 0; i < p->sources_n; i++) drop_keys(&p->sources[i]);
}

void slp_profiles_forget(slp_profiles *p) {
  drop_profiles(p);
  p->loaded = 0;
}

void slp_profiles_close(slp_profiles *p) {
  for (int i = 0; i < 2; i++) {
    if (p->files[i].reading) slp_file_cancel(p->h, &p->files[i].file);
    p->files[i].reading = 0;
    slp_buf_free(&p->files[i].path);
  }
  slp_unpost(&p->ev);
  drop_texts(p);
  drop_profiles(p);
}

static const char *const variables[2] = {"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"};

/* Finds the path of file i: the path in the environment variable, or the default path under the home
 * directory. The path is empty if there is no variable and no home directory. Returns 0 or the buffer's
 * error. */
static int file_path(slp_profiles *p, int i) {
  static const char *const under_home[2] = {"/.aws/credentials", "/.aws/config"};
  slp_buf *path = &p->files[i].path;
  const char *given = env(p, variables[i]), *home = env(p, "HOME");
  slp_buf_clear(path);
  p->files[i].named = given != NULL;
  if (given && given[0] == '~' && given[1] == '/' && home) {
    slp_buf_add_z(path, home);
    return slp_buf_add_z(path, given + 1);
  }
  if (given) return slp_buf_add_z(path, given);
  if (!home) return 0;
  slp_buf_add_z(path, home);
  return slp_buf_add_z(path, under_home[i]);
}

static void on_file(slp_file *file) {
  slp_profiles *p = SLP_OWNER(file, slp_profile_file, file)->owner;
  SLP_OWNER(file, slp_profile_file, file)->reading = 0;
  if (!p->files[0].reading && !p->files[1].reading) finish_load(p);
}

static int start_file(slp_profiles *p, int i) {
  slp_profile_file *f = &p->files[i];
  int r = file_path(p, i);
  if (r) return r;
  slp_buf_clear(&f->text);
  f->file = (slp_file){.bytes_max = FILE_BYTES_MAX, .into = &f->text, .on_done = on_file};
  if (!f->path.n) return 0;
  /* Reserves room at the start, because a buffer that grows would leave copies of secrets behind. */
  r = slp_buf_reserve(&f->text, 16384);
  if (r) return r;
  f->file.path = slp_buf_z(&f->path);
  f->reading = 1;
  return 0;
}

static void pick_name(slp_profiles *p) {
  const char *name = chosen_name(p);
  p->explicit_name = name != NULL;
  size_t n = (size_t)snprintf(p->name, sizeof p->name, "%s", name ? name : "default");
  p->name_too_long = n >= sizeof p->name; /* the shortened name could be the name of another profile */
}

void slp_profiles_load(slp_profiles *p, slp_wait *wait) {
  slp_wait_add(&p->waiting, wait);
  if (p->loading) return;
  p->loading = 1;
  p->error = 0;
  p->why[0] = 0;
  pick_name(p);
  for (int i = 0; i < 2 && !p->error; i++) p->error = start_file(p, i);
  if (p->error) p->files[0].reading = p->files[1].reading = 0;
  if (!p->files[0].reading && !p->files[1].reading) {
    slp_post(p->h, &p->ev);
    return;
  }
  for (int i = 0; i < 2; i++) {
    if (p->files[i].reading) slp_file_read(p->h, &p->files[i].file);
  }
}

/* Returns 0 or an error. A missing file is treated as empty. A file that this process may not read is an
 * error only if the user named its path or a profile. Without this exception, every container whose HOME
 * belongs to another user would get the error. */
static int file_failed(slp_profiles *p) {
  for (int i = 0; i < 2; i++) {
    slp_profile_file *f = &p->files[i];
    int error = f->file.error;
    if (!error || error == SLP_ENOENT || error == -ENOTDIR) continue;
    if (error == SLP_ENOMEM) return SLP_ENOMEM;
    if ((error == -EACCES || error == -EPERM) && !f->named && !p->explicit_name) {
      slp_buf_clear(&f->text);
      continue;
    }
    snprintf(p->why, sizeof p->why, "can't read %.120s: %s; check %s", slp_buf_z(&f->path),
             error == SLP_E2BIG ? "larger than 1 MiB" : slp_file_why(error),
             f->named ? variables[i] : "the file and its folder");
    return SLP_EBADDATA;
  }
  return 0;
}

static void put_looked(slp_profiles *p, int i, char looked[SLP_PROFILES_LOOKED]) {
  slp_profile_file *f = &p->files[i];
  const char *path = slp_buf_z(&f->path);
  int error = f->file.error;
  size_t n = strlen(looked);
  snprintf(looked + n, SLP_PROFILES_LOOKED - n, error == SLP_ENOENT ? "%sno %.45s" : "%s%.45s: %s",
           n ? ", " : "", path, error ? slp_file_why(error) : "no keys");
}

void slp_profiles_looked(slp_profiles *p, char looked[SLP_PROFILES_LOOKED]) {
  looked[0] = 0;
  for (int i = 0; i < 2; i++)
    if (p->files[i].path.n) put_looked(p, i, looked);
  if (!looked[0]) snprintf(looked, SLP_PROFILES_LOOKED, "HOME is not set");
}

static int parse_one(slp_profiles *p, slp_profile *into, slp_str name) {
  int bad = 0;
  uint32_t line = 0;
  for (int i = 0; i < 2; i++) into->path[i] = slp_buf_z(&p->files[i].path);
  int r = slp_profile_parse(into, slp_buf_str(&p->files[0].text), slp_buf_str(&p->files[1].text), name, &bad,
                            &line);
  if (!r || r == SLP_ENOMEM) return r;
  snprintf(p->why, sizeof p->why, "%.120s: line %u can't be understood: check it", into->path[bad], line);
  return SLP_EBADDATA;
}

/* Returns the name of the next profile to follow from `last`, or NULL. If a profile repeats, the search ends;
 * key_plan.c reports the loop. */
static const char *next_source(const slp_profiles *p, const slp_profile *last) {
  const char *name = slp_profile_get(last, SLP_PROFILE_SOURCE_PROFILE);
  if (!name || !slp_profile_get(last, SLP_PROFILE_ROLE_ARN) || strlen(name) > 127) return NULL;
  if (strcmp(name, p->profile.name) == 0) return NULL;
  for (size_t i = 0; i < p->sources_n; i++) {
    if (strcmp(name, p->sources[i].name) == 0) return NULL;
  }
  return p->sources_n < SLP_PROFILE_SOURCES_MAX ? name : NULL;
}

static int parse_sources(slp_profiles *p) {
  const slp_profile *last = &p->profile;
  for (const char *name; (name = next_source(p, last)) != NULL;) {
    slp_profile *into = &p->sources[p->sources_n];
    int r = parse_one(p, into, slp_str_of(name));
    if (r) return r;
    p->sources_n++;
    last = into;
  }
  return 0;
}

static const char *path_for_people(slp_profiles *p, int i) {
  slp_buf *path = &p->files[i].path;
  return path->n ? slp_buf_z(path) : i ? "~/.aws/config" : "~/.aws/credentials";
}

static int parse_files(slp_profiles *p) {
  int r = file_failed(p);
  if (!r && p->name_too_long) {
    snprintf(p->why, sizeof p->why, "profile %.60s...: the name is longer than %zu bytes", p->name,
             sizeof p->name - 1);
    return SLP_EBADDATA;
  }
  if (!r) r = parse_one(p, &p->profile, slp_str_of(p->name));
  if (!r) r = parse_sources(p);
  if (!r && p->explicit_name && !p->profile.found) {
    snprintf(p->why, sizeof p->why, "profile %.60s is not in %.90s or %.90s; check %s", p->name,
             path_for_people(p, 0), path_for_people(p, 1), p->chosen ? "the option profile" : "AWS_PROFILE");
    return SLP_ENOENT;
  }
  return r;
}

static void finish_load(slp_profiles *p) {
  drop_profiles(p);
  if (!p->error) p->error = parse_files(p);
  if (p->error) drop_profiles(p);
  if (p->error && !p->why[0]) snprintf(p->why, sizeof p->why, "no memory to read the profile files");
  drop_texts(p);
  p->loading = 0;
  p->loaded = 1;
  slp_wait_run_all(&p->waiting);
}

"""The rows of peer_creds.py: configurations that people have, each a function that makes it in a World, and why sloop does
not do what boto3 does where it does not (WHY)."""

import json
import time

from creds_world import SESSION
from creds_servers import stamp

ROLE = "role_arn = arn:aws:iam::123456789012:role/"
SSO = "sso_account_id = 123456789012\nsso_role_name = Read Only\n"
START = "sso_region = us-east-1\nsso_start_url = https://x.awsapps.com/start\n"
ROWS = []  # (group, name, function)
GROUP = [""]


def group(name):
    GROUP[0] = name


def row(name):
    def take(make):
        ROWS.append((GROUP[0], name, make))
        return make

    return take


def files(name, config="", credentials="", **variables):
    """A row that is only files and variables; in both files <OWNER> is a pair of keys."""
    def make(w):
        def filled(text):
            while "<" in text:
                before, rest = text.split("<", 1)
                owner, text = rest.split(">", 1)
                text = before + w.lines(owner, owner.startswith("temporary")) + text
            return text

        if config:
            w.config(filled(config))
        if credentials:
            w.credentials(filled(credentials))
        w.set(**variables)

    return row(name)(make)


# ---- the environment ---------------------------------------------------------------------------------------------
group("Environment")


@row("id, secret and session token")
def _(w):
    w.env_keys()


@row("id and secret")
def _(w):
    w.env_keys(temporary=False)


@row("the id alone, and keys in the profile default")
def _(w):
    w.credentials("[default]\n" + w.lines("default"))
    w.env_keys()
    w.set(AWS_SECRET_ACCESS_KEY=None, AWS_SESSION_TOKEN=None)


@row("the secret alone, and keys in the profile default")
def _(w):
    w.credentials("[default]\n" + w.lines("default"))
    w.env_keys()
    w.set(AWS_ACCESS_KEY_ID=None, AWS_SESSION_TOKEN=None)


@row("an empty id and secret, and keys in the profile default")
def _(w):
    w.credentials("[default]\n" + w.lines("default"))
    w.set(AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")


@row("keys, and AWS_PROFILE names a profile with others")
def _(w):
    w.credentials("[work]\n" + w.lines("profile work"))
    w.env_keys()
    w.set(AWS_PROFILE="work")


@row("keys, and AWS_PROFILE names a profile that is not there")
def _(w):
    w.env_keys()
    w.set(AWS_PROFILE="gone")


@row("AWS_SECURITY_TOKEN in the place of AWS_SESSION_TOKEN")
def _(w):
    key = w.env_keys()
    w.set(AWS_SESSION_TOKEN=None, AWS_SECURITY_TOKEN=key.token)


@row("keys, a web identity, and a container")
def _(w):
    w.env_keys()
    w.web()
    w.container()


# ---- keys in files -----------------------------------------------------------------------------------------------
group("Keys in files")
files("default in the credentials file", credentials="[default]\n<default>")
files("default in the credentials file, temporary", credentials="[default]\n<temporary>")
files("default in the config file", config="[default]\n<config default>")
files("default in both files", config="[default]\n<config default>", credentials="[default]\n<credentials default>")
files("[profile default] and [default] in the config file", config="[default]\n<default>[profile default]\n<profile default>")
files("AWS_PROFILE, in the config file", config="[profile work]\n<work>", AWS_PROFILE="work")
files("AWS_PROFILE, in the config file without the word profile", config="[work]\n<work>", AWS_PROFILE="work")
files("AWS_PROFILE, in the credentials file with the word profile", credentials="[profile work]\n<work>", AWS_PROFILE="work")
files("AWS_PROFILE names a profile that is not there", credentials="[default]\n<default>", AWS_PROFILE="gone")
files("AWS_PROFILE names a profile without any keys", config="[profile work]\nregion = us-east-1\n",
      credentials="[default]\n<default>", AWS_PROFILE="work")
files("AWS_PROFILE is empty", credentials="[default]\n<default>", AWS_PROFILE="")
files("AWS_DEFAULT_PROFILE", credentials="[default]\n<default>[work]\n<work>", AWS_DEFAULT_PROFILE="work")
files("AWS_DEFAULT_PROFILE and AWS_PROFILE", credentials="[a]\n<a>[b]\n<b>", AWS_DEFAULT_PROFILE="a", AWS_PROFILE="b")
files("a section twice", credentials="[default]\nregion = us-east-1\n[default]\n<second>")
files("names in capitals", credentials="[default]\nAWS_ACCESS_KEY_ID = AKIDNOBODY\nAWS_SECRET_ACCESS_KEY = s\n")


@row("an id without a secret")
def _(w):
    w.credentials("[default]\n" + w.lines("default").splitlines()[0] + "\n")


@row("a comment behind the secret, after a space")
def _(w):
    w.credentials("[default]\n" + w.lines("default").rstrip("\n") + " # of the build server\n")


@row("id and secret in quotes")
def _(w):
    key = w.keys.give("default", temporary=False)
    w.credentials(f'[default]\naws_access_key_id = "{key.id}"\naws_secret_access_key = "{key.secret}"\n')


@row("lines end with CR LF")
def _(w):
    w.credentials(("[default]\n" + w.lines("default")).replace("\n", "\r\n"))


@row("a byte order mark in front")
def _(w):
    w.credentials("\ufeff[default]\n" + w.lines("default"))


@row("AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name others")
def _(w):
    w.credentials("[default]\n" + w.lines("home"))
    w.set(AWS_SHARED_CREDENTIALS_FILE=w.write("other/keys", "[default]\n" + w.lines("elsewhere")),
          AWS_CONFIG_FILE=w.write("other/config", "[default]\nregion = us-east-1\n"))


@row("AWS_SHARED_CREDENTIALS_FILE names no file")
def _(w):
    w.credentials("[default]\n" + w.lines("home"))
    w.set(AWS_SHARED_CREDENTIALS_FILE="/nowhere/keys", AWS_EC2_METADATA_DISABLED="true")


# ---- roles -------------------------------------------------------------------------------------------------------
group("Roles")
files("source_profile", config=f"[profile work]\n{ROLE}r\nsource_profile = base\n", credentials="[base]\n<base>",
      AWS_PROFILE="work")
files("a chain of two", config=f"[profile work]\n{ROLE}r\nsource_profile = middle\n[profile middle]\n{ROLE}m\n"
      "source_profile = base\n", credentials="[base]\n<base>", AWS_PROFILE="work")
files("role_session_name, external_id and duration_seconds", config=f"[profile work]\n{ROLE}r\nsource_profile = base\n"
      "role_session_name = named\nexternal_id = theirs\nduration_seconds = 1200\n", credentials="[base]\n<base>", AWS_PROFILE="work")
files("source_profile is the profile itself, which has keys", config=f"[profile work]\n{ROLE}r\nsource_profile = work\n<own>",
      AWS_PROFILE="work")
files("no source, but keys of its own", config=f"[profile work]\n{ROLE}r\n<own>", AWS_PROFILE="work")
files("no source at all", config=f"[profile work]\n{ROLE}r\n", AWS_PROFILE="work")
files("source_profile that is not there", config=f"[profile work]\n{ROLE}r\nsource_profile = gone\n", AWS_PROFILE="work")
files("source_profile without keys", config=f"[profile work]\n{ROLE}r\nsource_profile = base\n[profile base]\n"
      "region = us-east-1\n", AWS_PROFILE="work")
files("a circle of source_profile", config=f"[profile a]\n{ROLE}a\nsource_profile = b\n[profile b]\n{ROLE}b\n"
      "source_profile = a\n", AWS_PROFILE="a")
files("source_profile and credential_source", config=f"[profile work]\n{ROLE}r\nsource_profile = base\n"
      "credential_source = Environment\n", credentials="[base]\n<base>", AWS_PROFILE="work")
files("keys beside role_arn and source_profile", config=f"[profile work]\n{ROLE}r\nsource_profile = base\n<own>",
      credentials="[base]\n<base>", AWS_PROFILE="work")
files("role in the config file, keys of the same profile in the credentials file",
      config=f"[profile work]\n{ROLE}r\nsource_profile = base\n", credentials="[work]\n<own>[base]\n<base>", AWS_PROFILE="work")
files("mfa_serial, without a terminal", config=f"[profile work]\n{ROLE}r\nsource_profile = base\n"
      "mfa_serial = arn:aws:iam::1:mfa/me\n", credentials="[base]\n<base>", AWS_PROFILE="work")


@row("credential_source = Environment")
def _(w):
    w.config(f"[default]\n{ROLE}r\ncredential_source = Environment\n")
    w.env_keys()


@row("credential_source = Environment, by AWS_PROFILE")
def _(w):
    w.config(f"[profile work]\n{ROLE}r\ncredential_source = Environment\n")
    w.env_keys()
    w.set(AWS_PROFILE="work")


@row("credential_source = EcsContainer")
def _(w):
    w.config(f"[default]\n{ROLE}r\ncredential_source = EcsContainer\n")
    w.container()


@row("credential_source = EcsContainer, outside of a container")
def _(w):
    w.config(f"[default]\n{ROLE}r\ncredential_source = EcsContainer\n")


files("credential_source = Ec2InstanceMetadata", config=f"[default]\n{ROLE}r\ncredential_source = Ec2InstanceMetadata\n")
files("credential_source = Ec2InstanceMetadata, metadata disabled",
      config=f"[default]\n{ROLE}r\ncredential_source = Ec2InstanceMetadata\n", AWS_EC2_METADATA_DISABLED="true")
files("credential_source = ec2instancemetadata", config=f"[default]\n{ROLE}r\ncredential_source = ec2instancemetadata\n")
files("credential_source = Vault", config=f"[default]\n{ROLE}r\ncredential_source = Vault\n")


@row("source_profile with SSO")
def _(w):
    w.config(f"[profile work]\n{ROLE}r\nsource_profile = base\n[profile base]\nsso_session = corp\n{SSO}[sso-session corp]\n{START}")
    w.sso_cache("corp")
    w.set(AWS_PROFILE="work")


@row("source_profile with credential_process")
def _(w):
    w.config(f"[profile work]\n{ROLE}r\nsource_profile = base\n[profile base]\ncredential_process = {w.process()}\n")
    w.set(AWS_PROFILE="work")


@row("source_profile with a web identity")
def _(w):
    w.web()
    w.config(f"[profile work]\n{ROLE}r\nsource_profile = base\n[profile base]\n{ROLE}web\n"
             f"web_identity_token_file = {w.env['AWS_WEB_IDENTITY_TOKEN_FILE']}\n")
    w.set(AWS_PROFILE="work", AWS_ROLE_ARN=None, AWS_WEB_IDENTITY_TOKEN_FILE=None)


@row("source_profile with aws login")
def _(w):
    w.config(f"[profile work]\n{ROLE}r\nsource_profile = base\n[profile base]\nlogin_session = {SESSION}\n")
    w.login_cache(3600)
    w.set(AWS_PROFILE="work")


# ---- web identity ------------------------------------------------------------------------------------------------
group("Web identity")


@row("by the environment")
def _(w):
    w.web()


@row("by the environment, AWS_ROLE_SESSION_NAME")
def _(w):
    w.web()
    w.set(AWS_ROLE_SESSION_NAME="named-by-env")


@row("by the profile")
def _(w):
    w.web()
    w.config(f"[default]\n{ROLE}web\nweb_identity_token_file = {w.env['AWS_WEB_IDENTITY_TOKEN_FILE']}\n")
    w.set(AWS_ROLE_ARN=None, AWS_WEB_IDENTITY_TOKEN_FILE=None)


@row("the token file without a role")
def _(w):
    w.web()
    w.set(AWS_ROLE_ARN=None)


@row("a role without the token file, and keys in the profile default")
def _(w):
    w.credentials("[default]\n" + w.lines("default"))
    w.set(AWS_ROLE_ARN="arn:aws:iam::123456789012:role/web")


@row("the token file is not there")
def _(w):
    w.web()
    w.set(AWS_WEB_IDENTITY_TOKEN_FILE="/nowhere/token")


@row("by the environment, and keys in the profile default")
def _(w):
    w.credentials("[default]\n" + w.lines("default"))
    w.web()


@row("by the environment, and AWS_PROFILE with keys")
def _(w):
    w.credentials("[work]\n" + w.lines("work"))
    w.web()
    w.set(AWS_PROFILE="work")


@row("by the environment, and a container")
def _(w):
    w.web()
    w.container()


# ---- SSO and aws login -------------------------------------------------------------------------------------------
group("SSO and aws login")


def sso(name, cache="corp", config=f"[default]\nsso_session = corp\n{SSO}[sso-session corp]\n{START}", **more):
    def make(w):
        w.config(config.replace("<own>", w.lines("own")))
        if cache:
            w.sso_cache(cache, **more)

    row(name)(make)


LEGACY = "https://x.awsapps.com/start"
sso("session")
sso("session, the sign-in expired and can be renewed", expires=-60, renewable=True)
sso("session, the sign-in expired", expires=-60)
sso("session, nobody signed in", cache=None)
sso("session, keys in the same profile", config=f"[default]\nsso_session = corp\n{SSO}<own>[sso-session corp]\n{START}")
sso("session that is not there", config=f"[default]\nsso_session = gone\n{SSO}[sso-session corp]\n{START}")
sso("session without an account", config=f"[default]\nsso_session = corp\nsso_role_name = Read Only\n[sso-session corp]\n{START}")
sso("session, and a start URL of its own that differs",
    config=f"[default]\nsso_session = corp\nsso_start_url = https://other.test/\n{SSO}[sso-session corp]\n{START}")
sso("legacy", cache=LEGACY, config=f"[default]\n{START}{SSO}")
sso("legacy, the sign-in expired", cache=LEGACY, config=f"[default]\n{START}{SSO}", expires=-60)
sso("legacy without sso_region", cache=LEGACY, config=f"[default]\nsso_start_url = {LEGACY}\n{SSO}")


def login(name, expires=3600, more=""):
    def make(w):
        w.config(f"[default]\nlogin_session = {SESSION}\n" + more.replace("<own>", w.lines("own")))
        if expires is not None:
            w.login_cache(expires)
        if "sso" in more:
            w.sso_cache("corp")

    row(name)(make)


login("aws login, the cache is good")
login("aws login, the keys expired and can be renewed", -60)
login("aws login, nobody signed in", None)
login("aws login, keys in the same profile", 3600, "<own>")
login("aws login, and SSO in the same profile", 3600, f"sso_session = corp\n{SSO}[sso-session corp]\n{START}")

# ---- credential_process ------------------------------------------------------------------------------------------
group("credential_process")


def process(name, config="[default]\ncredential_process = TOOL\n", **more):
    def make(w):
        tool = w.process(**more)
        w.config(config.replace("TOOL", tool).replace("<own>", w.lines("own")))

    row(name)(make)


process("works")
process("no Expiration", Expiration=None)
process("no SessionToken (the pair is temporary)", SessionToken=None)
process("an Expiration that has passed", Expiration=stamp(time.time() - 60))
process("Version 2", Version=2)
process("no SecretAccessKey", SecretAccessKey=None)
process("ends with status 1 and says why", status=1, says="the vault is sealed\n")
process("keys in the same profile", config="[default]\ncredential_process = TOOL\n<own>")
process("the path in quotes, and arguments", config='[default]\ncredential_process = "TOOL" --role "read only"\n')
process("a pipe", config="[default]\ncredential_process = TOOL | cat\n")
process("a variable", config="[default]\ncredential_process = $HOME/bin/tool\n")
process("two lines in front, on standard output's twin", says="looking\nfor keys\n")


@row("in the credentials file")
def _(w):
    w.credentials(f"[default]\ncredential_process = {w.process()}\n")


@row("a program that is not there")
def _(w):
    w.config("[default]\ncredential_process = /nowhere/tool\n")


@row("beside SSO in the same profile")
def _(w):
    w.config(f"[default]\ncredential_process = {w.process()}\nsso_session = corp\n{SSO}[sso-session corp]\n{START}")
    w.sso_cache("corp")


@row("beside a web identity of the environment")
def _(w):
    w.config(f"[default]\ncredential_process = {w.process()}\n")
    w.web()


# ---- containers and metadata -------------------------------------------------------------------------------------
group("Containers and metadata")


@row("full URI with a token")
def _(w):
    w.container()


@row("full URI with a token file")
def _(w):
    w.container()
    w.set(AWS_CONTAINER_AUTHORIZATION_TOKEN=None, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=w.write("pod", "the-token"))


@row("full URI with a token file that ends with a newline")
def _(w):
    w.container()
    w.set(AWS_CONTAINER_AUTHORIZATION_TOKEN=None, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=w.write("pod", "the-token\n"))


@row("full URI with a token and a token file")
def _(w):
    w.container()
    w.set(AWS_CONTAINER_AUTHORIZATION_TOKEN="another", AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=w.write("pod", "the-token"))


@row("full URI, the token file is not there")
def _(w):
    w.container(token=None)
    w.set(AWS_CONTAINER_AUTHORIZATION_TOKEN=None, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE="/nowhere/pod")


@row("full URI without a token")
def _(w):
    w.container(token=None)
    w.set(AWS_CONTAINER_AUTHORIZATION_TOKEN=None)


@row("full URI at localhost")
def _(w):
    w.container()
    w.set(AWS_CONTAINER_CREDENTIALS_FULL_URI=w.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"].replace("127.0.0.1", "localhost"))


@row("full URI at another host by plain http")
def _(w):
    w.set(AWS_CONTAINER_CREDENTIALS_FULL_URI="http://keys.example.com/x", NO_PROXY="keys.example.com,127.0.0.1")


@row("full URI refuses the token")
def _(w):
    w.container()
    w.set(AWS_CONTAINER_AUTHORIZATION_TOKEN="wrong")


@row("relative URI (169.254.170.2)")
def _(w):
    w.relative = True
    w.set(AWS_CONTAINER_CREDENTIALS_RELATIVE_URI="/container/relative")


@row("relative URI and full URI")
def _(w):
    w.container()
    w.container_token = None
    w.relative = True
    w.set(AWS_CONTAINER_CREDENTIALS_RELATIVE_URI="/container/relative")


@row("a container, and keys in the profile default")
def _(w):
    w.credentials("[default]\n" + w.lines("default"))
    w.container()


files("metadata, version 2")
files("metadata, and a config file without keys", config="[default]\nregion = us-east-1\n")
files("metadata disabled", AWS_EC2_METADATA_DISABLED="true")
files("metadata disabled, written TRUE", AWS_EC2_METADATA_DISABLED="TRUE")
files("metadata disabled, written 1", AWS_EC2_METADATA_DISABLED="1")


@row("metadata, version 1 only")
def _(w):
    w.givers.v2 = False


@row("metadata, version 1 only, AWS_EC2_METADATA_V1_DISABLED=true")
def _(w):
    w.givers.v2 = False
    w.set(AWS_EC2_METADATA_V1_DISABLED="true")


@row("metadata, version 1 only, ec2_metadata_v1_disabled in the profile")
def _(w):
    w.givers.v2 = False
    w.config("[default]\nec2_metadata_v1_disabled = true\n")


@row("metadata refuses")
def _(w):
    w.givers.mode = "refuses"


@row("metadata at ec2_metadata_service_endpoint of the profile")
def _(w):
    w.config(f"[default]\nec2_metadata_service_endpoint = {w.givers.url}\n")
    w.set(AWS_EC2_METADATA_SERVICE_ENDPOINT=None)


# ---- regions -----------------------------------------------------------------------------------------------------
group("Regions")


def region(name, config="", credentials="", keys=True, **variables):
    def make(w):
        if config:
            w.config(config)
        if credentials:
            w.credentials(credentials)
        w.set(AWS_REGION=None, AWS_DEFAULT_REGION=None)
        w.set(**variables)
        if keys:
            w.env_keys()

    row(name)(make)


region("AWS_REGION", AWS_REGION="eu-west-1")
region("AWS_DEFAULT_REGION", AWS_DEFAULT_REGION="eu-west-2")
region("AWS_REGION and AWS_DEFAULT_REGION", AWS_REGION="eu-west-1", AWS_DEFAULT_REGION="eu-west-2")
region("an empty AWS_REGION, AWS_DEFAULT_REGION", AWS_REGION="", AWS_DEFAULT_REGION="eu-west-2")
region("region of the profile", "[default]\nregion = eu-west-3\n")
region("region of the profile of AWS_PROFILE", "[default]\nregion = eu-west-3\n[profile work]\nregion = eu-north-1\n", AWS_PROFILE="work")
region("AWS_PROFILE has no region, default has", "[default]\nregion = eu-west-3\n[profile work]\noutput = json\n", AWS_PROFILE="work")
region("region in the credentials file", credentials="[default]\nregion = eu-west-3\n")
region("region in both files", "[default]\nregion = eu-west-3\n", "[default]\nregion = eu-north-1\n")
region("AWS_REGION and the profile's", "[default]\nregion = eu-west-3\n", AWS_REGION="eu-west-1")
region("AWS_DEFAULT_REGION and the profile's", "[default]\nregion = eu-west-3\n", AWS_DEFAULT_REGION="eu-west-2")
region("none", AWS_EC2_METADATA_DISABLED="true")
region("none but the machine's", keys=False)
region("none but the machine's, and keys of the environment")
region("one that is none", AWS_REGION="not a region", AWS_DEFAULT_REGION="not a region")
region("upper case", AWS_REGION="US-EAST-1", AWS_DEFAULT_REGION="US-EAST-1")

# ---- endpoints ---------------------------------------------------------------------------------------------------
group("Endpoints")


def endpoint(name, config="", **variables):
    """<NAME> is the address of a Kinesis that is called so."""
    def make(w):
        made = {}

        def filled(text):
            while "<" in text:
                before, rest = text.split("<", 1)
                name, text = rest.split(">", 1)
                made[name] = made.get(name) or w.front(name)
                text = before + made[name] + text
            return text

        w.env_keys()
        w.set(AWS_ENDPOINT_URL_KINESIS=None)
        w.config(filled(config))
        w.set(**{name: filled(value) for name, value in variables.items()})

    row(name)(make)


SECTION = "[services local]\nkinesis =\n  endpoint_url = <section>\n"
PROFILE = "[default]\nendpoint_url = <profile>\n"
BOTH = f"[default]\nendpoint_url = <profile>\nservices = local\n{SECTION}"
endpoint("AWS_ENDPOINT_URL", AWS_ENDPOINT_URL="<variable>")
endpoint("AWS_ENDPOINT_URL and AWS_ENDPOINT_URL_KINESIS", AWS_ENDPOINT_URL="<variable>", AWS_ENDPOINT_URL_KINESIS="<its variable>")
endpoint("endpoint_url of the profile", PROFILE)
endpoint("services section", f"[default]\nservices = local\n{SECTION}")
endpoint("services section and endpoint_url of the profile", BOTH)
endpoint("services section and AWS_ENDPOINT_URL", BOTH, AWS_ENDPOINT_URL="<variable>")
endpoint("services section and AWS_ENDPOINT_URL_KINESIS", BOTH, AWS_ENDPOINT_URL_KINESIS="<its variable>")
endpoint("services section that is not there", "[default]\nendpoint_url = <profile>\nservices = gone\n")
endpoint("services section of another service", "[default]\nendpoint_url = <profile>\nservices = local\n"
         "[services local]\ns3 =\n  endpoint_url = <s3>\n")
endpoint("services section, its name in capitals", "[default]\nservices = local\n[services local]\nKINESIS =\n  endpoint_url = <section>\n")
endpoint("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", BOTH, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS="true", AWS_ENDPOINT_URL="<variable>")
endpoint("ignore_configured_endpoint_urls of the profile", "[default]\nignore_configured_endpoint_urls = true\nendpoint_url = <profile>\n",
         AWS_ENDPOINT_URL="<variable>")
endpoint("an empty AWS_ENDPOINT_URL, endpoint_url of the profile", PROFILE, AWS_ENDPOINT_URL="")
endpoint("AWS_ENDPOINT_URL and AWS_USE_FIPS_ENDPOINT", AWS_ENDPOINT_URL="<variable>", AWS_USE_FIPS_ENDPOINT="true")
endpoint("AWS_ENDPOINT_URL without a scheme", AWS_ENDPOINT_URL="127.0.0.1:9")

# ---- why ours is not boto3's -------------------------------------------------------------------------------------
MACHINE = "the machine is asked before the reader gives up, as by JavaScript; boto3 never asks it for a region"
REGION = "containers, Lambda, Go and JavaScript name the region by AWS_REGION, which boto3 does not read"
WHY = {
    ("Environment", "the secret alone, and keys in the profile default"):
        "half of a pair is a mistake that is told, and another identity is never taken in its place",
    ("Keys in files", "AWS_PROFILE is empty"): "an empty variable is none, as for Go and JavaScript",
    ("Keys in files", "AWS_DEFAULT_PROFILE and AWS_PROFILE"):
        "AWS_PROFILE is the name that all four know, and the only one that Go and JavaScript read when both are set",
    ("Keys in files", "a section twice"): "both count, and a later value of a name, as for Go and JavaScript",
    ("Keys in files", "a byte order mark in front"): "editors write it unasked; it is no part of the first line, as for JavaScript",
    ("Regions", "AWS_REGION"): REGION,
    ("Regions", "AWS_REGION and AWS_DEFAULT_REGION"): REGION,
    ("Regions", "AWS_REGION and the profile's"): REGION,
    ("Regions", "AWS_PROFILE has no region, default has"): MACHINE,
    ("Regions", "none but the machine's"): MACHINE,
    ("Regions", "none but the machine's, and keys of the environment"): MACHINE,
    ("Endpoints", "AWS_ENDPOINT_URL and AWS_USE_FIPS_ENDPOINT"):
        "a server that is named by hand is not known to be one of FIPS: refused, as by Go and JavaScript",
}

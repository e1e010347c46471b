#!/bin/sh
# Which keys the SDKs for Python and JavaScript take when AWS_PROFILE is set beside keys in the environment.
#
# AWS SDKs and Tools Reference Guide, "Credential providers": each SDK has a chain of its own, and keys in the environment
# come before the shared files. One would expect both SDKs to take the environment's keys. The same for the web identity
# that EKS puts into a container's environment, beside keys of a profile "default" in the image.
# Nothing leaves this machine: a file and a server on loopback give the keys. Needs python3 with venv, node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check boto3==1.44.8 botocore==1.44.8
mkdir -p "$dir/js" "$dir/home/.aws"
(cd "$dir/js" && npm init -y >/dev/null &&
  npm install --ignore-scripts --no-audit --no-fund --loglevel=error @aws-sdk/client-kinesis@3.1143.0 >/dev/null)
cat >"$dir/home/.aws/credentials" <<'END'
[work]
aws_access_key_id = PROFILEWORK
aws_secret_access_key = secret
[default]
aws_access_key_id = PROFILEDEFAULT
aws_secret_access_key = secret
END
echo a.web.token >"$dir/token"
cat >"$dir/js/ask.cjs" <<'END'
const { KinesisClient } = require("@aws-sdk/client-kinesis");
new KinesisClient({}).config.credentials().then(keys => console.log(keys.accessKeyId), error => console.log(error.name));
END
cat >"$dir/run.py" <<'END'
import http.server, os, subprocess, sys, threading

ANSWER = b"""<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
<Credentials><AccessKeyId>WEBIDENTITY</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>"""

class Sts(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_):
        pass

folder = sys.argv[1]
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sts)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = {"PATH": os.environ["PATH"], "HOME": folder + "/home", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true", "NODE_NO_WARNINGS": "1",
        "AWS_ENDPOINT_URL_STS": f"http://127.0.0.1:{server.server_address[1]}"}
clients = {"boto3 1.44.8": [folder + "/venv/bin/python", "-c",
                            "import boto3; print(boto3.Session().get_credentials().get_frozen_credentials().access_key)"],
           "@aws-sdk/client-kinesis 3.1143.0": ["node", folder + "/js/ask.cjs"]}
rows = [("keys, and AWS_PROFILE=work", dict(AWS_ACCESS_KEY_ID="ENVIRONMENT", AWS_SECRET_ACCESS_KEY="s", AWS_PROFILE="work"),
         "ENVIRONMENT", ["ENVIRONMENT", "PROFILEWORK"]),
        ("a web identity, and a profile default", dict(AWS_ROLE_ARN="arn:aws:iam::123456789012:role/r",
                                                       AWS_WEB_IDENTITY_TOKEN_FILE=folder + "/token"),
         "WEBIDENTITY", ["WEBIDENTITY", "PROFILEDEFAULT"])]
changed = 0
for what, variables, expected, before in rows:
    for (client, command), then in zip(clients.items(), before):
        found = subprocess.run(command, env={**base, **variables}, stdout=subprocess.PIPE, text=True).stdout.strip()
        changed |= found != then
        print(f"  {client}, {what}: expected {expected}, found {found}")
sys.exit(changed)
END
"$dir/venv/bin/python" "$dir/run.py" "$dir" || { echo "this has changed"; exit 1; }

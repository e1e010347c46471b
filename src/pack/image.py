"""Makes the image of src/pack/Dockerfile as an OCI archive: `podman load -i FILE`, `skopeo copy oci-archive:FILE ...`.

One layer: /usr/bin/stream-tail, the certificates to trust and the licence. No daemon and no tool is needed for it, and its
bytes depend on the arguments, on the certificates of Debian's ca-certificates and on SOURCE_DATE_EPOCH alone.
"""

import argparse
import glob
import gzip
import hashlib
import io
import json
import os
import tarfile
import time

# Those of the package, and none that an administrator has added to this machine.
CERTIFICATES = "/usr/share/ca-certificates/mozilla/*.crt"
PLATFORM = {"x86_64": {"architecture": "amd64"}, "aarch64": {"architecture": "arm64", "variant": "v8"}}
USER = 65532  # "nonroot" by custom; the kernel needs no name for it


def read(path):
    with open(path, "rb") as file:
        return file.read()


def compact(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def made_tar(files, epoch):
    """A tar of (path, data, mode); data None: a folder."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, data, mode in files:
            entry = tarfile.TarInfo(path)
            entry.mode, entry.mtime = mode, epoch
            if data is None:
                entry.type = tarfile.DIRTYPE
                tar.addfile(entry)
            else:
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("version", "cpu", "program", "commit", "license", "output"):
        parser.add_argument("--" + name, required=True)
    a = parser.parse_args()
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    certificates = b"".join(read(path) for path in sorted(glob.glob(CERTIFICATES)))
    if not certificates:
        raise SystemExit(f"release: no certificates in {CERTIFICATES}: install ca-certificates")
    folders = ["etc", "etc/ssl", "etc/ssl/certs", "usr", "usr/bin", "usr/share", "usr/share/doc", "usr/share/doc/stream-tail"]
    layer = made_tar([(path, None, 0o755) for path in folders] + [
        ("etc/ssl/certs/ca-certificates.crt", certificates, 0o644), ("usr/bin/stream-tail", read(a.program), 0o755),
        ("usr/share/doc/stream-tail/LICENSE", read(a.license), 0o644)], epoch)
    packed = gzip.compress(layer, 9, mtime=0)
    labels = {"org.opencontainers.image.title": "stream-tail", "org.opencontainers.image.version": a.version,
              "org.opencontainers.image.revision": a.commit, "org.opencontainers.image.licenses": "Apache-2.0"}
    config = compact({**PLATFORM[a.cpu], "os": "linux", "created": created,
                      "config": {"User": f"{USER}:{USER}", "Entrypoint": ["/usr/bin/stream-tail"], "Labels": labels},
                      "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
                      "history": [{"created": created, "created_by": "src/pack/image.py"}]})
    manifest = compact({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest(config),
                                   "size": len(config)},
                        "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": digest(packed),
                                    "size": len(packed)}], "annotations": labels})
    index = compact({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
        {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest(manifest), "size": len(manifest),
         "platform": {**PLATFORM[a.cpu], "os": "linux"}, "annotations": {"org.opencontainers.image.ref.name": a.version}}]})
    blobs = [("blobs/sha256/" + digest(data)[7:], data, 0o644) for data in (config, manifest, packed)]
    archive = made_tar([("blobs", None, 0o755), ("blobs/sha256", None, 0o755), *sorted(blobs), ("index.json", index, 0o644),
                        ("oci-layout", compact({"imageLayoutVersion": "1.0.0"}), 0o644)], epoch)
    with open(a.output, "wb") as file:
        file.write(archive)
    print(f"release: {os.path.basename(a.output)}: {len(archive)} bytes")


if __name__ == "__main__":
    main()

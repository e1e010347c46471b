"""Writes what the files of a release are made of, as SPDX 2.3: the source, the static programs, the packages for Python and
Node, and the libraries in them by the Debian source packages that they were built from (versions.txt of dependencies.sh:
name, version, SHA-256 of the .dsc).
"""

import argparse
import hashlib
import json
import os
import re
import time

LICENSES = {  # SPDX's names for what debian/copyright of each says about the parts that are linked
    "brotli": "MIT", "curl": "curl", "libuv1": "MIT", "libzstd": "BSD-3-Clause", "lz4": "BSD-2-Clause", "musl": "MIT",
    "nghttp2": "MIT", "openssl": "Apache-2.0", "pcre2": "BSD-3-Clause", "sqlite3": "blessing", "zlib": "Zlib",
}

PROGRAMS_ALONE = {"libzstd", "musl", "pcre2"}  # not in the packages for Python and Node
OF_NODE = {"libuv1", "sqlite3"}  # not in the package for Node: it uses node's loop, and has no leases in a file


def links(file, library):
    """Whether a file of the release has that library inside."""
    if file.startswith("stream-tail-"):
        return True
    return library not in PROGRAMS_ALONE and not (file.endswith(".tgz") and library in OF_NODE)


def package(name, version, license_name, **more):
    return {"SPDXID": "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": license_name, "copyrightText": "NOASSERTION", **more}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("version", "commit", "versions", "folder", "output"):
        parser.add_argument("--" + name, required=True)
    a = parser.parse_args()
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    packages = [package("sloop", a.version, "Apache-2.0", sourceInfo=f"commit {a.commit}", primaryPackagePurpose="SOURCE")]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", packages[0]["SPDXID"])]
    programs = []
    for name in sorted(os.listdir(a.folder)):
        if not re.fullmatch(
                rf"(sloop-{a.version}(\.tar\.gz|\.tgz|-cp\S+\.whl)|stream-tail-{a.version}-linux-\w+)", name):
            continue
        with open(os.path.join(a.folder, name), "rb") as file:
            total = hashlib.sha256(file.read()).hexdigest()
        kind = "ARCHIVE" if name.endswith(".gz") else "LIBRARY" if name.endswith((".whl", ".tgz")) else "APPLICATION"
        made = package(name, a.version, "Apache-2.0", packageFileName=name, primaryPackagePurpose=kind,
                       checksums=[{"algorithm": "SHA256", "checksumValue": total}])
        packages.append(made)
        relations += [("SPDXRef-DOCUMENT", "DESCRIBES", made["SPDXID"]), (made["SPDXID"], "GENERATED_FROM", packages[0]["SPDXID"])]
        if kind != "ARCHIVE":
            programs.append(made)
    with open(a.versions, encoding="ascii") as file:
        linked = [line.split() for line in file if line.strip()]
    for name, version, dsc in linked:
        where = f"pkg:deb/debian/{name}@{version.replace(':', '%3A').replace('+', '%2B')}?arch=source"
        packages.append(package(
            name, version, LICENSES.get(name, "NOASSERTION"), primaryPackagePurpose="LIBRARY",
            supplier="Organization: Debian", checksums=[{"algorithm": "SHA256", "checksumValue": dsc}],
            comment="The checksum is that of the source package's .dsc, which names the sums of its files.",
            externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": where}]))
        relations += [(program["SPDXID"], "STATIC_LINK", packages[-1]["SPDXID"]) for program in programs
                      if links(program["name"], name)]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"sloop-{a.version}",
        "documentNamespace": f"https://github.com/sloop/sloop/spdx/{a.version}/{a.commit}",
        "creationInfo": {"created": created, "creators": ["Organization: sloop maintainers", "Tool: src/pack/sbom.py"]},
        "packages": packages,
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations]}
    with open(a.output, "w", encoding="ascii") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    print(f"release: {os.path.basename(a.output)}: {len(packages)} packages")


if __name__ == "__main__":
    main()

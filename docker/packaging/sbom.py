"""Writes the software bill of materials of a release, as SPDX 2.3: Swift packages, Swift itself, Debian packages."""

import hashlib
import json
import subprocess
import time as clock

# Linked by nothing but tests.
ONLY_TESTS = {"yams"}


def package(name, version, purl, supplier, **more):
    identifier = "".join(letter if letter.isalnum() else "-" for letter in f"{purl.split('/')[0][4:]}-{name}")
    return {
        "SPDXID": f"SPDXRef-{identifier}", "name": name, "versionInfo": version, "supplier": supplier,
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
        **more,
    }


def swift_packages(resolved):
    for pin in json.loads(resolved.read_text())["pins"]:
        place = pin["location"].removeprefix("https://").removesuffix(".git")
        version = pin["state"]["version"]
        yield pin["identity"], package(
            place.split("/")[-1], version, f"pkg:swift/{place}@{version}", f"Organization: {place.split('/')[1]}",
            downloadLocation=f"git+https://{place}.git@{version}")


def toolchain():
    line = subprocess.run(["swift", "--version"], check=True, capture_output=True, text=True).stdout
    version = line.split("Swift version ")[1].split()[0]
    return package("swift", version, f"pkg:github/swiftlang/swift@swift-{version}-RELEASE",
                   "Organization: Swift project", licenseDeclared="Apache-2.0 WITH Swift-exception")


def document(resolved, version, time, linked, debian):
    """Returns the document. `resolved` is the file with the versions of Swift packages, `linked` are the Debian packages
    of linked libraries, `debian` all of the image."""
    parley = package("parley", version, f"pkg:generic/parley@{version}", "Organization: Parley",
                     licenseDeclared="Apache-2.0", primaryPackagePurpose="APPLICATION")
    packages, relations = [parley], [("SPDXRef-DOCUMENT", "DESCRIBES", parley["SPDXID"])]

    def add(entry, source, kind, target=None):
        packages.append(entry)
        relations.append((entry["SPDXID"], kind, target) if source is None else (source, kind, entry["SPDXID"]))

    add(toolchain(), parley["SPDXID"], "STATIC_LINK")
    for identity, entry in swift_packages(resolved):
        if identity in ONLY_TESTS:
            add(entry, None, "TEST_DEPENDENCY_OF", parley["SPDXID"])
        else:
            add(entry, parley["SPDXID"], "STATIC_LINK")
    for name, exact in sorted(debian.items()):
        entry = package(name, exact, f"pkg:deb/debian/{name}@{exact}?distro=bookworm", "Organization: Debian")
        add(entry, parley["SPDXID"], "DYNAMIC_LINK" if name in linked else "DEPENDS_ON")
    for name in sorted(linked - debian.keys()):
        # Of the tools alone, which the image does not have: the version is that of the machine where they run.
        entry = package(name, "NOASSERTION", f"pkg:deb/debian/{name}?distro=bookworm", "Organization: Debian")
        add(entry, parley["SPDXID"], "DYNAMIC_LINK")
    created = clock.strftime("%Y-%m-%dT%H:%M:%SZ", clock.gmtime(time))
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"parley-{version}", "documentNamespace": f"https://parley.example/spdx/parley-{version}-{digest}",
        "creationInfo": {"created": created, "creators": ["Tool: docker/packaging/sbom.py", "Organization: Parley"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": source, "relationshipType": kind, "relatedSpdxElement": target}
            for source, kind, target in relations],
    }, indent=1, sort_keys=True) + "\n"

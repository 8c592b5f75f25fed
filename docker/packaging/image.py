"""Writes the container image, without a container engine and without root.

The image has a layer of Debian packages and a layer of Parley's executables. The packages are the libraries that the
executables are linked to, Mozilla's certificates, and unzip for `parley import --from`: no shell, no package manager.
apt downloads them and checks their signatures; their files are unpacked, and no script of theirs runs.

The file is an OCI layout. It also has the `manifest.json` of `docker save`, so `docker load` and `podman load` read it.
"""

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
import time as clock
from pathlib import Path

# The user of the image: nobody else has this number.
USER = 10001
# What libc loads by name, and a program that is run.
PROGRAMS = ["unzip"]
# Packages whose files are all that is needed of them.
ALONE = ["base-files", "ca-certificates", "netbase"]
# Parts of Debian packages that a server in a container never reads. The licences in usr/share/doc stay.
LEFT_OUT = ("usr/share/man/", "usr/share/info/", "usr/share/locale/", "usr/share/lintian/", "usr/share/bug/",
            "usr/share/gcc/", "usr/share/gdb/", "usr/share/bash-completion/", "usr/share/perl5/", "usr/sbin/",
            "var/", "dev/", "proc/", "sys/", "run/", "home/", "boot/", "root/", "media/", "mnt/", "srv/", "opt/",
            "etc/init.d/", "etc/default/", "etc/update-motd.d/", "etc/profile.d/", "etc/ca-certificates/")
PREFERENCES = """Package: *
Pin: release o=Debian
Pin-Priority: 990

Package: *
Pin: release *
Pin-Priority: -1
"""


class Layer:
    """Files of one layer, by their paths. All have one date, and none has an owner of this machine."""

    def __init__(self, time):
        self.time = time
        self.members = {}

    def add(self, path, data=None, mode=0o644, link=None, owner=0):
        """Adds a file, a folder (no data and no link), or a symbolic link, and the folders above."""
        parent = str(Path(path).parent)
        if parent != "." and parent not in self.members:
            self.add(parent, mode=0o755)
        member = tarfile.TarInfo(path)
        member.mtime, member.uid, member.gid = self.time, owner, owner
        if link is not None:
            member.type, member.linkname, member.mode = tarfile.SYMTYPE, link, 0o777
        elif data is None:
            member.type, member.mode = tarfile.DIRTYPE, mode
        else:
            member.size, member.mode = len(data), mode
        self.members[path] = (member, data)

    def tar(self):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path in sorted(self.members):
                member, data = self.members[path]
                archive.addfile(member, io.BytesIO(data) if data else None)
        return buffer.getvalue()


def download(names, folder):
    """Downloads Debian packages and what they depend on as if nothing were installed; returns their files."""
    folder.mkdir(parents=True)
    (folder / "partial").mkdir()
    (folder / "status").touch()
    (folder / "preferences").write_text(PREFERENCES)
    options = [f"Dir::State::status={folder}/status", f"Dir::Cache::archives={folder}",
               f"Dir::Etc::preferences={folder}/preferences", "Dir::Etc::preferencesparts=/dev/null",
               "Dir::Cache::pkgcache=", "Dir::Cache::srcpkgcache=",
               "APT::Install-Recommends=false", "APT::Sandbox::User=", "Debug::NoLocking=true", "quiet=2"]
    apt = ["apt-get", *[word for option in options for word in ("-o", option)]]
    for command in [["--download-only", "--yes", "install", *names, *PROGRAMS], ["download", *ALONE]]:
        subprocess.run([*apt, *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return sorted(folder.glob("*.deb"))


def fields(package):
    """Returns the control file of a package, and its name and version."""
    text = subprocess.run(["dpkg-deb", "--field", package], check=True, stdout=subprocess.PIPE, text=True).stdout
    values = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line and not line.startswith(" "))
    return text, values["Package"], values["Version"]


def merged(path):
    """Debian's /bin, /sbin, /lib and /lib64 are links to folders of /usr."""
    return "usr/" + path if path.split("/")[0] in ("bin", "sbin", "lib", "lib64") else path


def unpack(package, layer):
    content = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            path = merged(member.name.removeprefix("./").rstrip("/"))
            documentation = path.startswith("usr/share/doc/") and not path.endswith("/copyright")
            if member.isdir() or (path + "/").startswith(LEFT_OUT) or documentation:
                continue
            if member.issym():
                layer.add(path, link=member.linkname)
            elif member.islnk():
                layer.add(path, layer.members[merged(member.linkname.removeprefix("./"))][1], member.mode)
            elif member.isfile():
                layer.add(path, archive.extractfile(member).read(), member.mode & 0o755)


def debian_layer(packages, time):
    layer = Layer(time)
    for name in ["bin", "sbin", "lib", "lib64"]:
        layer.add(name, link="usr/" + name)
    versions = {}
    for package in packages:
        unpack(package, layer)
        text, name, version = fields(package)
        versions[name] = version
        # Scanners of images look for installed packages here if there is no package manager.
        layer.add(f"var/lib/dpkg/status.d/{name}", f"{text}Status: install ok installed\n".encode())
    certificates = [data for path, (_, data) in sorted(layer.members.items())
                    if path.startswith("usr/share/ca-certificates/") and path.endswith(".crt")]
    layer.add("etc/ssl/certs/ca-certificates.crt", b"".join(certificates))
    layer.add("etc/passwd", (
        "root:x:0:0:root:/:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
        f"parley:x:{USER}:{USER}:Parley:/var/lib/parley:/usr/sbin/nologin\n").encode())
    layer.add("etc/group", f"root:x:0:\nnogroup:x:65534:\nparley:x:{USER}:\n".encode())
    layer.add("etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\n")
    for name, mode, owner in [("proc", 0o555, 0), ("sys", 0o555, 0), ("dev", 0o755, 0), ("run", 0o755, 0),
                              ("tmp", 0o1777, 0), ("var/lib/parley", 0o750, USER)]:
        layer.add(name, mode=mode, owner=owner)
    return layer, versions


def description(version, time, architecture, diffs):
    """The image's configuration. Docker alone reads `Healthcheck`, which OCI does not know."""
    created = clock.strftime("%Y-%m-%dT%H:%M:%SZ", clock.gmtime(time))
    seconds = 1_000_000_000
    return {
        "architecture": architecture, "os": "linux", "created": created,
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/bin", "PARLEY_HTTP_HOST=0.0.0.0",
                    # A container without PARLEY_DATABASE_URL can report that the setting is missing.
                    "PARLEY_DATA_DIR=/tmp/parley"],
            "Entrypoint": ["/usr/bin/parley"], "Cmd": ["serve"], "WorkingDir": "/var/lib/parley",
            "ExposedPorts": {"8080/tcp": {}}, "StopSignal": "SIGTERM",
            # Checks liveness, not readiness: a restart does not help a node whose database is unavailable.
            "Healthcheck": {"Test": ["CMD", "/usr/bin/parley", "health"], "Interval": 10 * seconds,
                            "Timeout": 3 * seconds, "StartPeriod": 30 * seconds, "Retries": 3},
            "Labels": {
                "org.opencontainers.image.title": "Parley",
                "org.opencontainers.image.description": "Self-hosted chat backend over PostgreSQL",
                "org.opencontainers.image.licenses": "Apache-2.0",
                "org.opencontainers.image.version": version,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": diffs},
        "history": [{"created": created, "created_by": text} for text in ["Debian packages", "Parley"]],
    }


def write(path, version, architecture, time, programs, names, libraries, work):
    """Writes the image; returns the versions of its Debian packages, and its bytes when unpacked."""
    debian, versions = debian_layer(download(libraries, work), time)
    parley = Layer(time)
    for name in names:
        parley.add(f"usr/bin/{name}", (programs / name).read_bytes(), 0o755)
    blobs = {}

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    tars = [layer.tar() for layer in (debian, parley)]
    layers = [blob(gzip.compress(tar, 9, mtime=0), "layer.v1.tar+gzip") for tar in tars]
    diffs = ["sha256:" + hashlib.sha256(tar).hexdigest() for tar in tars]
    config = blob(encoded(description(version, time, architecture, diffs)), "config.v1+json")
    manifest = blob(encoded({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
        "layers": layers}), "manifest.v1+json")
    tag = f"parley:{version}"
    manifest["annotations"] = {
        "org.opencontainers.image.ref.name": version, "io.containerd.image.name": f"docker.io/library/{tag}"}
    files = {
        **blobs,
        "oci-layout": encoded({"imageLayoutVersion": "1.0.0"}),
        "index.json": encoded({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [manifest]}),
        "manifest.json": encoded([{
            "Config": place(config), "RepoTags": [tag], "Layers": [place(layer) for layer in layers]}]),
    }
    image = Layer(time)
    for name, data in files.items():
        image.add(name, data)
    path.write_bytes(image.tar())
    return versions, sum(map(len, tars))


def encoded(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def place(blob):
    return "blobs/sha256/" + blob["digest"].removeprefix("sha256:")

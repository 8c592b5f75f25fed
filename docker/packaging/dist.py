#!/usr/bin/env python3
"""Writes what a release consists of to dist/: an archive, a Debian package, an image, symbols, an SBOM, checksums.

    docker/packaging/dist.py            builds the executables, then packs them (`make dist`)
    docker/packaging/dist.py FOLDER     packs the executables of FOLDER, which an earlier run or another build made

Equal commits, toolchains and Debian packages give equal bytes: it builds a copy of the commit in a folder that is the
same everywhere, every time stamp is that of the commit (or SOURCE_DATE_EPOCH), archives are sorted, and no path of this
machine is in a file. Changes that are not committed are left out. The program needs Debian 12, its
dpkg-dev and binutils, no root and no container engine. docs/decisions/build.md has the reasons.
"""

import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import image  # noqa: E402
import sbom  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DIST = ROOT / "dist"
# What a node needs, and what people use at a node. The tools contain ICU, which their SQLite library needs.
SERVER = ["parley", "parley-thumbnailer"]
TOOLS = ["parley-chat", "parley-bench"]
PROGRAMS = SERVER + TOOLS
# Sources and generated sources have their paths in what the compiler writes, so these are the same on every machine.
SCRATCH = Path("/tmp/parley-dist")
# Traces of the building machine that no file of a release may contain. Swift's own libraries name /home/build-user.
FORBIDDEN = [f"{ROOT}/", f"{Path.home()}/"]

# The most bytes of a part.
LIMITS = {"parley": 60_000_000, "the Debian package": 25_000_000, "the image, unpacked": 140_000_000}


class Failure(Exception):
    """Something that the caller must change."""


def run(*command, **options):
    """Runs a command, which must succeed, and returns its standard output."""
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True,
                          **options).stdout


def release_version():
    """The version, from the one place that has it."""
    source = (ROOT / "Sources/ServiceConfiguration/Commands/Invocation.swift").read_text()
    return re.search(r'static let version = "([0-9]+\.[0-9]+\.[0-9]+)"', source).group(1)


def commit_time():
    """The seconds since 1970 that all files of the release have as their date."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "-C", ROOT, "log", "-1", "--format=%ct"))


def compile_programs():
    """Builds the executables of the commit with Swift's libraries inside; returns their folder and the sources'."""
    SCRATCH.mkdir(mode=0o700, exist_ok=True)
    if SCRATCH.is_symlink() or SCRATCH.stat().st_uid != os.getuid():
        raise Failure(f"{SCRATCH} belongs to somebody else. Delete it.")
    source = SCRATCH / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    files = subprocess.run(["git", "-C", ROOT, "archive", "HEAD"], check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(files)) as archive:
        archive.extractall(source)
    flags = ["--configuration", "release", "--static-swift-stdlib", "--scratch-path", SCRATCH / "build"]
    # Crashes need functions and lines. References to compiled C modules would bring ids that differ each time.
    for flag in ("-gline-tables-only", "-Xfrontend", "-no-clang-module-breadcrumbs"):
        flags += ["-Xswiftc", flag]
    # Names of sources in debug information and in messages of crashes.
    hidden = f"{source}=/parley"
    flags += ["-Xswiftc", "-file-prefix-map", "-Xswiftc", hidden, "-Xcc", f"-ffile-prefix-map={hidden}"]
    for program in PROGRAMS:
        subprocess.run(["swift", "build", *map(str, flags), "--product", program], cwd=source, check=True)
    return Path(run("swift", "build", *flags, "--show-bin-path", cwd=source).strip()), source


def separate(source, program, folder, symbols):
    """Copies an executable without symbols to a folder, and its symbols to a file that debuggers find by name."""
    target, debug = folder / program, symbols / f"{program}.debug"
    run("objcopy", "--only-keep-debug", "--decompress-debug-sections", "--remove-section=.swift_ast", source, debug)
    check(debug)
    run("objcopy", "--compress-debug-sections=zlib", debug)
    debug.chmod(0o644)
    run("strip", "--strip-all", "-o", target, source)
    run("objcopy", f"--add-gnu-debuglink={debug}", target)
    target.chmod(0o755)
    check(target)


def packed(entries, time, compress=True):
    """Returns a tar archive of (path, data or None for a folder, mode), sorted, and owned by root."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, data, mode in sorted(entries):
            member = tarfile.TarInfo(path)
            member.mode, member.mtime, member.uname, member.gname = mode, time, "root", "root"
            member.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            member.size = len(data or b"")
            archive.addfile(member, io.BytesIO(data or b""))
    return gzip.compress(buffer.getvalue(), 9, mtime=0) if compress else buffer.getvalue()


def write_archive(path, programs, time):
    """The archive for any Linux with the libraries that INSTALL names."""
    top = path.name.removesuffix(".tar.gz")
    entries = [(top, None, 0o755), (f"{top}/bin", None, 0o755)]
    entries += [(f"{top}/bin/{name}", (programs / name).read_bytes(), 0o755) for name in PROGRAMS]
    files = {
        "LICENSE": ROOT / "LICENSE", "CHANGELOG.md": ROOT / "docs/changelog.md", "INSTALL.md": ROOT / "docs/install.md",
        "parley.service": HERE / "debian/parley.service",
    }
    entries += [(f"{top}/{name}", file.read_bytes(), 0o644) for name, file in files.items()]
    path.write_bytes(packed(entries, time))


def library_packages(tree, work):
    """Returns what dpkg-shlibdeps finds: the Debian packages of the linked libraries, with the versions needed."""
    (work / "debian").mkdir(exist_ok=True)
    (work / "debian/control").write_text("Source: parley\n\nPackage: parley\nArchitecture: any\n")
    files = [f"-e{file}" for file in sorted((tree / "usr/bin").iterdir())]
    return run("dpkg-shlibdeps", "-O", f"-S{tree}", *files, cwd=work).strip().removeprefix("shlibs:Depends=")


def write_debian_package(name, programs, source, version, architecture, time, work):
    """Writes a package with these executables of the folder `source`; returns its file and what it depends on."""
    tree = work / name
    for program in programs:
        install(source / program, tree / "usr/bin" / program, 0o755)
    control = tree / "DEBIAN"
    control.mkdir()
    libraries = library_packages(tree, work)
    if name == "parley":
        install(HERE / "debian/parley.service", tree / "lib/systemd/system/parley.service", 0o644)
        for script in ["postinst", "prerm", "postrm"]:
            install(HERE / "debian" / script, control / script, 0o755)
    docs = tree / "usr/share/doc" / name
    install(HERE / "debian/copyright", docs / "copyright", 0o644)
    date = run("date", "--utc", "--rfc-email", f"--date=@{time}").strip()
    changes = f"{name} ({version}) bookworm; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n" \
              f" -- The Parley maintainers <maintainers@parley.example>  {date}\n"
    (docs / "changelog.gz").write_bytes(gzip.compress(changes.encode(), 9, mtime=0))
    (docs / "CHANGELOG.md.gz").write_bytes(
        gzip.compress((ROOT / "docs/changelog.md").read_bytes(), 9, mtime=0))
    contents = [file for file in sorted(tree.rglob("*")) if file.is_file() and control not in file.parents]
    size = sum((file.stat().st_size + 1023) // 1024 for file in contents)
    text = (HERE / f"debian/{name}.control.in").read_text()
    values = {"VERSION": version, "ARCHITECTURE": architecture, "SIZE": str(size), "LIBRARIES": libraries}
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    (control / "control").write_text(text)
    sums = [f"{hashlib.md5(file.read_bytes()).hexdigest()}  {file.relative_to(tree)}\n" for file in contents]
    (control / "md5sums").write_text("".join(sums))
    for entry in [tree, *tree.rglob("*")]:
        if entry.is_dir():
            entry.chmod(0o755)
        os.utime(entry, (time, time))
    path = DIST / f"{name}_{version}_{architecture}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", tree, path,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(time)})
    return path, [entry.split()[0] for entry in libraries.split(",")]


def install(source, target, mode):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def check(file):
    """Fails if a file of the release names a path of this machine."""
    for trace in FORBIDDEN:
        found = subprocess.run(["grep", "--text", "--quiet", "--fixed-strings", trace, str(file)], check=False)
        if found.returncode == 0:
            raise Failure(f"{file.name} contains {trace}, a path of this machine.")


def check_sizes(sizes):
    """Fails if a part has become too large. Each limit is well above today's size: docs/decisions/build.md."""
    for name, byte_count in sizes.items():
        print(f"{byte_count:>12,}  {name}")
        if byte_count > LIMITS[name]:
            raise Failure(f"{name} has {byte_count:,} bytes, and at most {LIMITS[name]:,} are allowed.")


def main():
    if os.path.exists("/etc/os-release") and 'VERSION_ID="12"' not in Path("/etc/os-release").read_text():
        raise Failure("A release is built on Debian 12, whose libraries the Debian package and the image need.")
    version, time = release_version(), commit_time()
    architecture = run("dpkg", "--print-architecture").strip()
    built, source = (Path(sys.argv[1]).resolve(), ROOT) if len(sys.argv) > 1 else compile_programs()
    resolved = source / "Package.resolved"
    if not resolved.exists():
        raise Failure(f"{resolved}, with the versions of Swift packages, does not exist. Run make release first.")
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        programs = work / "programs"
        programs.mkdir()
        for program in PROGRAMS:
            separate(built / program, program, programs, DIST)
        write_archive(DIST / f"parley-{version}-linux-{architecture}.tar.gz", programs, time)
        packing = (programs, version, architecture, time, work)
        package, needed = write_debian_package("parley", SERVER, *packing)
        _, needed_by_tools = write_debian_package("parley-tools", TOOLS, *packing)
        debian, unpacked = image.write(DIST / f"parley-{version}-image.tar", version, architecture, time, programs,
                                       SERVER, needed, work / "image")
        check_sizes({
            "parley": (programs / "parley").stat().st_size,
            "the Debian package": package.stat().st_size,
            "the image, unpacked": unpacked,
        })
        (DIST / f"parley-{version}.spdx.json").write_text(
            sbom.document(resolved, version, time, {*needed, *needed_by_tools}, debian))
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(DIST.iterdir())]
    (DIST / "SHA256SUMS").write_text("".join(sums))
    for file in sorted(DIST.iterdir()):
        print(f"{file.stat().st_size:>12,}  dist/{file.name}")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"parley: {failure}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"parley: {' '.join(map(str, error.cmd))} failed with status {error.returncode}.")

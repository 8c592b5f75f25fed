"""A real S3 server for tests: OpenStack Swift with s3api, and a proxy in front that makes faults (proxy.py).

main.py PACKAGES DIRECTORY BUCKET: PACKAGES has PyPI's `swift` and `botocore` (.ci/deps test installs
them). Prints {"port": …} once it answers: the proxy's port. Ends when standard input does."""
import asyncio
import ctypes
import getpass
import http.client
import json
import os
import re
import runpy
import signal
import site
import socket
import sys
import time

packages, directory, bucket = sys.argv[1:]
site.addsitedir(packages)
SECRET = "SECRET"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def configure(ports):
    """Writes rings and configurations; returns a server's name and file for each process."""
    os.makedirs(directory + "/disks/d1")
    with open(directory + "/swift.conf", "w") as file:
        file.write("[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n")
    from swift.common.ring import RingBuilder

    for name, port in zip(["account", "container", "object"], ports):
        builder = RingBuilder(4, 1, 0)
        builder.add_dev(
            dict(
                id=0, region=1, zone=1, ip="127.0.0.1", port=port, replication_ip="127.0.0.1", replication_port=port,
                device="d1", weight=1.0, meta="",
            )
        )
        builder.rebalance()
        builder.get_ring().save(f"{directory}/{name}.ring.gz")
    common = f"""[DEFAULT]
bind_ip = 127.0.0.1
bind_port = %d
workers = 0
user = {getpass.getuser()}
swift_dir = {directory}
log_level = ERROR
log_address = /nonexistent
"""
    servers = []
    for name, port in zip(["account", "container", "object"], ports):
        path = f"{directory}/{name}-server.conf"
        with open(path, "w") as file:
            file.write(
                common % port
                + f"""devices = {directory}/disks
mount_check = false
disable_fallocate = true
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
"""
            )
        servers.append((f"swift-{name}-server", path))
    path = f"{directory}/proxy-server.conf"
    filters = ["catch_errors", "gatekeeper", "healthcheck", "bulk", "s3api", "tempauth", "slo"]
    with open(path, "w") as file:
        file.write(common % ports[3] + f"[pipeline:main]\npipeline = {' '.join(filters)} proxy-server\n")
        file.write("[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n")
        for name in filters:
            file.write(f"[filter:{name}]\nuse = egg:swift#{name}\n")
            if name == "s3api":
                file.write("location = us-east-1\n")
            if name == "tempauth":
                file.write(f"user_test_tester = {SECRET} .admin\n")
    return servers + [("swift-proxy-server", path)]


def start(name, path):
    if os.fork():
        return
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the process ends with this one.
    log = os.open(directory + "/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = [name, path]
    runpy.run_path(f"{packages}/bin/{name}", run_name="__main__")
    os._exit(0)


def call(port, method, path, headers={}):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer, answer.read()


def wait(port):
    for _ in range(600):
        try:
            if call(port, "GET", "/healthcheck")[0].status == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit("the S3 server does not start: see " + directory + "/log")


def signed(port, method, path):
    """One request that botocore signs."""
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    request = AWSRequest(method, f"http://127.0.0.1:{port}{path}")
    S3SigV4Auth(Credentials("test:tester", SECRET), "s3", "us-east-1").add_auth(request)
    return call(port, method, path, dict(request.headers))


def make_bucket(port):
    # The other servers may still be starting. 409: an earlier try has made it.
    for _ in range(600):
        answer, body = signed(port, "PUT", "/" + bucket)
        if answer.status < 300 or answer.status == 409:
            return
        time.sleep(0.05)
    sys.exit(f"the bucket cannot be made: {answer.status} {body} (see {directory}/log)")


def keys(port):
    """All keys of the bucket, one a line."""
    answer, body = signed(port, "GET", f"/{bucket}?list-type=2")
    if answer.status != 200 or b"<IsTruncated>true" in body:
        raise RuntimeError(body)
    return "".join(key + "\n" for key in re.findall("<Key>([^<]*)</Key>", body.decode())).encode()


ports = free_ports(4)
for server in configure(ports):
    start(*server)
wait(ports[3])
make_bucket(ports[3])

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import proxy  # noqa: E402

asyncio.run(proxy.run(ports[3], directory, lambda: keys(ports[3])))

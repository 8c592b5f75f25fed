"""Presigned URLs by botocore. sign.py PACKAGES: a line of JSON on standard input is a request, the same line of standard
output its URL."""
import datetime
import json
import site
import sys
from urllib.parse import quote

site.addsitedir(sys.argv[1])
import botocore.auth  # noqa: E402
from botocore.awsrequest import AWSRequest  # noqa: E402
from botocore.credentials import Credentials  # noqa: E402
from botocore.utils import percent_encode_sequence  # noqa: E402

for line in sys.stdin:
    wanted = json.loads(line)
    now = datetime.datetime.fromtimestamp(wanted["time"], datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda: now
    url = wanted["origin"] + quote(wanted["path"], safe="/-._~")
    if wanted["query"]:
        url += "?" + percent_encode_sequence(wanted["query"])
    request = AWSRequest(wanted["method"], url, dict(wanted["headers"]))
    credentials = Credentials(wanted["accessKey"], wanted["secretKey"])
    botocore.auth.S3SigV4QueryAuth(credentials, "s3", wanted["region"], wanted["seconds"]).add_auth(request)
    print(request.url)

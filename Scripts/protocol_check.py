#!/usr/bin/env python3
"""Holds a real server to docs/reference/openapi.yaml.

Starts `petrel serve` on data of its own, goes once through every operation, saves, queries and subscribes with
requests-cloudkit, a client that signs its requests, and then lets schemathesis make up requests from the description. An
answer of the wrong shape, an undescribed status and a 5xx are failures. What the requests are depends on the seed alone.

Needs the packages of Scripts/requirements.txt; Scripts/setup.sh has installed them.
"""

import argparse
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

import requests
import requests_cloudkit
import schemathesis

CONTAINER = "iCloud.com.example.app"
ROOT = pathlib.Path(__file__).resolve().parent.parent
DESCRIPTION = ROOT / "docs/reference/openapi.yaml"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@contextlib.contextmanager
def server(petrel, directory):
    """A running server; gives its URL."""
    log = open(os.path.join(directory, "server.log"), "w+")
    configuration = pathlib.Path(directory) / "server.json"
    configuration.write_text(json.dumps({"webPush": {"subject": "mailto:tests@example.com"}, "webhooks": {}}))
    command = [petrel, "serve", "--data", directory, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        line = process.stdout.readline()
        if "listens on " not in line:
            raise SystemExit(f"petrel did not start: {line!r}")
        yield line.split("listens on ")[1].strip()
    finally:
        process.terminate()
        process.wait()
        log.seek(0)
        # Refused requests are what this is about; what the server itself found wrong is worth a look.
        print("".join(line for line in log if " error " in line or " warning " in line), end="")
        log.close()


def add_user(petrel, directory, name, *options):
    command = [petrel, "users", "add", name, "--data", directory, *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Client:
    """Makes requests and compares the answers with the description."""

    def __init__(self, url, token, description):
        self.url = url
        self.token = token
        self.description = description
        self.used = set()

    def send(self, method, path, body=None, status=200, database="private", described=None, **options):
        """Sends a request to a path of the description or, where `described` names one, to another."""
        described = described or path
        target = path.format(container=CONTAINER, environment="development", database=database)
        options.setdefault("params", {})["ckWebAuthToken"] = self.token
        if body is not None:
            options["data"] = body if isinstance(body, bytes) else json.dumps(body)
        answer = requests.request(method, self.url + target, timeout=60, **options)
        what = f"{method} {target}: {answer.status_code} {answer.text[:500]}"
        assert answer.status_code == status, what
        if method != "HEAD":
            try:
                self.description[described][method].validate_response(answer)
            except Exception as error:
                raise AssertionError(f"{what}\n{error}") from None
        self.used.add((method, described))
        return answer

    def operation(self, name, body=None, **options):
        prefix = "/database/1/{container}/{environment}/{database}/"
        return self.send("POST", prefix + name, body, **options).json()

    def device(self, name, body):
        return self.send("POST", "/device/1/{container}/{environment}/" + name, body).json()

    def read(self, name, **options):
        return self.send("GET", "/database/1/{container}/{environment}/{database}/" + name, **options).json()


def every_value(asset):
    place = {"latitude": 52.5, "longitude": 13.4, "altitude": 34.0, "timestamp": 1700000000000}
    values = {
        "STRING": "text", "INT64": 2**60, "DOUBLE": 2.5, "TIMESTAMP": 1700000000123, "BYTES": "AAEC/w==",
        "LOCATION": place, "REFERENCE": {"recordName": "other", "action": "NONE"}, "ASSETID": asset,
    }
    fields = {kind.lower(): {"value": value, "type": kind} for kind, value in values.items()}
    for kind, value in values.items():
        fields[kind.lower() + "s"] = {"value": [value], "type": kind + "_LIST"}
    fields["empty"] = {"value": [], "type": "STRING_LIST"}
    fields["secret"] = {"value": "hidden", "type": "STRING", "isEncrypted": True}
    return fields


def walk(client):
    """Goes through every operation once, with requests that succeed and some that fail."""
    zone = {"zoneName": "Notes"}
    made = client.operation("zones/modify", {"operations": [
        {"operationType": "create", "zone": {"zoneID": zone}},
        {"operationType": "create", "zone": {"zoneID": {"zoneName": "Old"}}},
        {"operationType": "delete", "zone": {"zoneID": {"zoneName": "Old"}}},
        {"operationType": "create", "zone": {"zoneID": {"zoneName": "_wrong"}}},
        {"operationType": "make", "zone": {}}]})["zones"]
    assert [item.get("serverErrorCode") for item in made] == [None, None, None, "BAD_REQUEST", "BAD_REQUEST"], made
    for call in (client.read, client.operation):
        assert len(call("zones/list")["zones"]) == 2
    client.operation("zones/lookup", {"zones": [zone, "Old", {"zoneID": "Notes"}]})

    token = client.device("tokens/create", {"apnsEnvironment": "development", "clientId": "reader"})
    client.device("tokens/register", {"apnsEnvironment": "development", "apnsToken": token["apnsToken"]})
    for name, body in (("create", {"apnsEnvironment": "production"}), ("register", {"apnsToken": "ab" * 32})):
        client.operation("tokens/" + name, body)
    client.device("tokens/badge", {"badge": 3})
    root = "/device/1/{container}/{environment}/"
    for method in ("GET", "POST"):
        key = client.send(method, root + "webPush/key").json()["applicationServerKey"]
    for method in ("GET", "POST"):
        limits = client.send(method, root + "server/limits").json()["limits"]
        assert limits["operationsPerRequest"] == {"value": 400, "unit": "count"}, limits
    browser = {"endpoint": "https://push.example.com/1", "expirationTime": None, "keys": {
        "p256dh": key, "auth": "AAAAAAAAAAAAAAAAAAAAAA"}}
    client.device("webPush/register", {"subscription": browser, "clientId": "tab"})
    client.device("webPush/unregister", {"endpoint": browser["endpoint"]})
    # A user has no webhooks; what a program gets is looked at where it signs its requests.
    for method, name in (("POST", "register"), ("GET", "list"), ("POST", "list"), ("POST", "delete")):
        client.send(method, root + "webhooks/" + name, {} if method == "POST" else None, status=403)
    information = {"alertBody": "New", "shouldBadge": True, "additionalFields": ["string"], "category": "c"}
    saved = client.operation("subscriptions/modify", {"operations": [
        {"operationType": "create", "subscription": {
            "subscriptionID": "query", "subscriptionType": "query", "zoneWide": True,
            "firesOn": ["create", "update", "delete"], "notificationInfo": information,
            "query": {"recordType": "Note", "sortBy": [{"fieldName": "string"}], "filterBy": [
                {"fieldName": "string", "comparator": "BEGINS_WITH", "fieldValue": {"value": "te"}}]}}},
        {"operationType": "create", "subscription": {
            "subscriptionID": "zone", "subscriptionType": "zone", "zoneID": zone, "recordType": "Note"}},
        {"operationType": "create", "subscription": {"subscriptionID": "all", "subscriptionType": "database"}},
        {"operationType": "delete", "subscription": {"subscriptionID": "all"}},
        {"operationType": "create", "subscription": {"subscriptionID": "nothing"}}]})["subscriptions"]
    assert [bool(item.get("serverErrorCode")) for item in saved] == [False] * 4 + [True], saved
    watched = {"subscriptionID": "all", "subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Note"}}
    replaced = client.operation("subscriptions/modify", {"operations": [
        {"operationType": "create", "subscription": watched},
        {"operationType": "create", "subscription": {"subscriptionID": "all", "subscriptionType": "database"}},
        {"operationType": "delete", "subscription": {"subscriptionID": "all"}}]})["subscriptions"]
    assert [item.get("replacedSubscriptionType") for item in replaced] == [None, "query", None], replaced
    for call in (client.read, client.operation):
        assert len(call("subscriptions/list")["subscriptions"]) == 2
    client.operation("subscriptions/lookup", {"subscriptions": ["none", {"subscriptionID": "query"}]})

    wanted = [{"recordName": "one", "recordType": "Note", "fieldName": name} for name in ("assetid", "assetids")]
    uploads = client.operation("assets/upload", {"zoneID": zone, "tokens": wanted})["tokens"]
    upload = "/assets/{database}/upload/{secret}"
    assets = [
        client.send("POST", token["url"][len(client.url):], b"bytes", described=upload).json()["singleFile"]
        for token in uploads]
    fields = every_value(assets[0]) | {"assetids": {"value": [assets[1]], "type": "ASSETID_LIST"}}
    one = {"recordName": "one", "recordType": "Note", "zoneID": zone}
    # An empty list makes no field.
    client.operation("records/modify", {"operations": [{"operationType": "create", "record": {
        "recordName": "two", "recordType": "Note", "zoneID": zone,
        "fields": {"empty": {"value": ["text"], "type": "STRING_LIST"}}}}]})
    operations = [
        {"operationType": "create", "record": one | {"fields": fields}},
        {"operationType": "create", "record": {"recordType": "Note", "zoneID": zone,
                                               "parent": {"recordName": "one"}, "fields": {}}},
        {"operationType": "create", "record": {"recordName": "three", "recordType": "Note", "zoneID": zone}}]
    records = client.operation("records/modify", {"operations": operations, "requestID": "first"})["records"]
    assert all("serverErrorCode" not in record for record in records), records
    client.operation("records/modify", {"numbersAsStrings": True, "atomic": False, "operations": [
        {"operationType": "create", "record": one},
        {"operationType": "update", "record": one | {"recordChangeTag": "old", "fields": {}}},
        {"operationType": "forceUpdate", "record": one | {"fields": {"more": {"value": "text"}}}},
        {"operationType": "forceDelete", "record": {"recordName": "two", "zoneID": zone}},
        {"operationType": "delete", "record": {"recordName": "none", "recordChangeTag": "x"}},
        {"operationType": "create", "record": {"recordType": "cloudkit.share", "forRecord": {"recordName": "one"}}}]})
    looked = client.operation("records/lookup", {"zoneID": zone, "records": [{"recordName": "one"}, "none"]})["records"]
    download = looked[0]["fields"]["assetid"]["value"]["downloadURL"][len(client.url):]
    for method in ("GET", "HEAD"):
        client.send(method, download, described="/assets/{database}/{checksum}")
    part = client.send("GET", download, described="/assets/{database}/{checksum}", status=206,
                       headers={"Range": "bytes=1-2"})
    assert part.content == b"yt"
    client.send("GET", download, described="/assets/{database}/{checksum}", status=416, headers={"Range": "bytes=9-"})
    client.operation("assets/rereference", {"zoneID": zone, "assets": [{"recordName": "one", "fieldName": "assetid"}]})

    query = {"recordType": "Note", "sortBy": [{"systemFieldName": "createdTimestamp", "ascending": False}]}
    page = client.operation("records/query", {"query": query, "zoneWide": True, "resultsLimit": 1})
    client.operation("records/query", {"query": query, "zoneWide": True, "numbersAsStrings": True,
                                       "continuationMarker": page["continuationMarker"]})
    client.operation("records/query", {"query": query, "continuationMarker": "bad"}, status=400)

    feed = client.operation("records/changes", {"zoneID": zone, "resultsLimit": 1})
    client.operation("records/changes", {"zoneID": zone, "syncToken": feed["syncToken"]})
    client.operation("records/changes", {"zoneID": {"zoneName": "Old"}}, status=404)
    client.operation("changes/zone", {"reverse": True, "zones": [
        {"zoneID": zone, "desiredKeys": []}, {"zoneID": "Old"}, {"zoneID": zone, "syncToken": "bad"}]})
    client.operation("changes/database", {})
    client.operation("zones/changes", {"metaSyncToken": client.operation("zones/changes", {})["metaSyncToken"]})

    courier = token["webcourierURL"][len(client.url):]
    client.send("GET", courier, described="/aps")
    log = client.device("notifications/changes", {"resultsLimit": 1})
    assert log["moreComing"], log
    named = log["notifications"][0]["ck"]["nid"]
    client.device("notifications/markRead", {"notifications": [{"notificationID": named}, {"notificationID": "x"}]})
    client.device("notifications/changes", {})
    client.device("tokens/unregister", {"apnsToken": token["apnsToken"]})

    client.operation("users/permissions", {"permissions": [
        {"permission": "USER_DISCOVERABILITY", "status": "GRANTED"}]})
    for call in (client.read, client.operation):
        for name in ("users/caller", "users/current"):
            call(name, database="public")
    client.read("users/permissions", database="public")
    client.read("users/discover", database="public")
    client.operation("users/discover", {"lookupInfos": [{"emailAddress": "anna@example.com"}]})
    client.operation("users/lookup/email", {"users": [{"emailAddress": "anna@example.com"}]})
    client.operation("users/lookup/id", {"users": [{"userRecordName": "_none"}]})
    client.read("users/lookup/contacts", database="public")
    client.operation("users/lookup/contacts", {"contacts": [{"phoneNumber": "+49 30 1234567"}]})
    for name in ("records/resolve", "records/accept", "records/requestAccess"):
        client.operation(name, {"shortGUIDs": [{"value": "0abc"}]}, database="public")

    token, client.token = client.token, None
    page = client.read("users/caller", status=421)["redirectURL"][len(client.url):]
    for method in ("GET", "HEAD"):
        client.send(method, page, described="/sign-in")
    for path in ("/sign-in", "/sign-in/cancel"):
        client.send("POST", path, {}, status=400)
    for method, direction in (("POST", "with"), ("GET", "from"), ("POST", "from")):
        client.send(method, f"/sign-in/{direction}/none", status=404, described="/sign-in/" + direction + "/{issuer}")
    client.token = token


def check_walk(url, token):
    description = schemathesis.openapi.from_path(str(DESCRIPTION))
    client = Client(url, token, description)
    walk(client)
    described = {
        (operation.ok().method.upper(), operation.ok().path) for operation in description.get_all_operations()}
    missing = described - client.used
    assert not missing, f"the walk leaves out {sorted(missing)}"
    print(f"every operation once: {len(described)} have the shape that is described")


class ServerKey(requests_cloudkit.CloudKitAuth):
    """The package's signer, which was written for Python 2, where text and bytes are one. What it signs and which headers
    it sends is its own; only the seams between text and bytes are mended."""

    def encode_body(self, body):
        body = body.encode() if isinstance(body, str) else body or b""
        return base64.b64encode(hashlib.sha256(body).digest()).decode()


class TextFile:
    """A temporary file that takes text where the package writes it."""

    def __init__(self):
        self.file = tempfile.TemporaryFile()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, text):
        return self.file.write(text.encode())

    def __getattr__(self, name):
        return getattr(self.file, name)


def add_server_key(petrel, data, directory):
    """A key that the server will know: a running one takes notice of a new key within seconds only."""
    requests_cloudkit.cloudkit.tempfile = types.SimpleNamespace(NamedTemporaryFile=TextFile)
    private = os.path.join(directory, "key.pem")
    command = [petrel, "keys", "add-server-key", "tests", "--container", CONTAINER, "--new-private-key", private]
    made = subprocess.run(command + ["--data", data], check=True, capture_output=True, text=True)
    return ServerKey(key_id=made.stdout.strip(), key_file_name=private)


def check_server_key(url, key):
    """Saves, queries and subscribes as a program with a server-to-server key."""
    root = f"{url}/database/1/{CONTAINER}/development/public/"

    def send(operation, body):
        answer = requests.post(root + operation, data=json.dumps(body), auth=key, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()

    saved = send("records/modify", {"operations": [{"operationType": "create", "record": {
        "recordType": "Signed", "recordName": "signed", "fields": {"title": {"value": "by key"}}}}]})["records"]
    assert saved[0]["fields"]["title"]["value"] == "by key", saved
    creator = saved[0]["created"]["userRecordName"]
    found = send("records/query", {"query": {"recordType": "Signed", "filterBy": [
        {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "by key"}}]}})["records"]
    assert [record["recordName"] for record in found] == ["signed"], found
    subscription = {
        "subscriptionID": "signed", "subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Signed"}}
    made = send("subscriptions/modify", {"operations": [{"operationType": "create", "subscription": subscription}]})
    assert made["subscriptions"][0]["subscriptionID"] == "signed", made
    listed = requests.get(root + "subscriptions/list", auth=key, timeout=60).json()["subscriptions"]
    assert [item["subscriptionID"] for item in listed] == ["signed"], listed

    def device(operation, body):
        answer = requests.post(
            f"{url}/device/1/{CONTAINER}/development/webhooks/{operation}", data=json.dumps(body), auth=key, timeout=60)
        assert answer.status_code == 200, answer.text
        path = "/device/1/{container}/{environment}/webhooks/" + operation
        schemathesis.openapi.from_path(str(DESCRIPTION))[path]["POST"].validate_response(answer)
        return answer.json()

    hook = device("register", {"url": "https://hooks.example.com/a"})
    assert hook["secret"].startswith("whsec_"), hook
    assert [item["webhookId"] for item in device("list", {})["webhooks"]] == [hook["webhookId"]]
    device("delete", {"webhookId": hook["webhookId"]})

    forged = requests.post(root + "records/query", data="{}", auth=ServerKey("0" * 64, key.key_file_name), timeout=60)
    assert forged.status_code == 401 and forged.json()["serverErrorCode"] == "AUTHENTICATION_FAILED", forged.text
    private_database = root.replace("/public/", "/private/")
    refused = requests.post(private_database + "records/query", data="{}", auth=key, timeout=60)
    assert 400 <= refused.status_code < 500, refused.text
    print(f"requests-cloudkit: saved, queried and subscribed as {creator}")


def fuzz(url, token, directory, examples, seed):
    configuration = pathlib.Path(directory) / "schemathesis.toml"
    schemes = {"webAuthToken": token, "apiToken": "0" * 64}
    # A request that names a server-to-server key is that key's; those are tested apart.
    schemes |= {name: "" for name in ("serverKeyID", "serverKeyDate", "serverKeySignature")}
    configuration.write_text("".join(f'[auth.openapi.{name}]\napi_key = "{key}"\n' for name, key in schemes.items()))
    command = [
        str(pathlib.Path(sys.executable).parent / "schemathesis"), "--config-file", str(configuration), "run",
        str(DESCRIPTION), "--url", url, "--checks", CHECKS, "--phases", "coverage,fuzzing", "--seed", str(seed),
        "--max-examples", str(examples), "--workers", "1", "--warnings", "off", "--no-color",
        # Its answers take as long as the server holds a poll.
        "--exclude-path", "/aps"]
    # Nothing of a run before this one is to count.
    environment = os.environ | {"SCHEMATHESIS_HOOKS": ""}
    run = subprocess.run(command, cwd=directory, env=environment, stderr=subprocess.PIPE, text=True)
    print(run.stderr, end="", file=sys.stderr)
    # When its thread dies, schemathesis ends as if it had found nothing.
    return run.returncode or int("Exception in thread" in run.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--petrel", required=True, help="the program")
    parser.add_argument("--examples", type=int, default=3, help="requests that are made up for each operation")
    parser.add_argument(
        "--seed", type=int, default=int(os.environ.get("TEST_SEED", "1")),
        help="what they are made up from; TEST_SEED, or 1, without it")
    arguments = parser.parse_args()
    petrel = str(pathlib.Path(arguments.petrel).resolve())
    with tempfile.TemporaryDirectory(prefix="petrel-protocol-") as directory:
        data = os.path.join(directory, "data")
        token = add_user(petrel, data, "anna", "--email", "anna@example.com", "--given-name", "Anna")
        key = add_server_key(petrel, data, directory)
        with server(petrel, data) as url:
            check_walk(url, token)
            check_server_key(url, key)
            return fuzz(url, token, directory, arguments.examples, arguments.seed)


if __name__ == "__main__":
    sys.exit(main())

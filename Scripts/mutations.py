#!/usr/bin/env python3
"""Makes deliberate mistakes, one at a time, and looks which of them the tests find.

A mistake that no test finds is a test to write. One build of a scratch copy has all mistakes; the environment variable
TEST_MISTAKE makes one of them. For each, the tests and trials of `make test` run until the first failure, those of the
mistake's module first. The copy is BUILD/mutations, with a build folder of its own, which the first run makes in about
ten minutes.

    Scripts/mutations.py --build .build               all mistakes
    Scripts/mutations.py --build .build page-end      those with these names
    Scripts/mutations.py --assume-green page-end      without a run that has no mistake before it
    Scripts/mutations.py --list                       says which there are
    Scripts/mutations.py --check                      looks whether each still applies
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Mistake:
    """One place in one file that is changed. The old text stands there once."""

    name: str
    what: str
    file: str
    old: str
    # What does both: {made} is whether the mistake is made.
    new: str
    # The test targets that look at the file's module most closely.
    tests: str

    @property
    def folder(self):
        """The folder of the file's module: `Sources/LAYER/MODULE`."""
        return "/".join(self.file.split("/")[:3])

    @property
    def switch(self):
        first, *others = self.name.split("-")
        return first + "".join(word.capitalize() for word in others)


mistakes = [
    # Wrong comparisons.
    Mistake("greater-or-equal", "`>=` of a filter does not hold for equal values",
            "Sources/Protocol/CloudKitModel/Queries/Filter+Evaluation.swift",
            "      return order == .greater || order == .equal\n    case .near:",
            "      return order == .greater || (order == .equal && !{made})\n    case .near:",
            "CloudKitModelTests|MatchingTests"),
    Mistake("circle-edge", "a circle of a filter is without its edge",
            "Sources/Protocol/CloudKitModel/Queries/Filter+Evaluation.swift",
            "return place.distance(to: center) <= distance",
            "let apart = place.distance(to: center)\n"
            "      return {made} ? apart < distance : apart <= distance",
            "CloudKitModelTests|MatchingTests"),
    Mistake("bound-edge", "the index passes over subscriptions whose bound is the value",
            "Sources/Matching/Matching/Points/BoundList.swift",
            "if element.bound > bound { return }",
            "if element.bound > bound || (element.bound == bound && {made}) { return }",
            "MatchingTests"),
    Mistake("date-line", "circles of the index end at the date line",
            "Sources/Matching/Matching/Points/SphereGrid.swift",
            "for turn in [-360.0, 0, 360] {",
            "for turn in {made} ? [0.0, 360] : [-360.0, 0, 360] {", "MatchingTests"),
    Mistake("program-part", "the first condition that holds decides of a whole subscription",
            "Sources/Matching/Matching/RecordTypes/RecordTypeIndex+Matching.swift",
            "guard holds(head, arguments, change, facts) else { return false }",
            "guard holds(head, arguments, change, facts) else { return false }\n"
            "      if {made} { return true }",
            "MatchingTests"),
    Mistake("owner-version", "a subscription matches changes that are older than itself",
            "Sources/Matching/Matching/SubscriptionIndex+Matching.swift",
            "if areAllSaved || owners[slot].version <= version { visit(slot) }",
            "if areAllSaved || owners[slot].version <= version || {made} { visit(slot) }",
            "MatchingTests"),
    Mistake("key-range-end", "an index range takes the key behind its upper end",
            "Sources/Store/Storage/Search/Entries/KeyRange.swift",
            "if upper.count < 8 {", "if upper.count < 8, !{made} {", "StorageTests"),
    Mistake("text-order", "texts are ordered by characters and not by bytes",
            "Sources/Protocol/CloudKitModel/Records/Values/RecordValue+Comparison.swift",
            "return left.utf8.lexicographicallyPrecedes(right.utf8) ? .less : .greater",
            "if {made} { return left < right ? .less : .greater }\n"
            "    return left.utf8.lexicographicallyPrecedes(right.utf8) ? .less : .greater",
            "CloudKitModelTests|StorageTests"),

    # Lost rows, and pages off by one.
    Mistake("page-remains", "copies of moved rows come into the store's file",
            "Sources/Store/SQLEngine/SQLite/Pages/DatabaseFile.swift",
            "if let remains { memset(",
            "if let remains, !{made} { memset(", "StorageTests"),
    Mistake("page-end", "a feed ends where a piece of rows was full",
            "Sources/Store/Storage/ChangeFeeds/RecordFeed.swift",
            "if candidates.count < pieceSize { break }",
            "if candidates.count < pieceSize || {made} { break }", "StorageTests"),
    Mistake("page-size", "a page of a feed has one change too many",
            "Sources/Store/Storage/ChangeFeeds/RecordFeed.swift",
            "changes.count == query.limit || (!changes",
            "({made} ? changes.count > query.limit : changes.count == query.limit) || (!changes",
            "StorageTests|PetrelServerTests"),
    Mistake("byte-range", "a part of an asset is without its last byte",
            "Sources/Server/DatabaseAPI/Assets/ByteRange.swift",
            "return first < size ? .part(first..<last + 1) : .unsatisfiable",
            "return first < size ? .part(first..<last + ({made} ? 0 : 1)) : .unsatisfiable",
            "DatabaseAPITests|PetrelServerTests"),
    Mistake("reference-limit", "a record may have one reference too many",
            "Sources/Store/Storage/Modifications/ReferenceCheck.swift",
            "guard count >= limit else { return }",
            "guard {made} ? count > limit : count >= limit else { return }",
            "StorageTests|PetrelServerTests"),
    Mistake("subscription-limit", "a user may have one subscription too many",
            "Sources/Store/Storage/Subscriptions/SubscriptionModifier.swift",
            "guard count >= limit else {", "guard {made} ? count > limit : count >= limit else {",
            "StorageTests|PetrelServerTests"),
    Mistake("outbox-rest", "changes that were committed together are dispatched but for the last",
            "Sources/Delivery/ChangeDispatch/Lanes/Dispatcher+Lanes.swift",
            "let entries = entries.drop { $0.sequence <= lane.dispatchedThrough }\n",
            "let entries = entries.drop { $0.sequence <= lane.dispatchedThrough }"
            ".dropLast({made} ? 1 : 0)\n",
            "ChangeDispatchTests|EndToEndTests"),
    Mistake("newest-merge", "an older push is sent after a newer one that says the same",
            "Sources/Delivery/ChangeDispatch/Deliveries/DeliverySchedule.swift",
            "newest.number > delivery.id.number",
            "{made} ? newest.number < delivery.id.number : newest.number > delivery.id.number",
            "ChangeDispatchTests"),

    # Locks.
    Mistake("deliveries-lock", "two writers settle deliveries at the same time",
            "Sources/Store/Storage/Jobs/WriteSchedule.swift",
            "if locks.settlesDeliveries, settlesDeliveries { return true }",
            "if locks.settlesDeliveries, settlesDeliveries, !{made} { return true }", "StorageTests"),
    Mistake("database-lock", "two writers write to one database at the same time",
            "Sources/Store/Storage/Jobs/WriteSchedule.swift",
            "return usesDatabases && locks", "return !{made} && usesDatabases && locks",
            "StorageTests"),
    Mistake("missing-locks", "a group of writes locks what its first needs alone",
            "Sources/Store/Storage/Transactions/StoreWriter.swift",
            "for job in group.dropFirst() { locks.formUnion(job.locks) }",
            "for job in group.dropFirst() where !{made} { locks.formUnion(job.locks) }",
            "StorageTests"),

    # Access that is not looked at.
    Mistake("unreadable-push", "a notification goes to who may not read the record",
            "Sources/Store/Storage/Dispatch/DispatchCompletion.swift",
            "let refusal = access.refusal(ofReading: record) else { return true }",
            "let refusal = {made} ? nil : access.refusal(ofReading: record) else { return true }",
            "StorageTests|PetrelServerTests"),
    Mistake("unreadable-match", "a query finds what the caller may not read",
            "Sources/Store/Storage/Search/RecordSearch+Candidates.swift",
            "guard access.reach == .all || access.mayRead(record) else { return nil }",
            "guard access.reach == .all || access.mayRead(record) || {made} else { return nil }",
            "StorageTests|PetrelServerTests"),
    Mistake("unreadable-feed", "a feed tells of what the reader may not read",
            "Sources/Store/Storage/ChangeFeeds/RecordFeedView.swift",
            "return numbers.contains(number)", "return numbers.contains(number) || {made}",
            "StorageTests|PetrelServerTests"),
    Mistake("expired-link", "a download URL is good for ever",
            "Sources/Server/DatabaseAPI/Assets/AssetLinks.swift",
            "guard Timestamp(milliseconds: end) > clock() else {",
            "guard Timestamp(milliseconds: end) > clock() || {made} else {", "DatabaseAPITests|PetrelServerTests"),
    Mistake("expired-token", "a web auth token is good for ever",
            "Sources/Server/DatabaseAPI/Authentication/WebAuthTokens.swift",
            "guard token.expires > now else {", "guard token.expires > now || {made} else {",
            "DatabaseAPITests|PetrelServerTests"),
    Mistake("repeated-signature", "a signed change may be sent again",
            "Sources/Server/DatabaseAPI/Authentication/SignatureUse.swift",
            "guard try await store.takeSignature(mark, ofKey: keyID, until: expires) else {",
            "guard try await store.takeSignature(mark, ofKey: keyID, until: expires) || {made} else {",
            "DatabaseAPITests|PetrelServerTests"),
    Mistake("key-window", "a signed request of any age is taken",
            "Sources/Server/DatabaseAPI/Authentication/ServerKeyVerifier.swift",
            "guard abs(now.seconds - signed.date.seconds) <= window else {",
            "guard abs(now.seconds - signed.date.seconds) <= window || {made} else {", "DatabaseAPITests|PetrelServerTests"),
    Mistake("foreign-origin", "an API token serves pages of every origin",
            "Sources/Server/DatabaseAPI/Authentication/Authenticator.swift",
            "!allowedOrigins.contains(origin)", "!allowedOrigins.contains(origin), !{made}",
            "DatabaseAPITests|PetrelServerTests"),
    Mistake("other-nonce", "an ID token of another sign-in is taken",
            "Sources/Server/OpenIDConnect/IDTokenRules.swift",
            'guard claims["nonce"]?.string == nonce else {',
            'guard claims["nonce"]?.string == nonce || {made} else {', "OpenIDConnectTests"),
    Mistake("tunnelled-address", "a webhook reaches a private address inside of an IPv6 one",
            "Sources/Network/OutboundHTTP/AddressRules.swift",
            "if let contained = address.tunnelledIPv4, !allow(contained) {",
            "if let contained = address.tunnelledIPv4, !allow(contained), !{made} {",
            "OutboundHTTPTests"),

    # Errors that are swallowed, and states that are forgotten.
    Mistake("conflict-lost", "a conflict that the app sees is without the server's record",
            "Sources/Client/CloudKit/Transport/CKError+Service.swift",
            "if let savedRecord, error.code == .conflict || error.code == .exists {",
            "if let savedRecord, error.code == .conflict && !{made} || error.code == .exists {",
            "CloudKitTests|EndToEndTests"),
    Mistake("changed-file", "an asset whose file changes while it is sent is saved",
            "Sources/Client/CloudKit/Operations/Assets/AssetUploader.swift",
            "guard now == stamp else {", "guard now == stamp || {made} else {",
            "CloudKitTests|EndToEndTests"),
    Mistake("resource-timeout", "an operation is tried again beyond its time",
            "Sources/Client/CloudKit/Transport/OperationRetryPolicy.swift",
            "if let resourceTimeout, elapsed + delay >= resourceTimeout {",
            "if let resourceTimeout, elapsed + delay >= resourceTimeout, !{made} {",
            "CloudKitTests|EndToEndTests"),
    Mistake("dead-token", "a device token that APNs calls bad is kept",
            "Sources/Delivery/PushChannels/AnswersAndRetries/PushAnswerRules.swift",
            'Rule(400, "BadDeviceToken", .dropDevice)',
            'Rule(400, "BadDeviceToken", {made} ? .fault : .dropDevice)',
            "PushChannelsTests"),
    Mistake("long-answer", "an answer of any length is taken from a push service",
            "Sources/Network/HTTP2Transport/Client/HTTP2ClientConnection+Requests.swift",
            "guard received + bytes.count <= configuration.maximumResponseBytes else {",
            "guard received + bytes.count <= configuration.maximumResponseBytes || {made} else {",
            "HTTP2TransportTests"),
    Mistake("two-lengths", "a request with two lengths is taken",
            "Sources/Network/HTTPService/Messages/RequestHead.swift",
            "if lengths.count > 1 {", "if lengths.count > 1, !{made} {",
            "HTTPServiceTests"),
    Mistake("device-rest", "a device whose service asked for rest gets none",
            "Sources/Delivery/ChangeDispatch/Deliveries/DevicePacing.swift",
            "if device.next > now {", "if device.next > now, !{made} {", "ChangeDispatchTests"),
    Mistake("short-number", "a number without digits behind its point is read",
            "Sources/Base/JSONCoding/JSONParser.swift",
            "guard position > fraction else {", "guard position > fraction || {made} else {",
            "JSONCodingTests"),
    Mistake("json-rest", "what follows a JSON text is passed over",
            "Sources/Base/JSONCoding/JSONParser.swift",
            "guard position == bytes.count else {", "guard position == bytes.count || {made} else {",
            "JSONCodingTests"),
    Mistake("infinite-number", "a predicate may have a number that is none",
            "Sources/Protocol/PredicateLanguage/Parsing/PredicateParser+Expression.swift",
            "guard let double = Double(text), double.isFinite else {",
            "guard let double = Double(text), double.isFinite || {made} else {",
            "CloudKitTests|FuzzingTests"),
    Mistake("older-subscription", "explain says that a subscription saw a change from before it",
            "Sources/Server/Explanation/Explainer+Silence.swift",
            "guard state.stored.version <= past.subscriptionVersion else {",
            "guard state.stored.version <= past.subscriptionVersion || {made} else {", "PetrelServerTests"),
    Mistake("unfair-turns", "a caller has all of the server to itself",
            "Sources/Server/DatabaseAPI/Throttling/FairQueue.swift",
            "if ticket.isLong { return longInHand < limits.longAtOnce }",
            "if ticket.isLong { return longInHand < limits.longAtOnce || {made} }", "DatabaseAPITests|PetrelServerTests"),
]


def text(mistake):
    return (root / mistake.file).read_text()


def check():
    """Says which mistakes do not apply any more, because their line was changed."""
    stale = [m for m in mistakes if text(m).count(m.old) != 1]
    for mistake in stale:
        print(f"{mistake.name}: {mistake.file} has its text {text(mistake).count(mistake.old)} times, not once")
    missing = {t for m in mistakes for t in m.tests.split("|")} - {f.name for f in (root / "Tests").rglob("*Tests")}
    for name in sorted(missing):
        print(f"there are no tests {name}")
    names = [m.name for m in mistakes]
    assert len(names) == len(set(names)), "a name stands twice"
    return not stale and not missing


def switches(folder):
    """A file that says which of the mistakes in a module's folder is made."""
    lines = [f'  static let {m.switch} = made == "{m.name}"' for m in mistakes if m.folder == folder]
    return "\n".join([
        "import Glibc", "", "enum PlantedMistake {",
        '  private static let made = getenv("TEST_MISTAKE").map { String(cString: $0) }', *lines, "}", ""])


class Copy:
    """A scratch copy of what is committed and what is not, with all mistakes, and a build folder of its own."""

    def __init__(self, build):
        self.folder = build / "mutations" / "copy"
        self.products = build / "mutations" / "build"
        self.logs = build / "mutations" / "logs"
        shutil.rmtree(self.logs, ignore_errors=True)
        for folder in [self.folder, self.products, self.logs]:
            folder.mkdir(parents=True, exist_ok=True)
        for name in ["python", "tools"]:
            link = self.products / name
            link.unlink(missing_ok=True)
            link.symlink_to(build / name)
        self.write(self.files())

    @staticmethod
    def files():
        """The contents of each file of the copy."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
            capture_output=True, check=True, text=True).stdout.split("\0")
        files = {name: (root / name).read_bytes() for name in listed if name and (root / name).is_file()}
        for mistake in mistakes:
            new = mistake.new.replace("{made}", f"PlantedMistake.{mistake.switch}")
            files[mistake.file] = files[mistake.file].replace(mistake.old.encode(), new.encode())
        for folder in {m.folder for m in mistakes}:
            files[f"{folder}/PlantedMistake.swift"] = switches(folder).encode()
        return files

    def write(self, files):
        """Leaves files that did not change as they are, so that little is built again."""
        for file in self.folder.rglob("*"):
            if file.is_file() and str(file.relative_to(self.folder)) not in files:
                file.unlink()
        for name, contents in files.items():
            target = self.folder / name
            if not target.exists() or target.read_bytes() != contents:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(contents)
            if (root / name).exists():
                shutil.copymode(root / name, target)

    def run(self, log, *command, **environment):
        """Whether a command ended well; the log has what it printed."""
        outer = {name: value for name, value in os.environ.items() if name != "TEST_MISTAKE"}
        with open(log, "w") as output:
            return subprocess.run(
                command, cwd=self.folder, stdout=output, stderr=subprocess.STDOUT,
                env=outer | environment).returncode == 0

    def build(self, log):
        return self.run(log, "Scripts/build.sh", BUILD=str(self.products))

    def finder(self, log, *first, **environment):
        """The part that failed first, and why; None when none did."""
        if self.run(log, "Scripts/run_tests.py", "--build", self.products, "--until-failure",
                    "--patience", "300", *first, **environment):
            return None
        found = re.search(r"^✘ \d+/\d+ (.+)", log.read_text(errors="replace"), re.MULTILINE)
        return found[1] if found else sys.exit(f"the tests did not run: see {log}")

    def attempt(self, mistake):
        return self.finder(
            self.logs / f"{mistake.name}.log", "--first", f"^({mistake.tests})\\b", TEST_MISTAKE=mistake.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=".build", type=pathlib.Path)
    parser.add_argument("--assume-green", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if arguments.list:
        for mistake in mistakes:
            print(f"{mistake.name:20} {mistake.what}")
        return 0
    if not check():
        return 1
    if arguments.check:
        return 0
    unknown = set(arguments.names) - {m.name for m in mistakes}
    if unknown:
        parser.error(f"there is no mistake {', '.join(sorted(unknown))}; see --list")
    chosen = [m for m in mistakes if not arguments.names or m.name in arguments.names]
    copy = Copy(arguments.build.resolve())
    log = copy.logs / "build.log"
    if not copy.build(log):
        print(f"the copy cannot be built: see {log}")
        return 1
    failed = None if arguments.assume_green else copy.finder(copy.logs / "without.log")
    if failed:
        print(f"without a mistake, the tests fail: {failed}")
        return 1
    missed = []
    for number, mistake in enumerate(chosen, 1):
        began = time.monotonic()
        found = copy.attempt(mistake)
        if not found:
            missed.append(mistake)
        print(f"{number:2} of {len(chosen)}  {mistake.name:20} {time.monotonic() - began:4.0f} s  "
              f"{found or 'NOT FOUND: ' + mistake.what}", flush=True)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} mistakes were found")
    for mistake in missed:
        print(f"  not found: {mistake.name}, {mistake.what}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

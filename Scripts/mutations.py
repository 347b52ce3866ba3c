#!/usr/bin/env python3
"""Makes deliberate mistakes in a scratch copy, one at a time, and looks which of them the tests find.

A mistake that no test finds is a test to write. Each takes a build and the tests of its module; where those
find nothing, all tests of `make test` but the trials. The scratch copy is BUILD/mutations, with a build folder
of its own, which the first run makes in about ten minutes.

    Scripts/mutations.py --build .build               all mistakes
    Scripts/mutations.py --build .build page-end      those with these names
    Scripts/mutations.py --list                       says which there are
    Scripts/mutations.py --check                      looks whether each still applies
"""

import argparse
import dataclasses
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
    new: str
    # The test targets that look at the file's module most closely.
    tests: str


mistakes = [
    # Wrong comparisons.
    Mistake("greater-or-equal", "`>=` of a filter does not hold for equal values",
            "Sources/CloudKitModel/Filter+Evaluation.swift",
            "      return order == .greater || order == .equal\n    case .near:",
            "      return order == .greater\n    case .near:",
            "CloudKitModelTests|MatchingTests"),
    Mistake("circle-edge", "a circle of a filter is without its edge",
            "Sources/CloudKitModel/Filter+Evaluation.swift",
            "return place.distance(to: center) <= distance",
            "return place.distance(to: center) < distance",
            "CloudKitModelTests|MatchingTests"),
    Mistake("bound-edge", "the index passes over subscriptions whose bound is the value",
            "Sources/Matching/BoundList.swift",
            "if element.bound > bound { return }", "if element.bound >= bound { return }",
            "MatchingTests"),
    Mistake("date-line", "circles of the index end at the date line",
            "Sources/Matching/SphereGrid.swift",
            "for turn in [-360.0, 0, 360] {", "for turn in [0.0, 360] {", "MatchingTests"),
    Mistake("program-part", "the first condition that holds decides of a whole subscription",
            "Sources/Matching/RecordTypeIndex+Matching.swift",
            "      guard holds(head, arguments, change, &facts) else { return false }\n"
            "      place = arguments.upperBound",
            "      return holds(head, arguments, change, &facts)\n      place = arguments.upperBound",
            "MatchingTests"),
    Mistake("owner-version", "a subscription matches changes that are older than itself",
            "Sources/Matching/SubscriptionIndex+Matching.swift",
            "guard areAllSaved || owners[slot].version <= version else { return }",
            "guard areAllSaved || owners[slot].version >= 0 else { return }", "MatchingTests"),
    Mistake("key-range-end", "an index range takes the key behind its upper end",
            "Sources/Storage/KeyRange.swift",
            "    if upper.count < 8 {\n      guard last > 0 else { return nil }\n      last -= 1\n    }\n",
            "", "StorageTests"),
    Mistake("text-order", "texts are ordered by characters and not by bytes",
            "Sources/CloudKitModel/RecordValue+Comparison.swift",
            "return left.utf8.lexicographicallyPrecedes(right.utf8) ? .less : .greater",
            "return left < right ? .less : .greater", "CloudKitModelTests|StorageTests"),

    # Lost rows, and pages off by one.
    Mistake("page-end", "a feed ends where a piece of rows was full",
            "Sources/Storage/RecordFeed.swift",
            "if candidates.count < pieceSize { break }", "if candidates.count <= pieceSize { break }",
            "StorageTests"),
    Mistake("page-size", "a page of a feed has one change too many",
            "Sources/Storage/RecordFeed.swift",
            "changes.count == query.limit || (!changes.isEmpty && size >= query.sizeLimit)",
            "changes.count > query.limit || (!changes.isEmpty && size >= query.sizeLimit)",
            "StorageTests|PetrelServerTests"),
    Mistake("byte-range", "a part of an asset is without its last byte",
            "Sources/PetrelServer/ByteRange.swift",
            "return first < size ? .part(first..<last + 1) : .unsatisfiable",
            "return first < size ? .part(first..<last) : .unsatisfiable", "PetrelServerTests"),
    Mistake("reference-limit", "a record may have one reference too many",
            "Sources/Storage/RecordModifier+Saving.swift",
            "guard let count, count >= limit else { return }",
            "guard let count, count > limit else { return }", "StorageTests|PetrelServerTests"),
    Mistake("subscription-limit", "a user may have one subscription too many",
            "Sources/Storage/SubscriptionModifier.swift",
            "    guard count >= limit else {\n      remaining = limit - count - 1",
            "    guard count > limit else {\n      remaining = limit - count - 1",
            "StorageTests|PetrelServerTests"),
    Mistake("outbox-rest", "changes that were committed together are dispatched but for the last",
            "Sources/ChangeDispatch/Dispatcher+Lanes.swift",
            "guard let first = entries.first, let last = entries.last else { return }",
            "let entries = entries.dropLast()\n"
            "    guard let first = entries.first, let last = entries.last else { return }",
            "ChangeDispatchTests|EndToEndTests"),
    Mistake("newest-merge", "an older push is sent after a newer one that says the same",
            "Sources/ChangeDispatch/DeliverySchedule.swift",
            "      newest.number > delivery.id.number\n    else { return nil }",
            "      newest.number < delivery.id.number\n    else { return nil }",
            "ChangeDispatchTests"),

    # Locks.
    Mistake("deliveries-lock", "two writers settle deliveries at the same time",
            "Sources/Storage/WriteSchedule.swift",
            "    if locks.settlesDeliveries, settlesDeliveries { return true }\n", "", "StorageTests"),
    Mistake("database-lock", "two writers write to one database at the same time",
            "Sources/Storage/WriteSchedule.swift",
            "    return usesDatabases && locks.databases.contains(where: databases.contains)\n",
            "    return false\n", "StorageTests"),
    Mistake("missing-locks", "a group of writes locks what its first needs alone",
            "Sources/Storage/StoreWriter.swift",
            "    for job in group.dropFirst() { locks.formUnion(job.locks) }\n", "", "StorageTests"),

    # Access that is not looked at.
    Mistake("unreadable-push", "a notification goes to who may not read the record",
            "Sources/Storage/DispatchCompletion.swift",
            "    if access.mayRead(record) { return true }", "    if true { return true }",
            "StorageTests|PetrelServerTests"),
    Mistake("unreadable-match", "a query finds what the caller may not read",
            "Sources/Storage/RecordSearch+Candidates.swift",
            "guard access.reach == .all || access.mayRead(record) else { return nil }",
            "guard access.reach == .all || true else { return nil }",
            "StorageTests|PetrelServerTests"),
    Mistake("unreadable-feed", "a feed tells of what the reader may not read",
            "Sources/Storage/RecordFeedView.swift",
            "case (.numbers(let numbers), .record(let number)): return numbers.contains(number)",
            "case (.numbers(let numbers), .record(let number)): return numbers.contains(number) || true",
            "StorageTests|PetrelServerTests"),
    Mistake("expired-link", "a download URL is good for ever",
            "Sources/PetrelServer/AssetLinks.swift",
            "guard Timestamp(milliseconds: end) > clock() else {",
            "guard end > 0 else {", "PetrelServerTests"),
    Mistake("expired-token", "a web auth token is good for ever",
            "Sources/PetrelServer/WebAuthTokens.swift",
            "guard token.expires > now else {", "guard token.expires > .init(milliseconds: 0) else {",
            "PetrelServerTests"),
    Mistake("repeated-signature", "a signed request may be sent again",
            "Sources/PetrelServer/SeenSignatures.swift",
            "guard marks[second, default: []].insert(mark).inserted else { return .seen }",
            "marks[second, default: []].insert(mark)", "PetrelServerTests"),
    Mistake("key-window", "a signed request of any age is taken",
            "Sources/PetrelServer/ServerKeyVerifier.swift",
            "guard abs(now.seconds - signed.date.seconds) <= window else {",
            "guard now.seconds - signed.date.seconds <= .infinity else {", "PetrelServerTests"),
    Mistake("foreign-origin", "an API token serves pages of every origin",
            "Sources/PetrelServer/Authenticator.swift",
            "!allowedOrigins.contains(origin)", "!allowedOrigins.contains(origin), false",
            "PetrelServerTests"),
    Mistake("other-nonce", "an ID token of another sign-in is taken",
            "Sources/OpenIDConnect/IDTokenRules.swift",
            'guard claims["nonce"]?.string == nonce else {',
            'guard claims["nonce"]?.string != "" else {', "OpenIDConnectTests"),
    Mistake("tunnelled-address", "a webhook reaches a private address inside of an IPv6 one",
            "Sources/OutboundHTTP/AddressRules.swift",
            "    if let contained = address.tunnelledIPv4, !allow(contained) { return false }\n", "",
            "OutboundHTTPTests"),

    # Errors that are swallowed, and states that are forgotten.
    Mistake("conflict-lost", "a conflict that the app sees is without the server's record",
            "Sources/CloudKit/Transport/CKError+Service.swift",
            "if let savedRecord, error.code == .conflict || error.code == .exists {",
            "if let savedRecord, error.code == .exists {", "CloudKitTests|EndToEndTests"),
    Mistake("changed-file", "an asset whose file changes while it is sent is saved",
            "Sources/CloudKit/Operations/AssetUpload.swift",
            "guard now == stamp else {", "guard now == stamp || true else {",
            "CloudKitTests|EndToEndTests"),
    Mistake("resource-timeout", "an operation is tried again beyond its time",
            "Sources/CloudKit/Transport/RetryPolicy.swift",
            "if let resourceTimeout, elapsed + delay >= resourceTimeout { return .giveUp }",
            "if let resourceTimeout, elapsed + delay >= resourceTimeout * 1e9 { return .giveUp }",
            "CloudKitTests|EndToEndTests"),
    Mistake("dead-token", "a device token that APNs calls bad is kept",
            "Sources/PushDelivery/DeliveryRule.swift",
            'DeliveryRule(400, "BadDeviceToken", .dropDeviceToken)',
            'DeliveryRule(400, "BadDeviceToken", .blameSender)', "PushDeliveryTests"),
    Mistake("long-answer", "an answer of any length is taken from a push service",
            "Sources/HTTP2Transport/HTTP2ClientConnection+Requests.swift",
            "guard received + bytes.count <= configuration.maximumResponseBytes else {",
            "guard received + bytes.count <= .max else {", "HTTP2TransportTests"),
    Mistake("two-lengths", "a request with two lengths is taken",
            "Sources/HTTPService/RequestHead.swift",
            '    if lengths.count > 1 { return "there is more than one Content-Length" }\n', "",
            "HTTPServiceTests"),
    Mistake("device-rest", "a device whose service asked for rest gets none",
            "Sources/ChangeDispatch/DevicePacing.swift",
            "if device.next > now {", "if device.next > now, false {", "ChangeDispatchTests"),
    Mistake("short-number", "a number without digits behind its point is read",
            "Sources/JSONCoding/JSONParser.swift",
            'guard position > fraction else { throw error("a digit is missing") }',
            'guard position >= fraction else { throw error("a digit is missing") }',
            "JSONCodingTests"),
    Mistake("json-rest", "what follows a JSON text is passed over",
            "Sources/JSONCoding/JSONParser.swift",
            'guard position == bytes.count else { throw error("the text should end") }',
            'guard position <= bytes.count else { throw error("the text should end") }',
            "JSONCodingTests"),
    Mistake("infinite-number", "a predicate may have a number that is none",
            "Sources/PredicateLanguage/PredicateParser+Expression.swift",
            "guard let double = Double(text), double.isFinite else {",
            "guard let double = Double(text), double == double else {", "CloudKitTests|FuzzingTests"),
    Mistake("older-subscription", "explain says that a subscription saw a change from before it",
            "Sources/Explanation/Explainer+Silence.swift",
            "guard state.stored.version <= past.subscriptionVersion else {",
            "guard state.stored.version <= .max else {", "PetrelServerTests"),
    Mistake("unfair-turns", "a caller has all of the server to itself",
            "Sources/PetrelServer/FairQueue.swift",
            "if ticket.isLong { return longInHand < limits.longAtOnce }",
            "if ticket.isLong { return true }", "PetrelServerTests"),
]


def text(mistake):
    return (root / mistake.file).read_text()


def check():
    """Says which mistakes do not apply any more, because their line was changed."""
    stale = [m for m in mistakes if text(m).count(m.old) != 1]
    for mistake in stale:
        print(f"{mistake.name}: {mistake.file} has its text {text(mistake).count(mistake.old)} times, not once")
    # A filter that matches no test ends with a failure, as a test does that finds the mistake.
    missing = {t for m in mistakes for t in m.tests.split("|")} - {f.name for f in (root / "Tests").iterdir()}
    for name in sorted(missing):
        print(f"there are no tests {name}")
    names = [m.name for m in mistakes]
    assert len(names) == len(set(names)), "a name stands twice"
    return not stale and not missing


def run(*command, cwd, log):
    with open(log, "ab") as output:
        return subprocess.run(command, cwd=cwd, stdout=output, stderr=subprocess.STDOUT).returncode


class Copy:
    """A scratch copy of what is committed and what is not, with a build folder of its own."""

    def __init__(self, build):
        self.folder = build / "mutations" / "copy"
        self.products = build / "mutations" / "build"
        self.logs = build / "mutations" / "logs"
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir(parents=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Times of files that did not change stay, so that little is built again.
        files = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
            capture_output=True, check=True).stdout.split(b"\0")
        wanted = {file.decode() for file in files if file and (root / file.decode()).is_file()}
        for file in self.folder.rglob("*"):
            if file.is_file() and str(file.relative_to(self.folder)) not in wanted:
                file.unlink()
        for name in wanted:
            source, target = root / name, self.folder / name
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def build(self, log):
        return run("swift", "build", "--build-tests", "--scratch-path", self.products,
                   cwd=self.folder, log=log) == 0

    def test(self, log, *arguments):
        return run(self.products / "debug" / "petrelPackageTests.xctest", "--testing-library",
                   "swift-testing", "--no-parallel", *arguments, cwd=self.folder, log=log) == 0

    def attempt(self, mistake):
        """How a mistake was found, or None."""
        log = self.logs / f"{mistake.name}.log"
        path = self.folder / mistake.file
        original = path.read_text()
        path.write_text(original.replace(mistake.old, mistake.new))
        try:
            if not self.build(log):
                return "by the compiler: a mistake of this list, see " + str(log)
            if not self.test(log, "--filter", rf"^({mistake.tests})\."):
                return f"by {self.finder(log)}"
            if not self.test(log, "--skip", rf"^({mistake.tests})\."):
                return f"by {self.finder(log)}, in another module"
            return None
        finally:
            path.write_text(original)

    @staticmethod
    def finder(log):
        """The first test that failed."""
        found = re.search(r'✘.*?Test "?(.+?)"? (?:recorded|failed|with)', log.read_text(errors="replace"))
        return f"'{found[1]}'" if found else "a process that ended"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=".build", type=pathlib.Path)
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
    log = copy.logs / "without.log"
    if not copy.build(log):
        print(f"the copy cannot be built: see {log}")
        return 1
    missed = []
    for number, mistake in enumerate(chosen, 1):
        began = time.monotonic()
        found = copy.attempt(mistake)
        if not found:
            missed.append(mistake)
        print(f"{number:2} of {len(chosen)}  {mistake.name:20} {found or 'NOT FOUND: ' + mistake.what}"
              f"  ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} mistakes were found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

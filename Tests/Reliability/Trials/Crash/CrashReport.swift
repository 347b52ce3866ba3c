import Foundation
import HistoryChecking
import JSONCoding

/// The report of the crash test.
struct CrashReport {
  let engine: String
  let seed: UInt64
  var seconds = 0.0
  var lives = 0
  var starts = 0
  var longestStart = 0.0
  var killedStarts = 0
  var powerCuts = 0
  var unsyncedWrites = 0
  var forgottenWrites = 0
  var lostSectors = 0
  var lostNames = 0
  /// By strike, how often it was to strike, and how often it did.
  private(set) var strikes: [String: (planned: Int, struck: Int)] = [:]
  /// Ends of servers other than by SIGKILL.
  var otherEnds: [String: Int] = [:]
  var histories = 0
  var writes = 0
  var acknowledged = 0
  var unknown = 0
  var looks = 0
  var notifications = 0
  var pushes = 0
  var repeatedPushes = 0
  var refusals: [String: Int] = [:]
  var violations: [Violation] = []
  /// Ways to break the promises: how often each was planted in what really happened, and found there.
  private(set) var flaws: [String: (planted: Int, found: Int)] = [:]
  var sharedChanges = 0
  var sharedNotifications = 0
  /// Answered acceptances, and answered ends of parts.
  var (acceptances, partsEnded) = (0, 0)
  /// Where everything lies, when something was found.
  var folder: String?

  init(engine: String, seed: UInt64) {
    self.engine = engine
    self.seed = seed
  }

  mutating func count(_ strike: Strike, wasReached: Bool) {
    strikes[strike.name, default: (0, 0)].planned += 1
    if wasReached { strikes[strike.name]?.struck += 1 }
  }

  mutating func add(_ device: CloudDevice) {
    refusals = device.refusals.merging(refusals) { max($0, $1) }
  }

  mutating func count(_ history: History) {
    histories += 1
    writes += history.writes.count
    for write in history.writes {
      switch write.outcome {
      case .done: acknowledged += 1
      case .unknown: unknown += 1
      case .refused, .notDone: break
      }
    }
    looks += history.reads.count + history.feeds.count
    notifications += history.logs.filter(\.isLast).reduce(0) { $0 + $1.entries.count }
    pushes += history.pushes.count
    repeatedPushes += history.pushes.count - Set(history.pushes.map(\.apnsID)).count
  }

  /// Breaks each promise in a copy of a history, to see that it would have been noticed.
  mutating func plantFlaws(
    in history: History, using generator: inout some RandomNumberGenerator
  ) {
    for flaw in HistoryFlaw.allCases {
      guard let flawed = flaw.planted(in: history, using: &generator) else { continue }
      note(flaw.rawValue, of: flaw.promise, foundAs: HistoryChecker.violations(of: flawed))
    }
  }

  /// Breaks each promise about shares in a copy of a history.
  mutating func plantFlaws(
    in history: SharingHistory, using generator: inout some RandomNumberGenerator
  ) {
    for flaw in SharingFlaw.allCases {
      guard let flawed = flaw.planted(in: history, using: &generator) else { continue }
      note(flaw.rawValue, of: flaw.promise, foundAs: SharingChecker.violations(of: flawed))
    }
  }

  private mutating func note(
    _ flaw: String, of promise: Violation.Promise, foundAs found: [Violation]
  ) {
    flaws[flaw, default: (0, 0)].planted += 1
    if found.contains(where: { $0.promise == promise }) {
      flaws[flaw]?.found += 1
    } else {
      violations.append(Violation(promise, "the checker did not find the planted flaw \(flaw)"))
    }
  }

  mutating func count(_ history: SharingHistory) {
    sharedChanges += history.changes.count { $0.hasHappened == true }
    sharedNotifications += history.heard.values.reduce(0) { $0 + $1.count }
    acceptances += history.parts.count { $0.effect == .accepted && $0.isCertain }
    partsEnded += history.parts.count {
      ($0.effect == .removed || $0.effect == .left) && $0.isCertain
    }
    looks += history.looks.count
  }

  var progress: String {
    "\(Int(seconds)) s: \(lives) lives, \(acknowledged) writes acknowledged and \(unknown) in doubt, "
      + "\(notifications) notifications, \(pushes) pushes; "
      + (violations.isEmpty ? "no violations" : "\(violations.count) VIOLATIONS")
  }

  var text: String {
    var lines = [
      "", "crash test on \(engine), seed \(seed), \(Int(seconds)) s",
      "lives of the server               \(lives)",
    ]
    for (name, count) in strikes.sorted(by: { $0.key < $1.key }) {
      lines.append(
        "  " + name.padding(toLength: 32, withPad: " ", startingAt: 0) + "\(count.planned)"
          + (count.struck < count.planned ? ", of which \(count.struck) took effect" : ""))
    }
    for (end, count) in otherEnds.sorted(by: { $0.key < $1.key }) {
      lines.append(
        "  ended by itself (\(end))".padding(toLength: 34, withPad: " ", startingAt: 0) + "\(count)"
      )
    }
    lines += [
      "killed again while starting       \(killedStarts)",
      "power failures                    \(powerCuts)",
      "  unsynced writes                 \(unsyncedWrites), of which \(forgottenWrites) lost",
      "  sectors lost, names lost        \(lostSectors), \(lostNames)",
      "longest start                     \(String(format: "%.2f", longestStart)) s",
      "histories checked                 \(histories)",
      "  writes                          \(writes): \(acknowledged) acknowledged, \(unknown) in doubt",
      "  reads of records and feeds      \(looks)",
      "  notifications                   \(notifications)",
      "  pushes                          \(pushes), of which \(repeatedPushes) repeated",
      "changes of shared zones           \(sharedChanges), heard by participants \(sharedNotifications)",
      "  acceptances, ends of parts      \(acceptances), \(partsEnded)",
      "planted flaws                     \(flaws.values.reduce(0) { $0 + $1.planted }) "
        + "of \(flaws.count) of \(HistoryFlaw.allCases.count + SharingFlaw.allCases.count) kinds; found "
        + "\(flaws.values.reduce(0) { $0 + $1.found })",
      "refusals                          "
        + refusals.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        .joined(separator: ", "),
    ]
    for violation in violations.prefix(20) { lines.append("VIOLATION of \(violation)") }
    if let folder { lines.append("all files are in \(folder)") }
    return lines.joined(separator: "\n")
  }

  /// The figures as JSON, for those who keep them.
  var json: JSONValue {
    [
      "engine": .string(engine), "seed": .int(Int64(bitPattern: seed)), "seconds": .double(seconds),
      "lives": .int(Int64(lives)), "starts": .int(Int64(starts)),
      "strikes": .object(strikes.mapValues { .int(Int64($0.struck)) }),
      "powerCuts": .int(Int64(powerCuts)), "lostSectors": .int(Int64(lostSectors)),
      "lostNames": .int(Int64(lostNames)), "longestStart": .double(longestStart),
      "histories": .int(Int64(histories)), "writes": .int(Int64(writes)),
      "acknowledged": .int(Int64(acknowledged)), "unknown": .int(Int64(unknown)),
      "looks": .int(Int64(looks)), "notifications": .int(Int64(notifications)),
      "pushes": .int(Int64(pushes)), "repeatedPushes": .int(Int64(repeatedPushes)),
      "sharedChanges": .int(Int64(sharedChanges)),
      "sharedNotifications": .int(Int64(sharedNotifications)),
      "acceptances": .int(Int64(acceptances)), "partsEnded": .int(Int64(partsEnded)),
      "flawsPlanted": .int(Int64(flaws.values.reduce(0) { $0 + $1.planted })),
      "flawsFound": .int(Int64(flaws.values.reduce(0) { $0 + $1.found })),
      "violations": .array(violations.map { .string($0.description) }),
    ]
  }
}

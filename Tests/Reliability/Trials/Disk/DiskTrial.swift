import Foundation
import HistoryChecking
import JSONCoding

/// Lets the disk fail once, at each of the first looks at a page.
final class DiskTrial {
  private let installation: Installation
  private let folder: String
  private let device: CloudDevice
  private var violations: [String] = []
  /// Reads that failed.
  private var failures = 0
  /// So many are tried.
  private var steps = 12
  private static let records = 40

  init(_ words: ArraySlice<String>) throws {
    var programs = RunningProgram.ownFolder
    var options = TrialOptions(words)
    while let word = options.next() {
      switch word {
      case "--programs": programs = try options.value(of: word)
      case "--steps": steps = try options.number(of: word)
      default: throw TrialError("unknown option '\(word)'")
      }
    }
    folder = NSTemporaryDirectory() + "petrel-disk-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    installation = try Installation(
      in: folder, engine: .sqlite, programs: programs, settings: [:], failsOnDemand: true)
    let token = try installation.addUser("anna")
    device = CloudDevice(
      user: "anna", device: "phone", token: token, container: Installation.container)
  }

  /// Runs the test. Returns whether it found no violation.
  func run() throws -> Bool {
    let began = TrialClock.now
    defer { installation.end(keeping: !violations.isEmpty) }
    try fill()
    try readErrors()
    for violation in violations.prefix(20) { say("VIOLATION: \(violation)") }
    if !violations.isEmpty { say("all files are in \(folder)") }
    say(
      "disk test: \(failures) reads failed in \(Int(TrialClock.seconds(since: began))) s, "
        + "\(violations.count) violations")
    return violations.isEmpty
  }

  private var keys: [RecordKey] {
    (0..<Self.records).map { RecordKey(database: "anna", zone: "_defaultZone", name: "n\($0)") }
  }

  private func start() throws -> Bool {
    guard try installation.start() else { return false }
    device.hangUp()
    device.port = installation.port
    return true
  }

  private func startSoundly() throws {
    installation.disk.set(.sound)
    guard try start() else {
      throw TrialError("the server does not start: \(installation.complaints)")
    }
  }

  private func fill() throws {
    try startSoundly()
    for key in keys {
      _ = device.write(
        [
          WriteRequest(
            key: key, type: "Note",
            effect: .save(mark: String(repeating: key.name, count: 300)), condition: .none)
        ], group: 0)
    }
    let found = device.fetch(keys)
    guard found.count == Self.records else {
      throw TrialError("the store has \(found.count) records")
    }
    installation.server?.kill()
    installation.removeJournals()
  }

  // MARK: Reading

  /// One read fails: one request gets an error at most, and the next is answered.
  private func readErrors() throws {
    for step in 0..<steps {
      try startSoundly()
      let before = installation.disk.struck
      installation.disk.set(.readError, after: step, times: 1)
      var unanswered = 0
      for _ in 0..<4 where device.fetch(keys).count < Self.records { unanswered += 1 }
      if device.fetch(keys).count < Self.records {
        violations.append("after one failed read (\(step)), records cannot be read")
      }
      if unanswered > 1 {
        violations.append("one failed read (\(step)) failed \(unanswered) requests")
      }
      if installation.disk.struck > before { failures += 1 }
      installation.server?.kill()
    }
    let log = (try? String(contentsOfFile: folder + "/server.log", encoding: .utf8)) ?? ""
    // A statement that failed may name a column of checksums.
    for text in ["damaged", "does not match its checksum"] where log.contains(text) {
      violations.append("the server reported a disk error as damage: \(installation.complaints)")
    }
    installation.disk.set(.sound)
  }
}

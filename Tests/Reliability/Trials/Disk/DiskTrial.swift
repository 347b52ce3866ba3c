import Foundation
import HistoryChecking
import JSONCoding

/// Lets the disk fail at each step of what a server does but once: the conversion of an old store, and the
/// first look at a page.
final class DiskTrial {
  private let installation: Installation
  private let folder: String
  private let device: CloudDevice
  private var generator: SplitMix64
  private var violations: [String] = []
  private var complaints: Set<String> = []
  /// Steps of each kind at which it failed.
  private var points: [String: Int] = [:]
  /// Of steps that are more, so many are tried.
  private var most = 12
  /// How often a conversion syncs and writes.
  private var syncs = 0
  private var writes = 0
  private static let records = 40

  init(_ words: ArraySlice<String>) throws {
    var programs = RunningProgram.ownFolder
    var seed = UInt64.random(in: 1...1_000_000)
    var options = TrialOptions(words)
    while let word = options.next() {
      switch word {
      case "--programs": programs = try options.value(of: word)
      case "--steps": most = try options.number(of: word)
      case "--seed": seed = UInt64(try options.number(of: word))
      default: throw TrialError("unknown option '\(word)'")
      }
    }
    say("disk trial, seed \(seed)")
    generator = SplitMix64(seed: seed)
    folder = NSTemporaryDirectory() + "petrel-disk-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    installation = try Installation(
      in: folder, engine: .sqlite, programs: programs, settings: [:], failsOnDemand: true)
    let token = try installation.addUser("anna")
    device = CloudDevice(
      user: "anna", device: "phone", token: token, container: Installation.container)
  }

  /// Carries out the trial. Answers whether all was as it should be.
  func run() throws -> Bool {
    let began = TrialClock.now
    defer { installation.end(keeping: !violations.isEmpty) }
    try fill()
    try readErrors()
    try OldStore.make(at: old, of: store)
    try conversions()
    for (kind, count) in points.sorted(by: { $0.key < $1.key }) {
      say("  " + kind.padding(toLength: 32, withPad: " ", startingAt: 0) + "\(count) steps")
    }
    for complaint in complaints.sorted() { say("  said: \(complaint)") }
    for violation in violations.prefix(20) { say("VIOLATION: \(violation)") }
    if !violations.isEmpty { say("everything is kept in \(folder)") }
    say(
      "disk trial: \(points.values.reduce(0, +)) steps in \(Int(TrialClock.seconds(since: began))) s, "
        + "\(violations.count) violations")
    return violations.isEmpty
  }

  private var store: String { folder + "/data/petrel.sqlite" }
  private var old: String { folder + "/old.sqlite" }
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
    guard found.count == Self.records else { throw TrialError("\(found.count) records are there") }
    installation.server?.kill()
    installation.removeJournals()
  }

  // MARK: Reading

  /// One read fails: one request gets an error at most, and the next is answered.
  private func readErrors() throws {
    for step in 0..<most {
      try startSoundly()
      let before = installation.disk.struck
      installation.disk.set(.readError, after: step, times: 1)
      var failures = 0
      for _ in 0..<4 where device.fetch(keys).count < Self.records { failures += 1 }
      if device.fetch(keys).count < Self.records {
        violations.append("after one read that failed (\(step)) records cannot be read")
      }
      if failures > 1 { violations.append("one failed read (\(step)) failed \(failures) requests") }
      if installation.disk.struck > before { points["a read fails", default: 0] += 1 }
      installation.server?.kill()
    }
    let log = (try? String(contentsOfFile: folder + "/server.log", encoding: .utf8)) ?? ""
    for word in ["damaged", "checksum"] where log.contains(word) {
      violations.append("an error of the disk was called damage: \(installation.complaints)")
    }
    installation.disk.set(.sound)
  }

  // MARK: Converting

  private func conversions() throws {
    let control = try converted()
    let again = try converted()
    // What tells the time of the start differs.
    let expected = control.filter { again[$0.key] == $0.value }
    guard expected.count > control.count / 2, expected["records"]?.count == Self.records else {
      throw TrialError("two conversions differ in \(control.count - expected.count) tables")
    }
    let kills: [(String, DiskControl.Fault)] = [
      ("killed before a sync", .killBeforeSync), ("killed after a sync", .killAfterSync),
      ("killed in a write", .killInWrite),
    ]
    for (name, fault) in kills {
      try eachStep(of: fault, named: name) { step in
        guard installation.server?.wasKilled == true else {
          violations.append("\(name) \(step): \(installation.complaints)")
          return
        }
        if Bool.random(using: &generator) { try losePower() }
        try check(expected, "\(name) \(step)")
      }
    }
    let faults: [(String, DiskControl.Fault, Int?)] = [
      ("disk full", .full, nil), ("a write fails", .writeError, 1), ("a sync fails", .syncError, 1),
      ("a sync fails, and forgets", .forgettingSync, 1), ("a read fails in it", .readError, 1),
    ]
    for (name, fault, times) in faults {
      try eachStep(of: fault, times: times, named: name) { step in
        if installation.server?.hasEnded == true {
          complaints.insert(lastWords)
          if lastWords.contains("backup") {
            violations.append("\(name) \(step): a backup is asked for, and nothing is lost")
          }
          if FileManager.default.fileExists(atPath: store + ".protecting") {
            violations.append("\(name) \(step): half a copy was left")
          }
        }
        installation.server?.kill()
        installation.disk.set(.sound)
        if Bool.random(using: &generator) { try losePower() }
        try check(expected, "\(name) \(step)")
      }
    }
  }

  /// The program's last line without its numbers and names.
  private var lastWords: String {
    let line = installation.complaints.split(separator: "\n").last.map(String.init) ?? "nothing"
    return line.replacing(folder, with: "…").replacing(/[0-9]+/, with: "…")
  }

  private func putOldStore() throws {
    for suffix in ["", "-wal", "-shm", "-journal", ".protecting", ".protecting-journal"] {
      unlink(store + suffix)
    }
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: old + suffix, toPath: store + suffix)
    }
    installation.removeJournals()
  }

  /// What a store has after its conversion without a fault.
  private func converted() throws -> [String: [String]] {
    try putOldStore()
    let before = (installation.disk.syncs, installation.disk.writes)
    try startSoundly()
    syncs = installation.disk.syncs - before.0
    writes = installation.disk.writes - before.1
    installation.server?.kill()
    guard try OldStore.isProtected(store) else { throw TrialError("nothing was converted") }
    return try OldStore.contents(of: store)
  }

  /// Converts the old store again and again, with the fault at one step each time.
  private func eachStep(
    of fault: DiskControl.Fault, times: Int? = 1, named name: String,
    _ judge: (Int) throws -> Void
  ) throws {
    let ofSyncs: Set<DiskControl.Fault> = [
      .killBeforeSync, .killAfterSync, .syncError, .forgettingSync,
    ]
    let steps = 0..<(ofSyncs.contains(fault) ? syncs : writes)
    let chosen = steps.shuffled(using: &generator).prefix(most).sorted()
    for step in chosen {
      try putOldStore()
      let before = installation.disk.struck
      installation.disk.set(fault, after: step, times: times)
      let listens = try start()
      guard installation.disk.struck > before else {
        guard listens else { throw TrialError("it does not start: \(installation.complaints)") }
        installation.server?.kill()
        installation.disk.set(.sound)
        continue
      }
      points[name, default: 0] += 1
      try judge(step)
    }
  }

  private func losePower() throws {
    let losses = [0.1, 0.5, 1]
    let loss = losses[Int.random(in: 0..<3, using: &generator)]
    _ = try PowerCut(journals: installation.journals, folder: folder + "/data")
      .strike(loss: loss, using: &generator)
    installation.removeJournals()
    unlink(store + "-shm")
  }

  /// The next start converts it, and all is there.
  private func check(_ expected: [String: [String]], _ when: String) throws {
    installation.disk.set(.sound)
    guard try start() else {
      violations.append("\(when): the server does not start: \(installation.complaints)")
      return
    }
    if device.fetch(keys).count < Self.records {
      violations.append("\(when): records cannot be read")
    }
    installation.server?.kill()
    let found = try OldStore.contents(of: store)
    for (table, rows) in expected where found[table] != rows {
      violations.append("\(when): \(table) differs")
    }
    if try !OldStore.isProtected(store) { violations.append("\(when): it was not converted") }
  }
}

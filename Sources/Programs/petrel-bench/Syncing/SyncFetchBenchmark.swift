import CloudKit
import CommandInterface
import JSONCoding

/// The benchmark of what an engine fetches: the rate, and the memory of the process meanwhile. The
/// baseline reads the same zone with `CKDatabase.recordZoneChanges`.
struct SyncFetchBenchmark {
  let user: SyncUser
  var changes: Int
  /// How often the changes are fetched each way.
  var rounds: Int
  var report: BenchmarkReport

  private static let zoneID = CKRecordZone.ID(zoneName: "Feed")
  /// How often the memory is reported while the changes pass.
  private static let memorySamples = 10

  /// Throws a `UsageError` if a change does not arrive, or the error of a request.
  func run() async throws {
    let database = user.container(of: "reader").privateCloudDatabase
    _ = try await database.save(CKRecordZone(zoneID: Self.zoneID))
    try await onThread { try fill() }
    // First, because freed memory of other measurements would hide growth.
    try await measureMemory(database)
    report.line("\(changes) changes of a zone fetched, in pages of 200")
    try await SyncRounds(
      names: (list: "fetches", way: "reader"), records: changes, rounds: rounds, report: report
    ).run([
      .init(name: "recordZoneChanges", title: "recordZoneChanges (baseline)") { _ in
        let arrivals = RecordArrivals(count: changes)
        let start = monotonicSeconds()
        try await PlainFeed.read(Self.zoneID, of: database) { arrivals.note($0) }
        let seconds = monotonicSeconds() - start
        try arrivals.check("the feed")
        return seconds
      },
      .init(name: "engine", title: "an engine") { _ in
        let arrivals = RecordArrivals(count: changes)
        let start = monotonicSeconds()
        try await fetch(database, arrivals)
        return monotonicSeconds() - start
      },
    ])
  }

  /// Saves the records, 200 in each request.
  private func fill() throws {
    let connection = try LoadConnection(port: user.server.port ?? 80)
    let path = EarthquakeRequests.path(
      "records/modify", scope: "private", token: user.token, device: "filler")
    for start in stride(from: 0, to: changes, by: 200) {
      let operations = (start..<min(start + 200, changes)).map { number in
        EarthquakeRequests.operation(
          recordName: EarthquakeRecords.recordID(number, in: Self.zoneID).recordName,
          station: EarthquakeRecords.station(of: number))
      }
      let body =
        #"{"zoneID":{"zoneName":"\#(Self.zoneID.zoneName)"},"#
        + #""operations":[\#(operations.joined(separator: ","))]}"#
      try connection.post(path, Array(body.utf8))
    }
  }

  /// Fetches all changes with a new engine.
  private func fetch(
    _ database: CKDatabase, _ arrivals: RecordArrivals, _ samples: MemorySamples? = nil
  ) async throws {
    let delegate = SyncDelegate(fetched: { recordIDs in
      arrivals.note(recordIDs)
      samples?.note(recordIDs.count)
    })
    let engine = CKSyncEngine(manually: database, delegate)
    try await engine.fetchChanges()
    if let failure = delegate.failure { throw failure }
    try arrivals.check("the engine's fetch")
  }

  /// Fetches all changes, and reports the memory of this process meanwhile.
  private func measureMemory(_ database: CKDatabase) async throws {
    let arrivals = RecordArrivals(count: changes)
    let samples = MemorySamples(every: max(1, changes / Self.memorySamples))
    try await fetch(database, arrivals, samples)
    report.line("memory of this process while an engine fetches \(changes) changes")
    report.line("   changes   resident  allocated")
    for sample in samples.kept {
      report.row(
        "memory",
        [
          "changes": .figure(sample.changes), "residentBytes": .figure(sample.resident),
          "allocatedBytes": .figure(sample.allocated),
        ])
      report.line(
        String(format: "%10d", sample.changes) + "  " + MemorySamples.text(sample.resident)
          + "  " + MemorySamples.text(sample.allocated))
    }
    let peak = samples.peak
    report.set([
      "peakResidentBytes": .figure(peak.resident), "peakAllocatedBytes": .figure(peak.allocated),
    ])
    report.line(
      "   at most  " + MemorySamples.text(peak.resident) + "  "
        + MemorySamples.text(peak.allocated))
  }
}

import CloudKit

/// The benchmark of what an engine sends. The baseline sends the same records with
/// `CKDatabase.modifyRecords`.
struct SyncSendBenchmark {
  let user: SyncUser
  var records: Int
  /// How often the records are sent each way.
  var rounds: Int
  var report: BenchmarkReport

  /// The records in a request: the most that an engine sends.
  private static let batch = 250

  /// Sends the records each way, each time to a new zone.
  ///
  /// - Throws: `UsageError` if a record is not on the server then, or the error of a request.
  func run() async throws {
    let database = user.container(of: "sender").privateCloudDatabase
    report.line("\(records) records sent, in batches of \(Self.batch)")
    try await SyncRounds(
      names: (list: "sends", way: "sender"), records: records, rounds: rounds, report: report
    ).run([
      .init(name: "modifyRecords", title: "modifyRecords (baseline)") { round in
        try await measure("plain-\(round)", database) { try await sendPlainly($0, database) }
      },
      .init(name: "engine", title: "an engine") { round in
        try await measure("engine-\(round)", database) {
          try await send($0, database, SyncDelegate())
        }
      },
      .init(name: "engineWithStoredStates", title: "the same, states stored") { round in
        try await measure("stored-\(round)", database) { recordIDs in
          try FileManager.default.createDirectory(
            atPath: user.directory, withIntermediateDirectories: true)
          let file = URL(fileURLWithPath: user.directory + "/state.json")
          return try await send(recordIDs, database, SyncDelegate(stateFile: file))
        }
      },
    ])
  }

  /// Sends the records to a new zone, and checks that they are on the server.
  private func measure(
    _ zone: String, _ database: CKDatabase, _ send: ([CKRecord.ID]) async throws -> Double
  ) async throws -> Double {
    let zoneID = CKRecordZone.ID(zoneName: zone)
    _ = try await database.save(CKRecordZone(zoneID: zoneID))
    let seconds = try await send((0..<records).map { EarthquakeRecords.recordID($0, in: zoneID) })
    try await RecordArrivals.check(zoneID, of: database, count: records)
    return seconds
  }

  private func sendPlainly(_ recordIDs: [CKRecord.ID], _ database: CKDatabase) async throws
    -> Double
  {
    let start = monotonicSeconds()
    for first in stride(from: 0, to: recordIDs.count, by: Self.batch) {
      let records = recordIDs[first..<min(first + Self.batch, recordIDs.count)]
        .compactMap(EarthquakeRecords.record)
      let results = try await database.modifyRecords(
        saving: records, deleting: [], atomically: false)
      for result in results.saveResults.values { _ = try result.get() }
    }
    return monotonicSeconds() - start
  }

  private func send(
    _ recordIDs: [CKRecord.ID], _ database: CKDatabase, _ delegate: SyncDelegate
  ) async throws -> Double {
    let engine = CKSyncEngine(manually: database, delegate)
    // The first call also finds out who the user is.
    try await engine.sendChanges()
    let start = monotonicSeconds()
    engine.state.add(pendingRecordZoneChanges: recordIDs.map { .saveRecord($0) })
    try await engine.sendChanges()
    let seconds = monotonicSeconds() - start
    if let failure = delegate.failure { throw failure }
    return seconds
  }
}

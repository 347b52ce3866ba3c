import CloudKit
import JSONCoding

/// The benchmark of very many pending changes: the time and the memory to add them to an engine one by
/// one, and to send them. Each number of changes has a zone and an engine of its own.
///
/// The baseline is the first number of changes.
struct PendingChangesBenchmark {
  let user: SyncUser
  var counts: [Int]
  var report: BenchmarkReport

  /// The figures of one number of changes.
  private struct Figures {
    var add: Double
    var send: Double
    /// The allocated bytes for each change.
    var bytes: Double
    /// The greatest allocated bytes during the send, without those before the changes were added.
    var peak: Int
  }

  /// Throws a `UsageError` if a record is not on the server then, or the error of a request.
  func run() async throws {
    report.line("pending changes, added one by one and sent")
    report.line(
      "   changes   to add one  of the first   to send one  of the first   bytes of one       at most"
    )
    var first: Figures?
    for count in counts {
      let figures = try await measure(count)
      let baseline = first ?? figures
      first = baseline
      let addRatio = figures.add / baseline.add
      let sendRatio = figures.send / baseline.send
      report.row(
        "pending",
        [
          "changes": .figure(count), "addMicrosecondsPerChange": .figure(figures.add * 1e6),
          "addRatioToBaseline": .figure(addRatio),
          "sendMicrosecondsPerChange": .figure(figures.send * 1e6),
          "sendRatioToBaseline": .figure(sendRatio),
          "allocatedBytesPerChange": .figure(figures.bytes),
          "peakAllocatedBytes": .figure(figures.peak),
        ])
      report.line(
        String(
          format: "%10d  %8.2f us  %12.2f  %9.1f us  %12.2f  %13.0f     ", count, figures.add * 1e6,
          addRatio, figures.send * 1e6, sendRatio, figures.bytes) + MemorySamples.text(figures.peak)
      )
    }
  }

  private func measure(_ count: Int) async throws -> Figures {
    let database = user.container(of: "sender").privateCloudDatabase
    let zoneID = CKRecordZone.ID(zoneName: "pending-\(count)")
    _ = try await database.save(CKRecordZone(zoneID: zoneID))
    let samples = MemorySamples(every: count)
    let delegate = SyncDelegate(sent: { samples.note($0.count) })
    let engine = CKSyncEngine(manually: database, delegate)
    // The first call also finds out who the user is.
    try await engine.sendChanges()

    let before = ProcessMemory.allocated
    let start = monotonicSeconds()
    for number in 0..<count {
      let recordID = EarthquakeRecords.recordID(number, in: zoneID)
      engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
    }
    let added = monotonicSeconds()
    let bytes = ProcessMemory.allocated - before
    let begin = monotonicSeconds()
    try await engine.sendChanges()
    let sent = monotonicSeconds()
    if let failure = delegate.failure { throw failure }
    try await RecordArrivals.check(zoneID, of: database, count: count)
    return Figures(
      add: (added - start) / Double(count), send: (sent - begin) / Double(count),
      bytes: Double(bytes) / Double(count), peak: samples.peak.allocated - before)
  }
}

import CloudKit
import CommandInterface
import JSONCoding

/// The benchmark of the delay from a change on one device to the delegate of an engine on another
/// device of the user. The other device gets its pushes from the web courier.
///
/// The baseline is two devices without engines: one saves with `CKDatabase.modifyRecords`, and the
/// other reads the feeds after each push.
struct SyncDelayBenchmark {
  let user: SyncUser
  var changes: Int
  var rate: Double
  /// How often both kinds of devices take turns.
  var rounds: Int
  var patience: Double
  var report: BenchmarkReport

  private static let zoneID = CKRecordZone.ID(zoneName: "Notes")

  /// The seconds that changes took.
  private struct Delays {
    /// From the call that sends the change to its return.
    var sent: [Double] = []
    /// From the call that sends the change to its arrival.
    var arrived: [Double] = []
  }

  /// The changes that the devices of one turn pass. The number of a change is unique in all turns.
  private struct Turn {
    var numbers: Range<Int>
    var arrivals: RecordArrivals
  }

  /// Throws a `UsageError` if a change does not arrive in time, or the error of a request.
  func run() async throws {
    let database = user.container(of: "sender").privateCloudDatabase
    _ = try await database.save(CKRecordZone(zoneID: Self.zoneID))
    let subscription = CKDatabaseSubscription(subscriptionID: "all")
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    subscription.notificationInfo = info
    _ = try await database.save(subscription)
    // The changes of about the first second of a turn are not counted.
    let length = changes + warmUp
    let arrivals = RecordArrivals(count: 2 * rounds * length)
    var plain = Delays()
    var engines = Delays()
    for round in 0..<rounds {
      let start = 2 * round * length
      let turn = Turn(numbers: start..<start + length, arrivals: arrivals)
      try await measurePlainly(turn, into: &plain)
      let next = Turn(numbers: start + length..<start + 2 * length, arrivals: arrivals)
      try await measure(next, into: &engines)
    }
    show(plain, engines)
  }

  private var warmUp: Int { Int(rate.rounded(.up)) }

  // MARK: Two devices

  private func measurePlainly(_ turn: Turn, into delays: inout Delays) async throws {
    let database = user.container(of: "sender").privateCloudDatabase
    let receiver = user.container(of: "receiver")
    let pushes = receiver.remoteNotifications()
    try await pushes.register()
    let reading = Task {
      try await PlainFeed.follow(pushes, of: receiver.privateCloudDatabase) {
        turn.arrivals.note($0)
      }
    }
    defer { reading.cancel() }
    try await pace(turn, into: &delays) { recordID in
      let records = [recordID].compactMap(EarthquakeRecords.record)
      let results = try await database.modifyRecords(
        saving: records, deleting: [], atomically: false)
      for result in results.saveResults.values { _ = try result.get() }
    }
  }

  private func measure(_ turn: Turn, into delays: inout Delays) async throws {
    let delegate = SyncDelegate()
    let sender = CKSyncEngine(
      manually: user.container(of: "sender").privateCloudDatabase, delegate)
    try await sender.sendChanges()
    let receiving = SyncDelegate(fetched: { turn.arrivals.note($0) })
    let receiver = CKSyncEngine(
      .init(
        database: user.container(of: "receiver").privateCloudDatabase, stateSerialization: nil,
        delegate: receiving))
    // The engine has no other owner.
    defer { withExtendedLifetime(receiver) {} }
    do {
      try await pace(turn, into: &delays) { recordID in
        sender.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
        try await sender.sendChanges()
      }
    } catch let missing as UsageError {
      throw receiving.failure ?? missing
    }
  }

  /// Sends the changes of a turn at an even rate, each one after the arrival of the one before.
  private func pace(
    _ turn: Turn, into delays: inout Delays, _ send: (CKRecord.ID) async throws -> Void
  ) async throws {
    let begin = monotonicSeconds()
    for (place, number) in turn.numbers.enumerated() {
      let wait = begin + Double(place) / rate - monotonicSeconds()
      if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
      let start = monotonicSeconds()
      try await send(EarthquakeRecords.recordID(number, in: Self.zoneID))
      let reply = monotonicSeconds()
      let arrival = try await arrival(of: number, turn.arrivals)
      guard place >= warmUp else { continue }
      delays.sent.append(reply - start)
      delays.arrived.append(arrival - start)
    }
  }

  private func arrival(of number: Int, _ arrivals: RecordArrivals) async throws -> Double {
    let start = monotonicSeconds()
    while true {
      if let time = arrivals.time(of: number) { return time }
      guard monotonicSeconds() - start < patience else {
        throw UsageError(
          "a change did not arrive at the other device within \(Int(patience)) s")
      }
      // The time of arrival does not depend on this pause.
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  // MARK: Figures

  private func show(_ plain: Delays, _ engines: Delays) {
    report.line(
      "from a change on one device to its arrival at another, \(Int(rate)) changes a second")
    report.line(
      "devices                   changes        p50        p99   greatest  of the baseline"
        + "   p50 of the save")
    let baseline = Percentiles(plain.arrived)
    for (name, title, delays) in [
      ("plain", "without engines (baseline)", plain), ("engines", "with engines", engines),
    ] {
      let arrived = Percentiles(delays.arrived)
      let sent = Percentiles(delays.sent)
      let ratio = arrived.quantile(0.5) / baseline.quantile(0.5)
      report.row(
        "delays",
        [
          "devices": .string(name), "changes": .figure(arrived.count),
          "ratioToBaseline": .figure(ratio),
        ], arrived.figures(), sent.figures("save"))
      report.line(
        title.padding(toLength: 26, withPad: " ", startingAt: 0)
          + String(format: "%7d", arrived.count) + arrived.text(0.5).leftPadding(to: 11)
          + arrived.text(0.99).leftPadding(to: 11) + arrived.text(1).leftPadding(to: 11)
          + String(format: "%17.2f", ratio) + sent.text(0.5).leftPadding(to: 18))
    }
  }
}

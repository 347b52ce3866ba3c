import ChangeDispatch
import CloudKitModel
import CommandInterface
import Foundation
import ServerHosting
import Storage
import StoreModel
import Synchronization

/// The benchmark of one record that fires very many subscriptions, while records are saved in
/// another database.
///
/// The store and the dispatcher run in this process, without HTTP and without pushes. The
/// measurement ends when the last notification is in the log. The deliveries are then in the queue:
/// each is the task to send a notification to a device.
struct FanOutBenchmark {
  var subscriptions: Int
  var directory: String
  var report: BenchmarkReport

  /// The number of subscriptions of a user. Each user has one device.
  private static let subscriptionsOfUser = 10

  /// The counts of dispatched notifications. The dispatcher and the benchmark share them.
  private final class Tally: Sendable {
    /// The counts, protected by the lock.
    private struct State {
      var logged: [DatabaseID: Int] = [:]
      var deliveries = 0
      var transactions = 0
      /// The times at which notifications of the other database were logged, by record name, in
      /// seconds of ``monotonicSeconds()``.
      var arrivals: [String: Double] = [:]
    }

    private let state = Mutex(State())

    /// Adds the result of a transaction of the dispatcher.
    func count(_ result: DispatchResult, watching other: DatabaseID) {
      state.withLock { state in
        state.transactions += 1
        state.deliveries += result.deliveries.count
        for entry in result.logged {
          state.logged[entry.database, default: 0] += 1
          if entry.database == other, let record = entry.notification.change.record {
            state.arrivals[record.recordID.recordName] = monotonicSeconds()
          }
        }
      }
    }

    func logged(in database: DatabaseID) -> Int { state.withLock { $0.logged[database] ?? 0 } }
    var deliveries: Int { state.withLock { $0.deliveries } }
    var arrivals: [String: Double] { state.withLock { $0.arrivals } }
  }

  func run() async throws {
    BenchmarkFolder.remove(directory)
    defer { BenchmarkFolder.remove(directory) }
    let store = try await ServerProcess.openStore(
      in: directory, with: StoreConfiguration(role: .server))
    let database = try await store.databases.database(at: FanOutRecords.address(.public))
    let other = try await store.databases.database(
      at: FanOutRecords.address(.private, owner: "_other"))
    try await fill(store, database, other)
    let tally = Tally()
    let dispatcher = Dispatcher(
      store: DispatchStore(store), report: { Output.complain("\($0)") },
      onDispatched: { tally.count($0, watching: other) })
    let residentBefore = ProcessMemory.resident(of: getpid())
    dispatcher.start()
    try await FanOutRecords.save("quiet", author: "nobody", in: database, of: store.records)
    await dispatcher.settled()
    let metrics = dispatcher.metrics
    report.set([
      "measured": "fanOut", "indexLoadSeconds": .figure(metrics.indexLoadSeconds),
      "indexBytes": .figure(metrics.indexBytes),
      "indexResidentBytes": .figure(ProcessMemory.resident(of: getpid()) - residentBefore),
    ])
    report.line(
      String(
        format: "the index was loaded in %.2f s and reports %d MB; %d MB more resident",
        metrics.indexLoadSeconds, metrics.indexBytes >> 20,
        (ProcessMemory.resident(of: getpid()) - residentBefore) >> 20))

    let resident = ProcessMemory.resident(of: getpid())
    let departures = Task { try await saveElsewhere(in: other, of: store.records) }
    let start = monotonicSeconds()
    try await FanOutRecords.save("loud", author: "star", in: database, of: store.records)
    var greatest = resident
    while tally.logged(in: database) < subscriptions {
      try await Task.sleep(for: .milliseconds(20))
      greatest = max(greatest, ProcessMemory.resident(of: getpid()))
    }
    let seconds = monotonicSeconds() - start
    departures.cancel()
    let (sent, saves) = try await departures.value
    await dispatcher.settled()
    let delays = Percentiles(
      tally.arrivals.compactMap { name, arrival in sent[name].map { arrival - $0 } })
    await dispatcher.stop()
    await store.close()
    report.set(
      [
        "logEntries": .figure(tally.logged(in: database)),
        "deliveries": .figure(tally.deliveries), "seconds": .figure(seconds),
        "logEntriesPerSecond": .figure(Double(subscriptions) / seconds),
        "residentGrowthBytes": .figure(greatest - resident),
        "savesElsewhere": .figure(delays.count),
      ], saves.figures("saveElsewhere"), delays.figures("delayElsewhere"))
    report.line(
      String(
        format: "%d log entries and %d deliveries in %.2f s, %.0f a second; %d MB more resident",
        tally.logged(in: database), tally.deliveries, seconds, Double(subscriptions) / seconds,
        (greatest - resident) >> 20))
    report.line(
      "another database meanwhile: \(delays.count) saves, p50 \(saves.text(0.5)), p99 "
        + "\(saves.text(0.99)); until logged p50 \(delays.text(0.5)), p99 \(delays.text(0.99))")
  }

  /// Saves the subscriptions, all to the same author, and a device for each user. Also saves one
  /// subscription in the other database.
  private func fill(
    _ store: Store, _ database: DatabaseID, _ other: DatabaseID
  ) async throws {
    let fill = SubscriptionFill(
      store: store.subscriptions, database: database,
      users: max(1, subscriptions / Self.subscriptionsOfUser))
    let start = monotonicSeconds()
    try await fill.save(subscriptions) { number in
      FanOutRecords.subscription("sub-\(number)", author: "star")
    }
    try await fill.eachUser { user in
      try await store.devices.saveDeviceToken(FanOutRecords.device(of: user))
    }
    _ = try await store.subscriptions.modifySubscriptions(
      [.save(FanOutRecords.subscription("all", author: "other"))], of: "_other", in: other,
      timestamp: .now)
    report.set(["subscriptions": .figure(subscriptions), "users": .figure(fill.users)])
    report.line(
      String(
        format: "%d subscriptions of %d users with a device each, made in %.0f s", subscriptions,
        fill.users, monotonicSeconds() - start))
  }

  /// Saves records until the task is cancelled, with a pause of ten milliseconds after each.
  ///
  /// - Returns: The time at which each save began, by record name, and the durations of the saves.
  private func saveElsewhere(
    in database: DatabaseID, of store: RecordService
  ) async throws -> ([String: Double], Percentiles) {
    var departures: [String: Double] = [:]
    var times: [Double] = []
    while !Task.isCancelled {
      let name = "other-\(departures.count)"
      let start = monotonicSeconds()
      departures[name] = start
      try await FanOutRecords.save(name, author: "other", in: database, of: store)
      times.append(monotonicSeconds() - start)
      // A cancelled sleep throws at once. The error is ignored, because the loop ends then.
      try? await Task.sleep(for: .milliseconds(10))
    }
    return (departures, Percentiles(times))
  }
}

import CloudKitModel
import CommandInterface
import Foundation
import Matching
import ServerHosting
import Storage
import StoreModel

/// The benchmark of the cost of very many subscriptions: how much slower they make the saving of
/// records.
///
/// The benchmark saves records on a server without subscriptions, and then on a server with very
/// many. At the end, it compares the number of notifications in the second server's log with the
/// expected number.
///
/// Each server has a new store without records. The more records a store has, the slower is a save.
/// With a common store, the first server would therefore have an advantage.
struct ManySubscriptionsBenchmark {
  var subscriptions: Int
  var users: Int
  var connections: Int
  var seconds: Double
  var directory: String
  var report: BenchmarkReport

  private var emptyDirectory: String { directory + "/without" }
  private var filledDirectory: String { directory + "/with" }
  private var workload: FeedWorkload { FeedWorkload(subscriptions: subscriptions) }
  private static let database = DatabaseAddress(
    container: EarthquakeRequests.container, environment: .development, scope: .public, owner: nil)

  /// Throws a `UsageError` if the log has more or fewer notifications than expected.
  func run() async throws {
    BenchmarkFolder.remove(directory)
    defer { BenchmarkFolder.remove(directory) }
    report.line("records of eight fields saved over \(connections) connections")
    report.line("subscriptions  records/s        p50        p99  processor a record")
    let without = try await measureWithout()
    try await fill()
    let expected = matches()
    let fired = Double(expected.reduce(0, +)) / Double(expected.count)
    let with = try await measureWith(expected)
    report.set([
      "measured": "manySubscriptions", "users": .figure(users),
      "ratioToBaseline": .figure(with / without), "matchesPerRecord": .figure(fired),
    ])
    report.line(
      String(
        format: "%.2f of the rate without subscriptions, %.1f matches a record", with / without,
        fired))
  }

  private func measureWithout() async throws -> Double {
    let (server, tokens) = try await ServerProcess.start(
      in: emptyDirectory, users: ["feeder"], keepsData: true)
    defer { server.stop() }
    let load = try load(on: server, token: tokens[0])
    _ = try await load.run(seconds: 1)
    return try await measure(load, on: server, subscriptions: 0).rate
  }

  /// Measures the server with subscriptions, checks the number of notifications in the log, and
  /// returns the records a second.
  ///
  /// - Parameter expected: For each request of the load, the number of notifications that it
  ///   causes.
  private func measureWith(_ expected: [Int]) async throws -> Double {
    let (server, tokens) = try await ServerProcess.start(
      in: filledDirectory, users: ["feeder"], keepsData: true)
    defer { server.stop() }
    let store = try await ServerProcess.openStore(in: filledDirectory)
    let load = try load(on: server, token: tokens[0])
    // The server reads its matching index for the first records.
    let warming = try await load.run(seconds: 1)
    let loading = try await untilDispatched(store.outbox)
    let resident = ProcessMemory.resident(of: server.identifier)
    let result = try await measure(load, on: server, subscriptions: subscriptions)
    let rest = try await untilDispatched(store.outbox)
    report.set([
      "firstDispatchSeconds": .figure(loading), "lastDispatchSeconds": .figure(rest),
      "residentBytes": .figure(resident),
    ])
    report.line(
      String(
        format:
          "the first records were dispatched after %.1f s, the last %.1f s after the end of saving; "
          + "%d MB resident", loading, rest, resident >> 20))
    let owed = [warming, result].reduce(0) { sum, result in
      sum + zip(load.uses(among: result.answered), expected).reduce(0) { $0 + $1.0 * $1.1 }
    }
    await store.close()
    server.stop()
    // Some log entries are not in the log's index yet. A store with the role of a server reads them
    // once, and not again for each user.
    let stopped = try await ServerProcess.openStore(
      in: filledDirectory, with: StoreConfiguration(role: .server))
    let logged = try await countLog(in: stopped.notificationLog)
    await stopped.close()
    guard logged == owed else {
      throw UsageError("\(logged) notifications are in the log instead of \(owed)")
    }
    report.set(["notificationsLogged": .figure(logged)])
    report.line("\(logged) notifications are in the log, as expected")
    return result.rate
  }

  private func load(on server: ServerProcess, token: String) throws -> LoadGenerator {
    let path = EarthquakeRequests.path("records/modify", token: token, device: "feeder")
    return LoadGenerator(
      port: server.port, connections: connections,
      requests: try FeedRequests(workload: workload, path: path).all())
  }

  private func measure(
    _ load: LoadGenerator, on server: ServerProcess, subscriptions: Int
  ) async throws -> LoadGenerator.Result {
    let before = ProcessTime.seconds(of: server.identifier)
    let result = try await load.run(seconds: seconds)
    let processor = ProcessTime.seconds(of: server.identifier) - before
    let times = Percentiles(result.times)
    let micros = processor * 1e6 / Double(max(1, result.answered))
    report.row(
      "measurements",
      [
        "subscriptions": .figure(subscriptions), "connections": .figure(connections),
        "recordsPerSecond": .figure(result.rate),
        "processorMicrosecondsPerRecord": .figure(micros),
      ], times.figures())
    report.line(
      String(format: "%13d  %9.0f", subscriptions, result.rate)
        + "  \(times.text(0.5).leftPadding(to: 9))  \(times.text(0.99).leftPadding(to: 9))"
        + String(format: "  %15.1f us", micros))
    return result
  }

  /// Saves the subscriptions directly into the second server's store, without HTTP.
  private func fill() async throws {
    try FileManager.default.createDirectory(
      atPath: filledDirectory, withIntermediateDirectories: true)
    let store = try await ServerProcess.openStore(in: filledDirectory)
    let start = monotonicSeconds()
    let fill = SubscriptionFill(
      store: store.subscriptions, database: try await store.databases.database(at: Self.database),
      users: users)
    try await fill.save(subscriptions) { [workload] in workload.subscription($0) }
    await store.close()
    report.line(
      String(
        format: "%d subscriptions of %d users saved in %.0f s", subscriptions, users,
        monotonicSeconds() - start))
  }

  /// Returns, for each record of the load, the number of subscriptions that the record fires. The
  /// method computes it with an index in this process.
  private func matches() -> [Int] {
    var index = SubscriptionIndex()
    for number in 0..<subscriptions {
      let subscription = workload.subscription(number)
      index.insert(
        subscription,
        for: SubscriptionKey(
          subscriber: SubscriptionFill.user(number % users),
          subscriptionID: subscription.subscriptionID), version: 1)
    }
    var scratch = MatchScratch()
    return (0..<FeedRequests.count).map { number in
      var count = 0
      let change = Change(
        event: .recordCreated, zoneID: .default, record: workload.record(number),
        notificationID: UUID(), timestamp: .now)
      index.forEachMatch(of: change, savedBy: 1, using: &scratch) { _ in count += 1 }
      return count
    }
  }

  /// Waits until all changes are dispatched: until their notifications are in the log. Returns the
  /// seconds that this took.
  private func untilDispatched(_ store: OutboxService) async throws -> Double {
    let start = monotonicSeconds()
    while try await !store.undispatchedDatabases().isEmpty {
      try await Task.sleep(for: .milliseconds(20))
    }
    return monotonicSeconds() - start
  }

  private func countLog(in store: NotificationLogService) async throws -> Int {
    var count = 0
    for user in 0..<users {
      var token: String?
      while true {
        let page = try await store.notificationLog(
          of: Recipient(
            userRecordName: SubscriptionFill.user(user), container: Self.database.container,
            environment: Self.database.environment), since: token, limit: 1_000)
        count += page.notifications.count
        guard page.moreComing else { break }
        token = page.token
      }
    }
    return count
  }
}

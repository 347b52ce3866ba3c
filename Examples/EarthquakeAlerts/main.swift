import CloudKit

// Saves a thousand earthquakes from one device and shows the pushes that three other users'
// subscriptions send. `petrel demo` starts a server and an APNs simulator and runs this program; the
// pushes that the simulator received come on standard input.

func environment(_ name: String) -> String {
  guard let value = ProcessInfo.processInfo.environment[name] else {
    FileHandle.standardError.write(
      Data("EarthquakeAlerts: \(name) is not set; run it through `petrel demo`\n".utf8))
    exit(64)
  }
  return value
}

/// The container as a user of this program sees it. An app has one user and simply writes
/// `CKContainer.default()`.
func container(of user: String) throws -> CKContainer {
  guard let server = URL(string: environment("PETREL_SERVER")) else { throw CKError(.badContainer) }
  return CKContainer(
    identifier: environment("PETREL_CONTAINER"),
    configuration: PetrelConfiguration(
      serverURL: server, webAuthToken: environment("\(user.uppercased())_TOKEN"),
      deviceID: "\(user)-phone"))
}

func run() async throws -> Int32 {
  let earthquakes = try Earthquake.read(from: environment("EARTHQUAKES_CSV"))
  let strings = try PetrelStrings(
    contentsOf: Bundle.module.bundleURL.appendingPathComponent("Strings"))
  let subscribers = [
    Subscriber.strong(in: try container(of: "anna")),
    Subscriber.nearSuva(in: try container(of: "ben")),
    Subscriber.firstDeep(in: try container(of: "chloe")),
  ]
  for subscriber in subscribers {
    try await subscriber.subscribe()
    show("\(subscriber.name) subscribed to \(subscriber.subscription.subscriptionID)")
  }

  let ledger = Ledger(
    expected: Dictionary(
      uniqueKeysWithValues: subscribers.map {
        ($0.subscription.subscriptionID, $0.expectedRecords(of: earthquakes))
      }))
  let names = Dictionary(
    uniqueKeysWithValues: subscribers.map { ($0.deviceTokenText, $0.name) })
  let pushes = Task {
    for await push in arrivingPushes() {
      let notification = push.notification as? CKQueryNotification
      let complaint = ledger.arrived(
        subscriptionID: notification?.subscriptionID ?? "an unknown subscription",
        record: notification?.recordID?.recordName ?? "an unknown record", at: push.arrival)
      show(
        describe(push, for: names[push.deviceToken] ?? "an unknown device", from: strings))
      if let complaint { show("   ✗ \(complaint)") }
    }
  }

  try await save(earthquakes, in: CKContainer.default().publicCloudDatabase, ledger: ledger)
  await waitUntilSettled(ledger)
  pushes.cancel()
  return report(earthquakes: earthquakes, subscribers: subscribers, ledger: ledger)
}

/// Saves the earthquakes in batches, as an app that imports data would.
func save(_ earthquakes: [Earthquake], in database: CKDatabase, ledger: Ledger) async throws {
  let batchSize = 50
  for start in stride(from: 0, to: earthquakes.count, by: batchSize) {
    let batch = earthquakes[start..<min(start + batchSize, earthquakes.count)]
    let call = Date()
    let (saved, _) = try await database.modifyRecords(
      saving: batch.map(\.record), deleting: [], savePolicy: .ifServerRecordUnchanged,
      atomically: false)
    ledger.saved(batch.map(\.name), call: call, reply: Date())
    for result in saved.values { _ = try result.get() }
    showProgress(start + batch.count, of: earthquakes.count, pushes: ledger.arrivedCount)
  }
}

/// Waits until every expected push is there, and then for a second of silence in which an
/// unexpected one could come; for half a minute at most.
func waitUntilSettled(_ ledger: Ledger) async {
  let deadline = Date().addingTimeInterval(30)
  while Date() < deadline, !ledger.missing.isEmpty || ledger.quietTime < 1 {
    try? await Task.sleep(nanoseconds: 20_000_000)
  }
}

func report(earthquakes: [Earthquake], subscribers: [Subscriber], ledger: Ledger) -> Int32 {
  let delays = ledger.delays
  show(
    table([
      ("subscriptions", String(subscribers.count)),
      ("records", String(earthquakes.count)),
      ("notifications expected", String(ledger.expectedCount)),
      ("pushes arrived", String(ledger.arrivedCount + ledger.unexpected.count)),
      ("missing", String(ledger.missing.count)),
      ("unexpected", String(ledger.unexpected.count)),
      ("save reply to arrival, median", milliseconds(delays.fromReply, 0.5)),
      ("save reply to arrival, 99th percentile", milliseconds(delays.fromReply, 0.99)),
      ("save call to arrival, median", milliseconds(delays.fromCall, 0.5)),
      ("save call to arrival, 99th percentile", milliseconds(delays.fromCall, 0.99)),
    ]))
  for line in ledger.missing { show("✗ missing: \(line)") }
  for line in ledger.unexpected { show("✗ unexpected: \(line)") }
  let isRight = ledger.missing.isEmpty && ledger.unexpected.isEmpty
  show(
    isRight
      ? "✓ every expected push arrived exactly once, and no other"
      : "✗ the pushes were not those that were expected")
  return isRight ? 0 : 1
}

do {
  exit(try await run())
} catch {
  FileHandle.standardError.write(Data("EarthquakeAlerts: \(error)\n".utf8))
  exit(1)
}

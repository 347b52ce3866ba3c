import CloudKitModel
import DatabaseAPI
import Foundation
import HTTPService
import JSONCoding
import Storage
import StoreModel
import WebServices

/// The endpoints with which operators watch a server: `pushes` lists notifications with their
/// deliveries, `overview` returns metrics, and `events` is a stream of metrics and notifications.
///
/// The stream consists of server-sent events (`text/event-stream`). Each second the server sends a
/// sample of the metrics. If there are new notifications since the previous sample, the server
/// sends them next:
///
///     event: sample
///     data: { "time": 1764331200000, "changes": { "dispatched": 17, … }, … }
///
///     event: pushes
///     data: { "pushes": [ … ], "leftOut": 0 }
///
/// `leftOut` counts notifications that did not fit the buffer of the reader.
struct AdminPushesEndpoints: AdminEndpoints {
  /// The time in seconds between two samples of a stream.
  private static let pace = 1.0
  /// The time in seconds after which the server ends a stream. The browser reconnects, and the
  /// server checks its authentication again.
  private static let streamTime = 300.0
  /// The maximum number of recent notifications whose delays an overview contains.
  private static let delaysCounted = 200
  /// The time in seconds after its logging for which a notification counts as recent.
  private static let delayWindow = 10.0

  let accounts: AccountService
  let administration: AdministrationService
  let databases: AdminDatabases
  /// The metrics of the server; nil in a process that runs no server. With nil, only the endpoint
  /// `pushes` answers.
  let gauges: AdminGauges?
  let pushes: LivePushes
  let clock: @Sendable () -> Timestamp

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "pushes",
      [.container, .environment, .database, .databaseUser] + [text, .limit, .continuation],
      "Notifications, newest first, with the state of each delivery",
      answers: .page("pushes", of: ListedPush.shape), Self.list),
    .get(
      "overview", [], "The server's numbers; counts are since its start", answers: Overview.shape
    ) { group in
      { try group.running().overview(at: $0.now, delays: group.delays(at: $0.now)) }
    },
    .get(
      "events", [], "A stream of events: samples of the overview, and pushes as they are logged",
      answers: nil
    ) { group in { try group.events($0, try group.running()) } },
  ]

  private static let text = AdminArgument(
    "text", .text,
    "only those that have this in the name of the record, subscriber or subscription")

  private func running() throws(ServiceError) -> AdminGauges {
    guard let gauges else { throw ServiceError(.notFound, "no server runs in this process") }
    return gauges
  }

  /// Returns the delay of each recent notification: the seconds from the commit of the change to
  /// the entry in the log. A negative delay, which a difference of clocks can cause, becomes 0.
  private func delays(at now: Timestamp) -> [Double] {
    pushes.latest.prefix(Self.delaysCounted).compactMap { entry in
      guard now.seconds - entry.logged.seconds < Self.delayWindow else { return nil }
      return max(0, entry.logged.seconds - entry.notification.change.timestamp.seconds)
    }
  }

  // MARK: The list

  /// If the request names no container, the list contains only the latest notifications that this
  /// server logged. Otherwise it contains the log entries of the selected database.
  private func list(_ request: AdminRequest) async throws -> AdminPage<ListedPush> {
    let arguments = request.arguments
    let text = arguments.text(Self.text)?.lowercased()
    let isWanted: @Sendable (LogEntry) -> Bool = { entry in
      text.map { entry.searchText.lowercased().contains($0) } ?? true
    }
    guard arguments.value(.container) != nil else {
      let entries = pushes.latest.lazy.filter(isWanted).prefix(arguments.limit)
      return try await page(try await logged(Array(entries)), next: nil)
    }
    let before = try AdminContinuation.parts(arguments, count: 1).flatMap { Int64($0[0]) }
    let address = try await databases.address(arguments)
    guard let database = try await databases.store.existingDatabase(at: address) else {
      return AdminPage()
    }
    let found = try await administration.pushes(
      in: database, before: before, limit: arguments.limit, where: isWanted)
    return try await page(found.found, next: found.next)
  }

  /// Adds the deliveries in the same order. Entries that are no longer in the store are left out.
  private func logged(_ entries: [LogEntry]) async throws -> [LoggedPush] {
    var found: [DatabaseID: [Int64: LoggedPush]] = [:]
    for (database, entries) in Dictionary(grouping: entries, by: \.database) {
      for push in try await administration.pushes(entries.map(\.sequence), in: database) {
        found[database, default: [:]][push.entry.sequence] = push
      }
    }
    return entries.compactMap { found[$0.database]?[$0.sequence] }
  }

  private func page(_ pushes: [LoggedPush], next: Int64?) async throws -> AdminPage<ListedPush> {
    let names = try await accounts.userNames(
      of: Set(pushes.map(\.entry.notification.subscriber)))
    return AdminPage(
      elements: pushes.map {
        ListedPush(push: $0, subscriberName: names[$0.entry.notification.subscriber])
      },
      continuation: next.map { AdminContinuation.text([String($0)]) })
  }

  // MARK: The stream

  /// Returns the event stream for a reader. The stream ends after ``streamTime``, when the
  /// browser's session expires, or when the server stops.
  ///
  /// - Throws: `TRY_AGAIN_LATER` if ``LivePushes/readerLimit`` streams are open.
  private func events(
    _ request: AdminRequest, _ gauges: AdminGauges
  ) throws -> HTTPResponse {
    guard request.http.method == "GET" else {
      throw ServiceError(.badRequest, "an event stream takes GET, not HEAD")
    }
    guard let reader = pushes.beginReading() else {
      throw ServiceError(
        .tryAgainLater, "\(LivePushes.readerLimit) event streams are open, which is the limit",
        retryAfter: 10)
    }
    let end = min(
      request.now.advanced(bySeconds: Self.streamTime),
      request.identity.session?.expires ?? request.now.advanced(bySeconds: Self.streamTime))
    return HTTPResponse(
      headers: [("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no")],
      body: .stream { writer in
        defer { pushes.endReading(reader) }
        try await writer.write(Data("retry: 1000\n\n".utf8))
        while clock() < end, let batch = pushes.nextBatch(for: reader) {
          try await writer.write(event(batch, gauges))
          try await Task.sleep(for: .seconds(Self.pace))
        }
      })
  }

  /// Returns the next events: a sample of the overview, and the new notifications if there are any.
  private func event(_ batch: LivePushes.Batch, _ gauges: AdminGauges) -> Data {
    let now = clock()
    let overview = gauges.overview(at: now, delays: delays(at: now))
    var text = "event: sample\ndata: \(Overview.shape.text(overview))\n\n"
    if !batch.entries.isEmpty || batch.leftOut > 0 {
      text += "event: pushes\ndata: \(LivePushes.Batch.shape.text(batch))\n\n"
    }
    return Data(text.utf8)
  }
}

extension LogEntry {
  fileprivate var searchText: String {
    [
      notification.subscriber, notification.subscription.subscriptionID,
      notification.change.record?.recordID.recordName ?? "",
      notification.change.record?.recordType ?? "", notification.change.zoneID.zoneName,
      notification.change.notificationID.uuidString, notification.database.container,
    ].joined(separator: "\n")
  }
}

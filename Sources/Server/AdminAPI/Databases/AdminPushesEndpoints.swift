import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// Notifications and what became of them, and the server's numbers as they change.
struct AdminPushesEndpoints: AdminEndpoints {
  /// Seconds between two samples of a stream.
  private static let pace = 1.0
  /// Seconds after which a stream ends: who watches comes back by itself and is asked anew who it is.
  private static let streamTime = 300.0
  /// Notifications, of those that were logged lately, whose delays count.
  private static let delaysCounted = 200
  /// Seconds in which they were logged.
  private static let delayWindow = 10.0

  let accounts: any AccountReading
  let administration: any AdministrationStore
  let databases: AdminDatabases
  /// Nil where no server runs: then there is only the list.
  let gauges: AdminGauges?
  let pushes: LivePushes
  let clock: @Sendable () -> Timestamp

  var endpoints: [AdminEndpoint] {
    let list = AdminEndpoint.get(
      "pushes", AdminDatabases.optionalArguments + ["text", "limit", "continuation"], list
    )
    .described(
      "Notifications, newest first, with what became of their deliveries",
      answers: .page("pushes", of: .push))
    guard let gauges else { return [list] }
    return [
      list,
      AdminEndpoint.get("overview", []) { request in
        request.object {
          gauges.write(to: &$0, at: request.now, delays: delays(at: request.now))
        }
      }
      .described("The server's numbers; counts are since its start", answers: .overview),
      AdminEndpoint.get("events", []) { try events($0, gauges) }
        .described(
          "A stream of events: samples of the overview, and pushes as they are logged",
          answers: nil),
    ]
  }

  private func delays(at now: Timestamp) -> [Double] {
    pushes.latest.prefix(Self.delaysCounted).compactMap { entry in
      guard now.seconds - entry.logged.seconds < Self.delayWindow else { return nil }
      return max(0, entry.logged.seconds - entry.notification.change.timestamp.seconds)
    }
  }

  // MARK: The list

  private func list(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let limit = try arguments.limit()
    let text = try arguments.text("text")?.lowercased()
    let isWanted: @Sendable (LogEntry) -> Bool = { entry in
      text.map { entry.searchText.lowercased().contains($0) } ?? true
    }
    guard arguments.value("container") != nil else {
      let entries = pushes.latest.lazy.filter(isWanted).prefix(limit)
      return try await answer(
        request, try await logged(Array(entries)), next: nil)
    }
    let before = try AdminContinuation.parts(arguments, count: 1).flatMap { Int64($0[0]) }
    let address = try await databases.address(arguments)
    guard let database = try await databases.store.existingDatabase(at: address) else {
      return try await answer(request, [], next: nil)
    }
    let page = try await administration.pushes(
      in: database, before: before, limit: limit, where: isWanted)
    return try await answer(request, page.found, next: page.next)
  }

  /// What became of entries of several databases, in their order.
  private func logged(_ entries: [LogEntry]) async throws -> [LoggedPush] {
    var found: [DatabaseID: [Int64: LoggedPush]] = [:]
    for (database, entries) in Dictionary(grouping: entries, by: \.database) {
      for push in try await administration.pushes(entries.map(\.sequence), in: database) {
        found[database, default: [:]][push.entry.sequence] = push
      }
    }
    return entries.compactMap { found[$0.database]?[$0.sequence] }
  }

  private func answer(
    _ request: AdminRequest, _ pushes: [LoggedPush], next: Int64?
  ) async throws -> HTTPResponse {
    let names = try await accounts.userNames(
      of: Set(pushes.map(\.entry.notification.subscriber)))
    return request.object { writer in
      writer.key("pushes")
      writer.array { writer in
        for push in pushes {
          writer.object { writer in
            Self.write(push.entry, to: &writer)
            writer.member(
              "subscriberName", ifPresent: names[push.entry.notification.subscriber])
            writer.key("deliveries")
            writer.array { writer in
              for delivery in push.deliveries {
                writer.object { Self.write(delivery, to: &$0) }
              }
            }
            if !push.unsent.isEmpty {
              writer.key("unsent")
              writer.array { writer in
                for name in push.unsent.names { writer.value(name) }
              }
            }
          }
        }
      }
      if let next { writer.member("continuation", AdminContinuation.text([String(next)])) }
    }
  }

  private static func write(_ entry: LogEntry, to writer: inout JSONWriter) {
    let notification = entry.notification
    writer.member("key", "\(entry.database.rawValue).\(entry.sequence)")
    writer.member("sequence", entry.sequence)
    writer.member(
      "notificationID", notification.change.notificationID.uuidString.lowercased())
    writer.member("container", notification.database.container)
    writer.member("environment", notification.database.environment.rawValue)
    writer.member("database", notification.database.scope.pathComponent)
    writer.member("user", ifPresent: notification.database.owner)
    writer.member("subscriber", notification.subscriber)
    writer.member("subscriptionID", notification.subscription.subscriptionID)
    writer.member("event", "\(notification.change.event)")
    writer.member("zoneName", notification.change.zoneID.zoneName)
    let zoneOwner = notification.change.zoneID.ownerName
    writer.member("zoneOwner", ifPresent: zoneOwner == ZoneID.currentOwnerName ? nil : zoneOwner)
    writer.member("recordName", ifPresent: notification.change.record?.recordID.recordName)
    writer.member("recordType", ifPresent: notification.change.record?.recordType)
    writer.member("changed", notification.change.timestamp)
    writer.member("logged", entry.logged)
  }

  private static func write(_ delivery: LoggedPush.Delivery, to writer: inout JSONWriter) {
    writer.member("number", delivery.number)
    writer.member("kind", ifPresent: delivery.kind?.rawValue)
    writer.member("token", delivery.token)
    writer.member("state", "\(delivery.state)")
    writer.member("attempts", delivery.attempts)
    writer.member("reason", ifPresent: delivery.reason)
    writer.member("updated", delivery.updated)
    if delivery.state == .waiting { writer.member("due", delivery.due) }
  }

  // MARK: The stream

  private func events(
    _ request: AdminRequest, _ gauges: AdminGauges
  ) throws -> HTTPResponse {
    guard request.http.method == "GET" else {
      throw ServiceError(.badRequest, "a stream has no HEAD")
    }
    guard let reader = pushes.beginReading() else {
      throw ServiceError(
        .tryAgainLater, "\(LivePushes.readerLimit) streams are open already", retryAfter: 10)
    }
    let end = min(
      request.now.advanced(bySeconds: Self.streamTime),
      request.identity.session?.expires ?? request.now.advanced(bySeconds: Self.streamTime))
    return HTTPResponse(
      headers: [("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no")],
      body: .stream { writer in
        defer { pushes.endReading(reader) }
        try await writer.write(Data("retry: 1000\n\n".utf8))
        while clock() < end, let news = pushes.news(for: reader) {
          try await writer.write(event(news, gauges))
          try await Task.sleep(for: .seconds(Self.pace))
        }
      })
  }

  private func event(_ news: LivePushes.News, _ gauges: AdminGauges) -> Data {
    var text = "event: sample\ndata: "
    let now = clock()
    var sample = JSONWriter()
    sample.object { gauges.write(to: &$0, at: now, delays: delays(at: now)) }
    text += sample.text + "\n\n"
    if !news.entries.isEmpty || news.leftOut > 0 {
      var writer = JSONWriter()
      writer.object { writer in
        writer.key("pushes")
        writer.array { writer in
          for entry in news.entries { writer.object { Self.write(entry, to: &$0) } }
        }
        writer.member("leftOut", news.leftOut)
      }
      text += "event: pushes\ndata: " + writer.text + "\n\n"
    }
    return Data(text.utf8)
  }
}

extension LogEntry {
  /// What a search for text looks at.
  fileprivate var searchText: String {
    [
      notification.subscriber, notification.subscription.subscriptionID,
      notification.change.record?.recordID.recordName ?? "",
      notification.change.record?.recordType ?? "", notification.change.zoneID.zoneName,
      notification.change.notificationID.uuidString, notification.database.container,
    ].joined(separator: "\n")
  }
}

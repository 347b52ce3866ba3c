import CloudKitModel
import Foundation
import HTTPService
import PushDelivery
import Storage
import WebServices

/// The web courier as a stream of server-sent events (WHATWG HTML, section 9.2), Petrel's addition:
/// one connection in place of many polls.
///
/// A reader that comes back with `Last-Event-ID`, as browsers do by themselves, goes on behind that
/// event; one that comes without goes on behind the last that was written to it or that a poll
/// acknowledged. A reader has one stream, the last that it opened: the one before ends. Nothing is queued for a slow reader: the next entry is read from the log when
/// the connection takes it.
extension WebCourier {
  /// Seconds between two signs of life, so that proxies do not take the stream for dead.
  private static let keepAlive = 15.0

  /// Whether a request is one for the courier's URL that wants one notification.
  static func isPoll(_ request: HTTPRequest) -> Bool {
    request.path == path && !asksForEvents(request)
  }

  /// Whether a request for the courier's URL wants events in place of one notification.
  static func asksForEvents(_ request: HTTPRequest) -> Bool {
    guard let accept = request.header("Accept") else { return false }
    return accept.split(separator: ",").contains {
      $0.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
        == "text/event-stream"
    }
  }

  /// Answers `GET /aps?tok=…` with `Accept: text/event-stream`: a stream that ends when the token
  /// expires or the server stops.
  ///
  /// - Throws: as ``poll(_:)`` does; `BAD_REQUEST` for a `Last-Event-ID` that is none.
  func events(_ request: HTTPRequest) async throws -> HTTPResponse {
    let token = try await token(of: request)
    let beginning = try Self.beginning(of: request)
    return HTTPResponse(
      headers: [
        ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"),
        ("X-Accel-Buffering", "no"),
      ],
      body: .stream { writer in
        try await self.write(eventsFor: token, from: beginning, to: writer)
      })
  }

  /// Where the reader says that it is.
  @inline(never)
  private static func beginning(of request: HTTPRequest) throws -> CourierPosition {
    let last = request.header("Last-Event-ID") ?? request.query("lastEventId") ?? ""
    guard !last.isEmpty else { return CourierPosition() }
    guard let position = CourierPosition(last) else {
      throw ServiceError(
        .badRequest, "Last-Event-ID: '\(last.prefix(80))' is no event of this stream")
    }
    return position
  }

  private func write(
    eventsFor token: DeviceToken, from beginning: CourierPosition, to writer: HTTPStreamWriter
  ) async throws {
    let turn = streams.begin(forToken: token.token)
    defer { streams.end(turn, forToken: token.token) }
    readers.wake(try await listeners(with: token))
    var position = beginning
    try await writer.write(Data("retry: 2000\n\n".utf8))
    while turn.isCurrent, !readers.isClosed, token.expires.map({ $0 > clock() }) ?? true {
      let reader = readers.register(
        userRecordNames: try await listeners(with: token),
        deadline: clock().advanced(bySeconds: Self.keepAlive))
      defer { readers.unregister(reader) }
      guard
        let next = try await store.nextCourierEntry(forToken: token.token, after: position)
      else {
        await reader.wait()
        // Fails when the reader has left.
        if reader.deadline <= clock() { try await writer.write(Data(":\n\n".utf8)) }
        try Task.checkCancellation()
        continue
      }
      guard turn.isCurrent else { return }
      position.pass(next.entry)
      let payload = PushPayload(next.entry.notification, badge: next.badge, form: .courier)
      try await writer.write(
        Data("id: \(position.text)\ndata: ".utf8) + Data(payload.bytes) + Data("\n\n".utf8))
      try await store.acknowledgeCourierEntry(next.entry, forToken: token.token)
    }
  }
}

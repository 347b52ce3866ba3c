import CloudKitModel
import Foundation
import HTTPService
import PushChannels
import StoreModel
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

  /// A stream that ends when the token expires or the server stops.
  ///
  /// - Throws: `BAD_REQUEST` for a `Last-Event-ID` that is none.
  func events(_ request: HTTPRequest, to device: DeviceToken) throws -> HTTPResponse {
    let beginning = try beginning(of: request)
    return HTTPResponse(
      headers: [
        ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"),
        ("X-Accel-Buffering", "no"),
      ],
      body: .stream { [token = device.token, expiry = device.expires] writer in
        try await self.write(
          eventsFor: token, until: expiry, from: beginning, to: writer)
      })
  }

  /// Where the reader says that it is.
  private func beginning(of request: HTTPRequest) throws -> CourierPosition {
    let last = request.header("Last-Event-ID") ?? request.query("lastEventId") ?? ""
    guard !last.isEmpty else { return CourierPosition() }
    guard let position = CourierPosition(last, sealedBy: tokens) else {
      throw ServiceError(
        .badRequest, "Last-Event-ID: '\(last.prefix(80))' is no event of this stream")
    }
    return position
  }

  /// What it asks the store is asked in tasks of their own, as for a ``CourierRequest``.
  private func write(
    eventsFor token: String, until expiry: Timestamp?, from beginning: CourierPosition,
    to writer: HTTPStreamWriter
  ) async throws {
    let turn = streams.begin(forToken: token)
    defer { streams.end(turn, forToken: token) }
    try await queue.serve { self.readers.wake(try await self.listeners(withToken: token)) }
    var position = beginning
    try await writer.write(Data("retry: 2000\n\n".utf8))
    while turn.isCurrent, !readers.isClosed, expiry.map({ $0 > clock() }) ?? true {
      let deadline = clock().advanced(bySeconds: Self.keepAlive)
      let look = try await queue.serve { [position] in
        try await self.look(for: token, after: position, until: deadline)
      }
      guard look.next != nil else {
        await look.wait()
        // Fails when the reader has left.
        if look.reader.isOverdue || deadline <= clock() {
          try await writer.write(Data(":\n\n".utf8))
        }
        try Task.checkCancellation()
        continue
      }
      guard turn.isCurrent else { return }
      try await writer.write(event(look, moving: &position))
      try await queue.serve { try await self.acknowledge(look, token) }
    }
  }

  @inline(never)
  private func event(_ look: Look, moving position: inout CourierPosition) throws -> Data {
    guard let next = look.next else { return Data() }
    position.pass(next.entry)
    let payload = PushPayload(next.entry.notification, badge: next.badge, reader: .courier)
    let id = try position.text(sealedBy: tokens)
    return Data("id: \(id)\ndata: ".utf8) + Data(payload.bytes) + Data("\n\n".utf8)
  }

  private func acknowledge(_ look: Look, _ token: String) async throws {
    guard let entry = look.next?.entry else { return }
    try await store.acknowledgeCourierEntry(entry, forToken: token)
  }
}

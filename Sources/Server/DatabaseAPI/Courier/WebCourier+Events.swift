import CloudKitModel
import Foundation
import HTTPService
import PushChannels
import Storage
import StoreModel
import WebServices

/// The web courier as a stream of server-sent events (WHATWG HTML, section 9.2), Petrel's addition:
/// one connection instead of many polls.
///
/// A reader that reconnects with the header field `Last-Event-ID`, as browsers do by themselves,
/// continues after that event. Without the field, the reader continues after the last notification
/// that a stream wrote or a poll acknowledged.
///
/// A reader has one stream: a new stream ends the one before. The server queues nothing for a slow
/// reader. It reads the next entries from the notification log, at most 32 at once, when the
/// connection accepts more data.
extension WebCourier {
  /// Seconds without an event after which the server writes a comment line, so that proxies do not
  /// close the connection.
  private static let keepAlive = 15.0
  /// The most events that are read at once and written together. A search and an acknowledgement
  /// cost the store as much for many events as for one.
  private static let eventsAtOnce = 32

  static func asksForEvents(_ request: HTTPRequest) -> Bool {
    guard let accept = request.header("Accept") else { return false }
    return accept.split(separator: ",").contains {
      $0.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
        == "text/event-stream"
    }
  }

  /// Returns the answer with a stream, which ends when the token expires, when the reader opens
  /// another stream, or when the server stops.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` as ``poll(_:after:)``; `THROTTLED` if the user has too many
  ///   streams.
  func stream(_ call: Call) async throws -> HTTPResponse {
    let device = try await queue.serve(for: call.token) {
      try await self.registrations(ofReader: call.token)[0]
    }
    let turn = try streams.open(forToken: device.token, of: device.userRecordName)
    return HTTPResponse(
      headers: [
        ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"),
        ("X-Accel-Buffering", "no"),
      ],
      body: .stream { writer in
        try await self.write(
          eventsFor: device, from: call.last ?? CourierPosition(), to: writer, during: turn)
      })
  }

  /// Writes the events of a stream until the stream ends.
  ///
  /// A page registers its token for one container after the other, so each search asks again whose
  /// notifications the reader gets.
  private func write(
    eventsFor device: DeviceToken, from beginning: CourierPosition, to writer: HTTPStreamWriter,
    during turn: CourierStreams.Turn
  ) async throws {
    let (token, user) = (device.token, device.userRecordName)
    let reader = try await queue.serve(for: user) {
      let listeners = try await self.listeners(withToken: token)
      self.readers.wake(listeners)
      return self.readers.register(token, userRecordNames: listeners, deadline: self.clock())
    }
    defer { readers.unregister(reader) }
    var position = beginning
    try await writer.write(Data("retry: 2000\n\n".utf8))
    while turn.isCurrent, !readers.isClosed, device.expires.map({ $0 > clock() }) ?? true {
      let deadline = clock().advanced(bySeconds: Self.keepAlive)
      let entries = try await queue.serve(for: user) { [position] in
        let listeners = try await self.listeners(withToken: token)
        self.readers.renew(reader, userRecordNames: listeners, deadline: deadline)
        return try await self.store.courierEntries(
          forToken: token, after: position, limit: Self.eventsAtOnce)
      }
      guard !entries.isEmpty else {
        await reader.wait()
        // This write fails if the reader has disconnected.
        if readers.isOver(reader) { try await writer.write(Data(":\n\n".utf8)) }
        try Task.checkCancellation()
        continue
      }
      guard turn.isCurrent else { return }
      try await writer.write(events(of: entries, moving: &position))
      try await queue.serve(for: user) {
        try await self.store.acknowledgeCourierEntries(entries.map(\.entry), forToken: token)
      }
    }
  }

  /// Moves the reader's position past the notifications that a search has found, and returns their
  /// events. The ID of an event is the position after it.
  @inline(never)
  private func events(
    of entries: [CourierEntry], moving position: inout CourierPosition
  ) throws -> Data {
    try entries.reduce(into: Data()) { events, next in
      position.pass(next.entry)
      let id = try position.text(sealedBy: tokens)
      events += Data("id: \(id)\ndata: ".utf8) + payload(of: next) + Data("\n\n".utf8)
    }
  }
}

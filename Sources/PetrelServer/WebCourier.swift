import CloudKitModel
import Foundation
import HTTPService
import PushDelivery
import Storage
import Synchronization
import WebServices

/// The web courier: a long poll that answers with one notification at a time.
///
/// Each reader's token has a cursor into the notification log. An answer is acknowledged by the
/// next poll, so a reader that was away gets what it missed. What was answered is remembered in
/// memory only: after a restart of the server the last answer may come again.
final class WebCourier: Sendable {
  /// Where its readers ask.
  static let path = "/aps"
  /// Answers that are remembered until the next poll.
  private static let capacity = 100_000

  let store: any RecordStore
  let readers: CourierReaders
  let streams = CourierStreams()
  /// How long a poll is held when nothing comes, in seconds.
  private let pollTime: Double
  let clock: @Sendable () -> Timestamp
  private let answered = Mutex<[String: LogEntry]>([:])

  init(
    store: any RecordStore, pollTime: Double, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.store = store
    self.pollTime = pollTime
    self.clock = clock
    readers = CourierReaders(clock: clock)
  }

  /// Tells the polls of these users that their log has grown.
  func wake(_ userRecordNames: Set<String>) {
    readers.wake(userRecordNames)
  }

  /// Answers the polls whose time is up by the clock.
  func endOverduePolls() {
    readers.endOverdue()
  }

  /// Answers all polls, now and from now on.
  func close() {
    readers.close()
  }

  /// Answers `GET /aps?tok=…`: 200 with one notification, or 200 with an empty body after
  /// the poll time. A token that is unknown or has expired gets an error: start again at
  /// `tokens/create`.
  func poll(_ request: HTTPRequest) async throws -> HTTPResponse {
    let token = try await token(of: request)
    let text = token.token
    if let entry = answered.withLock({ $0.removeValue(forKey: text) }) {
      try await store.acknowledgeCourierEntry(entry, forToken: text)
    }
    // A reader that has left gets no answer, so its next poll must not acknowledge one.
    guard let next = try await nextEntry(for: token), !Task.isCancelled else {
      return HTTPResponse(headers: Self.headers)
    }
    answered.withLock { answered in
      if answered.count >= Self.capacity { answered.removeAll() }
      answered[text] = next.entry
    }
    let payload = PushPayload(next.entry.notification, badge: next.badge, form: .courier)
    return HTTPResponse(
      headers: Self.headers + [("Content-Type", "application/json; charset=utf-8")],
      body: .data(Data(payload.bytes)))
  }

  /// The token that a request bears in its query.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` for one that is unknown or has expired.
  func token(of request: HTTPRequest) async throws -> DeviceToken {
    let text = try Self.text(of: request)
    return try valid(try await store.deviceToken(text, kind: .courier))
  }

  // Not in the asynchronous function: what waits keeps room for all that its functions may make.
  @inline(never)
  private static func text(of request: HTTPRequest) throws -> String {
    guard let text = request.query("tok"), !text.isEmpty else {
      throw ServiceError(.badRequest, "tok: is missing")
    }
    return text
  }

  @inline(never)
  private func valid(_ token: DeviceToken?) throws -> DeviceToken {
    guard let token, token.expires.map({ $0 > clock() }) ?? true else {
      throw ServiceError(
        .authenticationFailed,
        "tok: the web courier token is unknown or has expired; make a new one with tokens/create")
    }
    return token
  }

  /// The users for whom a reader listens. A reader that goes on listening asks again, for a page
  /// registers its token for one container after the other.
  func listeners(with token: DeviceToken) async throws -> Set<String> {
    Set(try await store.courierRegistrations(ofToken: token.token).map(\.userRecordName))
  }

  private func nextEntry(for token: DeviceToken) async throws -> CourierEntry? {
    let deadline = clock().advanced(bySeconds: pollTime)
    while true {
      let reader = readers.register(
        userRecordNames: try await listeners(with: token), deadline: deadline)
      defer { readers.unregister(reader) }
      if let entry = try await store.nextCourierEntry(forToken: token.token) { return entry }
      if clock() >= deadline || readers.isClosed || Task.isCancelled { return nil }
      await reader.wait()
    }
  }

  private static let headers = [("Cache-Control", "no-store")]
}

import CloudKitModel
import Foundation
import HTTPService
import PushChannels
import StoreModel
import WebServices

/// The web courier: a long poll that answers with one notification at a time.
///
/// Each reader's token has a cursor into the notification log. An answer is acknowledged by the
/// next poll, so a reader that was away gets what it missed. Where several servers have the store
/// open, what was answered is kept there, so that the next poll may go to any of them.
package final class WebCourier: Sendable {
  /// Where its readers ask.
  package static let path = "/aps"

  let store: any CourierStore
  private let devices: any DeviceReading
  /// Seals the positions of readers.
  let tokens: TokenCipher
  let readers: CourierReaders
  let streams = CourierStreams()
  let queue = CourierQueue(places: 64)
  /// How long a poll is held when nothing comes, in seconds.
  private let pollTime: Double
  let clock: @Sendable () -> Timestamp
  private let answers: any CourierAnswers

  package init(
    store: any CourierStore, devices: any DeviceReading, tokens: TokenCipher, pollTime: Double,
    clock: @escaping @Sendable () -> Timestamp
  ) {
    self.store = store
    self.devices = devices
    self.tokens = tokens
    self.pollTime = pollTime
    self.clock = clock
    readers = CourierReaders(clock: clock)
    answers = store.courierAnswers ?? CourierAnswersInMemory(store: store)
  }

  /// Requests that wait to be looked after.
  package var waitingRequestCount: Int { queue.waitingCount }
  /// Readers that wait for a notification.
  package var waitingReaderCount: Int { readers.count }
  /// The readers among them that have an event stream.
  package var streamCount: Int { streams.count }

  /// Tells the polls of these users that their log has grown.
  package func wake(_ userRecordNames: Set<String>) {
    readers.wake(userRecordNames)
  }

  /// Tells all polls that their logs may have grown.
  package func wakeAll() { readers.wakeAll() }

  /// Answers the polls whose time is up by the clock.
  package func endOverduePolls() {
    readers.endOverdue()
  }

  /// Answers all polls, now and from now on.
  package func close() {
    readers.close()
  }

  /// Answers `GET /aps?tok=…`: an event stream where the request accepts one; otherwise 200 with one
  /// notification, or 200 with an empty body after the poll time. Nil when there is none yet: ask
  /// again when the reader of the request's look was woken.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` for a token that is unknown or has expired: start again at
  ///   `tokens/create`.
  func answer(to request: CourierRequest) async throws -> HTTPResponse? {
    let (token, deadline): (String, Timestamp?)
    let isOverdue = request.look?.reader.isOverdue ?? false
    if let look = request.look {
      (token, deadline) = (look.token, look.reader.deadline)
    } else {
      let device = try await reader(of: request.http)
      if Self.asksForEvents(request.http) { return try events(request.http, to: device) }
      try await answers.acknowledgeCourierAnswer(ofToken: device.token)
      (token, deadline) = (device.token, nil)
    }
    let end = deadline ?? clock().advanced(bySeconds: pollTime)
    let look = try await look(for: token, until: end)
    request.look = look
    guard let next = look.next else {
      return isOverdue || clock() >= end || readers.isClosed
        ? HTTPResponse(headers: Self.headers) : nil
    }
    let payload = PushPayload(next.entry.notification, badge: next.badge, reader: .courier)
    return HTTPResponse(
      headers: Self.headers + [("Content-Type", "application/json; charset=utf-8")],
      body: .data(Data(payload.bytes)))
  }

  /// Has the token's next poll acknowledge what this look found.
  func remember(_ look: Look?) async throws {
    guard let look, let next = look.next else { return }
    try await answers.keepCourierAnswer(next.entry, forToken: look.token)
  }

  /// Has what this look found come again.
  func forget(_ look: Look?) async throws {
    guard let look, let next = look.next else { return }
    try await answers.withdrawCourierAnswer(next.entry, forToken: look.token)
  }

  private func reader(of request: HTTPRequest) async throws -> DeviceToken {
    guard let text = try request.plainQuery("tok"), !text.isEmpty else {
      throw ServiceError(.badRequest, "tok: is missing")
    }
    guard let device = try await CourierToken.reader(withToken: text, in: devices),
      device.expires.map({ $0 > clock() }) ?? true
    else {
      throw ServiceError(
        .authenticationFailed,
        "tok: the web courier token is unknown or has expired; make a new one with tokens/create")
    }
    return device
  }

  /// What was found in the log for a reader, which listens from before the look until this goes away.
  final class Look: Sendable {
    let token: String
    let reader: CourierReaders.Reader
    let next: CourierEntry?
    private let readers: CourierReaders

    fileprivate init(
      _ token: String, _ reader: CourierReaders.Reader, of readers: CourierReaders,
      next: CourierEntry?
    ) {
      self.token = token
      self.reader = reader
      self.readers = readers
      self.next = next
    }

    deinit { readers.unregister(reader) }

    /// Returns when something may have come, when the time is up, or when the task is cancelled.
    func wait() async { await reader.wait() }
  }

  func look(
    for token: String, after position: CourierPosition = CourierPosition(),
    until deadline: Timestamp
  ) async throws -> Look {
    let reader = readers.register(
      userRecordNames: try await listeners(withToken: token), deadline: deadline)
    do {
      let next = try await store.nextCourierEntry(forToken: token, after: position)
      return Look(token, reader, of: readers, next: next)
    } catch {
      readers.unregister(reader)
      throw error
    }
  }

  /// The users for whom a reader listens. A reader that goes on listening asks again, for a page
  /// registers its token for one container after the other.
  func listeners(withToken token: String) async throws -> Set<String> {
    Set(try await devices.courierRegistrations(ofToken: token).map(\.userRecordName))
  }

  private static let headers = [("Cache-Control", "no-store")]
}

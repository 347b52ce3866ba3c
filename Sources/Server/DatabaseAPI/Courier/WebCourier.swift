import CloudKitModel
import Foundation
import HTTPService
import PushChannels
import StoreModel
import WebServices

/// The web courier: a long poll that answers with one notification at a time, as Apple's courier
/// does.
///
/// A reader is a page or a program with a token of `tokens/create`. The store keeps a cursor for
/// each reader: its position in the notification log. The reader's next poll acknowledges an answer
/// and so moves the cursor. After an interruption a reader therefore gets the notifications that it
/// missed, unless retention has deleted them.
///
/// If several servers use the store, the store keeps the last answers too, so that the next poll
/// may reach any server. ``CourierRequest`` executes a request.
package final class WebCourier: Sendable {
  /// The path of the courier.
  package static let path = "/aps"

  /// The notification log as readers see it.
  let store: any CourierStore
  /// The tokens of readers, and the containers for which they are registered.
  private let devices: any DeviceReading
  /// The cipher that seals the positions of readers, so that no reader can invent one.
  let tokens: TokenCipher
  /// The waiting polls and event streams.
  let readers: CourierReaders
  /// The open event streams.
  let streams = CourierStreams()
  /// The queue of requests that need the store: at most 64 are in progress at a time.
  let queue = CourierQueue(places: 64)
  /// The most seconds for which a poll waits for a notification.
  private let pollTime: Double
  /// The clock of the deadlines.
  let clock: @Sendable () -> Timestamp
  /// The last answers: in the store if several servers use it, otherwise in memory.
  private let answers: any CourierAnswers

  /// Creates the courier of a server.
  ///
  /// - Parameters:
  ///   - pollTime: the most seconds for which a poll waits for a notification.
  ///   - tokens: the cipher that seals the positions of readers.
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

  /// The number of requests that wait for a place in ``queue``.
  package var waitingRequestCount: Int { queue.waitingCount }
  /// The number of readers that wait for a notification, with polls and streams.
  package var waitingReaderCount: Int { readers.count }
  /// The number of those among them that have nothing to read.
  package var suspendedReaderCount: Int { readers.suspendedCount }
  /// The number of open event streams.
  package var streamCount: Int { streams.count }

  /// Ends the waits of these users' readers, because the users' notification logs have new entries.
  package func wake(_ userRecordNames: Set<String>) {
    readers.wake(userRecordNames)
  }

  /// Ends the waits of all readers, because any log may have new entries.
  package func wakeAll() { readers.wakeAll() }

  /// Ends the waits whose time is over, as the timer does once a second. Call this after the clock
  /// was set forward.
  package func endOverduePolls() {
    readers.endOverdue()
  }

  /// Ends the waits of all polls, and all streams. Later polls do not wait, and later streams end
  /// at once.
  package func close() {
    readers.close()
  }

  /// Answers `GET /aps?tok=…`, or returns nil if there is no notification yet.
  ///
  /// A request that accepts `text/event-stream` gets a stream. A poll gets 200 with one
  /// notification, or 200 with an empty body after the poll time. After nil, call ``Look/wait()``
  /// of ``CourierRequest/look``, then call this method again.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` for a token that is unknown or has expired. The client must
  ///   begin again with `tokens/create`. `BAD_REQUEST` if the token is missing, or for an invalid
  ///   `Last-Event-ID`.
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
    let look = try await look(for: token, limit: 1, until: end)
    request.look = look
    guard let next = look.entries.first else {
      return isOverdue || clock() >= end || readers.isClosed
        ? HTTPResponse(headers: Self.headers) : nil
    }
    let payload = PushPayload(next.entry.notification, badge: next.badge, reader: .courier)
    return HTTPResponse(
      headers: Self.headers + [("Content-Type", "application/json; charset=utf-8")],
      body: .data(Data(payload.bytes)))
  }

  /// Stores the notification that a search found, so that the reader's next poll acknowledges it.
  /// Without a notification it does nothing.
  func remember(_ look: Look?) async throws {
    guard let look, let next = look.entries.first else { return }
    try await answers.keepCourierAnswer(next.entry, forToken: look.token)
  }

  /// Deletes what ``remember(_:)`` has stored, so that the reader's next poll finds the
  /// notification again.
  func forget(_ look: Look?) async throws {
    guard let look, let next = look.entries.first else { return }
    try await answers.withdrawCourierAnswer(next.entry, forToken: look.token)
  }

  /// Returns the reader that a request's token names.
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

  /// The result of a search in the notification log. The reader is registered among the waiting
  /// ones before the search, until this object is released.
  final class Look: Sendable {
    /// The name of the reader in the store.
    let token: String
    /// The registration among the waiting readers.
    let reader: CourierReaders.Reader
    /// The next notifications; empty if there is none.
    let entries: [CourierEntry]
    private let readers: CourierReaders

    fileprivate init(
      _ token: String, _ reader: CourierReaders.Reader, of readers: CourierReaders,
      entries: [CourierEntry]
    ) {
      self.token = token
      self.reader = reader
      self.readers = readers
      self.entries = entries
    }

    deinit { readers.unregister(reader) }

    /// Waits until a notification may have come, the time is over, the server shuts down, or the
    /// task is cancelled.
    func wait() async { await reader.wait() }
  }

  /// Registers a reader, and searches the notification log for the reader's next notifications.
  ///
  /// - Parameters:
  ///   - token: the name of the reader in the store.
  ///   - position: the position after which the search begins; empty for the store's cursor.
  ///   - limit: the most notifications to find.
  ///   - deadline: the time at which the wait ends without a notification.
  func look(
    for token: String, after position: CourierPosition = CourierPosition(), limit: Int,
    until deadline: Timestamp
  ) async throws -> Look {
    let reader = readers.register(
      userRecordNames: try await listeners(withToken: token), deadline: deadline)
    do {
      let entries = try await store.courierEntries(
        forToken: token, after: position, limit: limit)
      return Look(token, reader, of: readers, entries: entries)
    } catch {
      readers.unregister(reader)
      throw error
    }
  }

  /// Returns the record names of the users whose notifications a reader gets.
  ///
  /// Each search calls this again, because a page registers its token for one container after the
  /// other.
  func listeners(withToken token: String) async throws -> Set<String> {
    Set(try await devices.courierRegistrations(ofToken: token).map(\.userRecordName))
  }

  /// The header fields of an answer to a poll.
  private static let headers = [("Cache-Control", "no-store")]
}

import CloudKitModel
import Concurrency
import Foundation
import HTTPService
import PushChannels
import Storage
import StoreModel
import Synchronization
import WebServices

/// The web courier: a long poll that answers with one notification at a time, as Apple's courier
/// does.
///
/// A reader is a page or a program with a token of `tokens/create`. The store keeps a cursor for
/// each reader: the last notification that the reader has acknowledged. After an interruption a
/// reader therefore gets the notifications that it missed, unless retention has deleted them.
///
/// A reader acknowledges in one of two ways:
///
/// - A poll that names the last event (``CourierPosition``) acknowledges the notifications up to that
///   event and no others, so no notification is lost.
/// - A poll that names none, as that of Apple's clients, acknowledges the last answer, unless the
///   server could not send it. An answer that was lost on its way counts as delivered.
///
/// A task keeps the memory of its deepest call until the task ends, and thousands of polls wait at
/// once. Therefore each step that uses the store runs in a task of its own (``CourierQueue``), which
/// ends before the wait.
package final class WebCourier: Sendable {
  package static let path = "/aps"
  let store: CourierService
  private let devices: DeviceService
  /// The cipher that seals the positions of readers, so that no reader can invent one.
  let tokens: TokenCipher
  let readers: CourierReaders
  let streams: CourierStreams
  /// The queue of requests that need the store: at most 64 are in progress at a time.
  let queue = CourierQueue(places: 64)
  /// The deletions of answers that were not sent, by the reader's token. See
  /// ``withdraw(_:forToken:)``.
  private let withdrawals = Mutex<[String: Task<Void, Never>]>([:])
  /// The most seconds for which a poll waits for a notification.
  private let pollTime: Double
  let clock: @Sendable () -> Timestamp
  /// Logs the failure of a deletion.
  private let report: @Sendable (any Error) -> Void

  package init(
    store: CourierService, devices: DeviceService, tokens: TokenCipher, pollTime: Double,
    streamsPerUser: Int, clock: @escaping @Sendable () -> Timestamp,
    report: @escaping @Sendable (any Error) -> Void
  ) {
    self.store = store
    self.devices = devices
    self.tokens = tokens
    self.pollTime = pollTime
    self.clock = clock
    self.report = report
    readers = CourierReaders(clock: clock)
    streams = CourierStreams(limit: streamsPerUser)
  }

  package var job: BackgroundJob { readers.job }
  /// The number of requests that wait for a place in ``queue``.
  package var waitingRequestCount: Int { queue.waitingCount }
  /// The number of readers that wait for a notification, with polls and streams.
  package var waitingReaderCount: Int { readers.count }
  /// The number of those among them that have nothing to read.
  package var suspendedReaderCount: Int { readers.suspendedCount }
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

  /// A request of a reader.
  struct Call: Sendable {
    /// The text of the reader's token.
    let token: String
    /// The position that the reader has sent; nil for the store's cursor.
    let last: CourierPosition?
    /// Whether the reader asks for a stream.
    let isStream: Bool
  }

  /// Parses `GET /aps?tok=…`.
  ///
  /// - Throws: `BAD_REQUEST` if the token is missing, or for an invalid `Last-Event-ID`.
  func call(of request: HTTPRequest) throws(ServiceError) -> Call {
    guard let token = try request.plainQuery("tok"), !token.isEmpty else {
      throw ServiceError(.badRequest, "tok: is missing")
    }
    return Call(
      token: token, last: try position(of: request), isStream: Self.asksForEvents(request))
  }

  /// Answers a poll: with the next notification when there is one, or with an empty body when the poll
  /// time is over or the task is cancelled.
  ///
  /// - Parameter last: the position that the reader has sent; nil for the store's cursor.
  /// - Throws: `AUTHENTICATION_FAILED` for a token that is unknown or has expired. The client must
  ///   begin again with `tokens/create`.
  func poll(_ token: String, after last: CourierPosition?) async throws -> HTTPResponse {
    let end = clock().advanced(bySeconds: pollTime)
    let reader = try await queue.serve(for: token) {
      try await self.reader(token, after: last, until: end)
    }
    defer { readers.unregister(reader) }
    while true {
      let answer = try await queue.serve(for: reader.queueKey) {
        try await self.next(of: reader, after: last)
      }
      if let answer { return answer }
      // Nobody reads the answer to a cancelled request.
      if Task.isCancelled || readers.isOver(reader) { return HTTPResponse(headers: Self.headers) }
      await reader.wait()
    }
  }

  /// Registers the reader of a poll among the waiting ones, after the poll has acknowledged what it says.
  private func reader(
    _ text: String, after last: CourierPosition?, until end: Timestamp
  ) async throws -> CourierReaders.Reader {
    let registrations = try await registrations(ofReader: text)
    let token = registrations[0].token
    if let last {
      try await acknowledge(upTo: last, byToken: token)
    } else {
      await withdrawals.withLock { $0[token] }?.value
      try await store.acknowledgeCourierAnswer(ofToken: token)
    }
    return readers.register(
      token, userRecordNames: Set(registrations.map(\.userRecordName)), deadline: end)
  }

  private func next(
    of reader: CourierReaders.Reader, after last: CourierPosition?
  ) async throws -> HTTPResponse? {
    reader.arm()
    let token = reader.token
    let found = try await store.courierEntries(
      forToken: token, after: last ?? CourierPosition(), limit: 1)
    guard let next = found.first else { return nil }
    var response = HTTPResponse(
      headers: Self.headers + [("Content-Type", "application/json; charset=utf-8")],
      body: .data(payload(of: next)))
    if var last {
      last.pass(next.entry)
      response.headers.append((Self.eventID, try last.text(sealedBy: tokens)))
    } else {
      try await store.keepCourierAnswer(next.entry, forToken: token)
      response.ifUnsent = { self.withdraw(next.entry, forToken: token) }
    }
    return response
  }

  /// Deletes the stored answer with this notification, because it was not sent. The reader's next poll
  /// at this server waits for the deletion, and gets the notification again. After a failure, which is
  /// logged, the reader misses the notification.
  private func withdraw(_ entry: LogEntry, forToken token: String) {
    withdrawals.withLock { pending in
      pending[token] = Task { [self] in
        do {
          try await queue.serve(for: token) {
            try await self.store.withdrawCourierAnswer(entry, forToken: token)
          }
        } catch {
          report(error)
        }
        withdrawals.withLock { $0[token] = nil }
      }
    }
  }

  /// Returns the payload for a reader. All readers share a payload without a badge.
  func payload(of next: CourierEntry) -> Data {
    let notification = next.entry.notification
    if let badge = next.badge {
      return Data(PushPayload(notification, badge: badge, reader: .courier).bytes)
    }
    return store.recentEntries.payload(of: next.entry) {
      Data(PushPayload(notification, badge: nil, reader: .courier).bytes)
    }
  }

  /// The header field of an answer to a poll that names the last event: the position after the
  /// answer.
  package static let eventID = "Event-ID"
  /// The most entries that are acknowledged at once.
  private static let acknowledgedAtOnce = 32

  /// Acknowledges the entries that a reader has read, up to the position that it sends. Usually this is
  /// the last answer alone.
  private func acknowledge(upTo position: CourierPosition, byToken token: String) async throws {
    while true {
      let unread = try await store.courierEntries(
        forToken: token, after: CourierPosition(), limit: Self.acknowledgedAtOnce)
      let read = unread.map(\.entry).filter(position.covers)
      if read.isEmpty { return }
      try await store.acknowledgeCourierEntries(read, forToken: token)
      if unread.count < Self.acknowledgedAtOnce { return }
    }
  }

  /// Returns the position that a reader sends, in `Last-Event-ID` or in the query parameter
  /// `lastEventId`. It is nil if the reader sends neither, and empty for an empty text: the reader has
  /// read nothing yet.
  ///
  /// - Throws: `BAD_REQUEST` for an event that no server of this store has made.
  private func position(of request: HTTPRequest) throws(ServiceError) -> CourierPosition? {
    guard let last = request.header("Last-Event-ID") ?? request.query("lastEventId") else {
      return nil
    }
    guard !last.isEmpty else { return CourierPosition() }
    guard let position = CourierPosition(last, sealedBy: tokens) else {
      throw ServiceError(
        .badRequest, "Last-Event-ID: '\(last.prefix(80))' is not an event of this reader")
    }
    return position
  }

  /// Returns the reader's registrations that have not expired. Without any, it throws
  /// `AUTHENTICATION_FAILED`.
  func registrations(ofReader text: String) async throws -> [DeviceToken] {
    let now = clock()
    let registrations = try await CourierToken.registrations(ofReader: text, in: devices)
    let valid = registrations.filter { $0.expires.map { $0 > now } ?? true }
    guard !valid.isEmpty else {
      throw ServiceError(
        .authenticationFailed,
        "tok: the web courier token is unknown or has expired; make a new one with tokens/create")
    }
    return valid
  }

  /// Returns the record names of the users whose notifications a reader gets.
  func listeners(withToken token: String) async throws -> Set<String> {
    Set(try await devices.registrations(ofToken: token, kind: .courier).map(\.userRecordName))
  }

  private static let headers = [("Cache-Control", "no-store")]
}

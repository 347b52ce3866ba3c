import CloudKitModel
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
/// ``CourierRequest`` executes a request.
package final class WebCourier: Sendable {
  /// The path of the courier.
  package static let path = "/aps"

  /// The notification log as readers see it.
  let store: CourierService
  /// The tokens of readers, and the containers for which they are registered.
  private let devices: DeviceService
  /// The cipher that seals the positions of readers, so that no reader can invent one.
  let tokens: TokenCipher
  /// The waiting polls and event streams.
  let readers: CourierReaders
  /// The open event streams.
  let streams: CourierStreams
  /// The queue of requests that need the store: at most 64 are in progress at a time.
  let queue = CourierQueue(places: 64)
  /// The deletions of answers that were not sent, by the reader's token. See
  /// ``CourierRequest/withdraw(_:forToken:)``.
  let withdrawals = Mutex<[String: Task<Void, Never>]>([:])
  /// The most seconds for which a poll waits for a notification.
  private let pollTime: Double
  /// The clock of the deadlines.
  let clock: @Sendable () -> Timestamp

  /// Creates the courier of a server.
  ///
  /// - Parameters:
  ///   - pollTime: the most seconds for which a poll waits for a notification.
  ///   - tokens: the cipher that seals the positions of readers.
  ///   - streamsPerUser: the most open event streams of one user.
  package init(
    store: CourierService, devices: DeviceService, tokens: TokenCipher, pollTime: Double,
    streamsPerUser: Int, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.store = store
    self.devices = devices
    self.tokens = tokens
    self.pollTime = pollTime
    self.clock = clock
    readers = CourierReaders(clock: clock)
    streams = CourierStreams(limit: streamsPerUser)
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
    let (token, deadline, last): (String, Timestamp?, CourierPosition?)
    let isOverdue = request.look?.reader.isOverdue ?? false
    if let look = request.look {
      (token, deadline, last) = (look.token, look.reader.deadline, look.position)
    } else {
      let device = try await reader(of: request.http)
      last = try position(of: request.http)
      if Self.asksForEvents(request.http) { return try events(to: device, after: last) }
      if let last {
        try await acknowledge(upTo: last, byToken: device.token)
      } else {
        await withdrawals.withLock { $0[device.token] }?.value
        try await store.acknowledgeCourierAnswer(ofToken: device.token)
      }
      (token, deadline) = (device.token, nil)
    }
    let end = deadline ?? clock().advanced(bySeconds: pollTime)
    let look = try await look(for: token, after: last, limit: 1, until: end)
    request.look = look
    guard let next = look.entries.first else {
      return isOverdue || clock() >= end || readers.isClosed
        ? HTTPResponse(headers: Self.headers) : nil
    }
    var response = HTTPResponse(
      headers: Self.headers + [("Content-Type", "application/json; charset=utf-8")],
      body: .data(payload(of: next)))
    if var last {
      last.pass(next.entry)
      response.headers.append((Self.eventID, try last.text(sealedBy: tokens)))
    } else {
      try await store.keepCourierAnswer(next.entry, forToken: token)
      response.ifUnsent = { request.withdraw(next.entry, forToken: token) }
    }
    // The reader no longer waits, even if its answer is under way for long.
    request.look = nil
    return response
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
  private func position(of request: HTTPRequest) throws -> CourierPosition? {
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

  /// Returns the reader that a request's token names.
  private func reader(of request: HTTPRequest) async throws -> DeviceToken {
    guard let text = try request.plainQuery("tok"), !text.isEmpty else {
      throw ServiceError(.badRequest, "tok: is missing")
    }
    let now = clock()
    guard
      let device = try await CourierToken.registrations(ofReader: text, in: devices)
        .first(where: { $0.expires.map { $0 > now } ?? true })
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
    /// The position that the reader has sent; nil if it sends none.
    let position: CourierPosition?
    /// The next notifications; empty if there is none.
    let entries: [CourierEntry]
    private let readers: CourierReaders

    fileprivate init(
      _ token: String, _ reader: CourierReaders.Reader, of readers: CourierReaders,
      after position: CourierPosition?, entries: [CourierEntry]
    ) {
      self.token = token
      self.reader = reader
      self.position = position
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
  ///   - position: the position after which the search begins; nil or empty for the store's cursor.
  ///   - limit: the most notifications to find.
  ///   - deadline: the time at which the wait ends without a notification.
  func look(
    for token: String, after position: CourierPosition?, limit: Int,
    until deadline: Timestamp
  ) async throws -> Look {
    let reader = readers.register(
      userRecordNames: try await listeners(withToken: token), deadline: deadline)
    do {
      let entries = try await store.courierEntries(
        forToken: token, after: position ?? CourierPosition(), limit: limit)
      return Look(token, reader, of: readers, after: position, entries: entries)
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
    Set(try await devices.registrations(ofToken: token, kind: .courier).map(\.userRecordName))
  }

  /// The header fields of an answer to a poll.
  private static let headers = [("Cache-Control", "no-store")]
}

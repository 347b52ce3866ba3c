import CloudKitModel
import Concurrency
import Dispatch
import Synchronization

/// The waiting polls and event streams of the web courier, by user.
///
/// A reader is a page or a program that polls the web courier, or reads a stream of it. It may be
/// registered in several containers, and in each as another user. One timer ends once a second all
/// waits whose time is over, so that no wait needs a timer of its own. A lock protects the entries.
final class CourierReaders: Sendable {
  /// A waiting poll or event stream.
  final class Reader: Sendable {
    /// The state behind the lock.
    private struct State {
      /// Whether ``CourierReaders/endOverdue()`` has ended the wait.
      var isOverdue = false
      /// The users whose notifications end the wait.
      var userRecordNames: Set<String> = []
      /// The time at which the wait ends without a notification.
      var deadline = Timestamp(milliseconds: .min)
    }

    /// The name of the reader in the store.
    let token: String
    private let state = Mutex(State())
    private let signal = AsyncSignal()

    fileprivate init(_ token: String) { self.token = token }

    fileprivate var userRecordNames: Set<String> { state.withLock { $0.userRecordNames } }
    fileprivate var deadline: Timestamp { state.withLock { $0.deadline } }
    /// Whether the wait ended because its time was over, or because the clock was set back.
    fileprivate var isOverdue: Bool { state.withLock { $0.isOverdue } }
    /// Whether the task is suspended, so that its search has found nothing and no notification has come
    /// since.
    fileprivate var isSuspended: Bool { signal.isAwaited }
    /// The key of the queue in which the reader's requests wait: one of its users.
    var queueKey: String { userRecordNames.min() ?? token }

    /// Begins a search in the notification log: a notification that comes from now on ends the next
    /// ``wait()``.
    func arm() { signal.clear() }

    fileprivate func renew(_ userRecordNames: Set<String>, until deadline: Timestamp) {
      signal.clear()
      state.withLock {
        $0 = State(isOverdue: false, userRecordNames: userRecordNames, deadline: deadline)
      }
    }

    /// Waits until a notification of one of the users may have come, the time is over, the server
    /// shuts down, or the task is cancelled.
    func wait() async { await signal.waitOrCancellation() }

    /// Ends the wait. If there is none, a later ``wait()`` returns at once.
    fileprivate func wake(isOverdue: Bool = false) {
      if isOverdue { state.withLock { $0.isOverdue = true } }
      signal.signal()
    }
  }

  /// The state behind the lock.
  private struct State {
    /// The readers by user record name. A reader is in the entries of all its users.
    var readers: [String: [ObjectIdentifier: Reader]] = [:]
    /// The number of readers, each counted once.
    var count = 0
    /// Whether the server is shutting down, so that no wait begins.
    var isClosed = false
    /// The time of the last call of ``endOverdue()``.
    var looked = Timestamp(milliseconds: .min)

    mutating func add(_ reader: Reader) {
      count += 1
      for name in reader.userRecordNames {
        readers[name, default: [:]][ObjectIdentifier(reader)] = reader
      }
    }

    mutating func remove(_ reader: Reader) {
      let names = reader.userRecordNames
      if names.contains(where: { readers[$0]?[ObjectIdentifier(reader)] != nil }) { count -= 1 }
      for name in names {
        readers[name]?[ObjectIdentifier(reader)] = nil
        if readers[name]?.isEmpty ?? false { readers[name] = nil }
      }
    }
  }

  private let state = Mutex(State())
  /// Dispatch allows every thread to use a timer source, but the Swift type is not `Sendable`.
  private nonisolated(unsafe) let timer: any DispatchSourceTimer
  let job = BackgroundJob("overdue polls", of: "DatabaseAPI", "every second")
  /// The clock of the deadlines. It is not monotonic: an operator may set it.
  private let clock: @Sendable () -> Timestamp

  /// Creates the timer, which fires once a second until the object is released.
  init(clock: @escaping @Sendable () -> Timestamp) {
    self.clock = clock
    timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + 1, repeating: 1)
    timer.setEventHandler { [weak self, job] in
      self?.endOverdue()
      job.succeed()
    }
    timer.resume()
  }

  deinit {
    timer.cancel()
  }

  var count: Int { state.withLock { $0.count } }

  var suspendedCount: Int {
    let all = state.withLock { state in state.readers.values.flatMap { $0 } }
    return Dictionary(all, uniquingKeysWith: { $1 }).values.count { $0.isSuspended }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Adds a reader whose wait ends when one of these users may have a new notification.
  ///
  /// Call this before the search in the notification log. Otherwise the reader would miss a
  /// notification that comes between the search and the registration.
  ///
  /// - Returns: the reader. Its wait has already ended if the server is shutting down.
  func register(
    _ token: String, userRecordNames: Set<String>, deadline: Timestamp
  ) -> Reader {
    let reader = Reader(token)
    renew(reader, userRecordNames: userRecordNames, deadline: deadline)
    return reader
  }

  func renew(_ reader: Reader, userRecordNames: Set<String>, deadline: Timestamp) {
    let isClosed = state.withLock { state in
      state.remove(reader)
      reader.renew(userRecordNames, until: deadline)
      if !state.isClosed { state.add(reader) }
      return state.isClosed
    }
    if isClosed { reader.wake() }
  }

  /// Whether a reader waits no longer without a notification: its time is over, or the server is
  /// shutting down.
  func isOver(_ reader: Reader) -> Bool {
    reader.isOverdue || reader.deadline <= clock() || isClosed
  }

  /// Removes a reader. A second call changes nothing.
  func unregister(_ reader: Reader) {
    state.withLock { $0.remove(reader) }
  }

  func wake(_ userRecordNames: Set<String>) {
    let awake = state.withLock { state in
      userRecordNames.flatMap { name in state.readers[name].map { Array($0.values) } ?? [] }
    }
    for reader in awake { reader.wake() }
  }

  func wakeAll() {
    let all = state.withLock { $0.readers.values.flatMap { $0.values } }
    for reader in all { reader.wake() }
  }

  /// A reader that registers later does not wait. The server calls this at shutdown.
  func close() {
    let all = state.withLock { state in
      state.isClosed = true
      return state.readers.values.flatMap { $0.values }
    }
    for reader in all { reader.wake() }
  }

  /// Seconds by which the clock may go back between two calls of ``endOverdue()`` without counting
  /// as set back.
  private static let tolerance = 1.0

  /// Ends the waits whose time is over.
  ///
  /// If the clock was set back, each wait would last longer by that time. After a change of more
  /// than ``tolerance`` seconds the method therefore ends all waits.
  func endOverdue() {
    let now = clock()
    let overdue = state.withLock { state in
      let wasSetBack = now.advanced(bySeconds: Self.tolerance) < state.looked
      state.looked = now
      return state.readers.values.flatMap {
        $0.values.filter { wasSetBack || $0.deadline <= now }
      }
    }
    for reader in overdue { reader.wake(isOverdue: true) }
  }
}

import CloudKitModel
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
      /// Whether the wait has ended.
      var isDone = false
      /// Whether ``CourierReaders/endOverdue()`` has ended the wait.
      var isOverdue = false
      /// The suspended task; nil before ``Reader/wait()`` and after the end.
      var continuation: CheckedContinuation<Void, Never>?
    }

    /// The users whose notifications end the wait.
    let userRecordNames: Set<String>
    /// The time at which the wait ends without a notification.
    let deadline: Timestamp
    private let state = Mutex(State())

    /// Creates a reader. ``CourierReaders/register(userRecordNames:deadline:)`` calls this, and
    /// adds the reader to the others.
    init(userRecordNames: Set<String>, deadline: Timestamp) {
      self.userRecordNames = userRecordNames
      self.deadline = deadline
    }

    /// Waits until a notification of one of the users may have come, the time is over, the server
    /// shuts down, or the task is cancelled.
    func wait() async {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isDone = state.withLock { state in
            if !state.isDone { state.continuation = continuation }
            return state.isDone
          }
          if isDone { continuation.resume() }
        }
      } onCancel: {
        wake()
      }
    }

    /// Whether the wait ended because its time was over, or because the clock was set back.
    var isOverdue: Bool { state.withLock { $0.isOverdue } }

    /// Whether the task is suspended, so that its search has found nothing and no notification has come
    /// since.
    fileprivate var isSuspended: Bool { state.withLock { $0.continuation != nil } }

    /// Ends the wait. A later ``wait()`` returns at once.
    fileprivate func wake(isOverdue: Bool = false) {
      let continuation = state.withLock { state in
        state.isDone = true
        if isOverdue { state.isOverdue = true }
        defer { state.continuation = nil }
        return state.continuation
      }
      continuation?.resume()
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
  }

  private let state = Mutex(State())
  /// Dispatch allows every thread to use a timer source, but the Swift type is not `Sendable`.
  private nonisolated(unsafe) let timer: any DispatchSourceTimer
  /// The clock of the deadlines. It is not monotonic: an operator may set it.
  private let clock: @Sendable () -> Timestamp

  /// Creates the timer, which fires once a second until the object is released.
  init(clock: @escaping @Sendable () -> Timestamp) {
    self.clock = clock
    timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + 1, repeating: 1)
    timer.setEventHandler { [weak self] in self?.endOverdue() }
    timer.resume()
  }

  deinit {
    timer.cancel()
  }

  /// The number of waiting polls and event streams.
  var count: Int { state.withLock { $0.count } }

  /// The number of waiting polls and event streams whose tasks are suspended.
  var suspendedCount: Int {
    let all = state.withLock { state in state.readers.values.flatMap { $0 } }
    return Dictionary(all, uniquingKeysWith: { $1 }).values.count { $0.isSuspended }
  }

  /// Whether ``close()`` was called.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Adds a reader whose wait ends when one of these users may have a new notification.
  ///
  /// Call this before the search in the notification log. Otherwise the reader would miss a
  /// notification that comes between the search and the registration.
  ///
  /// - Parameter deadline: the time at which the wait ends without a notification.
  /// - Returns: the reader. Its wait has already ended if the server is shutting down.
  func register(userRecordNames: Set<String>, deadline: Timestamp) -> Reader {
    let reader = Reader(userRecordNames: userRecordNames, deadline: deadline)
    let isClosed = state.withLock { state in
      if !state.isClosed {
        state.count += 1
        for name in userRecordNames {
          state.readers[name, default: [:]][ObjectIdentifier(reader)] = reader
        }
      }
      return state.isClosed
    }
    if isClosed { reader.wake() }
    return reader
  }

  /// Removes a reader. A second call changes nothing.
  func unregister(_ reader: Reader) {
    state.withLock { state in
      let isThere = reader.userRecordNames.contains {
        state.readers[$0]?[ObjectIdentifier(reader)] != nil
      }
      if isThere { state.count -= 1 }
      for name in reader.userRecordNames {
        state.readers[name]?[ObjectIdentifier(reader)] = nil
        if state.readers[name]?.isEmpty ?? false { state.readers[name] = nil }
      }
    }
  }

  /// Ends the waits of all readers of these users.
  func wake(_ userRecordNames: Set<String>) {
    let awake = state.withLock { state in
      userRecordNames.flatMap { name in state.readers[name].map { Array($0.values) } ?? [] }
    }
    for reader in awake { reader.wake() }
  }

  /// Ends all waits.
  func wakeAll() {
    let all = state.withLock { $0.readers.values.flatMap { $0.values } }
    for reader in all { reader.wake() }
  }

  /// Ends all waits. A reader that registers later does not wait. The server calls this at
  /// shutdown.
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

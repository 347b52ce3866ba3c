import CloudKitModel
import Dispatch
import Synchronization

/// The long polls that wait for a notification, by user. A reader that listens in several containers
/// may do so as several users.
///
/// A poll that waits costs one entry here and no timer of its own: one timer ends all polls whose
/// time is up.
final class CourierReaders: Sendable {
  /// A poll that waits.
  final class Reader: Sendable {
    private struct State {
      var isDone = false
      var isOverdue = false
      var continuation: CheckedContinuation<Void, Never>?
    }

    let userRecordNames: Set<String>
    let deadline: Timestamp
    private let state = Mutex(State())

    init(userRecordNames: Set<String>, deadline: Timestamp) {
      self.userRecordNames = userRecordNames
      self.deadline = deadline
    }

    /// Returns when something may have come for one of the users, when the time is up, or when the task is
    /// cancelled.
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

    /// Whether the wait ended because the time was up.
    var isOverdue: Bool { state.withLock { $0.isOverdue } }

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

  private struct State {
    var readers: [String: [ObjectIdentifier: Reader]] = [:]
    /// How many there are; each is there by the name of every user that it listens for.
    var count = 0
    var isClosed = false
    /// When it was last looked for polls whose time is up.
    var looked = Timestamp(milliseconds: .min)
  }

  private let state = Mutex(State())
  /// Dispatch sources may be used from any thread; their Swift type does not say so.
  private nonisolated(unsafe) let timer: any DispatchSourceTimer
  private let clock: @Sendable () -> Timestamp

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

  /// Polls and event streams that wait.
  var count: Int { state.withLock { $0.count } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Begins to listen for users. Call it before looking into the log, so that nothing slips
  /// through in between.
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

  /// Wakes the polls of these users.
  func wake(_ userRecordNames: Set<String>) {
    let awake = state.withLock { state in
      userRecordNames.flatMap { name in state.readers[name].map { Array($0.values) } ?? [] }
    }
    for reader in awake { reader.wake() }
  }

  /// Wakes the polls of all.
  func wakeAll() {
    let all = state.withLock { $0.readers.values.flatMap { $0.values } }
    for reader in all { reader.wake() }
  }

  /// Ends all polls, now and from now on.
  func close() {
    let all = state.withLock { state in
      state.isClosed = true
      return state.readers.values.flatMap { $0.values }
    }
    for reader in all { reader.wake() }
  }

  /// Seconds by which a clock is corrected without anybody's notice.
  private static let tolerance = 1.0

  /// Wakes the polls whose time is up. Where the clock was set back nobody can tell, and a poll would
  /// wait for so much longer: then they are all.
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

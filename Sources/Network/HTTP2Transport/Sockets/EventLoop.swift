import CLinuxEvents
import Foundation
import Synchronization

/// A thread that waits for sockets and timers (epoll) and runs their handlers.
///
/// All code of a connection runs on the thread of the connection's loop, one call after the other.
/// So this code needs no locks. Code on a loop must not block.
///
/// Unchecked: a lock protects `shared`; all other state is used on the loop's thread only.
public final class EventLoop: @unchecked Sendable {
  /// The state that any thread may use, behind the lock.
  private struct Shared {
    var tasks: [@Sendable () -> Void] = []
    var isShutDown = false
  }

  private let shared = Mutex(Shared())
  private let nextTimerID = Atomic<UInt64>(1)
  private let threadID = Atomic<UInt>(0)
  private let pollDescriptor: Int32
  /// An `eventfd`. Other threads write to it to end the wait of the loop's thread.
  private let wakeDescriptor: Int32

  /// The handlers of the registered descriptors, by token. Token zero belongs to `wakeDescriptor`.
  private var handlers: [UInt64: any EventHandler] = [:]
  private var nextToken: UInt64 = 1
  private var timers = TimerQueue()
  private var isRunning = true

  /// The time of the present round, in nanoseconds of the monotonic clock. The loop reads the clock
  /// once in each round, after the wait.
  package private(set) var now: Int64 = EventLoop.readClock()

  /// A buffer of 64 KiB for one read. All handlers share it; its contents are valid until the
  /// handler returns.
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)

  /// Starts a loop on a new thread. The running thread keeps the loop alive; ``shutDown()`` ends
  /// the thread.
  ///
  /// - Parameter name: the thread's name in debuggers; Linux shows 15 bytes of it.
  /// - Throws: ``HTTP2Error/Code/systemFailure`` when the process has no descriptors left.
  public init(name: String) throws(HTTP2Error) {
    pollDescriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard pollDescriptor >= 0 else { throw .system("an event loop cannot be created") }
    wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    // `deinit` closes the other descriptor: every property has its value when the error is thrown.
    guard wakeDescriptor >= 0 else { throw .system("an event loop cannot be created") }
    var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: 0))
    epoll_ctl(pollDescriptor, EPOLL_CTL_ADD, wakeDescriptor, &event)
    let thread = Thread { [self] in run() }
    thread.name = name
    thread.start()
  }

  deinit {
    close(wakeDescriptor)
    close(pollDescriptor)
    readBuffer.deallocate()
  }

  /// Whether the caller is on the loop's thread.
  public var isCurrent: Bool { threadID.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Runs `body` on the loop's thread soon, in the order of the calls.
  ///
  /// The queue has no limit. So a caller must not call this method for each item of data, but once
  /// for many items, as connections do.
  ///
  /// - Returns: `true` if `body` will run; `false` if the loop is shut down, and `body` does not
  ///   run.
  @discardableResult
  public func execute(_ body: @escaping @Sendable () -> Void) -> Bool {
    let (isAccepted, isFirst) = shared.withLock { shared in
      guard !shared.isShutDown else { return (false, false) }
      shared.tasks.append(body)
      return (true, shared.tasks.count == 1)
    }
    if isFirst, !isCurrent { wake() }
    return isAccepted
  }

  /// Runs `body` on the loop's thread after `delay`, unless the timer is cancelled before.
  ///
  /// - Returns: the timer, for ``cancel(_:)``.
  @discardableResult
  public func schedule(
    after delay: Duration, _ body: @escaping @Sendable () -> Void
  ) -> ScheduledTimer {
    let timer = ScheduledTimer(id: nextTimerID.add(1, ordering: .relaxed).oldValue)
    let deadline = Self.readClock() + delay.nanoseconds
    if isCurrent {
      timers.insert(id: timer.id, deadline: deadline, action: body)
    } else {
      execute { self.timers.insert(id: timer.id, deadline: deadline, action: body) }
    }
    return timer
  }

  /// Cancels a timer. Does nothing if it has run.
  ///
  /// After a call from another thread, the timer may still run before the loop processes the
  /// cancellation.
  public func cancel(_ timer: ScheduledTimer) {
    if isCurrent {
      timers.cancel(id: timer.id)
    } else {
      execute { self.timers.cancel(id: timer.id) }
    }
  }

  /// Ends the thread after it has run the bodies that ``execute(_:)`` has queued.
  ///
  /// Pending timers do not run. Close the loop's connections and servers first, because their
  /// requests get no answer after this.
  public func shutDown() {
    execute { self.isRunning = false }
  }

  // MARK: Descriptors, on the loop's thread

  /// Calls `handler` whenever `descriptor` is ready for an event of `interest`, or has failed.
  ///
  /// - Returns: a token for later calls. The loop never uses a token twice. The system may give the
  ///   number of a closed descriptor to a new one. Because of the token, an old event does not
  ///   reach the new handler.
  func register(_ descriptor: Int32, _ interest: Readiness, _ handler: any EventHandler) -> UInt64 {
    let token = nextToken
    nextToken += 1
    handlers[token] = handler
    control(EPOLL_CTL_ADD, descriptor, token, interest)
    return token
  }

  func modify(_ descriptor: Int32, _ interest: Readiness, token: UInt64) {
    control(EPOLL_CTL_MOD, descriptor, token, interest)
  }

  /// Releases the handler. Call this method before you close the descriptor.
  func unregister(_ descriptor: Int32, token: UInt64) {
    guard handlers.removeValue(forKey: token) != nil else { return }
    control(EPOLL_CTL_DEL, descriptor, token, [])
  }

  /// Calls `epoll_ctl`. A failure is a mistake in this module, so the process stops.
  private func control(
    _ operation: Int32, _ descriptor: Int32, _ token: UInt64, _ interest: Readiness
  ) {
    var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: token))
    let result = epoll_ctl(pollDescriptor, operation, descriptor, &event)
    precondition(result == 0, "epoll_ctl failed with errno \(errno): a descriptor is used wrongly")
  }

  // MARK: The thread

  /// Runs the loop until it is shut down. Each round waits, then calls the handlers of ready
  /// descriptors, then runs due timers, then tasks.
  private func run() {
    threadID.store(UInt(pthread_self()), ordering: .relaxed)
    // A write to a socket whose peer is gone raises SIGPIPE, which would end the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)

    var events = [epoll_event](repeating: epoll_event(), count: 256)
    while isRunning {
      let count = Int(epoll_wait(pollDescriptor, &events, Int32(events.count), timeUntilNextWork()))
      now = Self.readClock()
      for index in 0..<max(count, 0) {
        let token = events[index].data.u64
        if token == 0 {
          drainWakeUps()
        } else {
          handlers[token]?.handle(Readiness(rawValue: events[index].events))
        }
      }
      while let action = timers.popDue(at: now) { action() }
      runTasks()
    }
    shared.withLock { $0.isShutDown = true }
    runTasks()
    handlers.removeAll()
    // The actions of the remaining timers usually have a reference to the loop, so the loop would
    // never be released with them.
    timers = TimerQueue()
    threadID.store(0, ordering: .relaxed)
  }

  /// Runs the tasks that are queued now. Tasks that they add run in the next round.
  private func runTasks() {
    let tasks = shared.withLock { shared in
      defer { shared.tasks = [] }
      return shared.tasks
    }
    for task in tasks { task() }
  }

  /// Returns the milliseconds to wait, rounded up; 0 if a task is queued, -1 without a timer.
  private func timeUntilNextWork() -> Int32 {
    if shared.withLock({ !$0.tasks.isEmpty }) { return 0 }
    guard let deadline = timers.nextDeadline() else { return -1 }
    let remaining = max(deadline - Self.readClock(), 0)
    return Int32(clamping: (remaining + 999_999) / 1_000_000)
  }

  /// Ends the present or next wait of the loop's thread.
  private func wake() {
    var one: UInt64 = 1
    write(wakeDescriptor, &one, 8)
  }

  private func drainWakeUps() {
    var count: UInt64 = 0
    read(wakeDescriptor, &count, 8)
  }

  private static func readClock() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// The ID of a timer that ``EventLoop/schedule(after:_:)`` created.
public struct ScheduledTimer: Sendable, Hashable {
  let id: UInt64
}

/// A set of events of a descriptor, in epoll's bits.
struct Readiness: OptionSet {
  var rawValue: UInt32

  static let readable = Readiness(rawValue: EPOLLIN.rawValue)
  static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
  /// An error, or the end of both directions of a connection. epoll reports these events without
  /// being asked.
  static let failed = Readiness(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
}

/// An object that an event loop calls when its descriptor is ready.
protocol EventHandler: AnyObject {
  /// Runs on the loop's thread. The loop calls again in the next round while the descriptor stays
  /// ready.
  func handle(_ readiness: Readiness)
}

extension Duration {
  /// The duration in whole nanoseconds. A duration that is too long for 64 bits becomes a quarter
  /// of the greatest value, so that adding it to a clock cannot overflow.
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min / 4 : .max / 4) : product + attoseconds / 1_000_000_000
  }
}

extension HTTP2Error {
  /// Creates an error that ends with the system's description of `errno`.
  static func system(_ reason: String, code: Code = .systemFailure) -> HTTP2Error {
    HTTP2Error(code, "\(reason): \(String(cString: strerror(errno)))")
  }
}

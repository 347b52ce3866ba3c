#if os(Linux)
internal import CCurl
import Synchronization

/// Carries transfers out on a thread of its own, which lives as long as the program.
///
/// Unchecked: what is not behind the lock is touched on that thread only, but for `curl_multi_wakeup`, which any
/// thread may call.
final class CurlLoop: @unchecked Sendable {
  private enum Command {
    case start(CurlTransfer)
    case cancel(CurlTransfer)
  }

  private let commands = Mutex<[Command]>([])
  /// Nil when libcurl cannot be started; no transfer succeeds then.
  private let multi: UnsafeMutableRawPointer?
  private var underWay: [UnsafeMutableRawPointer: CurlTransfer] = [:]

  private static let isLibraryReady = petrel_curl_global_init() == CURLE_OK

  /// - Parameters:
  ///   - name: the thread's name in debuggers, of at most 15 characters.
  ///   - connectionsPerHost: how many are open at a time; transfers beyond wait for one.
  init(name: String, connectionsPerHost: Int) {
    multi = Self.isLibraryReady ? curl_multi_init() : nil
    guard let multi else { return }
    petrel_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost)
    let thread = Thread { [self] in run() }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Starts a transfer.
  ///
  /// - Returns: what cancels it.
  func start(_ transfer: CurlTransfer) -> @Sendable () -> Void {
    guard multi != nil else {
      transfer.finish(.failure(TransportFailure(.unreachable, "libcurl cannot be started")))
      return {}
    }
    commands.withLock { $0.append(.start(transfer)) }
    curl_multi_wakeup(multi)
    return { [self] in
      commands.withLock { $0.append(.cancel(transfer)) }
      curl_multi_wakeup(multi)
    }
  }

  // MARK: The thread

  private func run() -> Never {
    // Writing to a socket whose peer has gone would otherwise end the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    while true {
      carryOutCommands()
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      // What has ended leaves its connection to one that waits.
      if finishEnded() { continue }
      curl_multi_poll(multi, nil, 0, endSilent(), nil)
    }
  }

  private func carryOutCommands() {
    let commands = commands.withLock { commands in
      defer { commands = [] }
      return commands
    }
    for command in commands {
      switch command {
      case .start(let transfer): begin(transfer)
      case .cancel(let transfer):
        end(transfer, .failure(TransportFailure(.cancelled, "the request was cancelled")))
      }
    }
  }

  private func begin(_ transfer: CurlTransfer) {
    do throws(TransportFailure) {
      let easy = try transfer.prepare()
      guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
        throw TransportFailure(.unreachable, "libcurl took no request")
      }
      underWay[easy] = transfer
    } catch {
      transfer.finish(.failure(error))
    }
  }

  /// Finishes what has ended; false when nothing has.
  private func finishEnded() -> Bool {
    var hasEnded = false
    var code = CURLE_OK
    while let easy = petrel_curl_next_ended(multi, &code) {
      guard let transfer = underWay[easy] else { continue }
      hasEnded = true
      end(transfer, transfer.result(code))
    }
    return hasEnded
  }

  /// Finishes what has been silent for too long.
  ///
  /// - Returns: milliseconds until the next one may have been.
  private func endSilent() -> Int32 {
    let now = SuspendingClock.now
    var next = Duration.seconds(60)
    for transfer in underWay.values {
      guard let deadline = transfer.deadline else { continue }
      if deadline <= now {
        end(transfer, transfer.result(CURLE_OPERATION_TIMEDOUT))
      } else {
        next = min(next, now.duration(to: deadline))
      }
    }
    return Int32(next / .milliseconds(1)) + 1
  }

  private func end(
    _ transfer: CurlTransfer, _ result: Result<TransportResponse, TransportFailure>
  ) {
    guard let easy = transfer.easy, underWay.removeValue(forKey: easy) != nil else { return }
    curl_multi_remove_handle(multi, easy)
    transfer.finish(result)
  }
}
#endif

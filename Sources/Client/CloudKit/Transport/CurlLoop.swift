#if os(Linux)
internal import CCurl
import Synchronization

/// A thread that carries out transfers with libcurl's multi interface, which runs many transfers in
/// one thread. The thread lives as long as the program.
///
/// Unchecked: a lock protects `commands`. After the initializer, only the thread uses `underWay`,
/// and other threads use `multi` only to call `curl_multi_wakeup`. libcurl allows this call from
/// any thread.
final class CurlLoop: @unchecked Sendable {
  /// A command from another thread to the thread of the loop.
  private enum Command {
    case start(CurlTransfer)
    case cancel(CurlTransfer)
  }

  /// The commands that the thread has not carried out yet.
  private let commands = Mutex<[Command]>([])
  /// libcurl's handle for all transfers. Nil if libcurl cannot be started; each transfer then
  /// fails.
  private let multi: UnsafeMutableRawPointer?
  /// The transfers in progress. The keys are libcurl's handles of the transfers.
  private var underWay: [UnsafeMutableRawPointer: CurlTransfer] = [:]

  /// Whether libcurl was initialised. The first use of this variable initialises it.
  private static let isLibraryReady = petrel_curl_global_init() == CURLE_OK

  /// Makes a loop and starts its thread.
  ///
  /// - Parameters:
  ///   - name: The name of the thread in debuggers, with at most 15 characters.
  ///   - connectionsPerHost: The largest number of open connections to a host. Further transfers
  ///     wait until a connection is free.
  init(name: String, connectionsPerHost: Int) {
    multi = Self.isLibraryReady ? curl_multi_init() : nil
    guard let multi else { return }
    petrel_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost)
    let thread = Thread { [self] in run() }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Starts a transfer and returns at once. Any thread may call the method.
  ///
  /// - Returns: A function that cancels the transfer. The function does nothing after the end of
  ///   the transfer.
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

  /// The loop of the thread.
  private func run() -> Never {
    // A write to a socket whose peer has closed it sends SIGPIPE, which would end the process. The
    // thread therefore blocks this signal.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    while true {
      carryOutCommands()
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      // A transfer that has ended frees its connection, and another transfer may wait for it. So
      // the loop runs again without waiting.
      if finishEnded() { continue }
      curl_multi_poll(multi, nil, 0, endSilent(), nil)
    }
  }

  /// Carries out the commands from other threads.
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

  /// Starts a transfer in libcurl. Fails the transfer if libcurl refuses it.
  private func begin(_ transfer: CurlTransfer) {
    do throws(TransportFailure) {
      let easy = try transfer.prepare()
      guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
        throw TransportFailure(.unreachable, "libcurl refused the request")
      }
      underWay[easy] = transfer
    } catch {
      transfer.finish(.failure(error))
    }
  }

  /// Finishes the transfers that libcurl has ended, and returns whether there were any.
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

  /// Fails with `timedOut` the transfers that have sent and received no byte for longer than their
  /// timeout.
  ///
  /// - Returns: The milliseconds until the next deadline, at most about a minute.
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

  /// Removes a transfer from libcurl and finishes it. Does nothing if the transfer is not in
  /// progress.
  private func end(
    _ transfer: CurlTransfer, _ result: Result<TransportResponse, TransportFailure>
  ) {
    guard let easy = transfer.easy, underWay.removeValue(forKey: easy) != nil else { return }
    curl_multi_remove_handle(multi, easy)
    transfer.finish(result)
  }
}
#endif

import CCurl
import Foundation
import Synchronization

/// A thread that carries out transfers with libcurl's multi interface, which runs many transfers in
/// one thread. The thread lives until ``close()``.
///
/// Unchecked: a lock protects `shared`. Only the thread uses the other variables; other threads use
/// `multi` only under the lock, to call `curl_multi_wakeup`, which libcurl allows from any thread.
package final class TransferLoop: @unchecked Sendable {
  /// A command from another thread to the thread of the loop.
  private enum Command {
    case start(Transfer)
    case cancel(Transfer)
  }

  /// The state that any thread may use, protected by the lock.
  private struct Shared {
    /// The commands that the thread has not carried out yet.
    var commands: [Command] = []
    var isClosed = false
    /// Whether the thread has ended and libcurl's handle is released.
    var isOver = false
    /// The calls of ``close()`` that wait for the end of the thread.
    var closers: [CheckedContinuation<Void, Never>] = []
  }

  private let shared = Mutex(Shared())
  /// libcurl's handle for all transfers.
  private let multi: UnsafeMutableRawPointer
  /// The transfers in progress, by libcurl's handles of them.
  private var underWay: [UnsafeMutableRawPointer: Transfer] = [:]
  /// Whether the thread must call libcurl again before it waits for the sockets.
  private var mustCallAgain = false
  private let afterCall: () -> Void

  /// Whether libcurl's global set-up succeeded. The set-up runs once in the process.
  private static let isLibraryReady = petrel_curl_global_init() == CURLE_OK

  /// Makes a loop and starts its thread. The result is `nil` if libcurl cannot be started.
  ///
  /// - Parameters:
  ///   - name: The name of the thread in debuggers, with at most 15 characters.
  ///   - connections: The largest number of open connections; `nil` for no limit. Further transfers
  ///     wait until a connection is free.
  ///   - connectionsPerHost: The same limit for one host.
  ///   - afterCall: Runs on the thread after each call of libcurl.
  package init?(
    name: String, connections: Int? = nil, connectionsPerHost: Int,
    afterCall: @escaping () -> Void = {}
  ) {
    guard Self.isLibraryReady, let multi = curl_multi_init() else { return nil }
    self.multi = multi
    self.afterCall = afterCall
    petrel_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost)
    if let connections {
      petrel_curl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections)
      petrel_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connections)
    }
    let thread = Thread { [self] in run() }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Starts a transfer and returns at once. Any thread may call the method. If the loop is closed,
  /// the transfer ends before the method returns.
  package func start(_ transfer: Transfer) {
    if !add(.start(transfer)) { transfer.finish(.failure(Self.closed)) }
  }

  /// Cancels a transfer, unless it has ended. Any thread may call the method.
  package func cancel(_ transfer: Transfer) {
    _ = add(.cancel(transfer))
  }

  /// Ends all transfers as cancelled, and returns when the thread has released libcurl's handle.
  package func close() async {
    await withCheckedContinuation { continuation in
      let isOver = shared.withLock { shared in
        guard !shared.isOver else { return true }
        shared.isClosed = true
        shared.closers.append(continuation)
        curl_multi_wakeup(multi)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Passes a command to the thread. Returns false if the loop is closed.
  private func add(_ command: Command) -> Bool {
    shared.withLock { shared in
      guard !shared.isClosed else { return false }
      shared.commands.append(command)
      curl_multi_wakeup(multi)
      return true
    }
  }

  private static let closed = TransferFailure(.cancelled, "the loop is closed")

  // MARK: The thread

  private func run() {
    // A write to a socket whose peer has closed it sends SIGPIPE, which would end the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    while carryOutCommands() {
      var running: Int32 = 0
      mustCallAgain = false
      curl_multi_perform(multi, &running)
      afterCall()
      // A transfer that has ended frees its connection, and another transfer may wait for it.
      if finishEnded() || mustCallAgain { continue }
      curl_multi_poll(multi, nil, 0, endSilent(), nil)
    }
    end()
  }

  /// Carries out the commands from other threads. Returns false if the loop is closed.
  private func carryOutCommands() -> Bool {
    let (commands, isClosed) = shared.withLock { shared in
      defer { shared.commands = [] }
      return (shared.commands, shared.isClosed)
    }
    for command in commands {
      switch command {
      case .start(let transfer) where isClosed: transfer.finish(.failure(Self.closed))
      case .start(let transfer): begin(transfer)
      case .cancel(let transfer):
        end(transfer, .failure(TransferFailure(.cancelled, "the request was cancelled")))
      }
    }
    return !isClosed
  }

  private func begin(_ transfer: Transfer) {
    do throws(TransferFailure) {
      let easy = try transfer.prepare { [unowned self] in mustCallAgain = true }
      guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
        throw TransferFailure(.refused, "the transfer cannot be added")
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

  /// Fails the transfers that have sent and received no byte for too long.
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
  private func end(_ transfer: Transfer, _ result: Result<TransferHead, TransferFailure>) {
    guard let easy = transfer.easy, underWay.removeValue(forKey: easy) != nil else { return }
    curl_multi_remove_handle(multi, easy)
    transfer.finish(result)
  }

  /// Ends all transfers and releases libcurl's handle. It is the last call of the thread.
  private func end() {
    for transfer in underWay.values { end(transfer, .failure(Self.closed)) }
    let closers = shared.withLock { shared in
      shared.isOver = true
      curl_multi_cleanup(multi)
      defer { shared.closers = [] }
      return shared.closers
    }
    for closer in closers { closer.resume() }
  }
}

import CPostgreSQL
import Foundation

/// The exchange of messages with PostgreSQL over one connection of libpq. Its waits end when the
/// server cannot be reached.
///
/// A network that loses all packets reports nothing, and a statement may rightly take minutes. So
/// after ``Limits/silence`` without a byte from the server, a wait asks over a second connection
/// whether the server can be reached (``ReachabilityProbe``). If the probe has no answer within
/// ``Limits/patience``, the exchange closes the socket. libpq then reports a lost connection.
package final class PostgreSQLExchange {
  /// The limits of a wait (``PostgreSQLExchange``).
  package struct Limits {
    var silence: Duration
    /// The time for a probe, and the pause between two probes of one wait.
    var patience: Duration

    package init(silence: Duration = .seconds(2), patience: Duration = .seconds(5)) {
      self.silence = silence
      self.patience = patience
    }
  }

  /// The bytes of sent statements after which a wait lets the server take them. libpq itself sends
  /// after as many.
  private static let batch = 64 << 10

  private let handle: OpaquePointer
  private let address: PostgreSQLAddress
  private let limits: Limits
  private var unflushed = 0
  /// The reason for which a wait closed the connection; nil if none did.
  private(set) var silence: String?

  init(over handle: OpaquePointer, to address: PostgreSQLAddress, limits: Limits) {
    self.handle = handle
    self.address = address
    self.limits = limits
    begin()
  }

  func begin() {
    silence = nil
    unflushed = 0
    // Otherwise libpq itself would wait, and without a limit. The call cannot fail, because nothing
    // waits to be sent.
    PQsetnonblocking(handle, 1)
  }

  func clear() {
    while let result = nextResult() {
      defer { PQclear(result) }
      if PQresultStatus(result) == PGRES_COPY_IN {
        PQputCopyEnd(handle, "another statement follows")
      }
    }
  }

  func sent(_ bytes: Int) {
    unflushed += bytes
    if unflushed >= Self.batch { flush() }
  }

  func flush() {
    unflushed = 0
    var isSilent = false
    while PQflush(handle) == 1 {
      isSilent = !wait(for: POLLIN | POLLOUT, isSilent: isSilent)
      guard PQconsumeInput(handle) == 1 else { return }
    }
  }

  func nextResult() -> OpaquePointer? {
    flush()
    var isSilent = false
    while PQisBusy(handle) == 1 {
      isSilent = !wait(for: POLLIN, isSilent: isSilent)
      guard PQconsumeInput(handle) == 1 else { break }
    }
    return PQgetResult(handle)
  }

  /// Waits for all results. Returns the first failed one or else the last; nil if nothing was
  /// sent. A result that begins a `COPY` is the last.
  func result() -> OpaquePointer? {
    var found: OpaquePointer?
    while let next = nextResult() {
      if PQresultStatus(found) == PGRES_FATAL_ERROR, found != nil {
        PQclear(next)
        continue
      }
      PQclear(found)
      found = next
      if PQresultStatus(next) == PGRES_COPY_IN { break }
    }
    return found
  }

  // MARK: Waiting

  /// Waits at most for ``Limits/silence``. Returns whether the socket is ready.
  ///
  /// If the time before was silent too, the method waits without that limit, while probes ask
  /// whether the server can be reached. The first silence is no proof, because libpq may have bytes
  /// that TLS has decrypted already.
  private func wait(for events: Int32, isSilent: Bool) -> Bool {
    if isSilent {
      waitInDoubt(for: events)
      return true
    }
    var own = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
    // libpq meets a failure again.
    return poll(&own, 1, Self.milliseconds(limits.silence)) != 0
  }

  private func waitInDoubt(for events: Int32) {
    var probe = ReachabilityProbe(to: address, besides: handle)
    var deadline = ContinuousClock.now + limits.patience
    while true {
      var waited = [
        pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0),
        probe?.waited ?? pollfd(fd: -1, events: 0, revents: 0),
      ]
      let count = poll(&waited, 2, Self.milliseconds(deadline - .now))
      if count < 0, errno != EINTR { return }
      if waited[0].revents != 0 { return }
      if let asked = probe {
        switch waited[1].revents != 0 ? asked.proceed() : .waiting {
        case .answered: probe = nil
        case .failed(let reason): return close("a second connection failed: \(reason)")
        case .waiting:
          guard .now >= deadline else { continue }
          return close("nor to a second connection")
        }
        deadline = .now + limits.patience
      } else if .now >= deadline {
        probe = ReachabilityProbe(to: address, besides: handle)
        deadline = .now + limits.patience
      }
    }
  }

  private func close(_ detail: String) {
    silence = "PostgreSQL did not answer for some seconds, \(detail)"
    shutdown(PQsocket(handle), Int32(SHUT_RDWR))
  }

  private static func milliseconds(_ duration: Duration) -> Int32 {
    Int32(max(0, (duration / .milliseconds(1)).rounded(.up)))
  }
}

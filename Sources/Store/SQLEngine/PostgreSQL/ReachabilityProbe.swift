import CPostgreSQL
import Foundation
import StoreModel

/// A question to a PostgreSQL server, over a connection of its own: does it answer at all? The probe
/// never waits by itself.
///
/// An answer is a row, or any reaction of the server to the request for a connection. So a server
/// without a free connection can be reached.
package final class ReachabilityProbe {
  /// The state of the question.
  enum Progress {
    case waiting, answered
    case failed(String)
  }

  private let handle: OpaquePointer
  private var isAsking = false
  private var event = POLLOUT

  /// With `other`, connects to that connection's server: one of several, whose name need not be
  /// looked up again. Returns nil if the memory does not suffice.
  init?(to address: PostgreSQLAddress, besides other: OpaquePointer? = nil) {
    let handle = address.withParameters(at: other.map(Self.place) ?? []) {
      PQconnectStartParams($0, $1, 1)
    }
    guard let handle else { return nil }
    self.handle = handle
    petrel_ignore_notices(handle)
  }

  deinit { PQfinish(handle) }

  private static func place(of handle: OpaquePointer) -> [(String, String)] {
    func text(_ name: String, _ value: UnsafePointer<CChar>?) -> (String, String)? {
      guard let value, value.pointee != 0 else { return nil }
      return (name, String(cString: value))
    }
    return [
      text("host", PQhost(handle)), text("hostaddr", PQhostaddr(handle)),
      text("port", PQport(handle)),
    ].compactMap(\.self)
  }

  var waited: pollfd { pollfd(fd: PQsocket(handle), events: Int16(event), revents: 0) }

  func proceed() -> Progress {
    if isAsking {
      guard PQconsumeInput(handle) == 1 else { return .failed(reason) }
      guard PQisBusy(handle) == 0 else { return .waiting }
      let result = PQgetResult(handle)
      defer { PQclear(result) }
      return PQresultStatus(result) == PGRES_TUPLES_OK ? .answered : .failed(reason)
    }
    guard PQstatus(handle) != CONNECTION_BAD else { return .failed(reason) }
    // Before this, nothing has come from the other side.
    let isConnected =
      ![CONNECTION_STARTED, CONNECTION_MADE, CONNECTION_NEEDED].contains(PQstatus(handle))
    switch PQconnectPoll(handle) {
    case PGRES_POLLING_OK:
      guard PQsendQuery(handle, "SELECT 1") == 1 else { return .failed(reason) }
      isAsking = true
      event = POLLIN
      return .waiting
    case PGRES_POLLING_FAILED: return isConnected ? .answered : .failed(reason)
    case PGRES_POLLING_WRITING: event = POLLOUT
    default: event = POLLIN
    }
    return .waiting
  }

  private var reason: String {
    String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Blocks the calling thread.
  ///
  /// - Throws: ``StoreError/Code/unreachable`` without an answer within `patience`.
  package static func ask(_ address: PostgreSQLAddress, within patience: Duration) throws {
    let deadline = ContinuousClock.now + patience
    guard let probe = ReachabilityProbe(to: address) else {
      throw StoreError(.unreachable, "there is not enough memory for a connection to \(address)")
    }
    while true {
      var waited = probe.waited
      let left = (deadline - .now) / .milliseconds(1)
      guard left > 0 else {
        throw StoreError(.unreachable, "\(address) did not answer within \(patience)")
      }
      _ = poll(&waited, 1, Int32(left.rounded(.up)))
      if waited.revents == 0, waited.fd >= 0 { continue }
      switch probe.proceed() {
      case .waiting: continue
      case .answered: return
      case .failed(let reason):
        throw StoreError(.unreachable, "\(address) cannot be reached: \(reason)")
      }
    }
  }
}

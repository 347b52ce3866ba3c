import Foundation
import HTTPService
import Settings

/// The check of the limit of open files, which also limits the connections of the server.
struct LimitsCheck: Sendable {
  /// Reads the hard limit of this process. A server that is started from the same shell has the
  /// same limit. Returns nothing if the limit cannot be read.
  func findings() -> [Finding] {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return [] }
    return [Self.judge(descriptors: Int(clamping: limit.rlim_max))]
  }

  /// Returns the finding for a limit.
  static func judge(descriptors: Int) -> Finding {
    let wanted = HTTPServer.Configuration().maximumConnections
    let possible = HTTPServer.connections(withDescriptors: descriptors)
    guard possible < wanted else {
      return .ok("a server started from here can open \(descriptors) files")
    }
    return .warning(
      "a server started from here can open \(descriptors) files, so it accepts \(possible) "
        + "connections instead of \(wanted)",
      "set LimitNOFILE=32768 in its unit, as in deploy/petrel.service, or run 'ulimit -Hn 32768'")
  }
}

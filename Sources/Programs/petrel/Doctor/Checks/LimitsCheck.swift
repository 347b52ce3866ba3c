import Foundation
import HTTPService
import Settings

/// How many files, and so connections, the server may have open.
struct LimitsCheck: Sendable {
  func findings() -> [Finding] {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return [] }
    return [Self.judge(descriptors: Int(clamping: limit.rlim_max))]
  }

  /// - Parameter descriptors: the hard limit, to which the server raises its own.
  static func judge(descriptors: Int) -> Finding {
    let wanted = HTTPServer.Configuration().maximumConnections
    let possible = HTTPServer.connections(withDescriptors: descriptors)
    guard possible < wanted else {
      return .ok("a server started from here may have \(descriptors) files open")
    }
    return .warning(
      "a server started from here may have \(descriptors) files open, and takes \(possible) "
        + "connections instead of \(wanted)",
      "LimitNOFILE=32768 in its unit, as deploy/petrel.service has, or ulimit -Hn 32768")
  }
}
